// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the allocator does with freed memory. A new page costs more than a copy of 4 KiB, because the kernel fills it
// with zeros and enters it in tables: a process that makes and frees arrays all the time is several times as fast if
// the allocator keeps their pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "manta/base/environment.hpp"

namespace manta::base {

/// Lets glibc's allocator keep free memory at the end of the heap, up to `bytes` and at most 64 MiB, and take arrays of
/// less than 32 MiB from there. What the user has set for the allocator in the environment holds instead.
inline void keep_freed_memory([[maybe_unused]] std::uint64_t bytes) {
#ifdef __GLIBC__
  for (const char* const own : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_"}) {
    if (environment(own) != nullptr) return;
  }
  if (const char* const tunables = environment("GLIBC_TUNABLES"); tunables && std::strstr(tunables, "malloc")) return;
  constexpr std::uint64_t least = 128 * 1024, most = std::uint64_t{64} << 20U;
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(std::clamp(bytes, least, most)));
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

/// Counts freed bytes, and gives free pieces of the heap back to the system when there are many.
class freed_memory {
 public:
  void add(std::uint64_t bytes, std::uint64_t most) {
    bytes_ += bytes;
    if (bytes_ <= most) return;
    bytes_ = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }

 private:
  std::uint64_t bytes_ = 0;
};

}  // namespace manta::base
