// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that learn from files, by name. They have an option more, "data": the names of files,
// with commas between them.
//
//   rl::register_algorithm<rl::bc>("bc");
//   auto clone = rl::make_algorithm("bc", "CartPole-v1", {{"data", "expert.episodes,random.npz"}});
//
// The environment has the spaces of the data, and is the one in which evaluate() plays.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "manta/rl/algorithms/named_algorithm.hpp"
#include "manta/rl/offline/episodes.hpp"

namespace manta::rl::detail {

/// The episodes of the files that the option names. Throws manta::error if it names none.
MANTA_DECL episodes named_episodes(const any_environment& e, const named_options& values);

template <class Algorithm>
  requires std::constructible_from<Algorithm, const episodes&, const typename Algorithm::options&>
struct named_algorithm<Algorithm> {
  static std::unique_ptr<algorithm> make(const any_environment& e, const named_options& values) {
    return std::make_unique<Algorithm>(named_episodes(e, values), options_from<typename Algorithm::options>(values));
  }
  static named_options options() {
    named_options all = defaults_of<typename Algorithm::options>();
    all["data"] = "";
    return all;
  }
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/offline/named_offline.ipp"
#endif
