// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/check.hpp"
#include "manta/rl/environments/problem_of.hpp"

namespace manta::rl {

namespace detail {

/// An episode of random actions, as far as it was played.
struct played {
  std::vector<std::vector<float>> observations;
  std::vector<double> rewards;
  std::vector<std::vector<unsigned char>> masks;
  std::optional<std::string> mistake;
  bool ended = false;
  bool operator==(const played& o) const {
    return observations == o.observations && rewards == o.rewards && masks == o.masks && ended == o.ended;
  }
};

class checker {
 public:
  explicit checker(const any_environment& e) : kind_(e) {}

  std::vector<std::string> mistakes() {
    const std::unique_ptr<simulation> first = make();
    if (first == nullptr) return std::move(found_);
    bool ended = false;
    for (std::uint64_t episode = 0; episode < episodes && found_.empty(); ++episode) {
      const played p = play(*first, episode, longest);
      if (p.mistake) found_.push_back("episode " + std::to_string(episode) + ", " + *p.mistake);
      ended = ended || p.ended;
    }
    if (!found_.empty()) return std::move(found_);  // what follows would only repeat it
    if (!ended) {
      found_.push_back(base::text(
          "no episode of random actions ended within {} steps: step() has to set terminated, or give a limit by "
          "with_time_limit(steps)",
          longest));
    }
    check_repetition(*first);
    check_saving();
    return std::move(found_);
  }

 private:
  static constexpr std::uint64_t episodes = 5;
  static constexpr std::size_t longest = 5000, compared = 200;

  std::unique_ptr<simulation> make() {
    std::unique_ptr<simulation> made;
    if (const auto problem = problem_of([&] { made = kind_.make(); }))
      found_.push_back("the constructor throws: " + *problem);
    return made;
  }

  void take(played& p, std::vector<float>& observation, double reward, const std::string& where) {
    if (!kind_.observations().contains(observation)) {
      p.mistake = where + ": the observation " + text_of(observation) + " is not in observation_space(), " +
                  kind_.observations().text() + first_outside(observation);
    } else if (!is_reward(reward)) {
      p.mistake = where + ": " + mistake_in_reward(reward);
    }
    p.observations.push_back(observation);
    p.rewards.push_back(reward);
  }

  /// Which number of a box is wrong, where there are several.
  [[nodiscard]] std::string first_outside(const std::vector<float>& observation) const {
    const box* b = kind_.observations().as_box();
    if (b == nullptr || b->low.size() != observation.size()) return {};
    for (std::size_t i = 0; i < observation.size(); ++i) {
      const double x = static_cast<double>(observation[i]);
      const std::string number = base::text("; number {} is ", i);
      if (base::is_nan(x)) return number + "NaN";
      if (observation[i] < b->low[i]) return base::text("{}{}, below {}", number, x, b->low[i]);
      if (observation[i] > b->high[i]) return base::text("{}{}, above {}", number, x, b->high[i]);
    }
    return {};
  }

  /// What is allowed in the present state, of which the words tell.
  void ask_mask(simulation& s, played& p, const std::string& state) {
    std::vector<unsigned char> mask(static_cast<std::size_t>(kind_.mask_size()));
    if (mask.empty() || p.mistake) return;
    const auto problem = problem_of([&] {
      s.allowed(mask);
      check_mask(kind_.actions(), mask);
    });
    if (problem) p.mistake = state + ": " + *problem;
    p.masks.push_back(std::move(mask));
  }

  void advance(simulation& s, random& numbers, played& p, std::size_t step) {
    std::vector<float> action(static_cast<std::size_t>(kind_.actions().size()));
    std::vector<float> observation(static_cast<std::size_t>(kind_.observations().size()));
    sample_allowed(kind_.actions(), p.masks.empty() ? mask_view() : mask_view(p.masks.back()), numbers, action.data());
    const std::string where = base::text("step {} with the action {}", step, text_of(action));
    const auto problem = problem_of([&] {
      s.announce(action);
      const simulation::outcome o = s.step(action, observation);
      p.ended = o.terminated || o.truncated ||
                (kind_.time_limit() > 0 && step + 1 >= static_cast<std::size_t>(kind_.time_limit()));
      take(p, observation, o.reward, where);
      if (!o.terminated) ask_mask(s, p, "after " + where);
    });
    if (problem) p.mistake = where + " throws: " + *problem;
  }

  played play(simulation& s, std::uint64_t episode, std::size_t steps) {
    played p;
    std::vector<float> observation(static_cast<std::size_t>(kind_.observations().size()));
    random numbers(2026, 0, episode), actions(2026, 1, episode);
    const auto problem = problem_of([&] {
      s.reset(numbers, observation);
      take(p, observation, 0, "reset()");
      ask_mask(s, p, "after reset()");
    });
    if (problem) p.mistake = "reset() throws: " + *problem;
    for (std::size_t i = 0; i < steps && !p.mistake && !p.ended; ++i) advance(s, actions, p, i);
    return p;
  }

  /// Same random numbers and actions, same episode: by another object, and by one that has played before.
  void check_repetition(simulation& used) {
    const std::unique_ptr<simulation> fresh = kind_.make(), other = kind_.make();
    const played expected = play(*fresh, 0, compared);
    if (!(play(*other, 0, compared) == expected)) {
      found_.push_back(
          "the same actions give another episode in another object: all randomness has to come from the rl::random "
          "that "
          "reset() gets, which may be kept for step()");
      return;
    }
    if (!(play(used, 0, compared) == expected))
      found_.push_back(
          "the same actions give another episode after other episodes: reset() has to set all members anew");
  }

  /// An object whose state is saved in the middle of an episode, and one that loads it, go on alike.
  void check_saving() {
    const std::unique_ptr<simulation> one = kind_.make(), other = kind_.make();
    if (!one->can_be_saved()) return;
    played p, q;
    std::vector<float> observation(static_cast<std::size_t>(kind_.observations().size()));
    random numbers(2026, 2), more(2026, 3), actions(2026, 4);
    one->reset(numbers, observation);
    ask_mask(*one, p, "after reset()");
    other->reset(more, observation);
    for (std::size_t i = 0; i < 3 && !p.ended; ++i) advance(*one, actions, p, i);
    if (p.ended || p.mistake) return;
    p.observations.clear();
    p.rewards.clear();
    p.masks.erase(p.masks.begin(), p.masks.end() - (p.masks.empty() ? 0 : 1));
    q.masks = p.masks;
    other->load(one->save());
    random again = actions;
    for (std::size_t i = 3; i < compared && !p.ended && !p.mistake; ++i) advance(*one, actions, p, i);
    for (std::size_t i = 3; i < compared && !q.ended && !q.mistake; ++i) advance(*other, again, q, i);
    if (!(p == q))
      found_.push_back(
          "an episode goes on differently after it was saved and loaded: serialize() has to name all members that "
          "change");
  }

  any_environment kind_;
  std::vector<std::string> found_;
};

}  // namespace detail

MANTA_DECL std::vector<std::string> find_mistakes(const any_environment& e) { return detail::checker(e).mistakes(); }

MANTA_DECL void check(const any_environment& e) {
  const std::vector<std::string> mistakes = find_mistakes(e);
  if (mistakes.empty()) return;
  std::string text = "manta: rl: the environment " + e.name() + " is not right:";
  for (const std::string& m : mistakes) text += "\n  - " + m;
  throw error(text);
}

}  // namespace manta::rl
