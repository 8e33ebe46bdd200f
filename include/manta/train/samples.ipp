// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <climits>
#include <cstring>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/train/samples.hpp"

namespace manta::train {

namespace detail {

MANTA_DECL int checked_class(std::int64_t number) {
  if (number < INT_MIN || number > INT_MAX)
    throw error(base::text("manta: train: {} is no class; classes are numbers from 0", number));
  return static_cast<int>(number);
}

template <class T>
using any_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// Matrices and classes that samples own.
template <class T>
struct owned_arrays {
  any_matrix<T> x, y;
  std::vector<int> labels;
};

inline void check_targets(std::size_t samples, std::size_t targets, const char* what) {
  if (samples != targets)
    throw error(
        base::text("manta: train: there are {} samples and {} {}; data are features x samples, one column a sample",
                   samples, targets, what));
}

/// A column for each sample, or one column with the class of each.
inline std::vector<int> classes_of(const Eigen::MatrixXi& labels, Eigen::Index samples) {
  if (labels.cols() != 1 || labels.rows() != samples)
    check_targets(static_cast<std::size_t>(samples), static_cast<std::size_t>(labels.cols()), "columns of classes");
  return {labels.data(), labels.data() + labels.size()};
}

template <class T>
sample_arrays arrays_of(std::shared_ptr<const owned_arrays<T>> owned, bool has_labels) {
  sample_arrays a;
  a.count = static_cast<std::size_t>(owned->x.cols());
  a.features = static_cast<std::size_t>(owned->x.rows());
  a.outputs =
      has_labels ? owned->labels.size() / std::max<std::size_t>(1, a.count) : static_cast<std::size_t>(owned->y.rows());
  a.is_double = std::is_same_v<T, double>;
  a.x = owned->x.data();
  static constexpr int no_labels[1] = {};
  if (has_labels) {
    a.labels = owned->labels.empty() ? no_labels : owned->labels.data();
  } else {
    a.y = owned->y.data();
  }
  a.owner = std::move(owned);
  return a;
}

}  // namespace detail

template <class T>
void samples::set(detail::any_matrix<T> x, std::vector<int> labels) {
  size_ = static_cast<std::size_t>(x.cols());
  auto owned =
      std::make_shared<const detail::owned_arrays<T>>(std::move(x), detail::any_matrix<T>(), std::move(labels));
  arrays_ = std::make_shared<const detail::sample_arrays>(detail::arrays_of<T>(std::move(owned), true));
}
template <class T>
void samples::set(detail::any_matrix<T> x, detail::any_matrix<T> y) {
  detail::check_targets(static_cast<std::size_t>(x.cols()), static_cast<std::size_t>(y.cols()), "columns of targets");
  size_ = static_cast<std::size_t>(x.cols());
  auto owned = std::make_shared<const detail::owned_arrays<T>>(std::move(x), std::move(y), std::vector<int>());
  arrays_ = std::make_shared<const detail::sample_arrays>(detail::arrays_of<T>(std::move(owned), false));
}

MANTA_DECL samples::samples(Eigen::MatrixXf x, std::vector<int> labels) {
  detail::check_targets(static_cast<std::size_t>(x.cols()), labels.size(), "classes");
  set(std::move(x), std::move(labels));
}
MANTA_DECL samples::samples(Eigen::MatrixXd x, std::vector<int> labels) {
  detail::check_targets(static_cast<std::size_t>(x.cols()), labels.size(), "classes");
  set(std::move(x), std::move(labels));
}
MANTA_DECL samples::samples(Eigen::MatrixXf x, const Eigen::MatrixXi& labels) {
  const Eigen::Index count = x.cols();
  set(std::move(x), detail::classes_of(labels, count));
}
MANTA_DECL samples::samples(Eigen::MatrixXd x, const Eigen::MatrixXi& labels) {
  const Eigen::Index count = x.cols();
  set(std::move(x), detail::classes_of(labels, count));
}
MANTA_DECL samples::samples(Eigen::MatrixXf x, Eigen::MatrixXf y) { set(std::move(x), std::move(y)); }
MANTA_DECL samples::samples(Eigen::MatrixXd x, Eigen::MatrixXd y) { set(std::move(x), std::move(y)); }

MANTA_DECL samples samples::with(nn::shape extents) const {
  samples s = *this;
  auto changed = arrays_ ? *arrays_ : detail::sample_arrays();
  changed.extents = std::move(extents);
  s.arrays_ = std::make_shared<const detail::sample_arrays>(std::move(changed));
  return s;
}
MANTA_DECL samples samples::with(train::columns columns) const {
  samples s = *this;
  auto changed = arrays_ ? *arrays_ : detail::sample_arrays();
  changed.columns = std::move(columns);
  s.arrays_ = std::make_shared<const detail::sample_arrays>(std::move(changed));
  return s;
}

MANTA_DECL samples samples::with_weights(std::vector<float> weights) const {
  detail::check_targets(size_, weights.size(), "weights of samples");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !base::is_finite(static_cast<double>(weights[i])))
      throw error(base::text("manta: train: the weight of sample {} is {}; it has to be at least 0", i, weights[i]));
  }
  if (weights.empty()) return *this;
  struct weighted {
    std::shared_ptr<const void> others;
    std::vector<float> weights;
  };
  weights.insert(weights.begin(), first_, 0);  // those of the samples before this part, which are not looked at
  samples s = *this;
  detail::sample_arrays changed = *arrays_;
  const auto owner = std::make_shared<const weighted>(weighted{changed.owner, std::move(weights)});
  changed.weights = owner->weights.data();
  changed.owner = owner;
  s.arrays_ = std::make_shared<const detail::sample_arrays>(std::move(changed));
  return s;
}

