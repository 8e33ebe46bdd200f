// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A loss of the program's own, from a function of one sample. What a batch, weights of samples and shares of workers
// make of it is done here.
//
//   nn::own_loss<float> loss() const {  // log cosh (y - target)
//     return {[](std::span<const float> y, std::span<const float> target, std::span<float> dy) {
//       float sum = 0;
//       for (std::size_t i = 0; i < y.size(); ++i) {
//         dy[i] = std::tanh(y[i] - target[i]);
//         sum += std::log(std::cosh(y[i] - target[i]));
//       }
//       return sum;
//     }};
//   }
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/loss.hpp"

namespace manta::nn {

/// The mean over the samples of what a function gives for each. The function gets a sample's outputs, its target (as
/// many numbers as the data have, or a class as int), and writes the gradient by the outputs to dy, which is 0 before.
/// `T` is the network's scalar type.
template <class T = float>
class own_loss {
 public:
  using of_numbers = std::function<T(std::span<const T> y, std::span<const T> target, std::span<T> dy)>;
  using of_class = std::function<T(std::span<const T> y, int target, std::span<T> dy)>;

  /// Empty, to be assigned to.
  own_loss() = default;
  template <class Function>
    requires(!std::is_same_v<Function, own_loss>)
  own_loss(Function f) {
    constexpr bool takes_numbers =
        std::is_invocable_r_v<T, Function&, std::span<const T>, std::span<const T>, std::span<T>>;
    constexpr bool takes_a_class = std::is_invocable_r_v<T, Function&, std::span<const T>, int, std::span<T>>;
    static_assert(
        takes_numbers || takes_a_class,
        "manta: nn: the function of an own_loss<T> takes (std::span<const T> y, std::span<const T> target, "
        "std::span<T> dy), or for classes (std::span<const T> y, int target, std::span<T> dy), and returns T");
    if constexpr (takes_numbers) {
      of_numbers_ = std::move(f);
    } else if constexpr (takes_a_class) {
      of_class_ = std::move(f);
    }
  }

  /// The mean loss of the batch; writes its gradient by y to dy.
  T operator()(const matrix<T>& y, const targets<T>& t, matrix<T>& dy) const { return over(y, t, dy, weight<T>(t)); }
  /// The weighted sum of the samples' losses divided by `divisor`, and its gradient.
  T over(const matrix<T>& y, const targets<T>& t, matrix<T>& dy, double divisor) const {
    check(y, t);
    dy.setZero(y.rows(), y.cols());
    double sum = 0;
    for (Eigen::Index s = 0; s < y.cols(); ++s) {
      const double factor = (t.weights().empty() ? 1 : static_cast<double>(at(t.weights(), s))) / divisor;
      sum += factor * static_cast<double>(of_sample(y, t, dy, s));
      dy.col(s) *= static_cast<T>(factor);
    }
    return static_cast<T>(sum);
  }
  /// By what the sum is divided to give the mean: the number of samples, or the sum of their weights.
  template <class U = T>
  [[nodiscard]] double weight(const targets<U>& t) const {
    if (t.weights().empty()) return static_cast<double>(t.samples());
    double sum = 0;
    for (const float w : t.weights()) sum += static_cast<double>(w);
    return sum;
  }
  [[nodiscard]] bool is_weighted() const { return false; }

 private:
  template <class U>
  static U at(std::span<const U> all, Eigen::Index i) {
    return all[static_cast<std::size_t>(i)];
  }
  template <class Matrix>
  static auto column(Matrix& m, Eigen::Index s) {
    return std::span(m.data() + s * m.rows(), static_cast<std::size_t>(m.rows()));
  }
  T of_sample(const matrix<T>& y, const targets<T>& t, matrix<T>& dy, Eigen::Index s) const {
    if (of_class_) return of_class_(column(y, s), at(t.labels(), s), column(dy, s));
    return of_numbers_(column(y, s), column(t.values(), s), column(dy, s));
  }
  void check(const matrix<T>& y, const targets<T>& t) const {
    if (!of_class_ && !of_numbers_) throw error("manta: nn: this loss is empty; give nn::own_loss a function");
    if (t.has_labels() != static_cast<bool>(of_class_))
      throw error(base::text("manta: nn: own_loss: the data have {} as targets, and the loss's function takes {}",
                             t.has_labels() ? "classes" : "numbers",
                             of_class_ ? "a class (int)" : "numbers (std::span)"));
    if (t.samples() != y.cols())
      throw error(base::text("manta: nn: own_loss: {} samples have {} targets", y.cols(), t.samples()));
    if (!t.weights().empty() && std::ssize(t.weights()) != y.cols())
      throw error(base::text("manta: nn: own_loss: {} samples have {} weights", y.cols(), t.weights().size()));
  }

  of_numbers of_numbers_;
  of_class of_class_;
};

}  // namespace manta::nn
