// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of check_distribution.hpp. Sums over all actions are estimated by importance sampling: a proposal,
// whose density is known, takes each number of an action by itself, in the range of the values that sample() gave.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/policies/check_distribution.hpp"

namespace manta::rl {

namespace detail {

inline std::string short_text(double x) {
  char number[32];
  std::snprintf(number, sizeof number, "%.4g", x);
  return number;
}

/// A mean with its standard error.
class estimate {
 public:
  void add(double x) {
    ++count_;
    sum_ += x;
    squares_ += x * x;
  }
  [[nodiscard]] double mean() const { return sum_ / count_; }
  [[nodiscard]] double error() const { return std::sqrt(std::max(0., squares_ / count_ - mean() * mean()) / count_); }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

/// How the proposal takes one number of an action: a choice among the values that were drawn, if these are few, else a
/// Gaussian that is somewhat wider than the draws and ends where they end. Bins divide the values.
class proposal {
 public:
  explicit proposal(std::vector<float> drawn) {
    std::sort(drawn.begin(), drawn.end());
    low_ = drawn.front();
    high_ = drawn.back();
    bounds_ = drawn;
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    is_choice_ = bounds_.size() <= 1000;
    if (is_choice_) return;
    estimate e;
    for (const float x : drawn) e.add(static_cast<double>(x));
    mean_ = e.mean();
    deviation_ = 1.25 * e.error() * std::sqrt(static_cast<double>(drawn.size()));
    mass_ = below(high_) - below(low_);
    bounds_.clear();
    for (std::size_t i = 0; i < 10; ++i) bounds_.push_back(drawn[i * drawn.size() / 10]);
  }

  [[nodiscard]] bool is_choice() const { return is_choice_; }
  /// A value, and the logarithm of its density, which is added to `log`.
  float draw(random& numbers, double& log) const {
    if (is_choice_) {
      log -= std::log(static_cast<double>(bounds_.size()));
      return bounds_[static_cast<std::size_t>(numbers.index(static_cast<int>(bounds_.size())))];
    }
    for (;;) {
      const double z = numbers.normal();
      const float x = static_cast<float>(mean_ + deviation_ * z);
      if (x < low_ || x > high_) continue;
      log -= z * z / 2 + std::log(deviation_ * mass_ * std::sqrt(2 * std::numbers::pi));
      return x;
    }
  }
  [[nodiscard]] std::size_t bins() const { return bounds_.size(); }
  [[nodiscard]] std::size_t bin_of(float x) const {
    const auto after = std::upper_bound(bounds_.begin(), bounds_.end(), x) - bounds_.begin();
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after, 1) - 1);
  }
  /// "the value 1", or "a value from 0.1 to 0.3".
  [[nodiscard]] std::string text(std::size_t bin) const {
    if (is_choice_) return "the value " + text_of(std::span(&bounds_[bin], 1));
    const float ends[] = {bounds_[bin], bin + 1 < bounds_.size() ? bounds_[bin + 1] : high_};
    return "a value in the range " + text_of(ends);
  }

 private:
  [[nodiscard]] double below(float x) const {
    return std::erfc((mean_ - static_cast<double>(x)) / (deviation_ * std::numbers::sqrt2)) / 2;
  }
  std::vector<float> bounds_;  ///< the values of a choice, or where bins begin
  float low_ = 0, high_ = 0;
  double mean_ = 0, deviation_ = 1, mass_ = 1;
  bool is_choice_ = false;
};

class distribution_checker {
 public:
  distribution_checker(const distribution& d, const space& actions)
      : d_(d),
        actions_(actions),
        outputs_(static_cast<std::size_t>(d.outputs())),
        spread_(static_cast<std::size_t>(d.spread())) {}

  /// Ends with the first outputs for which there are mistakes.
  std::vector<std::string> mistakes() {
    for (std::uint64_t trial = 0; trial < 3 && found_.empty(); ++trial) {
      random numbers(2026, trial);
      for (float& x : outputs_) x = static_cast<float>(numbers.normal());
      for (float& x : spread_) x = static_cast<float>(0.3 * numbers.normal() - 0.5);
      examine(numbers);
    }
    return std::move(found_);
  }

 private:
  using action = std::vector<float>;
  static constexpr std::size_t draws = 20'000, proposals = 50'000;

  void examine(random& numbers) {
    if (!draw(numbers)) return;
    check_repetition(numbers);
    check_space(best(), "best()");
    for (const action& a : drawn_) check_space(a, "sample()");
    if (compare_probabilities(numbers)) {
      check_entropy();
      check_best();
    }
    if (check_gradient("log_probability", 2, 0)) check_gradient("entropy", 0, 3);
  }

