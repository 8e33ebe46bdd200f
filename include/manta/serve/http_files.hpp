// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of a folder, for browsers.
#pragma once

#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

/// Answers with a file of `folder`: of it, and of nothing outside, links included; and with none whose name, or that of
/// a folder around it, begins with a dot. False if there is no such file.
[[nodiscard]] MANTA_DECL bool find_file(const std::string& folder, const std::string& path, reply& answer);
/// Whether there is such a file.
[[nodiscard]] MANTA_DECL bool has_file(const std::string& folder, const std::string& path);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_files.ipp"
#endif
