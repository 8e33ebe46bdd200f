// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functional analysis of variance (Hutter, Hoos, Leyton-Brown, ICML 2014): how
// much of the variation of the loss over the space each parameter explains alone,
// and how much each pair explains together beyond that. The trials teach a forest
// of regression trees what the loss is everywhere; each tree is a partition of the
// unit cube into boxes, over which variances are exact sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune {

struct fanova_options {
  std::size_t trees = 64;
  std::size_t leaf = 1;           ///< least number of trials in a box: more are faster, and explain less by pairs
  std::size_t most_trials = 600;  ///< number of trials that are used: of more trials, as many evenly spread ones
  bool by_rank = true;  ///< losses enter by their rank, so that a few terrible ones do not decide and failed trials
                        ///< count as the worst; false: by value, without failed trials
  bool best_may_fail = false;  ///< trials that failed count with what they reported before
  std::uint64_t seed = 1;
};

/// What one parameter, or two parameters together, explain.
struct effect {
  std::vector<std::string> parameters;
  double share = 0;  ///< share of the variation, from 0 to 1
};

/// The effects of all parameters and of all pairs, the largest first; what three or more explain only together is the
/// rest to 1. Pairs whose parameters explain nothing alone need many trials to be found, and come out too small with
/// few: a third of the variation as a fifth with 300 trials, as a quarter with 600. Empty for a space defined by
/// running, and if fewer than eight trials can be compared. Where trials were stopped early, all are compared at one
/// time, as by searchers, and those that did not come to it are left out. A parameter counts as in its middle where its
/// condition does not hold.
MANTA_DECL std::vector<effect> fanova(const space& where, const std::vector<trial_record>& trials,
                                      const fanova_options& o = {});

/// The number of trials from which fanova learns, and the time at which it compares them; infinite: at their ends.
struct fanova_basis {
  std::size_t trials = 0;
  double at = 0;
};
MANTA_DECL fanova_basis fanova_trials(const std::vector<trial_record>& trials, const fanova_options& o = {});

// Which parameters matter, in one number for each.

/// The share from 0 to 1 that each parameter explains alone, with half of what each of its pairs explains only
/// together; the largest first. What three or more explain only together is the rest to 1. It is empty where fanova is.
/// Trials that failed count as the worst, whatever they reported before, unless they may be the best ones.
MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<trial_record>& trials,
                                                                            bool best_may_fail = false);
/// The shares that follow from these effects, which are those of fanova.
MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<effect>& effects);

namespace detail {

/// Points of the unit cube and a value at each.
struct samples {
  std::vector<std::vector<double>> points;
  std::vector<double> values;
};

/// A tree of regression: a partition of the unit cube into boxes with a value each.
class regression_tree {
 public:
  struct box {
    std::vector<double> low, high;
    double value = 0, volume = 0;
  };

  /// Grows on these samples (by number, some of them several times) until no cut leaves `leaf` of them on both sides.
  MANTA_DECL regression_tree(const samples& from, std::vector<std::size_t> chosen, std::size_t leaf, random& r);
  const std::vector<box>& boxes() const { return boxes_; }

 private:
  struct cut {
    std::size_t axis = 0;
    double at = 0, gain = 0;  ///< gain: by how much the squared errors become less
  };
  using range = std::pair<std::size_t, std::size_t>;  ///< a range of chosen_

  void grow(range of, box within, random& r);
  cut best_cut(range of, random& r);
  /// The best cut on this axis if its gain is larger than that of `best`, which it replaces then.
  void look_for_cut(range of, std::size_t axis, double sum, cut& best);
  void sort(range of, std::size_t axis);

  const samples& from_;
  std::vector<std::size_t> chosen_;
  std::size_t leaf_;
  std::vector<box> boxes_;
};

/// The variances of functions on the unit cube that are constant on boxes: of each axis alone, and of each
/// pair of axes beyond that.
class variance_table {
 public:
  explicit variance_table(std::size_t axes) : alone_and_in_pairs_(axes, std::vector<double>(axes, 0)) {}

  /// Adds the covariances of two functions; of a function with itself they are its variances.
  MANTA_DECL void add(const std::vector<regression_tree::box>& a, const std::vector<regression_tree::box>& b);
  /// The share of axis k alone if k and l are the same, else of the axes k < l together, in the whole
  /// of what was added.
  MANTA_DECL double share(std::size_t k, std::size_t l) const;

 private:
  void add_boxes(const regression_tree::box& a, const regression_tree::box& b, double weight);

  std::vector<std::vector<double>> alone_and_in_pairs_;
  double whole_ = 0;
  std::vector<std::pair<std::size_t, double>> parts_;  ///< (axis, common part) of two boxes; kept for its memory
};

/// The variances of a forest, each tree of which grows on as many samples drawn with replacement. They are the
/// covariances of each tree with the next one, in which the errors of single trees cancel: variances of the trees
/// themselves would count these errors, mostly as effects of pairs.
MANTA_DECL variance_table forest_variances(const samples& from, const fanova_options& o);

}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/fanova.ipp"
#endif
