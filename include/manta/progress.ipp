// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/exec/engine.hpp"
#include "manta/progress.hpp"

namespace manta {

namespace detail {

/// A launcher of MPI programs whose standard error is a terminal is the parent of this process.
inline bool launcher_has_terminal() {
  const std::string parent = base::text("/proc/{}", ::getppid());
  std::string name;
  std::ifstream(parent + "/comm") >> name;
  if (!name.starts_with("mpi") && !name.starts_with("orte") && !name.starts_with("prte")) return false;
  std::error_code failed;
  const std::string target = std::filesystem::read_symlink(parent + "/fd/2", failed).string();
  return !failed && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

inline bool is_set(const char* name) { return std::getenv(name) != nullptr; }

inline std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  char text[40];
  if (s < 60) {
    std::snprintf(text, sizeof text, "%lld s", s);
  } else if (s < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld min", s / 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld h", s / 3600, s / 60 % 60);
  }
  return text;
}

/// The innermost display of this process.
inline progress_display*& innermost_display() {
  static progress_display* innermost = nullptr;
  return innermost;
}

struct progress_display::values {
  std::vector<std::pair<std::string, std::string>> all;
};

inline constexpr std::int64_t second_ns = 1'000'000'000;

inline std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

MANTA_DECL progress_display::progress_display(std::string title, std::uint64_t total, progress_style style,
                                              std::FILE* out)
    : title_(std::move(title)),
      total_(total),
      style_(style),
      out_(out),
      values_(std::make_unique<values>()),
      outer_(std::exchange(innermost_display(), this)),
      begin_ns_(steady_ns()),
      next_ns_(begin_ns_),
      pause_ns_(style == progress_style::bar ? second_ns / 10 : 10 * second_ns) {
  if (style_ == progress_style::lines) next_ns_ += pause_ns_;
}

MANTA_DECL progress_display::~progress_display() {
  // Bars need not end in the reverse order of their beginnings.
  for (progress_display** p = &innermost_display(); *p != nullptr; p = &(*p)->outer_) {
    if (*p != this) continue;
    *p = outer_;
    break;
  }
  if (style_ == progress_style::off) return;
  const bool stays = outer_ == nullptr;
  if (style_ == progress_style::bar) {
    if (stays || is_drawn_) write(stays ? "\r\x1b[K" + line(seconds(), 78, true) + "\n" : "\r\x1b[K");
  } else if (stays) {
    write(line(seconds(), 200, false) + "\n");
  }
}

inline double progress_display::seconds() const { return static_cast<double>(steady_ns() - begin_ns_) * 1e-9; }

MANTA_DECL void progress_display::advance(std::uint64_t by) {
  done_ += by;
  if (style_ != progress_style::off && innermost_display() == this && steady_ns() >= next_ns_) show();
}

MANTA_DECL void progress_display::set(std::string_view name, std::string value) {
  for (auto& [known, shown] : values_->all) {
    if (known != name) continue;
    shown = std::move(value);
    return;
  }
  values_->all.emplace_back(name, std::move(value));
}

MANTA_DECL void progress_display::set(std::string_view name, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", value);
  set(name, std::string(digits));
}

inline void progress_display::show() {
  next_ns_ = steady_ns() + pause_ns_;
  if (style_ == progress_style::bar) return write("\r\x1b[K" + line(seconds(), 78, true));
  pause_ns_ = std::min(2 * pause_ns_, 600 * second_ns);
  write(line(seconds(), 200, false) + "\n");
}

inline void progress_display::write(const std::string& text) {
  // In one piece, so that it is not mixed with what other ranks print. A closed standard error is no reason to fail.
  (void)std::fwrite(text.data(), 1, text.size(), out_);
  (void)std::fflush(out_);
  is_drawn_ = true;
}

MANTA_DECL std::string progress_display::line(double seconds, std::size_t width, bool with_bar) const {
  std::string text = std::to_string(done_);
  if (total_ > 0) {
    const std::uint64_t percent = done_ >= total_ ? 100 : 100 * done_ / total_;
    text += base::text(" of {} ({} %)", total_, percent);
  }
  text += ", " + duration_text(seconds);
  if (const std::uint64_t made = done_ - skipped_; total_ > done_ && made > 0) {
    const double left = seconds * static_cast<double>(total_ - done_) / static_cast<double>(made);
    text += ", " + duration_text(left) + " left";
  }
  for (const auto& [name, value] : values_->all) text += ", " + name + ' ' + value;
  if (title_.size() + text.size() + 2 > width) return (title_ + ": " + text).substr(0, width);

  const std::size_t room = width - title_.size() - text.size() - 2;
  if (!with_bar || total_ == 0 || room < 8) return title_ + ": " + text;
  const std::size_t length = std::min<std::size_t>(room - 3, 30);
  const double part = std::min(1., static_cast<double>(done_) / static_cast<double>(total_));
  const auto full = static_cast<std::size_t>(part * static_cast<double>(length));
  return title_ + ": [" + std::string(full, '#') + std::string(length - full, ' ') + "] " + text;
}

}  // namespace detail

namespace detail {
/// Looked up before main: Open MPI's MPI_Init sets PMIX_RANK also where there is no launcher.
inline const bool is_started_as_rank =
    is_set("OMPI_COMM_WORLD_RANK") || is_set("PMIX_RANK") || is_set("PMI_RANK") || is_set("SLURM_PROCID");
}  // namespace detail

MANTA_DECL progress_style progress_style_here() {
  if (const char* wanted = std::getenv("MANTA_PROGRESS")) {
    const std::string_view style = wanted;
    if (style == "off" || style == "0") return progress_style::off;
    if (exec::engine* e = exec::engine::current(); e != nullptr && e->rank() != 0) return progress_style::off;
    if (style == "bar") return progress_style::bar;
    if (style == "lines") return progress_style::lines;
    throw error("manta: MANTA_PROGRESS is \"" + std::string(style) + "\"; it is one of bar, lines and off");
  }
  if (exec::engine* e = exec::engine::current(); e != nullptr && e->rank() != 0) return progress_style::off;
  const bool has_terminal = detail::is_started_as_rank ? detail::launcher_has_terminal() : ::isatty(2) == 1;
  return has_terminal ? progress_style::bar : progress_style::lines;
}

}  // namespace manta
