// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A line for each answer: in the common form of web servers, with the time that the answer took and the request's id
// behind it, or as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "manta/base/config.hpp"

namespace manta::serve::detail {

struct log_entry {
  std::string_view client, method, target, id, agent;
  int status = 200;
  std::size_t bytes = 0;
  double seconds = 0;
  std::string_view problem = {};  ///< full text of the exception
};

class access_log {
 public:
  access_log() = default;
  /// Throws if the file cannot be written.
  MANTA_DECL void open(const std::string& path, bool as_json);
  access_log(const access_log&) = delete;
  access_log& operator=(const access_log&) = delete;
  MANTA_DECL ~access_log();

  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  /// Keeps the line until there are many, or `flush` is called.
  MANTA_DECL void write(const log_entry& e);
  MANTA_DECL void flush();

 private:
  int file_ = -1;
  bool as_json_ = false;
  std::string lines_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/access_log.ipp"
#endif
