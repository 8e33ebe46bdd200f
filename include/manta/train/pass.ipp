// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/pass.hpp"

namespace manta::train::detail {

MANTA_DECL pass_result joined(const per_rank<pass_result>& parts) {
  pass_result result = *parts.begin();
  result.all = {};
  for (const pass_result& part : parts) result.all.add(part.all);
  return result;
}

MANTA_DECL summary summary_of(const pass_result& r, double seconds) {
  summary s;
  s.loss = r.all.weight > 0 ? r.all.loss / r.all.weight : 0;
  s.epoch = r.epoch;
  s.step = r.step;
  s.rate = r.rate;
  s.gradient_norm = r.took.gradient_norms / static_cast<double>(std::max<std::uint64_t>(1, r.took.steps));
  s.phases = r.took.seconds;
  s.samples = r.all.samples;
  s.seconds = seconds;
  s.deaths = r.deaths;
  s.seconds_lost = r.seconds_lost;
  for (const auto& [name, value] : r.all.metrics) {
    const auto number = r.all.metrics.find(number_of(name));
    const double divisor = number == r.all.metrics.end() ? static_cast<double>(r.all.samples) : number->second;
    s.metrics[name] = value / std::max(1., divisor);
  }
  std::erase_if(s.metrics, [&](const auto& each) {
    return std::ranges::any_of(r.all.metrics, [&](const auto& m) { return each.first == number_of(m.first); });
  });
  return s;
}

MANTA_DECL summary mean_of(const pass_result& r, double seconds) {
  if (r.all.samples > 0 && r.all.weight == 0)
    throw error(
        base::text("manta: train: the {} samples whose mean loss is asked for have the weight 0 together; look at the "
                   "weights of the classes and of the samples, and at the class that is ignored",
                   r.all.samples));
  return summary_of(r, seconds);
}

}  // namespace manta::train::detail
