// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of episodes.hpp; episode_file.ipp and episode_npz.ipp have the two formats.
#pragma once

#include <algorithm>
#include <utility>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/offline/episode_file.hpp"
#include "manta/rl/offline/episode_npz.hpp"
#include "manta/rl/offline/episodes.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL void unflatten(const space& s, const float* features, float* value) {
  if (s.as_box() != nullptr || s.as_multi_binary() != nullptr) {
    std::copy(features, features + s.size(), value);
    return;
  }
  if (!s.parts().empty()) {
    for (const space* part : s.parts()) {
      unflatten(*part, features, value);
      features += part->features();
      value += part->size();
    }
    return;
  }
  const auto choice = [&](int n, int start) {
    *value++ = static_cast<float>(start + (std::max_element(features, features + n) - features));
    features += n;
  };
  if (const discrete* d = s.as_discrete()) return choice(d->n, d->start);
  const multi_discrete& m = *s.as_multi_discrete();
  for (std::size_t i = 0; i < m.n.size(); ++i) choice(m.n[i], m.start_of(i));
}

MANTA_DECL nn::matrix<float> features_of(const space& s, const nn::matrix<float>& values) {
  nn::matrix<float> features(s.features(), values.cols());
  for (Eigen::Index i = 0; i < values.cols(); ++i)
    s.flatten({values.col(i).data(), static_cast<std::size_t>(values.rows())}, features.col(i).data());
  return features;
}

/// Throws, for an episode that cannot be one.
[[noreturn]] inline void bad_episode(const std::string& where, std::size_t number, std::size_t step,
                                     const std::string& what) {
  throw error(base::text("manta: rl: {}episode {}, step {}: {}", where, number, step, what));
}

/// The arrays of an episode have the right lengths.
inline void check_lengths(const any_environment& e, const recorded_episode& r, const std::string& where,
                          std::size_t number) {
  const std::size_t steps = r.steps();
  const auto bad = [&](std::size_t step, const std::string& what) { bad_episode(where, number, step, what); };
  if (steps == 0) bad(0, "the episode has no step; an episode has at least one reward");
  const auto require = [&](const char* what, Eigen::Index found, std::size_t wanted) {
    if (static_cast<std::size_t>(found) == wanted) return;
    bad(std::min(static_cast<std::size_t>(found), wanted),
        base::text("there are {} rewards and {} {}; there have to be {}", steps, found, what, wanted));
  };
  require("observations", r.observations.cols(), steps + 1);
  require("actions", r.actions.cols(), steps);
  if (!r.log_probabilities.empty()) require("log_probabilities", std::ssize(r.log_probabilities), steps);
  if (e.mask_size() > 0) require("masks", r.masks.cols(), steps);
  const auto require_rows = [&](const char* what, Eigen::Index found, int wanted, const std::string& of) {
    if (found != wanted) bad(0, base::text("{} has {} numbers; {} has {}", what, found, of, wanted));
  };
  require_rows("an observation", r.observations.rows(), e.observations().size(), e.observations().text());
  require_rows("an action", r.actions.rows(), e.actions().size(), e.actions().text());
  require_rows("a mask", r.masks.rows(), e.mask_size(), "a mask of these actions");
}

