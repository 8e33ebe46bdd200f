// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>

#include "manta/serve/http_message.hpp"

namespace manta::serve::detail {

// --- words

inline char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

MANTA_DECL bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return small(x) == small(y); });
}

inline std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

MANTA_DECL bool list_has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (same_word(without_spaces(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// A character of a token (RFC 9110): what methods and names of fields consist of.
inline bool is_token_character(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
  return letter || digit || (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
}
MANTA_DECL bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), &is_token_character);
}
inline bool is_control(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; }
MANTA_DECL bool has_control(std::string_view text) { return std::any_of(text.begin(), text.end(), &is_control); }

// --- the message

MANTA_DECL std::string_view http_message::field(std::string_view name) const {
  for (const field_pieces& each : its_.fields) {
    if (same_word(at(each.name), name)) return at(each.value);
  }
  return {};
}

MANTA_DECL bool http_message::has_field(std::string_view name) const {
  return std::any_of(its_.fields.begin(), its_.fields.end(),
                     [&](const field_pieces& each) { return same_word(at(each.name), name); });
}

MANTA_DECL bool http_message::keeps_alive() const {
  bool close = method() == "CONNECT", keep = false;  // what follows is for another server
  for (const field_pieces& each : its_.fields) {     // the field may stand there more than once
    if (!same_word(at(each.name), "Connection")) continue;
    close = close || list_has(at(each.value), "close");
    keep = keep || list_has(at(each.value), "keep-alive");
  }
  return !close && (its_.minor > 0 || keep);
}

// --- the reader

inline constexpr std::size_t few_bytes = 64 * 1024, trusted_bytes = 1 << 20;

MANTA_DECL void message_reader::next() {
  message_.its().head.clear();
  message_.its().fields.clear();
  if (message_.its().body.capacity() > few_bytes) message_.its().body = std::string();
  message_.its().body.clear();
  step_ = step::line;
  refusal_ = {};
  line_ = length_ = frames_ = 0;
  frame_.clear();
}

MANTA_DECL void message_reader::refuse(int status, const char* why) {
  step_ = step::refused;
  refusal_ = {status, why};
}

MANTA_DECL std::size_t message_reader::take(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && step_ < step::complete) {
    const bool had_head = has_head();
    const std::string_view rest = bytes.substr(used);
    used += !had_head                                     ? take_head(rest)
            : step_ == step::body || step_ == step::chunk ? take_body(rest)
                                                          : take_frame(rest);
    if (!had_head && has_head()) break;  // the caller looks at the head before the body comes
  }
  return used;
}

inline std::size_t message_reader::take_head(std::string_view bytes) {
  std::string& head = message_.its().head;
  const std::size_t line_end = bytes.find('\n');
  const std::size_t size = line_end == std::string_view::npos ? bytes.size() : line_end + 1;
  if (head.size() + size > limits_.head) {
    refuse(400, step_ == step::line ? "the request line is too long" : "the header is too long");
    return size;
  }
  head.append(bytes.substr(0, size));
  if (line_end == std::string_view::npos) return size;
  std::string_view line = std::string_view(head).substr(line_);
  line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t begin = std::exchange(line_, head.size());
  read_line(line, begin);
  return size;
}

inline void message_reader::read_line(std::string_view line, std::size_t begin) {
  if (std::any_of(line.begin(), line.end(), &is_control))
    return refuse(400, "there is a control character in the header");
  if (step_ == step::line) {
    if (!line.empty()) return read_request_line(line, begin);
    message_.its().head.clear();  // clients may send an empty line before a request
    line_ = 0;
    constexpr std::size_t most = 64;
    if (++frames_ > most) refuse(400, "there are empty lines in the place of a request");
    return;
  }
  line.empty() ? end_head() : read_field(line, begin);
}

inline void message_reader::read_request_line(std::string_view line, std::size_t begin) {
  frames_ = 0;
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !is_token(line.substr(0, first)))
    return refuse(400, "the request line is none: expected \"METHOD /path HTTP/1.1\"");
  const std::string_view target = line.substr(first + 1, last - first - 1), version = line.substr(last + 1);
  if (target.empty() || target.find_first_of(" \t#") != std::string_view::npos)
    return refuse(400, "the request line is none: expected \"METHOD /path HTTP/1.1\"");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(400, "the version is neither HTTP/1.0 nor HTTP/1.1");
  message_.its().minor = version.back() - '0';
  message_.its().method = piece(begin, first);
  message_.its().target = piece(begin + first + 1, target.size());
  step_ = step::fields;
}

inline void message_reader::read_field(std::string_view line, std::size_t begin) {
  if (line.front() == ' ' || line.front() == '\t') return refuse(400, "a header field goes on in the next line");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return refuse(400, "a line of the header has no colon");
  if (!is_token(line.substr(0, colon)))
    return refuse(400, "a name of a header field has a space, or another character that none has");
  if (message_.its().fields.size() >= message_limits::fields)
    return refuse(400, "there are more than 100 header fields");
  const std::string_view value = without_spaces(line.substr(colon + 1));
  const std::size_t at = value.empty() ? begin : begin + static_cast<std::size_t>(value.data() - line.data());
  message_.its().fields.push_back({piece(begin, colon), piece(at, value.size())});
}

