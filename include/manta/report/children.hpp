// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which function submits which, in words: "the driver: 1 884 simulate, 640 refine". The driver comes first, then what
// it submits, then what those submit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/statistics.hpp"

namespace manta::report {

/// Tasks of one function that another one has submitted.
struct submitted_tasks {
  std::string by = {};  ///< empty: the driver
  std::string function = {};
  std::uint64_t count = 0;
};

/// What the statistics have, by names.
MANTA_DECL base::vector<submitted_tasks> submitted_tasks_of(const statistics& s);
/// The numbers of the same functions are added.
MANTA_DECL base::vector<submitted_tasks> summed(const base::vector<submitted_tasks>& all);
/// A text for each function that submits others, at most `most`, in the order of a walk from the driver.
MANTA_DECL std::vector<std::string> fan_out_texts(const base::vector<submitted_tasks>& all, std::size_t most);

/// A function in the tree of who submits what.
struct fan_out_place {
  std::string function = {};  ///< empty: the driver
  std::uint64_t count = 0;    ///< tasks of it that the place above has submitted; of the driver none
  int depth = 0;
  bool is_elsewhere = false;  ///< its own children stand at another place of the tree
};
/// The tree, line by line, at most `most` of them: each function shows once what it submits.
MANTA_DECL base::vector<fan_out_place> fan_out_tree(const base::vector<submitted_tasks>& all, std::size_t most);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/children.ipp"
#endif
