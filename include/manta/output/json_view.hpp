// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A parsed JSON text, and a look at one value in it. The parser is nlohmann's; this header hides it, so that only the
// compiled source includes that library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/error.hpp"
#include "manta/output/source_json.hpp"

namespace manta::output {

/// A JSON text that cannot be read as the value that is asked for. The text of the error names the field, says what was
/// expected and what came instead: `image.pixels[3]: expected a number, not the text "x"`.
class json_error : public error {
 public:
  using error::error;
};

/// One value of a json_document, which has to outlive it.
class json_view {
 public:
  enum class kind { none, null, boolean, integer, natural, number, string, array, object };

  json_view() = default;
  explicit json_view(const void* node) : node_(node) {}

  /// `none` for a view of nothing; `natural` for an integer of at least 0.
  MANTA_DECL kind what() const;
  /// The kind in words, with the value where it is short.
  MANTA_DECL std::string describe() const;
  MANTA_DECL bool boolean() const;
  MANTA_DECL std::int64_t integer() const;
  MANTA_DECL std::uint64_t natural() const;
  MANTA_DECL double number() const;
  MANTA_DECL const std::string& string() const;
  /// The number of elements or members.
  MANTA_DECL std::size_t size() const;
  MANTA_DECL json_view element(std::size_t i) const;
  /// A view of nothing if there is no such member.
  MANTA_DECL json_view member(std::string_view name) const;
  MANTA_DECL std::vector<std::pair<std::string_view, json_view>> members() const;
  bool exists() const { return node_ != nullptr; }
  bool is_null() const { return what() == kind::null; }
  bool is_array() const { return what() == kind::array; }
  bool is_object() const { return what() == kind::object; }
  bool is_string() const { return what() == kind::string; }

 private:
  const void* node_ = nullptr;
};

/// Most levels of nested arrays and objects in a text that is read.
inline constexpr int deepest_json = 64;

class json_document {
 public:
  /// Throws json_error with the line and column if the text is no JSON (RFC 8259); or if it is nested deeper than
  /// `deepest`, or has millions of arrays and objects, before it takes memory for them. `called`: what the text is,
  /// for that error.
  MANTA_DECL explicit json_document(std::string_view text, const char* called = "the body", int deepest = deepest_json);
  json_view root() const { return json_view(root_.get()); }

 private:
  std::shared_ptr<const void> root_;
};

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/json_view.ipp"
#endif
