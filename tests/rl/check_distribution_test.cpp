// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checker finds each mistake that distributions of actions are given here, and nothing in the library's own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "manta/rl/policies/check_distribution.hpp"
#include "manta/rl/policies/squashed_gaussian.hpp"
#include "support/text.hpp"

namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

enum class mistake {
  none,
  norm,
  uniform_sample,
  wide_sample,
  leaves_out,
  entropy,
  entropy_nan,
  gradient,
  gradient_of_spread,
  gradient_of_entropy,
  overwrites,
  worst,
  outside,
  not_in_place,
  nan,
  infinite,
  outside_random,
  throws
};

/// The library's distribution with a mistake.
class faulty : public rl::distribution {
 public:
  faulty(const rl::space& actions, int m) : inner_(rl::make_distribution(actions)), m_(static_cast<mistake>(m)) {}
  [[nodiscard]] int outputs() const override { return inner_->outputs(); }
  [[nodiscard]] int spread() const override { return inner_->spread(); }
  [[nodiscard]] int size() const override { return inner_->size(); }
  void sample(const float* o, const float* s, rl::random& numbers, float* action) const override {
    if (m_ == mistake::throws) throw std::runtime_error("no dice");
    std::vector<float> other(static_cast<std::size_t>(outputs())), wide(s, s + spread());
    for (float& x : wide) x += 0.2f;
    rl::random elsewhere(static_cast<std::uint64_t>(std::rand()));
    inner_->sample(m_ == mistake::uniform_sample ? other.data() : o, m_ == mistake::wide_sample ? wide.data() : s,
                   m_ == mistake::outside_random ? elsewhere : numbers, action);
    if (m_ == mistake::leaves_out && action[0] == 1) action[0] = 0;
    if (m_ == mistake::infinite) action[0] = std::numeric_limits<float>::infinity();
  }
  void best(const float* o, float* action) const override {
    inner_->best(o, action);
    if (m_ == mistake::worst) action[0] = static_cast<float>(std::min_element(o, o + 3) - o);
  }
  void to_environment(const float* action, float* to) const override {
    if (m_ == mistake::not_in_place) to[0] = -7;
    inner_->to_environment(action, to);
    if (m_ == mistake::outside) to[0] += 3;
  }
  [[nodiscard]] float log_probability(const float* o, const float* s, const float* action) const override {
    if (m_ == mistake::nan && action[0] > 0) return std::numeric_limits<float>::quiet_NaN();
    return inner_->log_probability(o, s, action) + (m_ == mistake::norm ? 0.1f : 0.f);
  }
  [[nodiscard]] float entropy(const float* o, const float* s) const override {
    if (m_ == mistake::entropy_nan) return std::numeric_limits<float>::quiet_NaN();
    return inner_->entropy(o, s) * (m_ == mistake::entropy ? 1.1f : 1.f);
  }
  void add_gradient(const float* o, const float* s, const float* action, weights w, float* by_o,
                    float* by_s) const override {
    if (m_ == mistake::overwrites) std::fill(by_o, by_o + outputs(), 0.f);
    if (m_ == mistake::gradient_of_entropy) w.entropy = -w.entropy;
    inner_->add_gradient(o, s, action, w, by_o, by_s);
    if (m_ == mistake::gradient) by_o[1] += 0.3f * w.log_probability;
    if (m_ == mistake::gradient_of_spread) by_s[1] -= 0.3f * w.log_probability;
  }

 private:
  std::unique_ptr<rl::distribution> inner_;
  mistake m_;
};

std::string said(const rl::space& actions, mistake m) {
  return thrown<manta::error>([&] { rl::check_distribution<faulty>(actions, static_cast<int>(m)); });
}

/// A Gaussian through tanh, of which actions are kept as they come out: there is no density outside of the bounds.
class by_tanh : public rl::distribution {
 public:
  [[nodiscard]] int outputs() const override { return 4; }
  [[nodiscard]] int spread() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void sample(const float* o, const float*, rl::random& numbers, float* action) const override {
    const float noise[] = {static_cast<float>(numbers.normal()), static_cast<float>(numbers.normal())};
    g_.sample(o, noise, action);
  }
  void best(const float* o, float* action) const override {
    for (int i = 0; i < 2; ++i) action[i] = std::tanh(o[i]);
  }
  void to_environment(const float* action, float* to) const override { std::copy(action, action + 2, to); }
  [[nodiscard]] float log_probability(const float* o, const float*, const float* action) const override {
    float noise[2], same[2];
    for (int i = 0; i < 2; ++i) noise[i] = (std::atanh(action[i]) - o[i]) * std::exp(-o[2 + i]);
    return g_.sample(o, noise, same);
  }
  [[nodiscard]] float entropy(const float*, const float*) const override { return 0; }
  void add_gradient(const float* o, const float*, const float* action, weights w, float* by, float*) const override {
    for (int i = 0; i < 2; ++i) {
      const float z = (std::atanh(action[i]) - o[i]) * std::exp(-o[2 + i]);
      by[i] += w.log_probability * z * std::exp(-o[2 + i]);
      by[2 + i] += w.log_probability * (z * z - 1);
    }
  }

