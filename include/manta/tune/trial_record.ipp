// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
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

MANTA_DECL outcome trial_record::result() const {
  outcome o(state == status::failed ? std::nan("") : best_loss);
  o.losses = best_losses;
  o.excess = best_excess;
  o.was_stopped = state == status::stopped;
  if (o.was_stopped) o.at = at;
  o.course = losses;
  o.is_mean = averaged > 0;
  return o;
}

MANTA_DECL std::string trial_record::text() const {
  std::string values;
  for (const auto& [name, x] : best) values += base::text("{}{} {}", values.empty() ? " has " : ", ", name, x);
  if (values.empty()) values = " has reported no value";
  return base::text("trial {}, {}: {}{} after {} report{}", id, name_of(state), parameters.text(), values, iteration,
                    iteration == 1 ? "" : "s");
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
    text += base::text("{} {}", n, s == status::running ? running : name_of(s));
  }
  return text;
}
}  // namespace detail

}  // namespace manta::tune
