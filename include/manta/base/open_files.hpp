// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The limit of open files of this process.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace manta::base {

/// Raises the limit to this number of files, if it is lower, or as far as the hard limit lets it. Returns 0, or a limit
/// that is too low.
inline unsigned long raise_open_files(unsigned long wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted) return 0;
  const rlim_t before = std::exchange(files.rlim_cur, std::min<rlim_t>(wanted, files.rlim_max));
  const rlim_t now = ::setrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : before;
  return now < wanted ? now : 0;
}

}  // namespace manta::base
