// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Products of a matrix that lies row by row with a few columns, as in the forward pass of a layer for a batch of
// samples: each number of the result is a dot product of two stretches of memory. Eigen would copy the whole matrix
// into packed blocks first, which takes as long as its product with some thirty columns.
#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace manta::nn::detail {

/// Two factors and a result in memory; a lies row by row, b and the result column by column.
template <class T>
struct dot_factors {
  const T* a;
  const T* b;
  T* result;
  Eigen::Index a_stride, b_stride, result_stride, depth;
  T factor;
};

/// result(i + r, j + c) += factor * (row i + r of a) * (column j + c of b), for r < Rows and c < Columns. All the sums
/// are in registers at once.
template <int Rows, int Columns, class T>
void add_dot_tile(const dot_factors<T>& f, Eigen::Index i, Eigen::Index j) {
  using packet = typename Eigen::internal::packet_traits<T>::type;
  constexpr Eigen::Index width = Eigen::internal::packet_traits<T>::size;
  const T* const a = f.a + i * f.a_stride;
  const T* const b = f.b + j * f.b_stride;
  packet sums[static_cast<std::size_t>(Rows)][static_cast<std::size_t>(Columns)];
  for (auto& row : sums) {
    for (packet& sum : row) sum = Eigen::internal::pset1<packet>(T(0));
  }
  Eigen::Index k = 0;
  for (; k + width <= f.depth; k += width) {
    packet column[static_cast<std::size_t>(Columns)];
    for (int c = 0; c < Columns; ++c) column[c] = Eigen::internal::ploadu<packet>(b + c * f.b_stride + k);
    for (int r = 0; r < Rows; ++r) {
      const packet row = Eigen::internal::ploadu<packet>(a + r * f.a_stride + k);
      for (int c = 0; c < Columns; ++c) sums[r][c] = Eigen::internal::pmadd(row, column[c], sums[r][c]);
    }
  }
  for (int c = 0; c < Columns; ++c) {
    T* const to = f.result + (j + c) * f.result_stride + i;
    for (int r = 0; r < Rows; ++r) {
      T sum = Eigen::internal::predux(sums[r][c]);
      for (Eigen::Index rest = k; rest < f.depth; ++rest) sum += a[r * f.a_stride + rest] * b[c * f.b_stride + rest];
      to[r] += f.factor * sum;
    }
  }
}

/// For the columns from j on; those that are left at the end are one narrower tile.
template <int Rows, int Columns, class T>
void add_dot_rows(const dot_factors<T>& f, Eigen::Index i, Eigen::Index j, Eigen::Index columns) {
  for (; j + Columns <= columns; j += Columns) add_dot_tile<Rows, Columns>(f, i, j);
  if constexpr (Columns > 1) add_dot_rows<Rows, Columns - 1>(f, i, j, columns);
}

/// Whether add_dot_products is the faster way: the rows are long, so that the sums of a packet's lanes at the end of
/// each cost little, and there are few columns for which Eigen would pack the matrix. A matrix that fits in a core's
/// second cache is packed sooner.
template <class T>
bool suit_dot_products(Eigen::Index rows, Eigen::Index columns, Eigen::Index depth) {
  constexpr Eigen::Index long_row = 256, large_matrix = (Eigen::Index{1} << 20U) / Eigen::Index{sizeof(T)};
  return depth >= long_row && columns > 1 && columns <= (rows * depth >= large_matrix ? 64 : 8);
}

/// result += factor * a * b, for any number of rows and columns.
template <class T>
void add_dot_products(const dot_factors<T>& f, Eigen::Index rows, Eigen::Index columns) {
  constexpr bool has_many_registers = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32;
  constexpr int tile_rows = has_many_registers ? 6 : 4, tile_columns = has_many_registers ? 4 : 3;
  Eigen::Index i = 0;
  for (; i + tile_rows <= rows; i += tile_rows) add_dot_rows<tile_rows, tile_columns>(f, i, 0, columns);
  for (; i < rows; ++i) add_dot_rows<1, tile_columns>(f, i, 0, columns);
}

}  // namespace manta::nn::detail
