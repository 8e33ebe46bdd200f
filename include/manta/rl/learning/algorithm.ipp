// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cereal/types/deque.hpp>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/learning/algorithm.hpp"

namespace manta::rl {

MANTA_DECL algorithm::algorithm(std::string name, const any_environment& e, std::uint64_t seed)
    : environment_(e), seed_(seed), name_(std::move(name)) {}

MANTA_DECL void algorithm::count_episodes(std::vector<episode> ended) {
  std::sort(ended.begin(), ended.end(), [](const episode& a, const episode& b) {
    return a.ended != b.ended ? a.ended < b.ended : a.environment < b.environment;
  });
  episodes_ += ended.size();
  last_episodes_.insert(last_episodes_.end(), ended.begin(), ended.end());
  while (last_episodes_.size() > 100) last_episodes_.pop_front();
  for (const episode& e : ended) {
    for (const auto& f : on_episode_) f(e);
  }
}

inline void algorithm::iterate_with_care(report& r) {
  detail::say_where(base::text("{}, iteration {}", name_, iteration_ + 1), [&] {
    iterate(r);
    for (const std::span<const float> part : learned().parameters()) {
      if (!detail::all_finite(part)) detail::fail_diverged("a parameter of the networks is");
    }
  });
}

MANTA_DECL report algorithm::train() {
  const auto begin = std::chrono::steady_clock::now();
  report r;
  acting_.reset();
  iterate_with_care(r);
  r.iteration = ++iteration_;
  r.steps = steps_;
  r.episodes = episodes_;
  detail::summarise({last_episodes_.begin(), last_episodes_.end()}, r);
  r.seconds = detail::since(begin);
  for (const auto& f : on_iteration_) f(r);
  return r;
}

MANTA_DECL trained_policy& algorithm::acting() {
  if (!acting_) {
    acting_ = trained();
    acting_->seed(base::mix(seed_ ^ iteration_));
  }
  return *acting_;
}

MANTA_DECL future<report> algorithm::evaluate_async(int episodes, const evaluate_options& o) {
  const acting_policy now = learned().acting();
  return detail::start_evaluation(put(now), detail::evaluation_of(now, o, seed_), episodes, iteration_);
}
MANTA_DECL report algorithm::evaluate(int episodes, const evaluate_options& o) {
  const auto begin = std::chrono::steady_clock::now();
  report r = detail::sentence(evaluate_async(episodes, o));
  r.seconds = detail::since(begin);
  return r;
}
MANTA_DECL std::vector<std::string> algorithm::frames(int longest, const evaluate_options& o) const {
  const acting_policy now = learned().acting();
  return detail::draw_episode(now, detail::evaluation_of(now, o, seed_), longest);
}

MANTA_DECL std::string algorithm::save_to_bytes() {
  return output::pack(output::pack(trained()), name_, learned().description(), seed_, iteration_, steps_, episodes_,
                      last_episodes_, state());
}

MANTA_DECL void algorithm::load_from_bytes(const std::string& bytes, const load_options& o) {
  std::string bytes_of_policy, name, networks, rest;
  trained_policy policy;
  std::uint64_t seed = 0, iteration = 0, steps = 0, episodes = 0;
  std::deque<episode> last;
  try {
    output::unpack(bytes, bytes_of_policy, name, networks, seed, iteration, steps, episodes, last, rest);
    output::unpack(bytes_of_policy, policy);
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: the checkpoint cannot be read: {}", e.what()));
  }
  const auto refuse = [](const std::string& its, const std::string& mine, const char* advice = "") {
    throw error(
        base::text("manta: rl: the checkpoint is of {}; this algorithm{}. Nothing was changed{}", its, mine, advice));
  };
  if (name != name_) refuse(name, " is " + name_);
  const any_environment& environment = policy.acting().environment();
  if (o.episodes == go_on && !environment.makes_as(environment_)) {
    const bool same_name = environment.name() == environment_.name();
    const auto text = [&](const any_environment& e) { return same_name ? e.call() : e.name(); };
    refuse("the environment " + text(environment), "'s is " + text(environment_),
           "; load(path, {.episodes = rl::begin_anew}) goes on in this one with new episodes");
  }
  const std::string description = learned().description();
  if (networks != description) refuse("the networks " + networks, "'s are " + description);
  acting_.reset();
  const std::uint64_t own_seed = seed_;
  if (o.episodes == go_on) seed_ = seed;
  const std::uint64_t own_steps = std::exchange(steps_, steps);
  try {
    restore(rest, o.episodes);
  } catch (...) {
    seed_ = own_seed;
    steps_ = own_steps;
    throw;
  }
  iteration_ = iteration;
  episodes_ = episodes;
  last_episodes_ = std::move(last);
  if (o.episodes == begin_anew) last_episodes_.clear();
}

MANTA_DECL void algorithm::save(const std::string& path) { output::write_state(path, "rl " + name_, save_to_bytes()); }
MANTA_DECL void algorithm::load(const std::string& path, const load_options& o) {
  load_from_bytes(output::read_state(path, "rl " + name_), o);
}

}  // namespace manta::rl