template <class T>
void samples::copy(std::span<const std::uint64_t> which, batch<T>& to, bool has_inputs) const {
  to.has_labels = has_labels();
  to.weights.clear();
  if (!arrays_) return to.x.resize(0, 0), to.labels.clear();
  const detail::sample_arrays& from = *arrays_;
  const auto count = static_cast<Eigen::Index>(which.size());
  const auto copy_columns = [&](const auto* numbers, std::size_t rows, nn::matrix<T>& out) {
    out.resize(static_cast<Eigen::Index>(rows), count);
    for (Eigen::Index i = 0; i < count; ++i) {
      using number = std::remove_cvref_t<decltype(*numbers)>;
      const number* const column = numbers + (first_ + which[static_cast<std::size_t>(i)]) * rows;
      out.col(i) = Eigen::Map<const Eigen::Matrix<number, Eigen::Dynamic, 1>>(column, out.rows()).template cast<T>();
    }
  };
  const auto copy_any = [&](const void* numbers, std::size_t rows, nn::matrix<T>& out) {
    from.is_double ? copy_columns(static_cast<const double*>(numbers), rows, out)
                   : copy_columns(static_cast<const float*>(numbers), rows, out);
  };
  if (has_inputs) copy_any(from.x, from.features, to.x);
  if (from.weights) {
    to.weights.resize(which.size());
    for (std::size_t i = 0; i < which.size(); ++i) to.weights[i] = from.weights[first_ + which[i]];
  }
  if (!from.labels) return copy_any(from.y, from.outputs, to.y);
  to.labels.resize(which.size() * from.outputs);
  for (std::size_t i = 0; i < which.size(); ++i)
    std::copy_n(from.labels + (first_ + which[i]) * from.outputs, from.outputs,
                to.labels.begin() + static_cast<std::ptrdiff_t>(i * from.outputs));
}

MANTA_DECL void samples::take(std::span<const std::uint64_t> which, batch<float>& to) const { copy(which, to, true); }
MANTA_DECL void samples::take(std::span<const std::uint64_t> which, batch<double>& to) const { copy(which, to, true); }
MANTA_DECL void samples::take_targets(std::span<const std::uint64_t> which, batch<float>& to) const {
  copy(which, to, false);
}
MANTA_DECL void samples::take_targets(std::span<const std::uint64_t> which, batch<double>& to) const {
  copy(which, to, false);
}

MANTA_DECL samples samples::part(std::size_t i, std::size_t n) const {
  samples s = *this;
  s.first_ = first_ + size_ * i / n;
  s.size_ = first_ + size_ * (i + 1) / n - s.first_;
  return s;
}

MANTA_DECL samples samples::range(std::size_t first, std::size_t count) const {
  if (first > size_ || count > size_ - first)
    throw error(base::text("manta: train: samples {} to {} were asked for; there are {}", first, first + count, size_));
  samples s = *this;
  s.first_ = first_ + first;
  s.size_ = count;
  return s;
}

MANTA_DECL samples samples::chosen(std::span<const std::uint64_t> which) const {
  const auto copied = [&]<class T>(batch<T> b) {
    take(which, b);
    samples s;
    b.has_labels ? s.set(std::move(b.x), std::move(b.labels)) : s.set(std::move(b.x), std::move(b.y));
    return b.weights.empty() ? s : s.with_weights(std::move(b.weights));
  };
  const bool is_double = arrays_ && arrays_->is_double;
  const samples s = is_double ? copied(batch<double>()) : copied(batch<float>());
  return s.with(extents()).with(columns());
}

