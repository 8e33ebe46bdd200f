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

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "manta/tune/config.hpp"
#include "manta/tune/metrics.hpp"

namespace manta::tune {

namespace detail {
/// A configuration as the journal has it: a text stays a text whatever it looks like, and a number that JSON does not
/// have is {"number":"inf"}.
MANTA_DECL void append_parameters(std::string& out, const config& c);
MANTA_DECL void append_metrics(std::string& out, const metrics& m);
/// A text of which the same bytes are read again, UTF-8 or not.
MANTA_DECL void append_exact_text(std::string& out, std::string_view text);
}  // namespace detail

class journal {
 public:
  /// One line, as it is read.
  struct event {
    std::string kind;
    double seconds = 0;
    config parameters;         ///< its member "p"
    metrics reported;          ///< its member "m"
    named_list<value> others;  ///< its other members: numbers and texts

    /// A member. Throws if there is none of that name and kind.
    std::string text(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    double number(std::string_view name) const;
  };

  journal() = default;
  journal(const journal&) = delete;
  journal& operator=(const journal&) = delete;
  ~journal();

  /// Reads what is there, calling replay(event) for each line, cuts off a torn end, and goes on behind it. Throws if a
  /// line in the middle is damaged, or if another process has the journal open.
  void open(const std::string& path, const std::function<void(const event&)>& replay);
  /// Reads the whole lines that are there, also while another process writes them. Returns their bytes.
  static std::size_t read(const std::string& path, const std::function<void(const event&)>& replay);
  bool is_open() const { return lock_ >= 0; }
  /// Whether a process has the journal open.
  static bool is_in_use(const std::string& path);

  /// Appends {"e":"<kind>","s":<seconds><rest>}; `rest` is members of JSON, each with a comma before it.
  void append(std::string_view kind, double seconds, std::string_view rest);
  /// Hands everything to the system: safe then from a kill of this process, not from a power failure. One write.
  void flush();

 private:
  static bool is_whole(const std::string& line);

  std::string path_, buffer_;
  int lock_ = -1;
};

namespace detail {
/// An event from its line. Throws if the line is none.
MANTA_DECL journal::event event_in(const std::string& line);
}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/journal.ipp"
#endif
