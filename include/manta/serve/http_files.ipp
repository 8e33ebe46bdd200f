// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "manta/serve/http_files.hpp"

namespace manta::serve::detail {

inline const char* type_of_file(const std::string& path) {
  const std::string_view end = std::string_view(path).substr(std::min(path.rfind('.'), path.size()));
  constexpr std::pair<const char*, const char*> known[] = {{".html", "text/html; charset=utf-8"},
                                                           {".js", "text/javascript; charset=utf-8"},
                                                           {".mjs", "text/javascript; charset=utf-8"},
                                                           {".css", "text/css; charset=utf-8"},
                                                           {".json", "application/json"},
                                                           {".png", "image/png"},
                                                           {".jpg", "image/jpeg"},
                                                           {".jpeg", "image/jpeg"},
                                                           {".gif", "image/gif"},
                                                           {".webp", "image/webp"},
                                                           {".svg", "image/svg+xml"},
                                                           {".ico", "image/x-icon"},
                                                           {".txt", "text/plain; charset=utf-8"},
                                                           {".md", "text/plain; charset=utf-8"},
                                                           {".wasm", "application/wasm"},
                                                           {".pdf", "application/pdf"},
                                                           {".csv", "text/csv; charset=utf-8"}};
  for (const auto& [suffix, type] : known) {
    if (end == suffix) return type;
  }
  return "application/octet-stream";
}

/// The path without links and dots; empty if there is no such file.
inline std::string real_path(const std::string& name) {
  char* const found = ::realpath(name.c_str(), nullptr);
  std::string result = found != nullptr ? found : "";
  std::free(found);
  return result;
}

MANTA_DECL bool find_file(const std::string& folder, const std::string& path, reply& answer) {
  if (folder.empty()) return false;
  const std::string top = real_path(folder);
  const std::string wanted = real_path(folder + path + (path.ends_with('/') ? "index.html" : ""));
  if (top.empty() || !wanted.starts_with(top + "/")) return false;
  if (wanted.find("/.", top.size()) != std::string::npos || path.find("/.") != std::string::npos) return false;
  // A FIFO would hold the server until somebody writes into it.
  const int file = ::open(wanted.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat its {};
  if (file < 0 || ::fstat(file, &its) != 0 || !S_ISREG(its.st_mode)) {
    if (file >= 0) ::close(file);
    return false;
  }
  answer.file = file;
  answer.file_size = static_cast<std::size_t>(its.st_size);
  answer.type = type_of_file(wanted);
  return true;
}

MANTA_DECL bool has_file(const std::string& folder, const std::string& path) {
  reply its;
  if (!find_file(folder, path, its)) return false;
  ::close(its.file);
  return true;
}

}  // namespace manta::serve::detail
