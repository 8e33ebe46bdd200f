// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>  // not found? Install nlohmann-json3-dev, or name its include folder by -I or CPATH

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/crc32c.hpp"
#include "manta/tune/journal.hpp"
#include "manta/tune/math.hpp"

namespace manta::tune {

namespace detail {

/// Before texts that are not UTF-8: each character is the byte of its number.
inline constexpr std::string_view bytes_mark{"\0bytes:", 7};

MANTA_DECL void append_exact_text(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  output::append_json_text(out, text);
  const auto is_byte = [&](std::size_t at) {
    return at + 4 < out.size() && out[at + 4] >= '8';
  };  // \u0080 and above: not UTF-8
  bool is_exact = !text.starts_with(bytes_mark);
  for (std::size_t at = begin; is_exact && (at = out.find("\\u00", at)) != std::string::npos; ++at)
    is_exact = !is_byte(at);
  if (is_exact) return;
  out.resize(begin);
  out += "\"\\u0000bytes:";
  for (const char& c : text) {
    std::string one;
    output::append_json_text(one, {&c, 1});
    out.append(one, 1, one.size() - 2);
  }
  out += '"';
}

MANTA_DECL std::string exact_text_of(std::string text) {
  if (!text.starts_with(bytes_mark)) return text;
  std::string bytes;
  for (std::size_t i = bytes_mark.size(); i < text.size(); ++i) {
    const bool is_high = (text[i] & 0x80) != 0;  // of two bytes, for no character is above 255
    bytes += is_high ? static_cast<char>((text[i] & 3) << 6 | (text[i + 1] & 0x3f)) : text[i];
    i += is_high;
  }
  return bytes;
}

/// Reads numbers that are not finite, as append_json_number writes them.
MANTA_DECL value number_of(const std::string& text) {
  if (text == "nan" || text == "-nan") return std::nan("");
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  return text;
}

/// Fills an event while a line is parsed. The parser calls these functions; it goes on if they return true.
class event_reader {
 public:
  explicit event_reader(journal::event& into) : event_(into) {}

  bool null() { return false; }
  bool boolean(bool b) { return take(b); }
  bool number_integer(std::int64_t i) { return take(i); }
  bool number_unsigned(std::uint64_t i) { return take(i); }
  bool number_float(double x, const std::string&) { return take(x); }
  bool string(std::string& text) {
    // A text of a parameter is a text whatever it looks like; see append_parameters.
    const bool is_text = inside_.empty() || (inside_ == "p" && !is_number_);
    return take(is_text ? value(exact_text_of(std::move(text))) : number_of(text));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) {
    if (inside_ == "p") {
      is_number_ = true;
    } else {
      inside_ = key_;
    }
    return true;
  }
  bool end_object() {
    if (!std::exchange(is_number_, false)) inside_.clear();
    return true;
  }
  bool start_array(std::size_t) { return false; }
  bool end_array() { return false; }
  bool key(std::string& name) {
    if (!is_number_) key_ = exact_text_of(std::move(name));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }

 private:
  bool take(const value& v) {
    if (inside_ == "p") {
      event_.parameters.set(key_, v);
    } else if (inside_ == "m") {
      event_.reported.set(key_, v.as<double>());
    } else if (key_ == "e") {
      event_.kind = v.as<std::string>();
    } else {
      event_.others.set(key_, v);
    }
    return true;
  }

