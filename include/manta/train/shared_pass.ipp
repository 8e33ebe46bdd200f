// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/train/shared_pass.hpp"

namespace manta::train::detail {

MANTA_DECL void shared_pass::begin() {
  clock_.begin(learner_);
  problem_.clear();
  is_without_samples_ = false;
  sum_number_ = sums_made_ = 0;
  learner_.gradients().visit([this](auto gradients) {
    std::fill(gradients.begin(), gradients.end(), 0);
    exchange_.begin(gradients);
  });
}

MANTA_DECL sums shared_pass::run(const std::vector<sample_part>& parts, nn::pass pass, double divisor) {
  sums mine;
  if (learner_.sums_over_workers()) pass.sum_over_workers = [this](std::span<double> s) { sum_statistics(s); };
  const nn::gradients_ready ready = [this](std::size_t first, std::size_t last) { exchange_.ready(first, last); };
  bool is_complete = false;
  attempt([&] {
    try {
      mine = forward_and_back(parts, pass, divisor, ready);
      is_complete = true;
    } catch (const other_has_problem&) {
    }
  });
  if (!is_complete) make_the_rest(pass);
  clock_.passed();
  exchange_.finish();
  return mine;
}

MANTA_DECL sums shared_pass::run_alone(const std::vector<sample_part>& parts, nn::pass pass, double divisor) {
  const sums mine = forward_and_back(parts, pass, divisor, {});
  clock_.passed();
  return mine;
}

inline sums shared_pass::forward_and_back(const std::vector<sample_part>& parts, nn::pass& pass, double divisor,
                                          const nn::gradients_ready& ready) {
  sums mine;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    pass.samples = parts[i].draws;
    samples_in_backward_ = 0;
    if (const auto which = parts[i].samples; !which.empty()) {
      mine.add(learner_.forward(true, which, pass, divisor));
      samples_in_backward_ = which.size();
      learner_.backward(is_last ? ready : nn::gradients_ready());
    } else if (is_last && ready) {
      learner_.pass_without_samples(pass, ready);
    }
  }
  samples_in_backward_ = 0;
  return mine;
}

/// The model is run through once more without samples. The sums that were made before give the same results again, so
/// that the layers know what they knew; the others are made with zeros. Gradients that were reported are left out.
inline void shared_pass::make_the_rest(nn::pass& pass) {
  is_without_samples_ = true;
  samples_in_backward_ = 0;
  sum_number_ = 0;
  pass.samples = {};
  learner_.pass_without_samples(pass,
                                [this](std::size_t first, std::size_t last) { exchange_.ready_again(first, last); });
}

/// A further number says how many workers have a problem. In backward, nn counts a worker's sums by its samples, as if
/// its loss were a mean over those. Here it is its part of the whole batch's mean, so that the factor is taken out.
inline void shared_pass::sum_statistics(std::span<double> numbers) {
  const std::size_t number = sum_number_++;
  if (number == sums_made_) {
    if (sums_.size() == number) sums_.emplace_back();
    std::vector<double>& all = sums_[number];
    const double factor = samples_in_backward_ > 0 ? static_cast<double>(samples_in_backward_) : 1;
    all.assign(numbers.begin(), numbers.end());
    for (double& x : all) x /= factor;
    all.push_back(has_problem() ? 1. : 0.);
    exchange_.sum(all);
    ++sums_made_;
    for (double& x : all) x *= factor;
  }
  const std::vector<double>& all = sums_[number];
  std::copy(all.begin(), all.end() - 1, numbers.begin());
  if (all.back() > 0 && !is_without_samples_) throw other_has_problem();
}

}  // namespace manta::train::detail
