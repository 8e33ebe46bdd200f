// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "manta/serve/http_connection.hpp"

namespace manta::serve::detail {

// --- what is to be sent

MANTA_DECL void outgoing::add_file(int file, std::size_t size) {
  forget_file();
  if (size == 0) {
    ::close(file);
  } else {
    file_ = file;
    file_left_ = size;
  }
}

inline void outgoing::forget_file() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

MANTA_DECL std::string_view outgoing::next() {
  constexpr std::size_t some = 256 * 1024;
  if (sent_ == bytes_.size() && file_ >= 0) {
    bytes_.resize(std::min(file_left_, some));
    const ssize_t got = ::read(file_, bytes_.data(), bytes_.size());
    bytes_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    sent_ = 0;
    file_left_ -= bytes_.size();
    is_broken_ = bytes_.empty();
    if (file_left_ == 0 || is_broken_) forget_file();
  }
  return std::string_view(bytes_).substr(sent_);
}

MANTA_DECL void outgoing::have_left(std::size_t count) {
  sent_ += count;
  if (sent_ < bytes_.size()) return;
  constexpr std::size_t kept = 64 * 1024;
  if (bytes_.capacity() > kept) bytes_ = std::string();
  bytes_.clear();
  sent_ = 0;
}

// --- the socket

MANTA_DECL http_connection::~http_connection() {
  room_.body_bytes -= accounted_;
  if (socket_ >= 0) ::close(socket_);
}

inline stream_result result_of(ssize_t count) {
  if (count > 0) return {stream_result::state::done, static_cast<std::size_t>(count)};
  if (count == 0) return {stream_result::state::ended, 0};
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {again ? stream_result::state::again : stream_result::state::broken, 0};
}

inline stream_result http_connection::read(char* to, std::size_t size) {
  return secure_ ? secure_->read(to, size) : result_of(::recv(socket_, to, size, 0));
}

inline stream_result http_connection::write(const char* from, std::size_t size) {
  return secure_ ? secure_->write(from, size) : result_of(::send(socket_, from, size, MSG_NOSIGNAL));
}

inline void http_connection::enter(phase next) {
  room_.of(next).splice(room_.of(next).end(), room_.of(phase_), place);
  phase_ = next;
  since_ = room_.now;
}

MANTA_DECL void http_connection::close() {
  if (phase_ == phase::closed) return;
  if (secure_) secure_->end();
  secure_.reset();
  if (std::exchange(is_to_be_probed_, false)) std::erase(room_.ended, this);
  ::close(std::exchange(socket_, -1));
  enter(phase::closed);
}

MANTA_DECL void http_connection::abort() {
  if (phase_ == phase::working) room_.service.client_left(*this);
  close();
}

MANTA_DECL void http_connection::came(std::uint32_t events) {
  if (phase_ == phase::closed) return;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 && (phase_ == phase::working || phase_ == phase::lingering)) return abort();
  readable_ = true;
  if ((events & EPOLLRDHUP) != 0) client_ended_ = true;
  proceed();
}

/// The client sends nothing more. It may wait for the answer, or it may have gone. If the answer takes some time, the
/// room lets this connection find that out.
inline void http_connection::note_end_of_client() {
  if (std::exchange(is_to_be_probed_, true)) return;
  ended_at_ = room_.now;
  room_.ended.push_back(this);
}

/// The socket does not tell whether the client has gone, until something is sent to it. So an interim answer is sent,
/// which a client that waits passes over (RFC 9110, 15.2). The system of one that has gone answers that the connection
/// does not exist.
MANTA_DECL void http_connection::probe() {
  is_to_be_probed_ = false;
  if (phase_ != phase::working || parts_ != framing::none || message().minor() == 0 || !output_.empty()) return;
  output_.bytes() += "HTTP/1.1 100 Continue\r\n\r\n";
  flush();
}

// --- reading

MANTA_DECL void http_connection::proceed() {
  if (std::exchange(proceeds_, true)) return;
  constexpr int blocks = 16;  // a share of a turn
  for (int i = 0; phase_ != phase::closed; ++i) {
    if (!flush()) break;
    if (phase_ == phase::closing) {
      end_answers();
    } else if (phase_ == phase::working) {
      break;
    } else if (!input_.empty() && phase_ != phase::lingering) {
      const std::string ahead = std::exchange(input_, {});
      const std::size_t used = feed(ahead);
      if (used < ahead.size()) input_.insert(0, ahead, used, std::string::npos);
    } else if (!readable_) {
      break;
    } else if (i >= blocks) {
      room_.again.push_back(this);
      break;
    } else if (!read_some()) {
      break;
    }
  }
  proceeds_ = false;
  if (client_ended_ && phase_ == phase::working && parts_ == framing::none) note_end_of_client();
}

/// False if nothing more can be read for now.
inline bool http_connection::read_some() {
  const stream_result got = read(room_.block.get(), connection_room::block_bytes);
  if (got.what == stream_result::state::again) return readable_ = false;
  if (got.what != stream_result::state::done) return close(), false;  // no request is under way
  if (phase_ == phase::lingering) return true;
  // Less than was asked for: the socket is empty, and its next bytes are news.
  if (!secure_ && got.bytes < connection_room::block_bytes && !client_ended_) readable_ = false;
  const std::string_view bytes(room_.block.get(), got.bytes);
  const std::size_t used = feed(bytes);
  input_.append(bytes.substr(used));
  return true;
}

