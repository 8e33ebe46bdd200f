// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/serve/http_error.hpp"
#include "manta/serve/http_message.hpp"
#include "manta/serve/http_target.hpp"
#include "manta/serve/request.hpp"

namespace manta::serve {

MANTA_DECL std::string_view request::header(std::string_view name) const {
  for (const auto& [each, its] : fields) {
    if (detail::same_word(each, name)) return its;
  }
  return {};
}

MANTA_DECL std::string_view request::value(std::string_view name) const {
  const std::string* found = detail::find_value(parameters, name);
  if (found == nullptr) found = detail::find_value(query, name);
  return found != nullptr ? std::string_view(*found) : std::string_view();
}

namespace detail {

/// The value of a parameter behind the semicolons of a field: boundary of `multipart/form-data; boundary="x"`.
inline std::string parameter_of(std::string_view field, std::string_view name) {
  while (true) {
    // A semicolon within quotes separates nothing.
    std::size_t at = 0;
    for (bool quoted = false; at < field.size() && (quoted || field[at] != ';'); ++at) {
      if (quoted && field[at] == '\\') ++at;
      else if (field[at] == '"') quoted = !quoted;
    }
    if (at >= field.size()) return {};
    field.remove_prefix(at + 1);
    field.remove_prefix(std::min(field.find_first_not_of(" \t"), field.size()));
    const std::size_t sign = field.find('=');
    if (sign == std::string_view::npos) return {};
    if (!same_word(field.substr(0, sign), name)) continue;
    std::string_view its = field.substr(sign + 1);
    if (!its.starts_with('"')) return std::string(its.substr(0, its.find_first_of("; \t")));
    std::string value;
    for (std::size_t i = 1; i < its.size() && its[i] != '"'; ++i) {
      if (its[i] == '\\' && i + 1 < its.size()) ++i;
      value += its[i];
    }
    return value;
  }
}

/// One part: header fields, an empty line, data.
inline form_part read_part(std::string_view text) {
  const std::size_t end = text.starts_with("\r\n") ? 0 : text.find("\r\n\r\n");
  if (end == std::string_view::npos) throw http_error(400, "the body: a part of the form has no end of its header");
  form_part part;
  std::string_view header = text.substr(0, end);
  while (!header.empty()) {
    const std::string_view line = header.substr(0, header.find("\r\n"));
    header.remove_prefix(std::min(line.size() + 2, header.size()));
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon), value = line.substr(std::min(colon + 1, line.size()));
    if (same_word(name, "Content-Disposition")) {
      part.name = parameter_of(value, "name");
      part.file = parameter_of(value, "filename");
    } else if (same_word(name, "Content-Type")) {
      part.type = value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
    }
  }
  part.data = text.substr(end == 0 ? 2 : end + 4);
  return part;
}

/// The parts of a body of type multipart/form-data (RFC 7578).
inline std::vector<form_part> read_multipart(std::string_view body, const std::string& boundary) {
  if (boundary.empty()) throw http_error(400, "Content-Type: multipart/form-data needs a boundary");
  const std::string mark = "--" + boundary;
  std::vector<form_part> parts;
  std::size_t at = body.starts_with(mark) ? 0 : body.find("\r\n" + mark);
  if (at != 0 && at != std::string_view::npos) at += 2;
  while (at != std::string_view::npos) {
    at += mark.size();
    if (body.substr(at).starts_with("--")) return parts;
    at = body.find("\r\n", at);
    if (at == std::string_view::npos) break;
    at += 2;
    const std::size_t end = body.find("\r\n" + mark, at);
    if (end == std::string_view::npos) break;
    parts.push_back(read_part(body.substr(at, end - at)));
    at = end + 2;
  }
  throw http_error(400, "the body: the form has no end: the boundary \"" + boundary + "--\" is missing");
}

}  // namespace detail

MANTA_DECL std::vector<form_part> request::form() const {
  const std::string_view type = header("Content-Type"), kind = type.substr(0, type.find_first_of("; "));
  if (detail::same_word(kind, "multipart/form-data"))
    return detail::read_multipart(body, detail::parameter_of(type, "boundary"));
  if (!detail::same_word(kind, "application/x-www-form-urlencoded"))
    throw http_error(415, "Content-Type: expected a form, multipart/form-data or application/x-www-form-urlencoded");
  std::vector<form_part> parts;
  for (auto& [name, data] : detail::parse_query(body)) parts.push_back({std::move(name), std::move(data)});
  return parts;
}

}  // namespace manta::serve
