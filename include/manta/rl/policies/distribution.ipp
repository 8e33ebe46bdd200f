// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/action_mask.hpp"
#include "manta/rl/policies/box_scale.hpp"
#include "manta/rl/policies/distribution.hpp"

namespace manta::rl {

namespace detail {

/// Logarithm of the sum of exponentials.
inline float log_sum(const float* logits, int n) {
  const float top = *std::max_element(logits, logits + n);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += std::exp(logits[i] - top);
  return top + std::log(sum);
}

/// Independent choices, one after the other.
class choices final : public distribution {
 public:
  choices(std::vector<int> n, std::vector<int> starts) : n_(std::move(n)), starts_(std::move(starts)) {
    for (int k : n_) outputs_ += k;
  }
  [[nodiscard]] int outputs() const override { return outputs_; }
  [[nodiscard]] int spread() const override { return 0; }
  [[nodiscard]] int size() const override { return static_cast<int>(n_.size()); }

  void sample(const float* logits, const float*, random& numbers, float* action) const override {
    for (int n : n_) {
      const float norm = log_sum(logits, n);
      float left = static_cast<float>(numbers.uniform());
      int choice = 0;
      while (choice + 1 < n && (left -= std::exp(logits[choice] - norm)) >= 0) ++choice;
      // Probabilities add up to 1 but for roundings, so the rest may belong to the last one that is not 0.
      while (left >= 0 && logits[choice] - norm < least_log) --choice;
      *action++ = static_cast<float>(choice);
      logits += n;
    }
  }
  void best(const float* logits, float* action) const override {
    for (int n : n_) {
      *action++ = static_cast<float>(std::max_element(logits, logits + n) - logits);
      logits += n;
    }
  }
  void to_environment(const float* action, float* to) const override {
    for (std::size_t i = 0; i < n_.size(); ++i) to[i] = action[i] + static_cast<float>(starts_[i]);
  }
  [[nodiscard]] float log_probability(const float* logits, const float*, const float* action) const override {
    float sum = 0;
    for (int n : n_) {
      sum += logits[static_cast<int>(*action++)] - log_sum(logits, n);
      logits += n;
    }
    return sum;
  }
  [[nodiscard]] float entropy(const float* logits, const float*) const override {
    float sum = 0;
    for (int n : n_) {
      const float norm = log_sum(logits, n);
      for (int i = 0; i < n; ++i) sum -= std::exp(logits[i] - norm) * (logits[i] - norm);
      logits += n;
    }
    return sum;
  }
  void add_gradient(const float* logits, const float*, const float* action, weights w, float* by,
                    float*) const override {
    for (int n : n_) {
      const float norm = log_sum(logits, n);
      float h = 0;
      for (int i = 0; i < n; ++i) h -= std::exp(logits[i] - norm) * (logits[i] - norm);
      for (int i = 0; i < n; ++i) {
        const float p = std::exp(logits[i] - norm);
        by[i] += -w.log_probability * p - w.entropy * p * (logits[i] - norm + h);
      }
      by[static_cast<int>(*action++)] += w.log_probability;
      logits += n;
      by += n;
    }
  }

 private:
  static constexpr float least_log = -87;  // of a float whose precision is full

  std::vector<int> n_, starts_;
  int outputs_ = 0;
};

/// A Gaussian with a diagonal covariance. An action is kept as it was drawn, in units of half the distance
/// of the bounds.
class gaussian final : public distribution {
 public:
  explicit gaussian(const box& b) : scale_(b) {}
  [[nodiscard]] int outputs() const override { return size(); }
  [[nodiscard]] int spread() const override { return size(); }
  [[nodiscard]] int size() const override { return scale_.size(); }

  void sample(const float* mean, const float* spread, random& numbers, float* action) const override {
    for (int i = 0; i < size(); ++i) action[i] = mean[i] + std::exp(spread[i]) * static_cast<float>(numbers.normal());
  }
  void best(const float* mean, float* action) const override { std::copy(mean, mean + size(), action); }
  void to_environment(const float* action, float* to) const override { scale_.to_environment(action, to); }
  [[nodiscard]] float log_probability(const float* mean, const float* spread, const float* action) const override {
    float sum = 0;
    for (int i = 0; i < size(); ++i) {
      const float z = (action[i] - mean[i]) * std::exp(-spread[i]);
      sum -= z * z / 2 + spread[i] + log_root_of_2_pi;
    }
    return sum;
  }
  [[nodiscard]] float entropy(const float*, const float* spread) const override {
    float sum = 0;
    for (int i = 0; i < size(); ++i) sum += spread[i] + log_root_of_2_pi + 0.5f;
    return sum;
  }
  void add_gradient(const float* mean, const float* spread, const float* action, weights w, float* by_mean,
                    float* by_spread) const override {
    for (int i = 0; i < size(); ++i) {
      const float inverse = std::exp(-spread[i]), z = (action[i] - mean[i]) * inverse;
      by_mean[i] += w.log_probability * z * inverse;
      by_spread[i] += w.log_probability * (z * z - 1) + w.entropy;
    }
  }

