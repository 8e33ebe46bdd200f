// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/problem_of.hpp"
#include "manta/rl/seats/check_game.hpp"
#include "manta/rl/seats/seat_player.hpp"

namespace manta::rl {

namespace detail {

class game_checker {
 public:
  explicit game_checker(const any_game& g) : kind_(g) {}

  std::vector<std::string> mistakes() {
    std::optional<live_game> first;
    if (const auto problem = problem_of([&] { first.emplace(kind_); }))
      return {base::text("the constructor throws: {}", *problem)};
    bool ended = false;
    for (std::uint64_t episode = 0; episode < episodes; ++episode) {
      const auto problem = problem_of([&] {
        begin(*first, episode);
        play(*first, random(2026, 1, episode), longest);
      });
      if (problem) return {*problem};  // what follows would only repeat it
      ended = ended || first->is_over();
    }
    if (!ended)
      found_.push_back(
          base::text("no episode of random actions ended within {} steps: step() has to call end(), or "
                     "give a limit by with_time_limit(steps)",
                     longest));
    if (const auto problem = problem_of([&] { compare(*first); })) found_.push_back(*problem);
    return std::move(found_);
  }

 private:
  /// All that the seats have seen, done and got.
  using trace = std::vector<float>;
  static constexpr std::uint64_t episodes = 5;
  static constexpr int longest = 5000, compared = 200, half = 3;

  static void begin(live_game& g, std::uint64_t episode) { g.begin(random(2026, 0, episode), 0, episode); }

  static trace play(live_game& g, random numbers, int steps) {
    trace all;
    const rl::seats& kinds = g.game().seats();
    for (int k = 0; k < steps && !g.is_over(); ++k) {
      for (int i = 0; i < kinds.size(); ++i) {
        if (!g.acts(i)) continue;
        std::vector<float> action(static_cast<std::size_t>(kinds[i].actions.size()));
        act_by_chance(g, i, numbers, action);
        all.push_back(static_cast<float>(i));
        all.insert(all.end(), g.observation(i).begin(), g.observation(i).end());
        all.insert(all.end(), g.mask(i).begin(), g.mask(i).end());
        g.choose(i, action);
      }
      g.step();
      for (int i = 0; i < kinds.size(); ++i) all.push_back(static_cast<float>(g.reward(i)));
    }
    all.push_back(g.is_over() ? 1.f : 0.f);
    return all;
  }

  /// Equal random numbers and actions have to give equal episodes, in another object, in one that has played before,
  /// and in copies.
  void compare(live_game& used) {
    live_game fresh(kind_), other(kind_);
    const auto whole = [](live_game& g) {
      begin(g, 0);
      return play(g, random(2026, 1), compared);
    };
    const trace expected = whole(fresh);
    if (whole(other) != expected) {
      found_.push_back(
          "the same actions give another episode in another object: all randomness has to come from the rl::random "
          "that reset() gets, which may be kept for step()");
      return;
    }
    if (whole(used) != expected)
      found_.push_back(
          "the same actions give another episode after other episodes: reset() has to set all members anew");
    check_copies();
  }

  /// Where an object is in the middle of its first episode.
  [[nodiscard]] live_game in_the_middle() const {
    live_game g(kind_);
    begin(g, 0);
    play(g, random(2026, 2), half);
    return g;
  }

  void check_copies() {
    const auto on = [](live_game& g) { return play(g, random(2026, 3), compared); };
    live_game original = in_the_middle();
    if (original.is_over()) return;
    const trace expected = on(original);
    const std::unique_ptr<game_object> object = kind_.make();
    if (object->can_be_saved()) {
      live_game saved = in_the_middle(), loaded(kind_);
      begin(loaded, 1);
      loaded.load(saved.save());
      if (on(loaded) != expected)
        found_.push_back(
            "an episode goes on differently after it was saved and loaded: serialize() has to name all "
            "members that change");
    }
    if (!object->can_be_copied()) return;
    live_game first = in_the_middle(), copy = first, another = first;
    if (on(copy) != expected) {
      found_.push_back("an episode goes on differently in a copy: the copy constructor forgets something");
    } else if (on(first) != expected || on(another) != expected) {
      found_.push_back(
          "an episode goes on differently once a copy was played on: a copy has to share nothing with its "
          "original, such as what a shared pointer points to");
    }
  }

  any_game kind_;
  std::vector<std::string> found_;
};

}  // namespace detail

MANTA_DECL std::vector<std::string> find_mistakes(const any_game& g) { return detail::game_checker(g).mistakes(); }

MANTA_DECL void check(const any_game& g) {
  const std::vector<std::string> mistakes = find_mistakes(g);
  if (mistakes.empty()) return;
  std::string text = "manta: rl: the game " + g.name() + " is not right:";
  for (const std::string& m : mistakes) text += "\n  - " + m;
  throw error(text);
}

}  // namespace manta::rl
