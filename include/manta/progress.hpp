// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Progress of long work, on standard error.
//
//   for (auto& f : manta::progress("frames", manta::as_completed(futures))) use(f.get());
//
//   manta::progress bar("epoch 3", batches);          // batches: how many there are, or 0 if that is unknown
//   bar.advance(); bar.set("loss", 0.31);
//
// A terminal shows a bar that is redrawn ten times a second. Elsewhere, as in the log of a batch job, a plain line
// appears now and then, with pauses that grow from ten seconds to ten minutes. The destructor writes the last state. Of
// nested bars only the innermost is drawn, and only the outermost stays on the screen. Ranks other than 0 show nothing.
//
// $MANTA_PROGRESS overrides the choice: `bar`, `lines` or `off`. Open MPI gives ranks no terminal for standard error,
// even if it has one itself. So where the rank's parent is a launcher, the standard error of the launcher decides.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "manta/base/config.hpp"

namespace manta {

/// How progress is shown: a bar that is redrawn, plain lines now and then, or nothing.
enum class progress_style { bar, lines, off };

/// The style for this process, by the rules above. Reads the environment and /proc.
MANTA_DECL progress_style progress_style_here();

namespace detail {
/// The display of a progress object. Only the thread that made it may use it.
class progress_display {
 public:
  MANTA_DECL progress_display(std::string title, std::uint64_t total, progress_style style, std::FILE* out);
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;
  MANTA_DECL ~progress_display();

  MANTA_DECL void advance(std::uint64_t by);
  void skip(std::uint64_t by) { done_ += by, skipped_ += by; }
  MANTA_DECL void set(std::string_view name, std::string value);
  MANTA_DECL void set(std::string_view name, double value);
  /// The state in one line of at most `width` characters; `with_bar` fills the free part of the line with a bar.
  [[nodiscard]] MANTA_DECL std::string line(double seconds, std::size_t width, bool with_bar) const;
  [[nodiscard]] std::uint64_t done() const { return done_; }

 private:
  struct values;
  void show();
  void write(const std::string& text);
  [[nodiscard]] double seconds() const;

  std::string title_;
  std::uint64_t total_, done_ = 0;
  std::uint64_t skipped_ = 0;  ///< number of steps among `done_` that took no time here
  progress_style style_;
  std::FILE* out_;
  std::unique_ptr<values> values_;
  progress_display* outer_;
  std::int64_t begin_ns_, next_ns_, pause_ns_;
  bool is_drawn_ = false;
};
}  // namespace detail

/// Progress of a loop over a range. `Range` is the type of the range; void: the program calls advance().
template <class Range = void>
class progress {
 public:
  /// Keeps a temporary range, and refers to any other range.
  progress(std::string title, Range&& range)
      : range_(std::forward<Range>(range)),
        display_(std::move(title), size_of(range_), progress_style_here(), stderr) {}

  class iterator {
   public:
    iterator(decltype(std::begin(std::declval<Range&>())) at, detail::progress_display& display)
        : at_(std::move(at)), display_(&display) {}
    decltype(auto) operator*() const { return *at_; }
    iterator& operator++() {
      ++at_;
      display_->advance(1);
      return *this;
    }
    template <class End>
    bool operator==(const End& end) const {
      return at_ == end;
    }

   private:
    decltype(std::begin(std::declval<Range&>())) at_;
    detail::progress_display* display_;
  };
  /// Begins the loop; each step of the iterator counts as one.
  iterator begin() { return {std::begin(range_), display_}; }
  /// The end of the range.
  auto end() { return std::end(range_); }

  /// Shows a number after the count, such as the loss.
  void set(std::string_view name, double value) { display_.set(name, value); }
  /// Shows a text after the count.
  void set(std::string_view name, std::string_view value) { display_.set(name, std::string(value)); }

 private:
  static std::uint64_t size_of(const auto& range) {
    if constexpr (requires { std::size(range); }) return static_cast<std::uint64_t>(std::size(range));
    return 0;
  }

  Range range_;
  detail::progress_display display_;
};

/// Progress of any other work; the program calls advance() to report its steps.
template <>
class progress<void> {
 public:
  /// `total` is the number of steps; 0: unknown.
  explicit progress(std::string title, std::integral auto total)
      : display_(std::move(title), total > 0 ? static_cast<std::uint64_t>(total) : 0, progress_style_here(), stderr) {}

  /// Counts `by` steps. Reads the clock, and writes a line when it is time to.
  void advance(std::uint64_t by = 1) { display_.advance(by); }
  /// Counts `by` steps that an earlier run has made: the time that is left follows from the others alone.
  void skip(std::uint64_t by) { display_.skip(by); }
  /// Shows a number after the count, such as the loss.
  void set(std::string_view name, double value) { display_.set(name, value); }
  /// Shows a text after the count.
  void set(std::string_view name, std::string_view value) { display_.set(name, std::string(value)); }
  /// Number of steps so far.
  [[nodiscard]] std::uint64_t done() const { return display_.done(); }

 private:
  detail::progress_display display_;
};

/// progress("title", 100) counts steps.
progress(std::string, std::integral auto) -> progress<void>;
/// progress("title", range) wraps a range.
template <class Range>
  requires(!std::integral<std::remove_cvref_t<Range>>)
progress(std::string, Range&&)
->progress<Range>;

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/progress.ipp"
#endif
