// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of algorithm.hpp.
#pragma once

#include <algorithm>
#include <cereal/types/deque.hpp>
#include <chrono>

#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/algorithm.hpp"

namespace manta::rl {

namespace detail {
MANTA_DECL void require_one(const char* option, int value, const char* unit) {
  if (value >= 1) return;
  throw error("manta: rl: " + std::string(option) + " is " + std::to_string(value) + "; at least one" + unit +
              " is needed");
}

/// Returns and lengths of episodes.
inline void summarise(const std::deque<episode>& episodes, report& r) {
  if (episodes.empty()) return;
  double sum = 0, length = 0;
  r.min_return = r.max_return = episodes.front().total;
  for (const episode& e : episodes) {
    sum += e.total;
    length += static_cast<double>(e.length);
    r.min_return = std::min(r.min_return, e.total);
    r.max_return = std::max(r.max_return, e.total);
  }
  r.mean_return = sum / static_cast<double>(episodes.size());
  r.mean_length = length / static_cast<double>(episodes.size());
}
/// Seconds since a moment.
inline double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
}  // namespace detail

MANTA_DECL algorithm::algorithm(std::string name, const any_environment& e, std::uint64_t seed)
    : environment_(e), seed_(seed), name_(std::move(name)) {}

MANTA_DECL void algorithm::count_episodes(std::vector<episode> ended) {
  std::sort(ended.begin(), ended.end(), [](const episode& a, const episode& b) {
    return a.ended != b.ended ? a.ended < b.ended : a.environment < b.environment;
  });
  episodes_ += ended.size();
  last_episodes_.insert(last_episodes_.end(), ended.begin(), ended.end());
  while (last_episodes_.size() > 100) last_episodes_.pop_front();
}

MANTA_DECL report algorithm::train() {
  const auto begin = std::chrono::steady_clock::now();
  report r;
  iterate(r);
  r.iteration = ++iteration_;
  r.steps = steps_;
  r.episodes = episodes_;
  detail::summarise(last_episodes_, r);
  r.seconds = detail::since(begin);
  return r;
}

MANTA_DECL report algorithm::evaluate(int episodes) {
  if (episodes < 1) throw error("manta: rl: evaluate needs at least one episode");
  constexpr std::uint64_t purpose = 0x65766c7561746521U;
  constexpr int longest = 100'000;  // steps of an episode in an environment without an end
  const auto begin = std::chrono::steady_clock::now();
  vector_environment environments(environment_, seed_ ^ purpose, 0, episodes);
  environments.reset();
  nn::matrix<float> filtered, actions(environment_.actions().size(), episodes);
  std::deque<episode> done;
  std::vector<char> has_ended(static_cast<std::size_t>(episodes));
  std::uint64_t steps = 0;
  for (int step = 0; step < longest && done.size() < has_ended.size(); ++step) {
    normalise(filter(), environments.observations(), filtered);
    const nn::matrix<float>& outputs = best_outputs(filtered);
    for (Eigen::Index i = 0; i < episodes; ++i) to_best_action(outputs.col(i).data(), actions.col(i).data());
    environments.step(actions);
    steps += has_ended.size() - done.size();
    for (const episode& e : environments.take_episodes()) {
      if (!std::exchange(has_ended[e.environment], 1)) done.push_back(e);
    }
  }
  report r;
  r.iteration = iteration_;
  r.steps = steps;
  r.episodes = done.size();
  detail::summarise(done, r);
  r.seconds = r.sample_seconds = detail::since(begin);
  return r;
}

MANTA_DECL action algorithm::act_on(const std::vector<float>& raw) {
  nn::matrix<float> x(environment_.observations().features(), 1), filtered;
  environment_.observations().flatten(raw, x.data());
  normalise(filter(), x, filtered);
  std::vector<float> numbers(static_cast<std::size_t>(environment_.actions().size()));
  to_best_action(best_outputs(filtered).data(), numbers.data());
  return action(std::move(numbers));
}

MANTA_DECL std::string algorithm::save_to_bytes() {
  return output::pack(environment_.name(), description(), seed_, iteration_, steps_, episodes_, last_episodes_,
                      state());
}

MANTA_DECL void algorithm::load_from_bytes(const std::string& bytes, bool own_settings) {
  std::string environment, networks, rest;
  std::uint64_t seed = 0, iteration = 0, steps = 0, episodes = 0;
  std::deque<episode> last;
  try {
    output::unpack(bytes, environment, networks, seed, iteration, steps, episodes, last, rest);
  } catch (const std::exception& e) {
    throw error(std::string("manta: rl: the checkpoint cannot be read: ") + e.what());
  }
  if (environment != environment_.name())
    throw error("manta: rl: the checkpoint is of the environment " + environment + "; this algorithm's is " +
                environment_.name() + ". Nothing was changed");
  if (networks != description())
    throw error("manta: rl: the checkpoint is of the networks " + networks + "; this algorithm's are " + description() +
                ". Nothing was changed");
  seed_ = seed;
  restore(rest, own_settings);
  iteration_ = iteration;
  steps_ = steps;
  episodes_ = episodes;
  last_episodes_ = std::move(last);
}

MANTA_DECL void algorithm::save(const std::string& path) { output::write_state(path, "rl " + name_, save_to_bytes()); }
MANTA_DECL void algorithm::load(const std::string& path) { load_from_bytes(output::read_state(path, "rl " + name_)); }

}  // namespace manta::rl