/// Whether the fields leave open where the message ends. Notes the length of its body.
inline bool message_reader::refuse_lengths() {
  int lengths = 0, codings = 0, hosts = 0;
  for (std::size_t i = 0; i < message_.fields(); ++i) {
    const std::string_view name = message_.name(i), value = message_.value(i);
    if (same_word(name, "Content-Length")) {
      ++lengths;
      if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string_view::npos)
        return refuse(400, "Content-Length is no number"), true;
      length_ = 0;
      for (const char digit : value) length_ = 10 * length_ + static_cast<std::size_t>(digit - '0');
    } else if (same_word(name, "Transfer-Encoding")) {
      ++codings;
      if (!same_word(value, "chunked"))
        return refuse(400, "the only Transfer-Encoding that is read is \"chunked\""), true;
    } else if (same_word(name, "Host")) {
      ++hosts;
    }
  }
  if (lengths + codings > 1) return refuse(400, "there is more than one of Content-Length and Transfer-Encoding"), true;
  if (codings > 0 && message_.its().minor == 0) return refuse(400, "HTTP/1.0 has no Transfer-Encoding"), true;
  if (hosts > 1) return refuse(400, "there is more than one Host"), true;
  if (length_ > limits_.body) return refuse(413, "the body is too long"), true;
  step_ = codings > 0 ? step::size : length_ > 0 ? step::body : step::complete;
  return false;
}

inline void message_reader::end_head() {
  if (refuse_lengths() || step_ != step::body) return;
  message_.its().body.reserve(std::min(length_, few_bytes));
}

inline std::size_t message_reader::take_body(std::string_view bytes) {
  std::string& body = message_.its().body;
  const bool chunked = step_ == step::chunk;
  // A client that announces much has not sent it yet.
  if (!chunked && body.size() > trusted_bytes && body.capacity() < length_) body.reserve(length_);
  const std::size_t missing = chunked ? length_ : length_ - body.size();
  const std::size_t size = std::min(missing, bytes.size());
  if (body.size() + size > limits_.body) {
    refuse(413, "the body is too long");
    return size;
  }
  body.append(bytes.substr(0, size));
  if (chunked) length_ -= size;
  if (size == missing) step_ = chunked ? step::chunk_end : step::complete;
  return size;
}

/// The lines between chunks, and those of the trailer.
inline std::size_t message_reader::take_frame(std::string_view bytes) {
  const std::size_t line_end = bytes.find('\n');
  const std::size_t size = line_end == std::string_view::npos ? bytes.size() : line_end + 1;
  frames_ += size;
  if (frames_ > message_limits::frames) {
    // A body in chunks of few bytes has long frames: they may be as long as the body.
    if (frames_ > message_limits::frames + 8 * message_.its().body.size() || frame_.size() + size > limits_.head) {
      refuse(400, "the frames of the chunks are too long");
      return size;
    }
  }
  frame_.append(bytes.substr(0, size));
  if (line_end != std::string_view::npos) read_frame();
  return size;
}

inline void message_reader::read_frame() {
  if (!frame_.ends_with("\r\n")) return refuse(400, "a line of a chunk ends without a carriage return");
  std::string_view line = frame_;
  line.remove_suffix(2);
  if (std::any_of(line.begin(), line.end(), &is_control))
    return refuse(400, "there is a control character between chunks");
  if (step_ == step::size) {
    read_size(line);
  } else if (step_ == step::chunk_end) {
    if (!line.empty()) return refuse(400, "a chunk is longer than its size says");
    step_ = step::size;
  } else if (line.empty()) {
    step_ = step::complete;
  } else if (const std::size_t colon = line.find(':'); !is_token(line.substr(0, colon)) || colon >= line.size()) {
    return refuse(400, "the trailer has a line that is no field");
  }
  frame_.clear();
}

/// A size in hexadecimal digits, perhaps with an extension behind a semicolon, which is not used.
inline void message_reader::read_size(std::string_view line) {
  const std::size_t digits = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
  const std::string_view behind = without_spaces(line.substr(digits));
  if (digits == 0 || digits > 15 || (!behind.empty() && behind.front() != ';'))
    return refuse(400, "the size of a chunk is no hexadecimal number");
  length_ = 0;
  for (const char c : line.substr(0, digits))
    length_ = 16 * length_ + static_cast<std::size_t>(c <= '9' ? c - '0' : small(c) - 'a' + 10);
  if (length_ > limits_.body) return refuse(413, "the body is too long");
  step_ = length_ == 0 ? step::trailer : step::chunk;
}

}  // namespace manta::serve::detail
