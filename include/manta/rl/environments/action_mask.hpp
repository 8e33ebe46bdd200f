// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Masks of actions: which choices are allowed in a state. A mask has a number for each choice, those of all parts of an
// action one after the other: 1 where it is allowed, 0 where it is not. A policy gives a choice that is not allowed the
// probability 0: its output counts as a large negative number, so the exponential of it, and with that each gradient
// by it, is exactly 0.
#pragma once

#include <iterator>
#include <span>
#include <vector>

#include "manta/nn/module.hpp"
#include "manta/rl/base/random.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

/// The masks of states, a column each. No rows: everything is allowed.
using action_masks = nn::matrix<unsigned char>;
/// The mask of one state. Empty: everything is allowed.
using mask_view = std::span<const unsigned char>;

namespace detail {

inline mask_view mask_of(const action_masks& m, Eigen::Index state) {
  return {m.data() + m.rows() * state, static_cast<std::size_t>(m.rows())};
}

/// How many choices each part of an action has; none where actions are no choices.
MANTA_DECL std::vector<int> choices_of(const space& actions);

/// The first choice of each part.
MANTA_DECL std::vector<int> starts_of(const space& actions);

/// The number of choices of all parts together; 0 for actions that are numbers.
MANTA_DECL int choice_count(const space& actions);

/// The numbers of a mask. Throws manta::error if actions of the space cannot be masked.
MANTA_DECL int mask_size(const space& actions);

/// Throws if a mask has the wrong number of numbers: a sentence without a head, to which the caller adds the place.
MANTA_DECL void check_mask_size(std::size_t got, std::size_t expected);

/// Throws if a mask allows no choice in a part of the action: a sentence without a head, as above.
MANTA_DECL void check_mask(const space& actions, mask_view m);

/// What can be a mask.
template <class Range>
concept mask_range = requires(Range& r) {
  static_cast<bool>(*std::begin(r));
  std::end(r);
};
/// Do environments like this one have masks?
template <class E>
constexpr bool has_mask(const E& e) {
  if constexpr (requires { bool(e.has_action_mask()); }) {
    return e.has_action_mask();  // such as a wrapper, which depends on what is in it
  } else {
    return requires(E & its) { its.action_mask(); };
  }
}

/// Writes a range of numbers or of bool.
template <class Range>
void write_mask(const Range& from, std::span<unsigned char> to) {
  std::size_t count = 0;
  for (const auto& allowed : from) {
    if (count < to.size()) to[count] = static_cast<bool>(allowed);
    ++count;
  }
  check_mask_size(count, to.size());
}

/// The outputs of a network stay as they are for what is allowed.
MANTA_DECL void forbid(mask_view m, float* outputs);
/// The outputs of a network with what is not allowed forbidden, a column for each state: without masks `outputs`
/// itself, else `kept`.
MANTA_DECL const nn::matrix<float>& allowed_outputs(const nn::matrix<float>& outputs, const action_masks& m,
                                                    nn::matrix<float>& kept);

/// One of the choices that the mask of a part allows, each as probable as the others.
MANTA_DECL int pick(mask_view part, random& numbers);
/// space::sample of allowed actions.
MANTA_DECL void sample_allowed(const space& actions, mask_view m, random& numbers, float* action);
/// Is this action allowed, as the environment gets it? It has to be one of the space.
MANTA_DECL bool is_allowed(const space& actions, mask_view m, std::span<const float> action);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/action_mask.ipp"
#endif
