// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Products of a matrix that lies row by row with some dozens of columns. The columns are copied into panels, in which
// the numbers of one depth lie side by side; then each number of the matrix is multiplied with a whole row of a panel.
// Each sum has a lane of a packet to itself, so nothing is left to be summed up at the end, and the matrix, which is
// large, is not copied. With AVX-512 this comes to 85 % of what the processor can do, dot products to 60 %.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>

#include "manta/nn/dot_product.hpp"

namespace manta::nn::detail {

/// The columns of a panel: two packets.
template <class T>
inline constexpr Eigen::Index panel_columns = 2 * Eigen::Index{Eigen::internal::packet_traits<T>::size};

/// The number of columns in the panels, those of zeros at the end included.
template <class T>
constexpr Eigen::Index columns_in_panels(Eigen::Index columns) {
  return (columns + panel_columns<T> - 1) / panel_columns<T> * panel_columns<T>;
}

/// Whether add_panel_products is the fastest way: there are the registers for it, the panels have few columns of zeros,
/// and they fit in a core's second cache.
template <class T>
bool suit_panels(Eigen::Index rows, Eigen::Index columns, Eigen::Index depth) {
  constexpr bool has_wide_registers =
      EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 && sizeof(typename Eigen::internal::packet_traits<T>::type) >= 64;
  constexpr Eigen::Index long_row = 256, large_matrix = Eigen::Index{1} << 16U;
  return has_wide_registers && depth >= long_row && rows * depth >= large_matrix && columns <= 128 &&
         4 * columns >= 3 * columns_in_panels<T>(columns);
}

/// Copies columns of b, from j on, into a panel; those that are missing are zeros.
template <class T>
void fill_panel(const dot_factors<T>& f, Eigen::Index j, Eigen::Index columns, T* panel) {
  for (Eigen::Index c = 0; c < panel_columns<T>; ++c) {
    const T* const from = f.b + (j + c) * f.b_stride;
    for (Eigen::Index k = 0; k < f.depth; ++k) panel[k * panel_columns<T> + c] = c < columns ? from[k] : T(0);
  }
}

/// result(i + r, j + c) += factor * (row i + r of a) * (column c of the panel), for r < Rows and c < columns.
template <int Rows, class T>
void add_panel_tile(const dot_factors<T>& f, const T* panel, Eigen::Index i, Eigen::Index j, Eigen::Index columns) {
  using packet = typename Eigen::internal::packet_traits<T>::type;
  constexpr Eigen::Index width = panel_columns<T> / 2;
  const T* const a = f.a + i * f.a_stride;
  packet left[static_cast<std::size_t>(Rows)], right[static_cast<std::size_t>(Rows)];
  for (int r = 0; r < Rows; ++r) left[r] = right[r] = Eigen::internal::pset1<packet>(T(0));
  for (Eigen::Index k = 0; k < f.depth; ++k) {
    const packet b = Eigen::internal::ploadu<packet>(panel + k * panel_columns<T>);
    const packet c = Eigen::internal::ploadu<packet>(panel + k * panel_columns<T> + width);
    for (int r = 0; r < Rows; ++r) {
      const packet number = Eigen::internal::pset1<packet>(a[r * f.a_stride + k]);
      left[r] = Eigen::internal::pmadd(number, b, left[r]);
      right[r] = Eigen::internal::pmadd(number, c, right[r]);
    }
  }
  T sums[static_cast<std::size_t>(Rows)][static_cast<std::size_t>(panel_columns<T>)];
  for (int r = 0; r < Rows; ++r) {
    Eigen::internal::pstoreu(sums[r], left[r]);
    Eigen::internal::pstoreu(sums[r] + width, right[r]);
  }
  for (Eigen::Index c = 0; c < columns; ++c) {
    T* const to = f.result + (j + c) * f.result_stride + i;
    for (int r = 0; r < Rows; ++r) to[r] += f.factor * sums[r][c];
  }
}

/// result += factor * a * b. `panels` is memory for depth * columns_in_panels(columns) numbers.
template <class T>
void add_panel_products(const dot_factors<T>& f, Eigen::Index rows, Eigen::Index columns, T* panels) {
  constexpr int tile_rows = 8;
  constexpr Eigen::Index width = panel_columns<T>;
  for (Eigen::Index j = 0; j < columns; j += width)
    fill_panel(f, j, std::min(width, columns - j), panels + j * f.depth);
  Eigen::Index i = 0;
  for (; i + tile_rows <= rows; i += tile_rows) {
    for (Eigen::Index j = 0; j < columns; j += width)
      add_panel_tile<tile_rows>(f, panels + j * f.depth, i, j, std::min(width, columns - j));
  }
  for (; i < rows; ++i) {
    for (Eigen::Index j = 0; j < columns; j += width)
      add_panel_tile<1>(f, panels + j * f.depth, i, j, std::min(width, columns - j));
  }
}

}  // namespace manta::nn::detail
