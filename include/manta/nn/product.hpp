// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Matrix products of layers. Eigen allocates memory for the packed blocks of each large product and frees it again;
// here each thread keeps that memory, so that a step allocates nothing after the first. Small products, products with
// vectors and products on several threads are Eigen's own.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "manta/nn/source.hpp"

namespace manta::nn::detail {

/// The memory for packed blocks that a thread keeps. It grows and never shrinks.
template <class T>
class block_memory {
 public:
  /// Valid until the next call on this thread.
  static T* at_least(std::size_t count) {
    thread_local block_memory memory;
    if (memory.count_ < count) {
      memory.block_.reset();
      memory.block_.reset(static_cast<T*>(Eigen::internal::aligned_malloc(count * sizeof(T))));
      memory.count_ = count;
    }
    return memory.block_.get();
  }

 private:
  struct release {
    void operator()(T* block) const { Eigen::internal::aligned_free(block); }
  };
  std::unique_ptr<T, release> block_;
  std::size_t count_ = 0;
};

/// Block sizes as Eigen chooses them, in the memory of this thread.
template <class T>
class kept_blocking : public Eigen::internal::level3_blocking<T, T> {
 public:
  kept_blocking(Eigen::Index rows, Eigen::Index cols, Eigen::Index depth) {
    this->m_mc = rows, this->m_nc = cols, this->m_kc = depth;
    Eigen::internal::computeProductBlockingSizes<T, T>(this->m_kc, this->m_mc, this->m_nc, Eigen::Index{1});
    constexpr std::size_t line = 64 / sizeof(T);
    const auto a = (static_cast<std::size_t>(this->m_mc * this->m_kc) + line - 1) / line * line;
    const auto b = static_cast<std::size_t>(this->m_kc * this->m_nc);
    this->m_blockA = block_memory<T>::at_least(a + b);
    this->m_blockB = this->m_blockA + a;
  }
};

/// result += factor * a * b, of matrices that lie in memory with an inner stride of 1.
template <class Result, class A, class B>
void add_product(Result&& result, const A& a, const B& b,
                 typename std::decay_t<Result>::Scalar factor = typename std::decay_t<Result>::Scalar{1}) {
  using T = typename std::decay_t<Result>::Scalar;
  using Eigen::Index;
  const bool small = a.rows() == 1 || b.cols() == 1 || a.rows() + a.cols() + b.cols() < 20;
  if (small || Eigen::nbThreads() > 1) {
    result.noalias() += factor * (a * b);
    return;
  }
  constexpr auto order = [](bool row_major, bool transposed) {
    return row_major != transposed ? Eigen::RowMajor : Eigen::ColMajor;
  };
  constexpr bool flip = std::decay_t<Result>::IsRowMajor;  // compute the transpose, which is column by column
  kept_blocking<T> blocking(flip ? b.cols() : a.rows(), flip ? a.rows() : b.cols(), a.cols());
  if constexpr (flip) {
    Eigen::internal::general_matrix_matrix_product<Index, T, order(B::IsRowMajor, true), false, T,
                                                   order(A::IsRowMajor, true), false, Eigen::ColMajor,
                                                   1>::run(b.cols(), a.rows(), a.cols(), b.data(), b.outerStride(),
                                                           a.data(), a.outerStride(), result.data(), 1,
                                                           result.outerStride(), factor, blocking, nullptr);
  } else {
    Eigen::internal::general_matrix_matrix_product<Index, T, order(A::IsRowMajor, false), false, T,
                                                   order(B::IsRowMajor, false), false, Eigen::ColMajor,
                                                   1>::run(a.rows(), b.cols(), a.cols(), a.data(), a.outerStride(),
                                                           b.data(), b.outerStride(), result.data(), 1,
                                                           result.outerStride(), factor, blocking, nullptr);
  }
}

/// result = a * b, of matrices that lie in memory with an inner stride of 1. The result has its size already.
template <class Result, class A, class B>
void set_product(Result&& result, const A& a, const B& b) {
  result.setZero();
  add_product(result, a, b);
}

}  // namespace manta::nn::detail
