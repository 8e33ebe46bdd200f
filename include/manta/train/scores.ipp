// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/scores.hpp"

namespace manta::train {

namespace detail {

inline void check_labels(const outputs& y, std::span<const int> labels, int classes, const char* what) {
  if (static_cast<std::size_t>(y.cols()) != labels.size() || labels.empty())
    throw error(
        base::text("manta: train::{}: there are predictions for {} samples, and {} labels; there has to be a "
                   "label for each sample, and one sample at least",
                   what, y.cols(), labels.size()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes)
      throw error(base::text("manta: train::{}: the label {} of sample {} is none of the {} classes, 0 to {}", what,
                             labels[i], i, classes, classes - 1));
  }
}

inline int class_of(const outputs& y, Eigen::Index sample) {
  Eigen::Index best = 0;
  y.col(sample).maxCoeff(&best);
  return static_cast<int>(best);
}

}  // namespace detail

MANTA_DECL double accuracy(const detail::outputs& y, std::span<const int> labels) {
  detail::check_labels(y, labels, static_cast<int>(y.rows()), "accuracy");
  int right = 0;
  for (Eigen::Index i = 0; i < y.cols(); ++i) right += detail::class_of(y, i) == labels[static_cast<std::size_t>(i)];
  return static_cast<double>(right) / static_cast<double>(y.cols());
}

MANTA_DECL double top_k(const detail::outputs& y, std::span<const int> labels, int k) {
  detail::check_labels(y, labels, static_cast<int>(y.rows()), "top_k");
  if (k < 1) throw error(base::text("manta: train::top_k: k is {}; it has to be 1 at least", k));
  int found = 0;
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const Eigen::Index label = labels[static_cast<std::size_t>(i)];
    int larger = 0;
    for (Eigen::Index c = 0; c < y.rows(); ++c)
      larger += y(c, i) > y(label, i) || (c > label && y(c, i) == y(label, i));
    found += larger < k;
  }
  return static_cast<double>(found) / static_cast<double>(y.cols());
}

MANTA_DECL Eigen::MatrixXi confusion(const detail::outputs& y, std::span<const int> labels) {
  detail::check_labels(y, labels, static_cast<int>(y.rows()), "confusion");
  Eigen::MatrixXi counts = Eigen::MatrixXi::Zero(y.rows(), y.rows());
  for (Eigen::Index i = 0; i < y.cols(); ++i) ++counts(labels[static_cast<std::size_t>(i)], detail::class_of(y, i));
  return counts;
}

MANTA_DECL std::vector<class_score> class_scores(const detail::outputs& y, std::span<const int> labels) {
  const Eigen::MatrixXi counts = confusion(y, labels);
  const auto part = [](int of, int all) { return all > 0 ? static_cast<double>(of) / all : 0.; };
  std::vector<class_score> scores;
  for (Eigen::Index c = 0; c < counts.rows(); ++c) {
    const int right = counts(c, c), of_class = counts.row(c).sum(), predicted = counts.col(c).sum();
    scores.push_back({part(right, predicted), part(right, of_class), part(2 * right, of_class + predicted), of_class});
  }
  return scores;
}

MANTA_DECL double f1(const detail::outputs& y, std::span<const int> labels) {
  const Eigen::MatrixXi counts = confusion(y, labels);
  double sum = 0;
  int classes = 0;
  for (Eigen::Index c = 0; c < counts.rows(); ++c) {
    const int both = counts.row(c).sum() + counts.col(c).sum();
    if (both == 0) continue;
    sum += 2. * counts(c, c) / both;
    ++classes;
  }
  return sum / classes;
}

MANTA_DECL double auc(const detail::outputs& y, std::span<const int> labels) {
  detail::check_labels(y, labels, 2, "auc");
  if (y.rows() > 2)
    throw error(
        base::text("manta: train::auc: it takes one or two outputs, not {}; for more classes take the output of "
                   "one of them, y.row(c), and labels that are 1 for this class",
                   y.rows()));
  const std::size_t n = labels.size();
  const auto score = [&](std::size_t i) {
    const auto at = static_cast<Eigen::Index>(i);
    return y.rows() == 1 ? y(0, at) : y(1, at) - y(0, at);
  };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score(a) < score(b); });
  double ranks = 0, positives = 0;  // the sum of the ranks of class 1; equal scores share the mean of theirs
  for (std::size_t from = 0, to = 0; from < n; from = to) {
    double of_one = 0;
    for (; to < n && score(order[to]) == score(order[from]); ++to) of_one += labels[order[to]];
    ranks += of_one * (static_cast<double>(from + to) + 1) / 2;
    positives += of_one;
  }
  const double negatives = static_cast<double>(n) - positives;
  if (positives == 0 || negatives == 0) throw error("manta: train::auc: there are samples of one class alone");
  return (ranks - positives * (positives + 1) / 2) / (positives * negatives);
}

MANTA_DECL double r2(const detail::outputs& y, const detail::outputs& targets) {
  if (y.rows() != targets.rows() || y.cols() != targets.cols() || y.cols() == 0)
    throw error(
        base::text("manta: train::r2: predictions are {} x {}, and targets {} x {}; both have to be alike, and not "
                   "empty",
                   y.rows(), y.cols(), targets.rows(), targets.cols()));
  double sum = 0;
  for (Eigen::Index o = 0; o < y.rows(); ++o) {
    const Eigen::ArrayXd t = targets.row(o).transpose().array();
    const double residual = (t - y.row(o).transpose().array()).square().sum();
    const double total = (t - t.mean()).square().sum();
    sum += total > 0 ? 1 - residual / total : residual == 0 ? 1 : 0;
  }
  return sum / static_cast<double>(y.rows());
}

}  // namespace manta::train
