// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Arrays that begin at a cache line. Where processors have wide registers (-march=native), Eigen adds the numbers in
// front of an aligned place in another order than those behind it. With the array's beginning the order is the same in
// each run, and so are the bits.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace manta::nn::detail {

template <class T>
struct aligned_allocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  aligned_allocator() = default;
  template <class U>
  aligned_allocator(const aligned_allocator<U>&) {}  // NOLINT(google-explicit-constructor): as allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  bool operator==(const aligned_allocator&) const = default;
};

template <class T>
using aligned_vector = std::vector<T, aligned_allocator<T>>;

}  // namespace manta::nn::detail
