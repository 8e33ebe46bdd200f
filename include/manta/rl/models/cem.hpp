// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Planning by the cross-entropy method (Rubinstein, 1999): candidates for the actions of the next steps are drawn
// around a plan, and the best of them make the next plan. It needs a function that judges candidates, such as one that
// runs the dynamics that the program knows:
//
//   rl::cem search(rl::box{{-2.f}, {2.f}}, {.horizon = 25});
//   Eigen::VectorXf action = search.act([&](const Eigen::MatrixXf& actions) {   // a column for each step
//     return sum_of_rewards(state, actions);
//   });
//
// The next call begins with the plan of this one, a step later. pets plans by it on models that it learns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "manta/nn/module.hpp"
#include "manta/rl/base/random.hpp"
#include "manta/rl/environments/space.hpp"
#include "manta/rl/models/source.hpp"

namespace manta::rl {

struct cem_options {
  int horizon = 20;        ///< steps of a plan
  int candidates = 400;    ///< plans that are judged in a round
  int elites = 40;         ///< the best of them, around which those of the next round are drawn
  int rounds = 5;          ///< rounds for each action
  double deviation = 0.5;  ///< that of the first candidates from the plan, in halves of the distance between the bounds
  double momentum = 0.1;   ///< the part of the round before in a round's mean and deviations
  double kept = 0.3;       ///< the part of the elites that are candidates of the next round too (Pinneri et al., 2020)
  std::uint64_t seed = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(horizon, candidates, elites, rounds, deviation, momentum, kept, seed);
  }
};

namespace detail {

/// The search, in units of half the distance between the bounds.
class line_search {
 public:
  line_search() = default;
  /// Throws manta::error if the options make no sense. actions: numbers of an action.
  MANTA_DECL line_search(int actions, const cem_options& o);

  /// Writes the returns of lines, a column each: the actions of the first step, of the second one, and so on.
  using judge = std::function<void(const nn::matrix<float>& lines, std::span<double> returns)>;
  /// Improves a line; each round judges the line itself too.
  MANTA_DECL void improve(std::span<float> line, random numbers, const judge& j);
  /// Takes the first step off, and appends one of zeros.
  MANTA_DECL void shift(std::span<float> line) const;
  /// Numbers of a line.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(actions_ * options_.horizon); }
  [[nodiscard]] const cem_options& options() const { return options_; }

 private:
  void draw(std::span<const float> line, random& numbers);
  void take_best(std::span<float> line);

  int actions_ = 1;
  cem_options options_;
  nn::matrix<float> lines_, kept_;
  std::vector<float> deviations_;
  std::vector<double> returns_;
  std::vector<int> order_;
};

}  // namespace detail

class cem {
 public:
  /// Throws manta::error if actions are not numbers between finite bounds, or if the options make no sense.
  MANTA_DECL explicit cem(const space& actions, const cem_options& o = {});

  /// Writes the returns of all candidates of a round, a column each: the actions of the first step, of the second one,
  /// and so on. The last column is the plan itself.
  using judge_of_all = std::function<void(const Eigen::MatrixXf& candidates, std::span<double> returns)>;
  /// The first action of the best plan that was found. A return that is not finite is the worst.
  MANTA_DECL Eigen::VectorXf act_by(const judge_of_all& judge);
  /// The first action of the best plan, judged by a function of one candidate: actions x steps.
  template <class Judge>
  Eigen::VectorXf act(Judge&& judge) {
    static_assert(std::is_invocable_r_v<double, Judge&, const Eigen::MatrixXf&>,
                  "manta: rl: cem::act takes a function that gives the return, a double, of the actions of the next "
                  "steps, a const Eigen::MatrixXf& with a column for each step");
    return act_by([&](const Eigen::MatrixXf& candidates, std::span<double> returns) {
      Eigen::MatrixXf one(action_size(), candidates.rows() / action_size());
      for (Eigen::Index k = 0; k < candidates.cols(); ++k) {
        one.reshaped() = candidates.col(k);
        returns[static_cast<std::size_t>(k)] = judge(one);
      }
    });
  }
  /// What is planned after that action: actions x steps.
  [[nodiscard]] MANTA_DECL Eigen::MatrixXf plan() const;
  /// The next plan begins with the middle between the bounds.
  MANTA_DECL void begin_episode();

 private:
  [[nodiscard]] Eigen::Index action_size() const { return static_cast<Eigen::Index>(actions_.size()); }

  space actions_;
  detail::line_search search_;
  std::vector<float> line_;
  std::uint64_t step_ = 0;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/models/cem.ipp"
#endif
