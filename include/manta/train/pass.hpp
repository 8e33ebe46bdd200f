// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a pass over data gave, as sums, which can be added: over samples, over workers, and over parts of the pass.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "manta/team.hpp"
#include "manta/train/source.hpp"
#include "manta/train/summary.hpp"

namespace manta::train::detail {

/// The name under which stands what a metric's sum is divided by, where that is not the number of samples.
inline std::string number_of(const std::string& metric) { return "number of " + metric; }

/// Sums over samples.
struct sums {
  double loss = 0;    ///< sum of the samples' losses, each times its weight
  double weight = 0;  ///< sum of the samples' weights
  std::uint64_t samples = 0;
  std::map<std::string, double> metrics;  ///< each times the number of samples, or times number_of(its name)

  void add(const sums& other) {
    loss += other.loss;
    weight += other.weight;
    samples += other.samples;
    for (const auto& [name, value] : other.metrics) metrics[name] += value;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(loss, weight, samples, metrics);
  }
};

/// What the steps of a training pass took.
struct step_totals {
  std::uint64_t steps = 0;
  double gradient_norms = 0;
  phases seconds;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(steps, gradient_norms, seconds);
  }
};

/// What one worker says after a pass, or all of them together.
struct pass_result {
  sums all;
  std::uint64_t epoch = 0, step = 0;
  std::uint64_t left = 0;  ///< samples of the epoch under way that are still to be taken
  double rate = 0;
  step_totals took = {};    ///< times of the steps of a training
  int deaths = 0;           ///< times that a death has interrupted the pass
  double seconds_lost = 0;  ///< seconds lost by these

  template <class Archive>
  void serialize(Archive& archive) {
    archive(all, epoch, step, left, rate, took, deaths, seconds_lost);
  }
};

/// What all workers said, as one.
MANTA_DECL pass_result joined(const per_rank<pass_result>& parts);
inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
/// Sums as means.
MANTA_DECL summary summary_of(const pass_result& r, double seconds);
/// As summary_of, for a mean that was asked for: throws if there are samples, and all of them weigh nothing.
MANTA_DECL summary mean_of(const pass_result& r, double seconds);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/pass.ipp"
#endif
