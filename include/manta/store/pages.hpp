// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Arrays whose pages lie in a file: in memory that the processes of a node share, or on a disk. The file replaces the
// pages under an array while the array keeps its address, so pointers into it stay valid. The mapping is private, so
// writers do not see each other's changes.
//
// No file has a name: memory comes from memfd_create, and disk files are removed as soon as they are made. So the
// system frees them with the last process that has them open, whatever ends this process.
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
/// The offset of an array in its page. The array has the same offset in a file that replaces its pages.
inline std::size_t page_offset(const void* at) { return reinterpret_cast<std::uintptr_t>(at) & (page_bytes() - 1); }
inline std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + page_bytes() - 1) & ~(page_bytes() - 1); }

/// The pages that lie wholly inside an array; the rest at its ends stays in memory.
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

/// Replaces the pages inside an array by pages of a file that holds the same bytes; `at` is the place of the array's
/// first byte in the file. False if that is not possible; the array is then unchanged.
inline bool take_place_of(std::byte* array, std::size_t bytes, const file& pages, std::uint64_t at) {
  const inner_pages inner(array, bytes);
  if (((at ^ page_offset(array)) & (page_bytes() - 1)) != 0) return false;
  const auto offset = static_cast<off_t>(at + static_cast<std::uint64_t>(inner.begin - array));
  return inner.bytes == 0 || mmap(inner.begin, inner.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                                  pages.get(), offset) != MAP_FAILED;
}
/// Gives an array plain memory again, before it goes back to its allocator. Its bytes are lost.
inline void let_go_of_file(std::byte* array, std::size_t bytes) {
  const inner_pages inner(array, bytes);
  if (inner.bytes == 0) return;
  mmap(inner.begin, inner.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/// Allows the system to take the pages of an array out of memory until they are read again; for arrays on a disk.
inline void forget_pages(std::byte* array, std::size_t bytes) {
  const inner_pages inner(array, bytes);
  if (inner.bytes != 0) madvise(inner.begin, inner.bytes, MADV_DONTNEED);
}

}  // namespace manta::store
