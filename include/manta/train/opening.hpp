// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the workers compare before the first step. Each makes its model and, unless they share them, its data. Workers
// whose batches differ in number would wait for each other inside MPI for ever, so all numbers are compared exactly.
#pragma once

#include "manta/train/exchange.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/options.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

/// Collective, after each member has tried to open its learner. `problem` is what it threw, or ""; `sampling` a digest
/// of the weights by which samples are drawn. Throws the same error on all members if one of them has a problem, if
/// their models or data differ, or if the data do not suit model and options.
MANTA_DECL void agree_to_open(exchange& e, learner& l, const options& o, std::uint64_t sampling,
                              const std::string& problem);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/opening.ipp"
#endif
