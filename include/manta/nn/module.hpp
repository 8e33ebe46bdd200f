// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What train, rl and serve ask of a network: the concept `module`. nn::network is one; a class of the program's own
// with these members is one too. Data are matrices of features x samples, one column a sample.
//
//   struct scale {                                            // y = a * x, with one parameter
//     using scalar = float;
//     const nn::matrix<float>& forward(const nn::matrix<float>& x) { return x_ = x, y_ = a_[0] * x; }
//     void backward(const nn::matrix<float>& dy) { da_[0] += dy.cwiseProduct(x_).sum(); }
//     std::span<float> parameters() { return a_; }
//     std::span<const float> parameters() const { return a_; }
//     std::span<float> gradients() { return da_; }
//     template <class Archive> void serialize(Archive& archive) { archive(a_); }
//    private:
//     std::vector<float> a_{1}, da_{0};
//     nn::matrix<float> x_, y_;
//   };
#pragma once

#include <Eigen/Core>  // not found? Install libeigen3-dev, add -I/usr/include/eigen3 (pkg-config --cflags eigen3)
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>

#include "manta/nn/source.hpp"

// Eigen chooses the alignment of its arrays by the flags of the compiler, such as -march, and frees an array in another
// way where the alignment is another. So the compiled mode asks that the library and the program have the same: this
// name has the number of bytes in it, and the linker prints the name where the library has another.
#define MANTA_EIGEN_ALIGNMENT_NAME(bytes) \
  compile_libmanta_and_all_of_this_program_with_the_same_march_here_Eigen_aligns_to_##bytes##_bytes
#define MANTA_EIGEN_ALIGNMENT_OF(bytes) MANTA_EIGEN_ALIGNMENT_NAME(bytes)
#define MANTA_EIGEN_ALIGNMENT MANTA_EIGEN_ALIGNMENT_OF(EIGEN_MAX_ALIGN_BYTES)

namespace manta::nn {

MANTA_REQUIRES_SOURCE(MANTA_EIGEN_ALIGNMENT);

/// Features x samples, one column a sample.
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// How the next forward passes are meant. Modules that behave alike in training and in use ignore it.
struct pass {
  bool training = true;    ///< dropout drops, and batch norm takes the statistics of the batch
  std::uint64_t seed = 0;  ///< seed of what is drawn in a pass
  std::uint64_t step = 0;  ///< the number of the optimiser's step: masks differ from step to step
  /// The numbers of the batch's samples in the data, so that what is drawn for a sample does not depend on how the
  /// batch is divided among workers. Empty: 0, 1, .. The memory has to live until the pass has ended.
  std::span<const std::uint64_t> samples = {};
  /// The batch is what was left of an epoch, which may be a single sample: batch norm then uses its running means where
  /// a batch has no variance, instead of refusing it.
  bool is_rest = false;
  /// Adds the numbers of all workers that take part in the pass, in place: for batch_norm({.all_workers = true}), which
  /// calls it in forward and backward, so that all workers have to make the pass. Empty: there is this worker alone.
  std::function<void(std::span<double>)> sum_over_workers = {};
};

/// Called by a module's backward pass as parts of its gradients become final, from the last layer to the first: the
/// range [begin, end) of gradients() changes no more in this pass.
using gradients_ready = std::function<void(std::size_t begin, std::size_t end)>;

/// forward keeps what backward needs, and its result lives until the next forward; backward takes the gradient of the
/// loss by that result and adds to gradients(); parameters() and gradients() are one contiguous array each, of equal
/// length, whose places do not change while the module is not assigned to.
///
/// Optional members, used where a module has them: `initialise(seed)`, `mode(const pass&)` before forward,
/// `backward(dy, const gradients_ready&)`, without which all gradients become final at the end of backward, and
/// `buffers()`, an array of numbers like the running means of batch norm, of which workers take means after each step.
///
/// A module that calls pass::sum_over_workers has `sums_over_workers()`, which says so, `forward_without_samples()` and
/// `backward_without_samples(const gradients_ready&)`. A trainer calls the latter two for a worker that has no samples
/// of a batch, or a problem with them: they make the same sums in the same order, with zeros. Without these members
/// pass::sum_over_workers stays empty.
template <class M>
concept module = requires(M m, const M c, const matrix<typename M::scalar>& x) {
  { m.forward(x) } -> std::convertible_to<const matrix<typename M::scalar>&>;
  m.backward(x);
  { m.parameters() } -> std::convertible_to<std::span<typename M::scalar>>;
  { c.parameters() } -> std::convertible_to<std::span<const typename M::scalar>>;
  { m.gradients() } -> std::convertible_to<std::span<typename M::scalar>>;
};

/// Sets the mode of a module that has one.
template <module M>
void set_mode(M& m, const pass& p) {
  if constexpr (requires { m.mode(p); }) m.mode(p);
}

/// Whether the module takes sums over the workers, and can do so for a worker without samples.
template <module M>
bool sums_over_workers(const M& m) {
  if constexpr (requires(M other, const gradients_ready& ready) {
                  m.sums_over_workers();
                  other.forward_without_samples();
                  other.backward_without_samples(ready);
                }) {
    return m.sums_over_workers();
  } else {
    return false;
  }
}

/// Runs the backward pass, and calls `ready` for parts of the gradients, or once for all of them at the end.
template <module M>
void backward(M& m, const matrix<typename M::scalar>& dy, const gradients_ready& ready) {
  if constexpr (requires { m.backward(dy, ready); }) {
    m.backward(dy, ready);
  } else {
    m.backward(dy);
    ready(0, m.gradients().size());
  }
}

}  // namespace manta::nn
