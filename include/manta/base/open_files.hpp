// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The limit of open files of this process.
#pragma once

#include <sys/resource.h>

namespace manta::base {

/// Raises the limit to this number of files, if it is lower. Returns 0, or the hard limit, which is too low.
inline unsigned long raise_open_files(unsigned long needed) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= needed) return 0;
  if (files.rlim_max < needed) return files.rlim_max;
  files.rlim_cur = needed;
  return ::setrlimit(RLIMIT_NOFILE, &files) == 0 ? 0 : files.rlim_max;
}

}  // namespace manta::base
