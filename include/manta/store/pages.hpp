// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Arrays whose pages lie in a file: one in memory that the processes of a node
// share, or one on a disk. The file takes the place of the pages under an
// array while the array stays where it is, so that pointers into it go on
// being good. A private mapping keeps writers from seeing each other.
//
// Every file is nameless: memory from memfd_create, disk files removed as soon
// as they are made. The system frees them with the last process that has them,
// whatever ends it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "manta/base/file.hpp"

namespace manta::store {

inline std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
/// Where in its page an array begins: the same in a file that is to take its place.
inline std::size_t page_offset(const void* at) { return reinterpret_cast<std::uintptr_t>(at) & (page_bytes() - 1); }
inline std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }

/// The pages that lie wholly inside an array; what is left at its ends stays in memory.
struct inner_pages {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  inner_pages(std::byte* array, std::size_t array_bytes) {
    const std::size_t before = whole_pages(page_offset(array)) - page_offset(array);
    if (array_bytes < before + page_bytes()) return;
    begin = array + before;
    bytes = (array_bytes - before) & ~(page_bytes() - 1);
  }
};

using base::file;

/// Puts a file's pages from `at` (of the array's first byte) in the place of those inside the array, which holds the
/// same bytes. False if that is not possible: then the array is as it was.
inline bool take_place_of(std::byte* array, std::size_t bytes, const file& pages, std::uint64_t at) {
  const inner_pages inner(array, bytes);
  if (((at ^ page_offset(array)) & (page_bytes() - 1)) != 0) return false;
  const auto offset = static_cast<off_t>(at + static_cast<std::uint64_t>(inner.begin - array));
  return inner.bytes == 0 || mmap(inner.begin, inner.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                                  pages.get(), offset) != MAP_FAILED;
}
/// Plain memory again, before an array goes back to its allocator. Its bytes are lost.
inline void let_go_of_file(std::byte* array, std::size_t bytes) {
  const inner_pages inner(array, bytes);
  if (inner.bytes == 0) return;
  mmap(inner.begin, inner.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/// The pages need not be in memory until they are read again; for arrays whose pages lie in a file on a disk.
inline void forget_pages(std::byte* array, std::size_t bytes) {
  const inner_pages inner(array, bytes);
  if (inner.bytes != 0) madvise(inner.begin, inner.bytes, MADV_DONTNEED);
}

}  // namespace manta::store
