// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/experiment.hpp"

namespace manta::tune {

MANTA_DECL checkpoint_options::~checkpoint_options() = default;

MANTA_DECL std::vector<any_output> default_outputs() {
  return {json_lines(), decision_log(), tensorboard(), html_report()};
}

}  // namespace manta::tune
