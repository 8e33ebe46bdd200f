// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The journal of an experiment: one line of JSON for each thing that happened,
// only ever appended, so that an event costs the same after a hundred thousand
// trials as at first. Searchers, schedulers and generators of random numbers
// depend on nothing but what happened before; so the journal holds their state:
// continuing an experiment is reading it and doing the same again.
//
// Each line ends with a checksum of what stands before it. A last line that is
// not whole, because the job was killed while it was written, is cut off.
#pragma once

#include <sys/file.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>  // not found? Install nlohmann-json3-dev, or name its include folder by -I or CPATH

#include "manta/tune/append_file.hpp"
#include "manta/tune/config.hpp"
#include "manta/tune/crc32c.hpp"
#include "manta/tune/math.hpp"
#include "manta/tune/metrics.hpp"

namespace manta::tune {

namespace detail {

inline value value_of(const nlohmann::json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  const auto text = j.get<std::string>();
  if (text == "nan" || text == "-nan") return std::nan("");
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  return text;
}
inline double number_of(const nlohmann::json& j) { return value_of(j).as<double>(); }
inline config config_of(const nlohmann::ordered_json& j) {
  config c;
  for (const auto& [name, v] : j.items()) c.set(name, value_of(v));
  return c;
}
inline metrics metrics_of(const nlohmann::ordered_json& j) {
  metrics m;
  for (const auto& [name, v] : j.items()) m.set(name, number_of(v));
  return m;
}

}  // namespace detail

class journal {
 public:
  using event = nlohmann::ordered_json;

  journal() = default;
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;
  ~journal() {
    if (lock_ < 0) return;
    try {
      flush();
    } catch (const error&) {
      // the disk is full: what was written before is whole
    }
    ::close(lock_);
  }

  /// Reads what is there, calling replay(event) for each line, cuts off a torn end, and goes on behind it. Throws if a line in the
  /// middle is damaged, or if another process has the journal open.
  template <class Replay>
  void open(const std::string& path, Replay&& replay) {
    path_ = path;
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) throw error("manta: cannot open " + path + ": " + std::strerror(errno));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw error("manta: another process continues the experiment in " + path + "; wait for it or give another folder");
    }
    std::ifstream in(path, std::ios::binary);
    std::string line;
    std::size_t number = 0;
    off_t good = 0;
    while (std::getline(in, line)) {
      ++number;
      const bool whole = !in.eof() && is_whole(line);
      if (!whole) {
        if (in.peek() != std::char_traits<char>::eof()) {
          throw error("manta: " + path + ":" + std::to_string(number) + " is damaged (its checksum is wrong, and lines "
                      "follow it); give another folder, or cut the file there to continue from before it");
        }
        break;
      }
      good += static_cast<off_t>(line.size()) + 1;
      replay(event::parse(line));
    }
    if (::ftruncate(lock_, good) != 0 || ::lseek(lock_, good, SEEK_SET) != good) {
      throw error("manta: cannot cut off the torn end of " + path + ": " + std::strerror(errno));
    }
  }
  bool is_open() const { return lock_ >= 0; }

  /// Appends {"e":"<kind>","s":<seconds><rest>}; `rest` is members of JSON, each with a comma before it.
  void append(std::string_view kind, double seconds, std::string_view rest) {
    if (lock_ < 0) return;
    const std::size_t begin = buffer_.size();
    buffer_ += "{\"e\":\"";
    buffer_ += kind;
    buffer_ += "\",\"s\":";
    append_number(buffer_, std::floor(seconds * 1e6) / 1e6);
    buffer_ += rest;
    const std::uint32_t crc = crc32c(std::string_view(buffer_).substr(begin));
    char sum[24];
    std::snprintf(sum, sizeof sum, ",\"c\":\"%08x\"}\n", crc);
    buffer_ += sum;
    if (buffer_.size() > (std::size_t{1} << 16)) flush();
  }
  /// Hands everything to the system: safe then from a kill of this process, not from a power failure. One write.
  void flush() {
    if (!write_all(lock_, buffer_)) throw error("manta: cannot write " + path_ + ": " + std::strerror(errno));
    buffer_.clear();
  }

 private:
  static bool is_whole(const std::string& line) {
    constexpr std::size_t tail = 16;  // ,"c":"01234567"}
    if (line.size() <= tail) return false;
    char sum[24];
    std::snprintf(sum, sizeof sum, ",\"c\":\"%08x\"}", crc32c(std::string_view(line).substr(0, line.size() - tail)));
    return line.compare(line.size() - tail, tail, sum) == 0;
  }

  std::string path_, buffer_;
  int lock_ = -1;
};

}  // namespace manta::tune
