// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Of serve's deployment_test: classes and functions in an unnamed namespace like those there.
#include <string>

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
  int run(int x) const { return x + 200; }
  std::vector<int> many(const std::vector<int>& batch) { return std::vector<int>(batch.size(), 200); }
  same_picture picture(int x) const { return {x + 200}; }
};
int same_function(int x) { return x + 20; }

}  // namespace

std::vector<int> answers_of_other_file() {
  namespace serve = manta::serve;
  const auto updated = serve::deploy<same_function>();
  serve::update<&same_model::run>(updated);
  return {serve::deploy<&same_model::run>()(1).get(), serve::deploy<serve::batched<&same_model::many>>()(1).get(),
          serve::deploy<&same_model::picture>()(1).get().size, serve::deploy<same_function>()(1).get(),
          updated(1).get()};
}