/// Throws manta::error if something is wrong with the episode. `where` is "FILE, " or empty.
inline void check_episode(const any_environment& e, const recorded_episode& r, const std::string& where,
                          std::size_t number) {
  check_lengths(e, r, where, number);
  const auto column = [](const nn::matrix<float>& m, std::size_t i) {
    return std::span<const float>(m.col(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(m.rows()));
  };
  const auto require = [&](const char* what, const space& s, std::span<const float> value, std::size_t step) {
    if (s.contains(value)) return;
    bad_episode(where, number, step, base::text("{} is {}, which is not in {}", what, text_of(value), s.text()));
  };
  for (std::size_t t = 0; t <= r.steps(); ++t) {
    require("the observation", e.observations(), column(r.observations, t), t);
    if (t == r.steps()) break;
    require("the action", e.actions(), column(r.actions, t), t);
    if (!is_reward(r.rewards[t])) bad_episode(where, number, t, mistake_in_reward(r.rewards[t]));
    if (!r.log_probabilities.empty() && !base::is_finite(static_cast<double>(r.log_probabilities[t])))
      bad_episode(where, number, t, "the logarithm of the action's probability is not finite");
    const mask_view allowed = mask_of(r.masks, static_cast<Eigen::Index>(t));
    if (!allowed.empty() && !is_allowed(e.actions(), allowed, column(r.actions, t)))
      bad_episode(where, number, t,
                  base::text("the action is {}, which the mask does not allow", text_of(column(r.actions, t))));
  }
}

/// Two files, or a file and what the program asks for, have the same spaces.
inline void require_same_spaces(const std::string& path, const any_environment& its, const any_environment& mine) {
  const auto require = [&](const char* what, const space& a, const space& b) {
    if (a == b) return;
    throw error(base::text("manta: rl: {}, episode 0, step 0: {} are {}; those of the other episodes are {}", path,
                           what, a.text(), b.text()));
  };
  require("observations", its.observations(), mine.observations());
  require("actions", its.actions(), mine.actions());
  if (its.mask_size() != mine.mask_size())
    throw error(
        base::text("manta: rl: {}, episode 0, step 0: actions have masks of {} numbers; those of the other "
                   "episodes have {}",
                   path, its.mask_size(), mine.mask_size()));
}

}  // namespace detail

MANTA_DECL double recorded_episode::total() const {
  double sum = 0;
  for (const double r : rewards) sum += r;
  return sum;
}

MANTA_DECL void episodes::add(recorded_episode e) {
  detail::check_episode(environment_, e, "", all_.size());
  all_.push_back(std::move(e));
}
MANTA_DECL void episodes::add(recorded_episode e, const std::string& from, std::size_t number) {
  detail::check_episode(environment_, e, from + ", ", number);
  all_.push_back(std::move(e));
}

MANTA_DECL const recorded_episode& episodes::operator[](std::size_t i) const {
  if (i >= all_.size())
    throw error(base::text("manta: rl: there is no episode {}; there are {}, from 0", i, all_.size()));
  return all_[i];
}

MANTA_DECL std::uint64_t episodes::steps() const {
  std::uint64_t sum = 0;
  for (const recorded_episode& e : all_) sum += e.steps();
  return sum;
}

MANTA_DECL double episodes::mean_return() const {
  if (all_.empty())
    throw error("manta: rl: there are no episodes, so they have no mean return; add some, or read a file");
  double sum = 0;
  for (const recorded_episode& e : all_) sum += e.total();
  return sum / static_cast<double>(all_.size());
}

MANTA_DECL void episodes::save(const std::string& path) const {
  if (path.ends_with(".npz")) {
    detail::write_episode_npz(path, environment_, all_);
  } else {
    detail::write_episode_file(path, environment_, all_);
  }
}

MANTA_DECL episodes read_episodes(const std::vector<std::string>& paths, const read_options& o) {
  std::vector<detail::read_file> files;
  any_environment known = o.environment;
  for (const std::string& path : paths) {
    files.push_back(path.ends_with(".npz") ? detail::open_episode_npz(path)
                                           : detail::read_episode_file(path, o.unfinished));
    const any_environment& its = files.back().environment;
    if (!its) continue;
    if (!known) known = its;
    detail::require_same_spaces(path, its, known);
  }
  if (!known)
    throw error(paths.empty() ? std::string("manta: rl: read_episodes needs the name of at least one file")
                              : base::text("manta: rl: {} does not tell its spaces; give them, as in "
                                           "rl::read_episodes(\"{}\", {.environment = \"CartPole-v1\"}), or "
                                           "rl::spaces(observations, actions) in its place",
                                           paths.front(), paths.front()));
  episodes all(known);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::size_t number = 0;
    for (recorded_episode& r : files[i].take(paths[i], known)) all.add(std::move(r), paths[i], number++);
  }
  return all;
}
MANTA_DECL episodes read_episodes(const std::string& path, const read_options& o) {
  return read_episodes(std::vector<std::string>{path}, o);
}

}  // namespace manta::rl