 private:
  rl::squashed_gaussian<float> g_{2};
};

const rl::space choice = rl::discrete{4, -2}, parts = rl::multi_discrete{{3, 2, 5}}, arm = rl::box{{-1, 0}, {1, 5}};

}  // namespace

TEST_CASE("the library's distributions have no mistakes") {
  for (const rl::space& actions :
       {choice, parts, arm, rl::space(rl::multi_binary{6}), rl::space(rl::discrete{200}), rl::space(rl::box{{0}, {1}}),
        rl::space(rl::box{std::vector<float>(6, -1.f), std::vector<float>(6, 1.f)}),
        rl::space(rl::tuple{{rl::discrete{3, 5}, rl::box{{-2.f}, {1.f}}, rl::multi_binary{2}}})}) {
    INFO(actions.text());
    const std::vector<std::string> mistakes = rl::find_distribution_mistakes(actions, {});
    INFO((mistakes.empty() ? "" : mistakes.front()));
    CHECK(mistakes.empty());
    CHECK(said(actions, mistake::none).empty());
  }
}

TEST_CASE("probabilities that do not add up to 1, or that samples do not follow, are told apart") {
  for (const rl::space& actions : {choice, parts, arm}) {
    CHECK(contains(said(actions, mistake::norm), "all actions that sample() gives add up to 1.1"));
    CHECK(contains(said(actions, mistake::uniform_sample), "sample() does not follow log_probability(): number "));
  }
  CHECK(contains(said(arm, mistake::wide_sample), "a value in the range {"));
  CHECK(contains(said(choice, mistake::leaves_out), "all actions that sample() gives add up to 0."));
  CHECK(contains(said(parts, mistake::uniform_sample), "% of the draws instead of"));
}

TEST_CASE("an entropy or a gradient that is wrong is told with what is right") {
  for (const rl::space& actions : {choice, parts, arm}) {
    CHECK(contains(said(actions, mistake::entropy), "but the mean of -log_probability() over 20000 samples is "));
    CHECK(contains(said(actions, mistake::gradient),
                   "for the derivative of log_probability() by output 1 for the action"));
    CHECK(contains(said(actions, mistake::overwrites), "it has to add to them"));
  }
  CHECK(contains(said(choice, mistake::entropy_nan), "entropy() is nan"));
  CHECK(contains(said(arm, mistake::gradient_of_spread), "of log_probability() by number of spread 1"));
  CHECK(contains(said(choice, mistake::gradient_of_entropy), "for the derivative of entropy() by output 0"));
  CHECK(contains(said(arm, mistake::gradient_of_entropy), "of entropy() by number of spread 0"));
}

TEST_CASE("actions outside of the space, that are not finite or not the best ones, are told") {
  CHECK(contains(said(choice, mistake::worst), "best() gives {"));
  CHECK(contains(said(parts, mistake::outside), "which is not in the space multi_discrete{"));
  CHECK(contains(said(choice, mistake::not_in_place), "both may be one place"));
  CHECK(contains(said(arm, mistake::nan), ", which sample() gave, is nan; it has to be finite"));
  CHECK(contains(said(arm, mistake::infinite), "sample() gives the action {inf, "));
  CHECK(contains(said(choice, mistake::outside_random), "all randomness has to come from the rl::random"));
  const std::string text = said(choice, mistake::throws);
  CHECK(contains(text, "manta: rl: the distribution "));
  CHECK(contains(text, "is not right for actions of discrete{4"));
  CHECK(contains(text, "it throws: no dice"));
}

TEST_CASE("a squashed Gaussian of the program's own has the one mistake that it was given, an entropy of 0") {
  const auto mistakes = rl::find_distribution_mistakes(rl::box{{-1, -1}, {1, 1}}, rl::own<by_tanh>());
  REQUIRE(!mistakes.empty());
  INFO(mistakes.back());
  CHECK(mistakes.size() == 1);
  CHECK(contains(mistakes.front(), "entropy() is 0, but the mean"));
}
