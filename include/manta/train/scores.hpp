// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Scores of predictions for a whole data set, which are no means over batches. `y` is what a model gives, outputs x
// samples, as trainer::predict returns it. Where classes are meant, a sample has the class of its largest output.
//
//   const nn::matrix<float> y = trainer.predict(test);
//   std::cout << train::f1(y, labels) << '\n' << train::confusion(y, labels) << '\n';
//
// Definitions are those of scikit-learn's functions of similar names.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "manta/train/source.hpp"

namespace manta::train {

namespace detail {
/// Predictions or targets of any matrix of Eigen, outputs x samples.
struct outputs : Eigen::MatrixXd {
  template <class Matrix>
  outputs(const Eigen::MatrixBase<Matrix>& m) : Eigen::MatrixXd(m.template cast<double>()) {}
};
}  // namespace detail

/// The part of the samples whose class is right.
[[nodiscard]] MANTA_DECL double accuracy(const detail::outputs& y, std::span<const int> labels);
/// The part of the samples whose class is among the k with the largest outputs. Of equal outputs, those of the higher
/// classes count as larger.
[[nodiscard]] MANTA_DECL double top_k(const detail::outputs& y, std::span<const int> labels, int k);
/// Row: the class of the label; column: the class that was predicted; each entry counts samples.
[[nodiscard]] MANTA_DECL Eigen::MatrixXi confusion(const detail::outputs& y, std::span<const int> labels);

/// How well one class is found.
struct class_score {
  double precision = 0;  ///< the part of the samples predicted as this class that are of it; 0 if there are none
  double recall = 0;     ///< the part of the class's samples that are predicted as it; 0 if there are none
  double f1 = 0;         ///< the harmonic mean of both
  int count = 0;         ///< samples of the class
};
/// A score for each class.
[[nodiscard]] MANTA_DECL std::vector<class_score> class_scores(const detail::outputs& y, std::span<const int> labels);
/// The mean of the classes' F1 (macro); classes that neither labels nor predictions have do not count.
[[nodiscard]] MANTA_DECL double f1(const detail::outputs& y, std::span<const int> labels);

/// The area below the ROC curve, for labels 0 and 1: the probability that a sample of class 1 has a larger score than
/// one of class 0, where equal scores count half. The score is the only output, or the second output less the first.
/// Throws manta::error unless there are samples of both classes.
[[nodiscard]] MANTA_DECL double auc(const detail::outputs& y, std::span<const int> labels);

/// The coefficient of determination, 1 - (residual sum of squares) / (total sum of squares): the mean over the outputs.
/// An output whose targets are all equal gives 1 if it is met exactly, else 0.
[[nodiscard]] MANTA_DECL double r2(const detail::outputs& y, const detail::outputs& targets);

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/scores.ipp"
#endif
