// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The page of a film: what film.hpp and game_film.hpp fill in and write.
#pragma once

#include <cereal/types/string.hpp>
#include <cstdint>
#include <string>

#include "manta/rl/source.hpp"

namespace manta::rl {

struct film_options {
  std::string title = {};  ///< nothing: the name of the environment
  std::uint64_t seed = 0;  ///< which episode is played: the first one that rl::record plays with this seed
  bool explore = false;    ///< actions are drawn as in training; else the best ones are taken
};

namespace detail {

/// An episode as its page has it: arrays in JavaScript.
struct film_content {
  std::string kind;   ///< kind of the picture
  std::string title;  ///< any text
  std::string end;    ///< how the episode has ended
  std::string rewards, actions, states;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind, title, end, rewards, actions, states);
  }
};
/// Throws manta::error if the page cannot be written.
MANTA_DECL void write_film(const std::string& path, const film_content& c);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/base/film_page.ipp"
#endif