  journal::event& event_;
  std::string key_, inside_;  ///< inside_: the member whose object is read; empty: the line's own
  bool is_number_ = false;    ///< inside a parameter's {"number":"inf"}
};

MANTA_DECL void append_parameters(std::string& out, const config& c) {
  out += '{';
  const char* separator = "";
  for (const auto& [name, x] : c) {
    out += separator;
    separator = ",";
    append_exact_text(out, name);
    out += ':';
    const bool is_odd = x.is_number() && !x.is_integer() && !base::is_finite(x.as<double>());
    if (is_odd) out += "{\"number\":";
    if (x.is_text()) append_exact_text(out, x.as<std::string>());
    else x.append_to(out);
    if (is_odd) out += '}';
  }
  out += '}';
}

MANTA_DECL void append_metrics(std::string& out, const metrics& m) {
  out += '{';
  for (const auto& [name, x] : m) {
    if (out.back() != '{') out += ',';
    append_exact_text(out, name);
    out += ':';
    output::append_json_number(out, x);
  }
  out += '}';
}

MANTA_DECL journal::event event_in(const std::string& line) {
  journal::event e;
  event_reader reader(e);
  if (!nlohmann::json::sax_parse(line, &reader)) {
    throw error("manta: tune: a line of the journal is no event: " + line.substr(0, 100) + "; give another folder");
  }
  e.seconds = e.number("s");
  return e;
}
MANTA_DECL const value& member_of(const journal::event& e, std::string_view name) {
  if (const value* const v = e.others.find(name)) return *v;
  throw error("manta: tune: an event \"" + e.kind + "\" of the journal has no \"" + std::string(name) +
              "\": it was written by another version of manta; give another folder");
}

}  // namespace detail

MANTA_DECL std::string journal::event::text(std::string_view name) const {
  return detail::member_of(*this, name).as<std::string>();
}
MANTA_DECL std::int64_t journal::event::integer(std::string_view name) const {
  return detail::member_of(*this, name).as<std::int64_t>();
}
MANTA_DECL double journal::event::number(std::string_view name) const {
  const value& v = detail::member_of(*this, name);
  return v.is_text() ? detail::number_of(v.as<std::string>()).as<double>() : v.as<double>();
}

MANTA_DECL journal::~journal() {
  if (lock_ < 0) return;
  try {
    flush();
  } catch (const error&) {
    // the disk is full: what was written before is whole
  }
  ::close(lock_);
}

MANTA_DECL void journal::open(const std::string& path, const std::function<void(const event&)>& replay) {
  path_ = path;
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) throw error("manta: cannot open " + path + ": " + std::strerror(errno));
  int refused = ::flock(lock_, LOCK_EX | LOCK_NB);
  for (int i = 0; i < 10 && refused != 0 && errno == EWOULDBLOCK; ++i) {  // perhaps is_in_use holds it for a moment
    ::usleep(10'000);
    refused = ::flock(lock_, LOCK_EX | LOCK_NB);
  }
  if (refused != 0 && errno == EWOULDBLOCK) {
    throw error("manta: another process continues the experiment in " + path + "; wait for it or give another folder");
  }
  const auto good = static_cast<off_t>(read(path, replay));
  if (::ftruncate(lock_, good) != 0 || ::lseek(lock_, good, SEEK_SET) != good) {
    throw error("manta: cannot cut off the torn end of " + path + ": " + std::strerror(errno));
  }
}

MANTA_DECL bool journal::is_in_use(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_locked = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return is_locked;
}

MANTA_DECL std::size_t journal::read(const std::string& path, const std::function<void(const event&)>& replay) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  std::size_t number = 0;
  std::size_t good = 0;
  while (std::getline(in, line)) {
    ++number;
    const bool whole = !in.eof() && is_whole(line);
    if (!whole) {
      if (in.peek() != std::char_traits<char>::eof()) {
        throw error(
            base::text("manta: {}:{} is damaged (its checksum is wrong, and lines follow it); give another folder, "
                       "or cut the file there to continue from before it",
                       path, number));
      }
      break;
    }
    good += line.size() + 1;
    replay(detail::event_in(line));
  }
  return good;
}

MANTA_DECL void journal::append(std::string_view kind, double seconds, std::string_view rest) {
  if (lock_ < 0) return;
  const std::size_t begin = buffer_.size();
  buffer_ += "{\"e\":\"";
  buffer_ += kind;
  buffer_ += "\",\"s\":";
  append_number(buffer_, std::floor(seconds * 1e6) / 1e6);
  buffer_ += rest;
  const std::uint32_t crc = manta::output::crc32c(std::string_view(buffer_).substr(begin));
  char sum[24];
  std::snprintf(sum, sizeof sum, ",\"c\":\"%08x\"}\n", crc);
  buffer_ += sum;
  if (buffer_.size() > (std::size_t{1} << 16)) flush();
}

MANTA_DECL void journal::flush() {
  buffer_.erase(0, manta::output::write_all(lock_, buffer_));  // a later flush goes on behind it
  if (!buffer_.empty()) throw error("manta: cannot write " + path_ + ": " + std::strerror(errno));
}

MANTA_DECL bool journal::is_whole(const std::string& line) {
  constexpr std::size_t tail = 16;  // ,"c":"01234567"}
  if (line.size() <= tail) return false;
  char sum[24];
  std::snprintf(sum, sizeof sum, ",\"c\":\"%08x\"}",
                manta::output::crc32c(std::string_view(line).substr(0, line.size() - tail)));
  return line.compare(line.size() - tail, tail, sum) == 0;
}

}  // namespace manta::tune