  [[nodiscard]] double log_probability(const action& a) const {
    return static_cast<double>(d_.log_probability(outputs_.data(), spread_.data(), a.data()));
  }
  action sample(random& numbers) const {
    action a(static_cast<std::size_t>(d_.size()));
    d_.sample(outputs_.data(), spread_.data(), numbers, a.data());
    return a;
  }
  action best() const {
    action a(static_cast<std::size_t>(d_.size()));
    d_.best(outputs_.data(), a.data());
    return a;
  }
  void say(const std::string& sentence) { found_.push_back(sentence); }

  bool draw(random& numbers) {
    drawn_.clear();
    logs_.clear();
    for (std::size_t i = 0; i < draws; ++i) {
      drawn_.push_back(sample(numbers));
      const action& a = drawn_.back();
      if (std::any_of(a.begin(), a.end(), [](float x) { return !base::is_finite(static_cast<double>(x)); }))
        return say("sample() gives the action " + text_of(a) + ", which is not finite"), false;
      logs_.push_back(log_probability(a));
      if (!base::is_finite(logs_.back()))
        return say("log_probability() of the action " + text_of(a) + ", which sample() gave, is " +
                   short_text(logs_.back()) + "; it has to be finite"),
               false;
    }
    return true;
  }

  void check_repetition(const random& numbers) {
    for (int i = 0; i < 10; ++i) {
      random one = numbers, other = numbers;
      if (sample(one) == sample(other)) continue;
      return say(
          "sample() gives another action for the same random numbers: all randomness has to come from the "
          "rl::random that it gets");
    }
  }

  void check_space(const action& kept, const std::string& of) {
    action to(kept.size());
    d_.to_environment(kept.data(), to.data());
    action same = kept;
    d_.to_environment(same.data(), same.data());
    std::string sentence;
    if (!actions_.contains(to))
      sentence = "to_environment() makes " + text_of(to) + " of an action of " + of + ", which is not in the space " +
                 actions_.text();
    else if (same != to)
      sentence = "to_environment() gives something else when it writes where it reads; both may be one place";
    if (!sentence.empty() && (found_.empty() || found_.back().substr(0, 20) != sentence.substr(0, 20))) say(sentence);
  }

