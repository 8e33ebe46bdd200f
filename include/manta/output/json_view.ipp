// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>  // not found? Install nlohmann-json3-dev, or name its include folder by -I or CPATH

#include "manta/base/text.hpp"
#include "manta/output/json_view.hpp"

namespace manta::output {

namespace detail {
inline const nlohmann::json& node(const void* p) { return *static_cast<const nlohmann::json*>(p); }

[[noreturn]] inline void refuse_depth(int deepest) {
  if (deepest == 0) throw json_error("an array or an object is not expected here");
  throw json_error(base::text("arrays and objects are nested deeper than {} levels", deepest));
}

/// Before the parser, which would recurse as deep, and which takes 20 bytes for each byte of arrays without elements.
inline void check_arrays(std::string_view text, int deepest) {
  constexpr std::size_t most_arrays = 4'000'000;
  int depth = 0;
  std::size_t arrays = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) refuse_depth(deepest);
      if (++arrays > most_arrays)
        throw json_error(base::text("there are more than {} arrays and objects", most_arrays));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}
}  // namespace detail

MANTA_DECL json_document::json_document(std::string_view text, const char* called, int deepest) {
  detail::check_arrays(text, deepest);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw json_error(std::string(called) + " is empty: expected a value in JSON");
  // The parser takes a zero for the end.
  if (text.find('\0') != std::string_view::npos)
    throw json_error(std::string(called) + " is not JSON: it has a zero byte");
  try {
    root_ = std::make_shared<const nlohmann::json>(nlohmann::json::parse(text.begin(), text.end()));
  } catch (const nlohmann::json::exception& e) {
    std::string why = e.what();
    if (const std::size_t end = why.find("] "); why.front() == '[' && end != std::string::npos) why.erase(0, end + 2);
    throw json_error(std::string(called) + " is not JSON: " + why);
  }
}

MANTA_DECL json_view::kind json_view::what() const {
  if (node_ == nullptr) return kind::none;
  using type = nlohmann::json::value_t;
  switch (detail::node(node_).type()) {
    case type::boolean: return kind::boolean;
    case type::number_integer: return kind::integer;
    case type::number_unsigned: return kind::natural;
    case type::number_float: return kind::number;
    case type::string: return kind::string;
    case type::array: return kind::array;
    case type::object: return kind::object;
    default: return kind::null;
  }
}

MANTA_DECL std::string json_view::describe() const {
  constexpr std::size_t longest = 40;
  std::string text = node_ == nullptr                                  ? ""
                     : what() == kind::array || what() == kind::object ? ""
                                                                       : detail::node(node_).dump();
  if (text.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
    text = text.substr(0, end) + "..";
  }
  switch (what()) {
    case kind::none: return "nothing";
    case kind::null: return "null";
    case kind::string: return "the text " + text;
    case kind::array: return base::text("an array of {}", size());
    case kind::object: return "an object";
    default: return text;
  }
}

MANTA_DECL bool json_view::boolean() const { return detail::node(node_).get<bool>(); }
MANTA_DECL std::int64_t json_view::integer() const { return detail::node(node_).get<std::int64_t>(); }
MANTA_DECL std::uint64_t json_view::natural() const { return detail::node(node_).get<std::uint64_t>(); }
MANTA_DECL double json_view::number() const { return detail::node(node_).get<double>(); }
MANTA_DECL const std::string& json_view::string() const { return detail::node(node_).get_ref<const std::string&>(); }
MANTA_DECL std::size_t json_view::size() const { return detail::node(node_).size(); }
MANTA_DECL json_view json_view::element(std::size_t i) const { return json_view(&detail::node(node_)[i]); }
MANTA_DECL json_view json_view::member(std::string_view name) const {
  const nlohmann::json& object = detail::node(node_);
  const auto at = object.find(std::string(name));
  return at == object.end() ? json_view() : json_view(&*at);
}
MANTA_DECL std::vector<std::pair<std::string_view, json_view>> json_view::members() const {
  std::vector<std::pair<std::string_view, json_view>> all;
  const nlohmann::json& object = detail::node(node_);
  for (auto at = object.begin(); at != object.end(); ++at) all.emplace_back(at.key(), json_view(&at.value()));
  return all;
}

}  // namespace manta::output
