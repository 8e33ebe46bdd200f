// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of algorithm.hpp.
#pragma once

#include <algorithm>
#include <cereal/types/deque.hpp>
#include <string_view>
#include <typeinfo>

#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/algorithms/algorithm.hpp"
#include "manta/rl/base/sentences.hpp"

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
  constexpr std::string_view begin = "manta: rl: ";
  try {
    iterate(r);
    for (const std::span<const float> part : parameters()) {
      if (!detail::all_finite(part)) detail::fail_diverged("a parameter of the networks is");
    }
  } catch (const error& e) {
    const std::string_view text = e.what();
    if (typeid(e) != typeid(error) || !text.starts_with(begin)) throw;
    throw error(std::string(begin) + name_ + ", iteration " + std::to_string(iteration_ + 1) + ": " +
                std::string(text.substr(begin.size())));
  }
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
  if (!acting_) acting_ = trained();
  return *acting_;
}

MANTA_DECL future<report> algorithm::evaluate_async(int episodes) {
  return detail::start_evaluation(put(best()), seed_, episodes, iteration_);
}
MANTA_DECL report algorithm::evaluate(int episodes) {
  const auto begin = std::chrono::steady_clock::now();
  report r = detail::sentence(evaluate_async(episodes));
  r.seconds = detail::since(begin);
  return r;
}

MANTA_DECL std::string algorithm::save_to_bytes() {
  return output::pack(output::pack(trained()), name_, environment_.name(), description(), seed_, iteration_, steps_,
                      episodes_, last_episodes_, state());
}

MANTA_DECL void algorithm::load_from_bytes(const std::string& bytes, bool own_settings) {
  std::string policy, name, environment, networks, rest;
  std::uint64_t seed = 0, iteration = 0, steps = 0, episodes = 0;
  std::deque<episode> last;
  try {
    output::unpack(bytes, policy, name, environment, networks, seed, iteration, steps, episodes, last, rest);
  } catch (const std::exception& e) {
    throw error(std::string("manta: rl: the checkpoint cannot be read: ") + e.what());
  }
  if (name != name_)
    throw error("manta: rl: the checkpoint is of " + name + "; this algorithm is " + name_ + ". Nothing was changed");
  if (environment != environment_.name())
    throw error("manta: rl: the checkpoint is of the environment " + environment + "; this algorithm's is " +
                environment_.name() + ". Nothing was changed");
  if (networks != description())
    throw error("manta: rl: the checkpoint is of the networks " + networks + "; this algorithm's are " + description() +
                ". Nothing was changed");
  acting_.reset();
  const std::uint64_t own_seed = std::exchange(seed_, seed);
  try {
    restore(rest, own_settings);
  } catch (...) {
    seed_ = own_seed;
    throw;
  }
  iteration_ = iteration;
  steps_ = steps;
  episodes_ = episodes;
  last_episodes_ = std::move(last);
}

MANTA_DECL void algorithm::save(const std::string& path) { output::write_state(path, "rl " + name_, save_to_bytes()); }
MANTA_DECL void algorithm::load(const std::string& path) { load_from_bytes(output::read_state(path, "rl " + name_)); }

}  // namespace manta::rl
