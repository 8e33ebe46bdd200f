// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Nothing that is infinite or NaN gets into the parameters: what is looked at before a step is made, and what is said
// where it cannot be made. Workers have the same sums, so all of them find the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "manta/train/learner.hpp"
#include "manta/train/number_array.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

[[nodiscard]] MANTA_DECL bool are_finite(const number_array& numbers);
/// "NaN" or "infinite".
[[nodiscard]] MANTA_DECL const char* kind_of_odd(double number);
/// Which gradient is not finite, as in "gradient by 2.weight became NaN"; "" if all are finite.
[[nodiscard]] MANTA_DECL std::string odd_gradient(learner& l);
/// A remedy where numbers of a step are not finite: a sample that has such numbers itself, or else advice.
[[nodiscard]] MANTA_DECL std::string remedy_for_odd(learner& l, std::span<const std::uint64_t> samples);
/// Makes the optimiser's step, with gradients of at most the norm `clip` (0: any). If that would give parameters that
/// are not finite, changes nothing, and says so; else gives "". `norm`: that of the gradients before. Throws what the
/// optimiser throws.
[[nodiscard]] MANTA_DECL std::string make_step(learner& l, double clip, double& norm);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/step_check.ipp"
#endif
