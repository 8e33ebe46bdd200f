// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Matrix products of layers. Eigen allocates memory for the packed blocks of each large product and frees it again;
// here each thread keeps that memory, so that a step allocates nothing after the first. Small products, products with
// vectors and products on several threads are Eigen's own; those of long rows with few columns are dot products, or go
// through panels of the columns.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "manta/nn/dot_product.hpp"
#include "manta/nn/panel_product.hpp"
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

template <class T, bool RowMajor>
using plain_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, RowMajor ? Eigen::RowMajor : Eigen::ColMajor>;

/// A matrix in memory, row by row or column by column.
template <class T, bool RowMajor>
using strided = Eigen::Map<std::conditional_t<std::is_const_v<T>, const plain_matrix<std::remove_const_t<T>, RowMajor>,
                                              plain_matrix<std::remove_const_t<T>, RowMajor>>,
                           0, Eigen::OuterStride<>>;

/// result += factor * a * b of a small layer and one sample: what Eigen sets up for a product would cost more.
template <class T>
void add_few_products(T* result, const strided<const T, true>& a, const T* b, T factor) {
  using four = Eigen::Array<T, 4, 1>;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const T* const row = a.data() + i * a.outerStride();
    four sums = four::Zero();
    Eigen::Index k = 0;
    for (; k + 4 <= a.cols(); k += 4) sums += Eigen::Map<const four>(row + k) * Eigen::Map<const four>(b + k);
    T rest{};
    for (; k < a.cols(); ++k) rest += row[k] * b[k];
    result[i] += factor * ((sums[0] + sums[1]) + (sums[2] + sums[3]) + rest);
  }
}

/// result += factor * a * b; the result lies column by column. One function for each order of a and b, however their
/// types are called: Eigen's products are long to compile. Packing a large matrix for two or three columns takes longer
/// than its products with each column.
template <class T, bool RowMajorA, bool RowMajorB>
void add_product_by_columns(strided<T, false> result, strided<const T, RowMajorA> a, strided<const T, RowMajorB> b,
                            T factor) {
  const bool small = a.rows() == 1 || b.cols() == 1 || a.rows() + a.cols() + b.cols() < 20;
  if constexpr (RowMajorA && !RowMajorB) {
    if (b.cols() == 1 && a.size() <= 256) return add_few_products<T>(result.data(), a, b.data(), factor);
  }
  if (small || Eigen::nbThreads() > 1) {
    result.noalias() += factor * (a * b);
    return;
  }
  if constexpr (RowMajorA && !RowMajorB) {
    const dot_factors<T> factors{
        a.data(), b.data(), result.data(), a.outerStride(), b.outerStride(), result.outerStride(), a.cols(), factor};
    if (suit_panels<T>(a.rows(), b.cols(), a.cols())) {
      const auto numbers = static_cast<std::size_t>(a.cols() * columns_in_panels<T>(b.cols()));
      return add_panel_products<T>(factors, a.rows(), b.cols(), block_memory<T>::at_least(numbers));
    }
    if (suit_dot_products<T>(a.rows(), b.cols(), a.cols())) return add_dot_products<T>(factors, a.rows(), b.cols());
  }
  if (b.cols() <= 3) {
    for (Eigen::Index j = 0; j < b.cols(); ++j) {
      const T* const column = b.data() + (RowMajorB ? j : j * b.outerStride());
      add_product_by_columns<T, RowMajorA, RowMajorB>(
          {result.data() + j * result.outerStride(), result.rows(), 1, Eigen::OuterStride<>(result.outerStride())}, a,
          {column, b.rows(), 1, Eigen::OuterStride<>(b.outerStride())}, factor);
    }
    return;
  }
  constexpr auto order = [](bool row_major) { return row_major ? Eigen::RowMajor : Eigen::ColMajor; };
  kept_blocking<T> blocking(a.rows(), b.cols(), a.cols());
  Eigen::internal::general_matrix_matrix_product<Eigen::Index, T, order(RowMajorA), false, T, order(RowMajorB), false,
                                                 Eigen::ColMajor, 1>::run(a.rows(), b.cols(), a.cols(), a.data(),
                                                                          a.outerStride(), b.data(), b.outerStride(),
                                                                          result.data(), 1, result.outerStride(),
                                                                          factor, blocking, nullptr);
}

/// result += factor * a * b, of matrices that lie in memory with an inner stride of 1.
template <class Result, class A, class B>
void add_product(Result&& result, const A& a, const B& b,
                 typename std::decay_t<Result>::Scalar factor = typename std::decay_t<Result>::Scalar{1}) {
  using T = typename std::decay_t<Result>::Scalar;
  using stride = Eigen::OuterStride<>;
  if constexpr (std::decay_t<Result>::IsRowMajor) {  // the transpose of the result lies column by column
    add_product_by_columns<T, !B::IsRowMajor, !A::IsRowMajor>(
        {result.data(), result.cols(), result.rows(), stride(result.outerStride())},
        {b.data(), b.cols(), b.rows(), stride(b.outerStride())},
        {a.data(), a.cols(), a.rows(), stride(a.outerStride())}, factor);
  } else {
    add_product_by_columns<T, A::IsRowMajor, B::IsRowMajor>(
        {result.data(), result.rows(), result.cols(), stride(result.outerStride())},
        {a.data(), a.rows(), a.cols(), stride(a.outerStride())},
        {b.data(), b.rows(), b.cols(), stride(b.outerStride())}, factor);
  }
}

/// result = a * b, of matrices that lie in memory with an inner stride of 1. The result has its size already.
template <class Result, class A, class B>
void set_product(Result&& result, const A& a, const B& b) {
  result.setZero();
  add_product(result, a, b);
}

}  // namespace manta::nn::detail
