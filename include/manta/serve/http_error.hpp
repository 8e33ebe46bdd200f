// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a function throws to give its HTTP client an answer of its own choice:
//
//   if (amount < 0) throw manta::serve::http_error(422, "the amount is below 0");
//
// Any function may throw it: a task, a deployed method, one that a deployed method asks. It travels as it is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/serve/source.hpp"

namespace manta::serve {

class http_error : public error {
 public:
  http_error() : error("") {}
  /// A status from 400 to 599. The text is what the client reads: {"error": text}.
  MANTA_DECL http_error(int status, const std::string& text,
                        std::vector<std::pair<std::string, std::string>> header = {});
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  /// The status of the answer; 500 if the one that was given is none of an error.
  [[nodiscard]] int status() const { return status_ >= 400 && status_ <= 599 ? status_ : 500; }
  /// Further header fields of the answer, such as Retry-After.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& header() const { return header_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(status_, text_, header_);
  }

 private:
  int status_ = 500;
  std::string text_;
  std::vector<std::pair<std::string, std::string>> header_;
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/http_error.ipp"
#endif