MANTA_DECL samples::plain samples::as_plain() const {
  plain p;
  if (!arrays_) return p;
  const detail::sample_arrays& from = *arrays_;
  p.has_labels = has_labels();
  p.is_double = from.is_double;
  const auto count = static_cast<Eigen::Index>(size_);
  const auto copied = [&]<class T>(const void* numbers, std::size_t rows, detail::any_matrix<T>& to) {
    const auto* const begin = static_cast<const T*>(numbers) + first_ * rows;
    to = Eigen::Map<const detail::any_matrix<T>>(begin, static_cast<Eigen::Index>(rows), count);
  };
  from.is_double ? copied(from.x, from.features, p.xd) : copied(from.x, from.features, p.xf);
  if (from.labels) {
    p.labels.assign(labels().begin(), labels().end());
  } else {
    from.is_double ? copied(from.y, from.outputs, p.yd) : copied(from.y, from.outputs, p.yf);
  }
  return p;
}

MANTA_DECL void samples::set(plain p, nn::shape extents, train::columns columns) {
  first_ = 0;
  if (p.is_double) {
    p.has_labels ? set(std::move(p.xd), std::move(p.labels)) : set(std::move(p.xd), std::move(p.yd));
  } else {
    p.has_labels ? set(std::move(p.xf), std::move(p.labels)) : set(std::move(p.xf), std::move(p.yf));
  }
  if (extents.dimensions() > 0) *this = with(std::move(extents));
  if (!columns.empty()) *this = with(std::move(columns));
}

namespace detail {

/// The head of the bytes of shared samples. The arrays begin at multiples of 64 bytes from it.
struct shared_head {
  std::uint64_t count, features, outputs, words;  ///< words: bytes of what is said of the samples
  std::uint32_t is_double, has_labels;
};
constexpr std::size_t rounded_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Where the arrays lie in the bytes of shared samples.
struct shared_places {
  std::size_t words, x, y, end;
  std::size_t x_bytes, y_bytes;

  explicit shared_places(const shared_head& h) {
    const std::size_t each = h.is_double ? sizeof(double) : sizeof(float);
    x_bytes = h.count * h.features * each;
    y_bytes = h.count * h.outputs * (h.has_labels ? sizeof(int) : each);
    words = rounded_up(sizeof(shared_head));
    x = rounded_up(words + h.words);
    y = rounded_up(x + x_bytes);
    end = rounded_up(y + y_bytes);
  }
};

}  // namespace detail

MANTA_DECL std::size_t samples::write_shared(unsigned char* to) const {
  const std::span<const float> all = weights();
  const std::string words = output::pack(extents(), columns(), std::vector<float>(all.begin(), all.end()));
  const detail::sample_arrays none, &from = arrays_ ? *arrays_ : none;
  const detail::shared_head head{size_,        from.features,  from.outputs,
                                 words.size(), from.is_double, static_cast<std::uint32_t>(has_labels() ? 1 : 0)};
  const detail::shared_places at(head);
  if (!to) return at.end;
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + at.words, words.data(), words.size());
  const auto write = [&](std::size_t place, const void* array, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to + place, static_cast<const unsigned char*>(array) + first_ * (bytes / size_), bytes);
  };
  write(at.x, from.x, at.x_bytes);
  from.labels ? write(at.y, from.labels, at.y_bytes) : write(at.y, from.y, at.y_bytes);
  return at.end;
}

MANTA_DECL samples samples::share(std::span<const unsigned char> bytes, std::shared_ptr<const void> owner) {
  detail::shared_head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  const detail::shared_places at(head);
  detail::sample_arrays a;
  a.count = head.count;
  a.features = head.features;
  a.outputs = head.outputs;
  a.is_double = head.is_double != 0;
  a.x = bytes.data() + at.x;
  if (head.has_labels) {
    a.labels = reinterpret_cast<const int*>(bytes.data() + at.y);
  } else {
    a.y = bytes.data() + at.y;
  }
  std::vector<float> weights;
  output::unpack({reinterpret_cast<const char*>(bytes.data() + at.words), head.words}, a.extents, a.columns, weights);
  a.is_shared = true;
  a.owner = std::move(owner);
  samples s;
  s.size_ = a.count;
  s.arrays_ = std::make_shared<const detail::sample_arrays>(std::move(a));
  return weights.empty() ? s : s.with_weights(std::move(weights));
}

MANTA_DECL void detail::check_columns(std::size_t values, std::size_t count, std::size_t first) {
  if (values != count * first)
    throw error(base::text("manta: train: sample {} has another number of numbers than sample 0, which has {}",
                           count - 1, first));
}

}  // namespace manta::train
