// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trainable.hpp: the table of bodies.
#pragma once

#include <vector>

#include "manta/base/demangle.hpp"
#include "manta/base/text.hpp"
#include "manta/run.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/trainable.hpp"

namespace manta::tune::detail {

struct body_entry {
  const char* mangled;
  std::unique_ptr<body> (*make)();
};

/// In the order in which the types were registered.
MANTA_DECL std::vector<body_entry>& bodies() {
  static std::vector<body_entry> all;
  return all;
}

MANTA_DECL std::uint32_t register_body(const char* mangled, std::unique_ptr<body> (*make)()) {
  bodies().push_back({mangled, make});
  return static_cast<std::uint32_t>(bodies().size() - 1);
}

MANTA_DECL std::string name_of(const body_name& what) { return readable_name(base::demangle(what.mangled.c_str())); }

MANTA_DECL std::unique_ptr<body> make_body(const body_name& what) {
  if (what.number >= bodies().size() || bodies()[what.number].mangled != what.mangled) {
    throw error(base::text("manta: tune: rank {} does not have the trial {}: start the same program on all ranks",
                           rank(), name_of(what)));
  }
  return bodies()[what.number].make();
}

}  // namespace manta::tune::detail