 private:
  static constexpr float log_root_of_2_pi = 0.918938533f;
  box_scale scale_;
};

/// Actions of a tuple or a dict: each part has a distribution of its own, independent of the others.
class parts_of_action final : public distribution {
 public:
  explicit parts_of_action(const space& actions) {
    for (const space* part : actions.parts()) parts_.push_back(make_distribution(*part));
    each([&](const distribution& d, place) {
      all_.outputs += d.outputs();
      all_.spread += d.spread();
      all_.action += d.size();
    });
  }
  [[nodiscard]] int outputs() const override { return all_.outputs; }
  [[nodiscard]] int spread() const override { return all_.spread; }
  [[nodiscard]] int size() const override { return all_.action; }

  void sample(const float* outputs, const float* spread, random& numbers, float* action) const override {
    each([&](const distribution& d, place at) {
      d.sample(outputs + at.outputs, spread + at.spread, numbers, action + at.action);
    });
  }
  void best(const float* outputs, float* action) const override {
    each([&](const distribution& d, place at) { d.best(outputs + at.outputs, action + at.action); });
  }
  void to_environment(const float* action, float* to) const override {
    each([&](const distribution& d, place at) { d.to_environment(action + at.action, to + at.action); });
  }
  [[nodiscard]] float log_probability(const float* outputs, const float* spread, const float* action) const override {
    float sum = 0;
    each([&](const distribution& d, place at) {
      sum += d.log_probability(outputs + at.outputs, spread + at.spread, action + at.action);
    });
    return sum;
  }
  [[nodiscard]] float entropy(const float* outputs, const float* spread) const override {
    float sum = 0;
    each([&](const distribution& d, place at) { sum += d.entropy(outputs + at.outputs, spread + at.spread); });
    return sum;
  }
  void add_gradient(const float* outputs, const float* spread, const float* action, weights w, float* by_outputs,
                    float* by_spread) const override {
    each([&](const distribution& d, place at) {
      d.add_gradient(outputs + at.outputs, spread + at.spread, action + at.action, w, by_outputs + at.outputs,
                     by_spread + at.spread);
    });
  }

 private:
  /// Where the numbers of a part begin.
  struct place {
    int outputs = 0, spread = 0, action = 0;
  };
  /// Calls f(distribution of a part, its place) for all parts in their order.
  template <class F>
  void each(F&& f) const {
    place at;
    for (const auto& d : parts_) {
      f(*d, at);
      at = {at.outputs + d->outputs(), at.spread + d->spread(), at.action + d->size()};
    }
  }

  std::vector<std::unique_ptr<distribution>> parts_;
  place all_;
};

}  // namespace detail

MANTA_DECL void distribution::best_for_environment(const float* outputs, float* to) const {
  best(outputs, to);
  to_environment(to, to);
}

MANTA_DECL std::unique_ptr<distribution> make_distribution(const space& actions, const own_distribution& own) {
  if (own) {
    auto d = own.make(actions);
    if (d->size() != actions.size() || d->outputs() < 1 || d->spread() < 0)
      throw error(base::text(
          "manta: rl: the distribution {} has actions of {} numbers, {} outputs and a spread of {}; an action of {} "
          "has {}, and at least one output is needed",
          own.name(), d->size(), d->outputs(), d->spread(), actions.text(), actions.size()));
    return d;
  }
  if (std::vector<int> n = detail::choices_of(actions); !n.empty())
    return std::make_unique<detail::choices>(std::move(n), detail::starts_of(actions));
  if (const box* b = actions.as_box()) return std::make_unique<detail::gaussian>(*b);
  return std::make_unique<detail::parts_of_action>(actions);
}

MANTA_DECL std::unique_ptr<distribution> make_distribution(const any_environment& e, const own_distribution& own) {
  auto d = make_distribution(e.actions(), own);
  if (own && e.mask_size() > 0 && d->outputs() != e.mask_size())
    throw error(base::text(
        "manta: rl: the distribution {} has {} outputs; the environment {} masks actions, so there has to be one for "
        "each of its {} choices",
        own.name(), d->outputs(), e.name(), e.mask_size()));
  return d;
}

}  // namespace manta::rl
