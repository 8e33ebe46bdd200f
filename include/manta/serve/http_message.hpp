// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reads requests of HTTP/1.1 (RFC 9112) from the bytes of a connection. The reader is strict wherever another program,
// such as a proxy in front, might read a message in another way: two lengths, a length and a coding, spaces before a
// colon, folded lines, zeros, and signs in the size of a chunk are refused. It communicates with nobody, so that it can
// be tested byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"

namespace manta::serve::detail {

/// Bytes that one message may have.
struct message_limits {
  std::size_t head = 16 * 1024;         ///< the request line and the header fields
  std::size_t body = 64 * 1024 * 1024;  ///< the body, without the frames of its chunks
  static constexpr std::size_t fields = 100;
  static constexpr std::size_t frames = 64 * 1024;  ///< sizes and extensions of all chunks, and the trailer
};

/// Compares names of header fields, and other words whose letters may be large or small.
MANTA_DECL bool same_word(std::string_view a, std::string_view b);
/// Whether a list such as "keep-alive, close" has this element.
MANTA_DECL bool list_has(std::string_view list, std::string_view word);
/// Whether it may be the name of a field.
MANTA_DECL bool is_token(std::string_view text);
/// Whether it has a character that the value of a field must not have, such as a line break.
MANTA_DECL bool has_control(std::string_view text);

/// One request. Its views refer to the message itself.
class http_message {
 public:
  /// A part of the head.
  struct piece {
    std::uint32_t begin = 0, size = 0;
  };
  struct field_pieces {
    piece name, value;
  };
  /// What a reader writes.
  struct content {
    std::string head = {}, body = {};
    piece method = {}, target = {};
    int minor = 1;
    std::vector<field_pieces> fields = {};
  };

  [[nodiscard]] std::string_view method() const { return at(its_.method); }
  /// As it stands in the request line: "/path?query", "http://host/path" or "*".
  [[nodiscard]] std::string_view target() const { return at(its_.target); }
  /// 1 for HTTP/1.1, 0 for HTTP/1.0.
  [[nodiscard]] int minor() const { return its_.minor; }
  /// The first field of this name; empty if there is none.
  [[nodiscard]] MANTA_DECL std::string_view field(std::string_view name) const;
  [[nodiscard]] MANTA_DECL bool has_field(std::string_view name) const;
  [[nodiscard]] std::size_t fields() const { return its_.fields.size(); }
  [[nodiscard]] std::string_view name(std::size_t i) const { return at(its_.fields[i].name); }
  [[nodiscard]] std::string_view value(std::size_t i) const { return at(its_.fields[i].value); }
  [[nodiscard]] const std::string& body() const { return its_.body; }
  [[nodiscard]] std::string& body() { return its_.body; }
  /// Whether the client wants to send further requests on the connection.
  [[nodiscard]] MANTA_DECL bool keeps_alive() const;

  /// For the reader.
  [[nodiscard]] content& its() { return its_; }
  [[nodiscard]] const content& its() const { return its_; }

 private:
  [[nodiscard]] std::string_view at(piece p) const { return std::string_view(its_.head).substr(p.begin, p.size); }

  content its_;
};

/// Why a message is refused: the status of the answer, and a sentence.
struct message_refusal {
  int status = 0;  ///< 0: it is not refused
  const char* why = "";
};

class message_reader {
 public:
  explicit message_reader(const message_limits& limits) : limits_(limits) {}

  /// Reads bytes, and returns how many it has used: all of them, unless the head has just become complete, the message
  /// is complete, or it is refused.
  MANTA_DECL std::size_t take(std::string_view bytes);
  /// Begins the next message.
  MANTA_DECL void next();

  /// Whether any byte of the message has come.
  [[nodiscard]] bool has_begun() const { return step_ != step::line || !message_.its().head.empty(); }
  [[nodiscard]] bool has_head() const { return step_ > step::fields; }
  [[nodiscard]] bool is_complete() const { return step_ == step::complete; }
  [[nodiscard]] const message_refusal& refusal() const { return refusal_; }
  /// Refuses the message, whatever it is; for limits that the reader does not know.
  MANTA_DECL void refuse(int status, const char* why);
  /// The bytes that the body has according to its head; 0 if it comes in chunks.
  [[nodiscard]] std::size_t announced() const { return length_; }
  [[nodiscard]] http_message& message() { return message_; }
  [[nodiscard]] const http_message& message() const { return message_; }

 private:
  enum class step { line, fields, body, size, chunk, chunk_end, trailer, complete, refused };

  std::size_t take_head(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);
  std::size_t take_frame(std::string_view bytes);
  void read_line(std::string_view line, std::size_t begin);
  void read_request_line(std::string_view line, std::size_t begin);
  void read_field(std::string_view line, std::size_t begin);
  void end_head();
  void read_frame();
  void read_size(std::string_view line);
  bool refuse_lengths();
  static http_message::piece piece(std::size_t begin, std::size_t size) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)};
  }

  message_limits limits_;
  http_message message_;
  step step_ = step::line;
  message_refusal refusal_;
  std::size_t line_ = 0;    ///< where the present line of the head begins
  std::size_t length_ = 0;  ///< bytes of the body, or of the present chunk
  std::size_t frames_ = 0;  ///< bytes of all sizes, extensions and trailers
  std::string frame_;       ///< the present line of these
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_message.ipp"
#endif