  /// How often each value is drawn, beside how often it should be by log_probability(). False: a mistake was found.
  bool compare_probabilities(random& numbers) {
    std::vector<proposal> parts;
    for (std::size_t i = 0; i < drawn_.front().size(); ++i) {
      std::vector<float> values;
      for (const action& a : drawn_) values.push_back(a[i]);
      parts.emplace_back(std::move(values));
    }
    estimate total;
    std::vector<std::pair<action, double>> weighted;
    for (std::size_t i = 0; i < proposals; ++i) {
      double log = 0;
      action a;
      for (const proposal& p : parts) a.push_back(p.draw(numbers, log));
      const double of_action = log_probability(a), weight = std::exp(of_action - log);
      if (!base::is_finite(weight))
        return say("log_probability() of the action " + text_of(a) + ", in the range of what sample() gives, is " +
                   short_text(of_action)),
               false;
      total.add(weight);
      weighted.emplace_back(std::move(a), weight);
    }
    if (std::abs(total.mean() - 1) > 0.03 + 5 * total.error())
      return say("the probabilities exp(log_probability()) of all actions that sample() gives add up to " +
                 short_text(total.mean()) + " instead of 1"),
             false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!compare_bins(parts[i], i, weighted)) return false;
    }
    return true;
  }

  bool compare_bins(const proposal& part, std::size_t i, const std::vector<std::pair<action, double>>& weighted) {
    std::vector<double> drawn(part.bins()), expected(part.bins()), squares(part.bins());
    for (const action& a : drawn_) drawn[part.bin_of(a[i])] += 1. / draws;
    for (const auto& [a, weight] : weighted) {
      const double w = weight / static_cast<double>(proposals);
      expected[part.bin_of(a[i])] += w;
      squares[part.bin_of(a[i])] += w * w;
    }
    std::size_t worst = 0;
    double most = 0;
    for (std::size_t b = 0; b < part.bins(); ++b) {
      const double error = std::sqrt(squares[b]) + std::sqrt(drawn[b] / draws);
      const double beyond = std::abs(drawn[b] - expected[b]) - 0.01 - 5 * error;
      if (beyond > most) worst = b, most = beyond;
    }
    if (most == 0) return true;
    say(
        base::text("sample() does not follow log_probability(): number {} of an action has {} in {} % of the draws "
                   "instead of {} %",
                   i, part.text(worst), short_text(100 * drawn[worst]), short_text(100 * expected[worst])));
    return false;
  }

  void check_entropy() {
    estimate mean;
    for (const double log : logs_) mean.add(-log);
    const double given = static_cast<double>(d_.entropy(outputs_.data(), spread_.data()));
    const double beyond = std::abs(given - mean.mean()) - 0.02 * (1 + std::abs(mean.mean())) - 5 * mean.error();
    if (base::is_finite(given) && beyond <= 0) return;
    say(base::text("entropy() is {}, but the mean of -log_probability() over {} samples is {}", short_text(given),
                   draws, short_text(mean.mean())));
  }

  /// A density has other modes after a change of scale, so only choices are compared.
  void check_best() {
    const action chosen = best();
    const auto most = static_cast<std::size_t>(std::max_element(logs_.begin(), logs_.end()) - logs_.begin());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::vector<float> values;
      for (const action& a : drawn_) values.push_back(a[i]);
      if (!proposal(std::move(values)).is_choice()) return;
    }
    const double log = log_probability(chosen);
    if (log < logs_[most] - 1e-4)
      say("best() gives " + text_of(chosen) + " with the probability " + short_text(std::exp(log)) +
          ", though that of " + text_of(drawn_[most]) + " is " + short_text(std::exp(logs_[most])));
  }

  /// What is derived: a * log_probability(of) + b * entropy.
  struct function {
    std::string name;
    float a, b;
    const action& of;
  };
  [[nodiscard]] double value(const function& f) const {
    return (f.a == 0 ? 0 : static_cast<double>(f.a) * log_probability(f.of)) +
           (f.b == 0 ? 0 : static_cast<double>(f.b * d_.entropy(outputs_.data(), spread_.data())));
  }
  /// The central difference by x, and how much that of points twice as far apart differs from it.
  [[nodiscard]] std::pair<double, double> slope(float& x, const function& f) const {
    const auto with = [&](float h) {
      const float before = x;
      x = before + h;
      const double above = value(f), end = static_cast<double>(x);
      x = before - h;
      const double below = value(f), width = end - static_cast<double>(x);
      x = before;
      return (above - below) / width;
    };
    const double narrow = with(0.01f), wide = with(0.02f);
    return {narrow, std::abs(wide - narrow)};
  }
  /// False: a mistake was found.
  bool check_gradient(const std::string& name, float a, float b) {
    for (std::size_t i = 0; i < 20; ++i) {
      const function f{name, a, b, drawn_[i]};
      action by_outputs(outputs_.size(), 1.f), by_spread(spread_.size(), 1.f);  // 1 was there before
      d_.add_gradient(outputs_.data(), spread_.data(), f.of.data(), {a, b}, by_outputs.data(), by_spread.data());
      if (!compare_gradient(f, outputs_, by_outputs, "output ") ||
          !compare_gradient(f, spread_, by_spread, "number of spread "))
        return false;
    }
    return true;
  }
  bool compare_gradient(const function& f, std::vector<float>& by, const action& sums, const std::string& what) {
    const double factor = static_cast<double>(f.a + f.b);
    for (std::size_t k = 0; k < by.size(); ++k) {
      const auto [expected, apart] = slope(by[k], f);
      const double tolerance = 0.05 * (1 + std::abs(expected)) + 3 * apart, sum = static_cast<double>(sums[k]);
      if (std::abs(sum - 1 - expected) <= tolerance) continue;
      if (std::abs(sum - expected) <= tolerance)
        say("add_gradient() writes over the numbers that it gets; it has to add to them");
      else
        say(base::text(
            "add_gradient() adds {} for the derivative of {}() by {}{} for the action {}; central differences give {}",
            short_text((sum - 1) / factor), f.name, what, k, text_of(f.of), short_text(expected / factor)));
      return false;
    }
    return true;
  }

  const distribution& d_;
  const space& actions_;
  std::vector<float> outputs_, spread_;
  std::vector<action> drawn_;
  std::vector<double> logs_;
  std::vector<std::string> found_;
};

}  // namespace detail

MANTA_DECL std::vector<std::string> find_distribution_mistakes(const space& actions, const own_distribution& d) {
  try {
    return detail::distribution_checker(*make_distribution(actions, d), actions).mistakes();
  } catch (const std::exception& e) {
    return {std::string("it throws: ") + e.what()};
  }
}

MANTA_DECL void check_distribution(const space& actions, const own_distribution& d) {
  const std::vector<std::string> mistakes = find_distribution_mistakes(actions, d);
  if (mistakes.empty()) return;
  std::string text = "manta: rl: the distribution " + d.name() + " is not right for actions of " + actions.text() + ":";
  for (const std::string& m : mistakes) text += "\n  - " + m;
  throw error(text);
}

}  // namespace manta::rl
