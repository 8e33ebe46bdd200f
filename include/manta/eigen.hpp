// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Opt-in: Eigen's dense matrices, vectors and arrays (fixed and dynamic, row and column major) and sparse matrices as
// values. Coefficients are written as one block, so that MPI sends a large dense matrix from its own memory and
// receives it into its own memory. A parameter Eigen::Ref<const M> refers to a stored M without a copy.
#pragma once

#include "manta/base/config.hpp"

#include <Eigen/Core>  // not found? Install libeigen3-dev, add -I/usr/include/eigen3 (pkg-config --cflags eigen3)
#include <Eigen/SparseCore>

#include "manta/signature.hpp"

namespace Eigen {

template <class Archive, class Derived>
  requires(Archive::is_saving::value)
void save(Archive& out, const PlainObjectBase<Derived>& m) {
  using Scalar = typename Derived::Scalar;
  const std::int64_t rows = m.rows(), cols = m.cols();
  out(rows, cols);
  if constexpr (std::is_trivially_copyable_v<Scalar>) {
    out(cereal::binary_data(m.data(), static_cast<std::size_t>(m.size()) * sizeof(Scalar)));
  } else {
    for (Index i = 0; i < m.size(); ++i) out(m.data()[i]);
  }
}

template <class Archive, class Derived>
  requires(Archive::is_loading::value)
void load(Archive& in, PlainObjectBase<Derived>& m) {
  using Scalar = typename Derived::Scalar;
  std::int64_t rows = 0, cols = 0;
  in(rows, cols);
  m.resize(rows, cols);
  if constexpr (std::is_trivially_copyable_v<Scalar>) {
    in(cereal::binary_data(m.data(), static_cast<std::size_t>(m.size()) * sizeof(Scalar)));
  } else {
    for (Index i = 0; i < m.size(); ++i) in(m.data()[i]);
  }
}

template <class Archive, class Scalar, int Options, class StorageIndex>
  requires(Archive::is_saving::value)
void save(Archive& out, const SparseMatrix<Scalar, Options, StorageIndex>& given) {
  SparseMatrix<Scalar, Options, StorageIndex> packed;
  if (!given.isCompressed()) {
    packed = given;
    packed.makeCompressed();
  }
  const auto& m = given.isCompressed() ? given : packed;
  const std::int64_t rows = m.rows(), cols = m.cols(), entries = m.nonZeros();
  out(rows, cols, entries);
  // The copy is needed: the packed matrix may be a temporary, whose arrays end before they are sent.
  const std::vector<StorageIndex> outer(m.outerIndexPtr(), m.outerIndexPtr() + m.outerSize() + 1);
  for (StorageIndex i : outer) out(i);
  for (std::int64_t i = 0; i < entries; ++i) out(m.innerIndexPtr()[i]);
  for (std::int64_t i = 0; i < entries; ++i) out(m.valuePtr()[i]);
}

template <class Archive, class Scalar, int Options, class StorageIndex>
  requires(Archive::is_loading::value)
void load(Archive& in, SparseMatrix<Scalar, Options, StorageIndex>& m) {
  std::int64_t rows = 0, cols = 0, entries = 0;
  in(rows, cols, entries);
  m.resize(rows, cols);
  m.resizeNonZeros(entries);
  for (Index i = 0; i <= m.outerSize(); ++i) in(m.outerIndexPtr()[i]);
  for (std::int64_t i = 0; i < entries; ++i) in(m.innerIndexPtr()[i]);
  for (std::int64_t i = 0; i < entries; ++i) in(m.valuePtr()[i]);
}

}  // namespace Eigen

namespace manta {

namespace wire {
template <class M>
concept plain_matrix = std::is_base_of_v<Eigen::PlainObjectBase<M>, M>;

template <plain_matrix M>
  requires(std::is_trivially_copyable_v<typename M::Scalar>)
struct array_shape<M> {
  struct extents {
    std::int64_t rows, cols;
  };
  static extents get(const M& m) { return {m.rows(), m.cols()}; }
  static void set(M& m, const extents& e) { m.resize(e.rows, e.cols); }
};
}  // namespace wire

namespace detail {
template <class M, int Options, class Stride>
inline constexpr bool writes_through_view<Eigen::Ref<M, Options, Stride>> = !std::is_const_v<M>;

/// The number of threads that Eigen is set to use. 0 is Eigen's default: as many as OpenMP has.
inline int eigen_threads() {
  const int threads = Eigen::nbThreads();
  const bool is_default = threads == (&manta_omp_get_max_threads == nullptr ? 0 : manta_omp_get_max_threads());
  return is_default ? 0 : threads;
}
/// Lets tasks with several cpus set Eigen's number of threads.
inline const bool sets_eigen_threads =
    exec::add_thread_setting({eigen_threads, [](int threads) { Eigen::setNbThreads(threads); }});
}  // namespace detail

template <class M, int Options, class Stride>
struct stored_as<Eigen::Ref<const M, Options, Stride>> {
  using type = M;
  static Eigen::Ref<const M, Options, Stride> look(array_in_pages a) {
    const auto rows = a.header.get<std::int64_t>(), cols = a.header.get<std::int64_t>();
    return Eigen::Map<const M>(reinterpret_cast<const typename M::Scalar*>(a.data), rows, cols);
  }
};

/// A Ref of a sparse matrix refers to the decoded value, because the matrix lies in three arrays.
template <class Scalar, int MatrixOptions, class Index, int Options, class Stride>
struct stored_as<Eigen::Ref<const Eigen::SparseMatrix<Scalar, MatrixOptions, Index>, Options, Stride>> {
  using type = Eigen::SparseMatrix<Scalar, MatrixOptions, Index>;
};

}  // namespace manta
