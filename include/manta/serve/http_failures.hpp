// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a client is told when a call has thrown: the status, and the text. The text is what the program's own code
// has said. Ranks, hosts, paths and tracebacks are for those who run the server: a client gets them only if the
// options say so.
#pragma once

#include <exception>
#include <map>
#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

class http_failures {
 public:
  /// `all`: clients are told everything.
  explicit http_failures(bool all) : all_(all) {}

  /// What is thrown of this type, as people write it, is answered with this status. Throws if that is none of an error.
  MANTA_DECL void add(const std::string& type, int status);
  /// The answer for what was thrown, which is being handled.
  [[nodiscard]] MANTA_DECL reply answer() const;
  /// Everything that is known of it, for the log.
  [[nodiscard]] MANTA_DECL static std::string whole_text();

 private:
  [[nodiscard]] reply answer_for(int status, const std::string& why) const;
  [[nodiscard]] int status_of(const std::string& type, int otherwise) const;

  bool all_;
  std::map<std::string, int> statuses_;  ///< statuses by type
};

/// A text without absolute paths, of which only the last name is kept, and without the frames of a Python traceback.
[[nodiscard]] MANTA_DECL std::string without_places(const std::string& text);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_failures.ipp"
#endif
