// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of samples.hpp.
#pragma once

#include <string>

#include "manta/error.hpp"
#include "manta/train/samples.hpp"

namespace manta::train {

MANTA_DECL samples::samples(Eigen::MatrixXf x, std::vector<int> labels)
    : labels_(std::move(labels)), xf_(std::move(x)) {
  check();
}
MANTA_DECL samples::samples(Eigen::MatrixXd x, std::vector<int> labels)
    : is_double_(true), labels_(std::move(labels)), xd_(std::move(x)) {
  check();
}
MANTA_DECL samples::samples(Eigen::MatrixXf x, Eigen::MatrixXf y)
    : has_labels_(false), xf_(std::move(x)), yf_(std::move(y)) {
  check();
}
MANTA_DECL samples::samples(Eigen::MatrixXd x, Eigen::MatrixXd y)
    : has_labels_(false), is_double_(true), xd_(std::move(x)), yd_(std::move(y)) {
  check();
}

MANTA_DECL void samples::check() const {
  const std::size_t targets =
      has_labels_ ? labels_.size() : static_cast<std::size_t>(is_double_ ? yd_.cols() : yf_.cols());
  if (targets != size())
    throw error("manta: train: there are " + std::to_string(size()) + " samples and " + std::to_string(targets) +
                (has_labels_ ? " classes" : " columns of targets") +
                "; data are features x samples, one column a sample");
}

template <class T>
void samples::copy(std::span<const std::uint64_t> which, batch<T>& to) const {
  const auto count = static_cast<Eigen::Index>(which.size());
  const auto columns = [&](const auto& from, nn::matrix<T>& out) {
    out.resize(from.rows(), count);
    for (Eigen::Index i = 0; i < count; ++i)
      out.col(i) = from.col(static_cast<Eigen::Index>(which[static_cast<std::size_t>(i)])).template cast<T>();
  };
  is_double_ ? columns(xd_, to.x) : columns(xf_, to.x);
  to.has_labels = has_labels_;
  if (!has_labels_) return is_double_ ? columns(yd_, to.y) : columns(yf_, to.y);
  to.labels.resize(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) to.labels[i] = labels_[which[i]];
}

MANTA_DECL void samples::take(std::span<const std::uint64_t> which, batch<float>& to) const { copy(which, to); }
MANTA_DECL void samples::take(std::span<const std::uint64_t> which, batch<double>& to) const { copy(which, to); }

MANTA_DECL samples samples::part(std::size_t i, std::size_t n) const {
  const auto first = static_cast<Eigen::Index>(size() * i / n), last = static_cast<Eigen::Index>(size() * (i + 1) / n);
  samples s;
  s.has_labels_ = has_labels_;
  s.is_double_ = is_double_;
  if (has_labels_) s.labels_.assign(labels_.begin() + first, labels_.begin() + last);
  const auto cut = [&](const auto& from, auto& to) {
    if (from.cols() > 0) to = from.middleCols(first, last - first);
  };
  cut(xf_, s.xf_), cut(yf_, s.yf_), cut(xd_, s.xd_), cut(yd_, s.yd_);
  return s;
}

MANTA_DECL void detail::check_columns(std::size_t values, std::size_t count, std::size_t first) {
  if (values != count * first)
    throw error("manta: train: sample " + std::to_string(count - 1) +
                " has another number of numbers than sample 0, which has " + std::to_string(first));
}

}  // namespace manta::train