/// Gives bytes to the reader, and requests to the service, until one is being answered.
inline std::size_t http_connection::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && phase_ <= phase::receiving) {
    used += reader_.take(bytes.substr(used));
    if (phase_ != phase::receiving && reader_.has_begun()) enter(phase::receiving);
    account_body();
    if (reader_.refusal().status != 0) {
      refuse();
    } else if (reader_.has_head()) {
      if (!std::exchange(admitted_, true)) look_at_head();
      if (phase_ == phase::receiving && reader_.is_complete()) {
        enter(phase::working);
        room_.service.answer_request(*this);
      }
    }
  }
  return phase_ > phase::working ? bytes.size() : used;
}

inline void http_connection::refuse() {
  enter(phase::working);
  room_.service.answer_refusal(*this, reader_.refusal());
}

/// A request is refused before its body comes, where that is possible.
inline void http_connection::look_at_head() {
  const http_message& m = message();
  const std::string_view expected = m.field("Expect");
  if (!expected.empty() && !same_word(expected, "100-continue")) {
    reader_.refuse(417, "the only expectation that is met is \"100-continue\"");
    return refuse();
  }
  if (!room_.service.admit(*this)) return;
  if (!expected.empty() && m.minor() > 0 && !reader_.is_complete()) output_.bytes() += "HTTP/1.1 100 Continue\r\n\r\n";
}

/// Bodies of all connections together have a limit.
inline void http_connection::account_body() {
  const std::size_t size = message().body().capacity();
  constexpr std::size_t free_of_charge = 64 * 1024;
  const std::size_t counted = size > free_of_charge ? size : 0;
  room_.body_bytes += counted - accounted_;
  accounted_ = counted;
  if (counted != 0 && room_.body_bytes > room_.options.max_bodies && !reader_.is_complete())
    reader_.refuse(503, "the bodies of all requests together are too long; try again later");
}

// --- answers

/// False if the socket takes no more for now.
inline bool http_connection::flush() {
  if (output_.empty()) return true;
  while (!output_.empty()) {
    const std::string_view bytes = output_.next();
    if (output_.is_broken()) return abort(), false;
    const stream_result left = write(bytes.data(), bytes.size());
    if (left.what == stream_result::state::done) {
      output_.have_left(left.bytes);
      blocked_since_ = 0;
    } else if (left.what == stream_result::state::again) {
      if (blocked_since_ == 0) blocked_since_ = room_.now;
      return false;
    } else {
      return abort(), false;
    }
  }
  if (parts_ != framing::none && !sends_part_) room_.service.part_left(*this);
  return true;
}

inline void append_number(std::string& to, std::size_t number, int base) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  to.append(digits, end);
}

inline void http_connection::write_head(const reply& given, std::size_t length) {
  std::string& out = output_.bytes();
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(given.status), 10);
  out += ' ';
  out += reason(given.status);
  out += "\r\nDate: ";
  out += http_date();
  for (const auto& [name, value] : given.header) {
    out += "\r\n";
    out += name;
    out += ": ";
    out += value;
  }
  if (!given.type.empty()) {
    out += "\r\nContent-Type: ";
    out += given.type;
  }
  if (parts_ == framing::chunks) out += "\r\nTransfer-Encoding: chunked";
  if (parts_ == framing::none && given.status != 204 && given.status != 304) {
    out += "\r\nContent-Length: ";
    append_number(out, length, 10);
  }
  if (last_ || parts_ == framing::until_close) {
    out += "\r\nConnection: close";
  } else if (message().minor() == 0) {
    out += "\r\nConnection: keep-alive";
  }
  out += "\r\n\r\n";
}

MANTA_DECL void http_connection::answer(reply given, bool last) {
  last_ = last || !reader_.is_complete() || !message().keeps_alive();
  const std::size_t length = given.file >= 0 ? given.file_size : given.body.size();
  write_head(given, length);
  if (message().method() == "HEAD" || given.status == 204 || given.status == 304) {
    if (given.file >= 0) ::close(given.file);
  } else if (given.file >= 0) {
    output_.add_file(given.file, given.file_size);
  } else {
    output_.bytes() += given.body;
  }
  request_answered();
}

MANTA_DECL void http_connection::begin_parts(const reply& head, bool last) {
  last_ = last || !message().keeps_alive();
  parts_ = message().minor() == 0 ? framing::until_close : framing::chunks;
  write_head(head, 0);
}

MANTA_DECL bool http_connection::send_part(std::string_view part) {
  std::string& out = output_.bytes();
  if (parts_ == framing::chunks) {
    append_number(out, part.size(), 16);
    out += "\r\n";
  }
  out += part;
  if (parts_ == framing::chunks) out += "\r\n";
  sends_part_ = true;
  const bool left = flush();
  sends_part_ = false;
  return left;
}

MANTA_DECL void http_connection::end_parts() {
  if (parts_ == framing::chunks) output_.bytes() += "0\r\n\r\n";
  last_ = last_ || parts_ == framing::until_close;
  parts_ = framing::none;
  request_answered();
}

inline void http_connection::request_answered() {
  exchange = 0;
  if (last_) {
    enter(phase::closing);
  } else {
    reader_.next();
    admitted_ = false;
    account_body();
    enter(phase::idle);
  }
  proceed();
}

/// All answers have left. Were the socket closed while the client still sends, the client would see a broken connection
/// instead of the answer.
inline void http_connection::end_answers() {
  if (reader_.is_complete() && input_.empty() && !readable_) return close();
  if (secure_) secure_->end();
  ::shutdown(socket_, SHUT_WR);
  input_.clear();
  readable_ = true;
  enter(phase::lingering);
}

MANTA_DECL void http_connection::drop_body() {
  message().body() = std::string();
  account_body();
}

MANTA_DECL void http_connection::end_of_patience() {
  if (phase_ == phase::receiving) {
    reader_.refuse(408, "the request has not come in time");
    refuse();
  } else {
    close();
  }
}

}  // namespace manta::serve::detail
