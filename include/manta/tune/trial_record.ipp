// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trial_record.hpp.
#pragma once

#include "manta/tune/trial_record.hpp"

namespace manta::tune {

MANTA_DECL const char* name_of(cause c) {
  static constexpr std::array<const char*, 4> names = {"failure", "crash", "lost", "interrupted"};
  return names[static_cast<std::size_t>(c)];
}

MANTA_DECL const char* name_of(status s) {
  static constexpr std::array<const char*, 6> names = {"waiting", "running", "paused", "complete", "stopped", "failed"};
  return names[static_cast<std::size_t>(s)];
}

MANTA_DECL void curve::add(double at, double y) {
  const point p = {static_cast<float>(at), static_cast<float>(y), line_};
  if (seen_++ % stride_ != 0) {
    last_ = p;
    has_last_ = true;
    return;
  }
  has_last_ = false;
  points_.push_back(p);
  if (points_.size() < most) return;
  for (std::size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize((points_.size() + 1) / 2);
  stride_ *= 2;
}

MANTA_DECL std::vector<curve::point> curve::points() const {
  std::vector<point> all = points_;
  if (has_last_) all.push_back(last_);
  return all;
}

namespace detail {
MANTA_DECL std::string states_text(const std::vector<trial_record>& all, const char* running) {
  std::size_t of[6] = {};
  for (const trial_record& t : all) ++of[static_cast<std::size_t>(t.state)];
  std::string text;
  for (const status s :
       {status::running, status::waiting, status::paused, status::complete, status::stopped, status::failed}) {
    const std::size_t n = of[static_cast<std::size_t>(s)];
    if (n == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(n) + ' ' + (s == status::running ? running : name_of(s));
  }
  return text;
}
}  // namespace detail

}  // namespace manta::tune
