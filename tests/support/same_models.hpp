// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes and functions for serve's deployment_test, which two files include: each then has its own of the same names.
// Before it, a file defines the constant `of_this_file` in an unnamed namespace, by which the answers differ.
#pragma once

#include <vector>

#include "manta/serve.hpp"

namespace {

struct same_picture {
  int size = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(size);
  }
};
struct same_model {
  int run(int x) const { return x + 10 * of_this_file; }
  std::vector<int> many(const std::vector<int>& batch) { return std::vector<int>(batch.size(), 10 * of_this_file); }
  same_picture picture(int x) const { return {x + 10 * of_this_file}; }
};
int same_function(int x) { return x + of_this_file; }

/// What deployments of these answer to 1.
std::vector<int> answers_of_this_file() {
  namespace serve = manta::serve;
  const auto updated = serve::deploy<same_function>();
  serve::update<&same_model::run>(updated);
  return {serve::deploy<&same_model::run>()(1).get(), serve::deploy<serve::batched<&same_model::many>>()(1).get(),
          serve::deploy<&same_model::picture>()(1).get().size, serve::deploy<same_function>()(1).get(),
          updated(1).get()};
}

}  // namespace
