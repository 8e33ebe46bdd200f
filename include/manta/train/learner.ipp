// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of learner.hpp.
#pragma once

#include <vector>

#include "manta/run.hpp"
#include "manta/train/learner.hpp"

namespace manta::train::detail {

struct learner_entry {
  std::string type;
  std::unique_ptr<learner> (*make)(const std::string& bytes);
};
inline std::vector<learner_entry>& learners() {
  static std::vector<learner_entry> all;
  return all;
}

MANTA_DECL std::uint32_t register_learner(const char* type,
                                          std::unique_ptr<learner> (*make)(const std::string& bytes)) {
  learners().push_back({type, make});
  return static_cast<std::uint32_t>(learners().size() - 1);
}

MANTA_DECL std::unique_ptr<learner> make_learner(const learner_name& what) {
  if (what.number >= learners().size() || learners()[what.number].type != what.type) {
    throw error("manta: train: rank " + std::to_string(rank()) + " does not have the recipe " + what.type +
                ": start the same program on all ranks");
  }
  return learners()[what.number].make(what.bytes);
}

}  // namespace manta::train::detail
