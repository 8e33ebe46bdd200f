// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the handle of a deployment consists of, whatever its requests are.
#pragma once

#include <cereal/types/string.hpp>
#include <cstdint>
#include <string>

#include "manta/actor_handle.hpp"
#include "manta/serve/options.hpp"

namespace manta::serve::detail {

class router;

/// How many numbers a request and an answer have, where the deployed object says so; 0: any number.
struct value_sizes {
  std::int64_t request = 0, answer = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(request, answer);
  }
};

struct handle_parts {
  std::string name = {};
  actor<detail::router> router = {};
  call_options options = {};
  value_sizes sizes = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, router, options, sizes);
  }
};

}  // namespace manta::serve::detail
