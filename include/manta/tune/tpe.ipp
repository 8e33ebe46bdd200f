// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/tune/front.hpp"
#include "manta/tune/kernels.hpp"
#include "manta/tune/tpe.hpp"

namespace manta::tune {

MANTA_DECL tpe::tpe(options o) : options_(o) {
  if (o.candidates == 0 || is_nan(o.good) || o.good <= 0 || o.good > 1 || o.most_good == 0)
    throw error("manta: tpe needs candidates > 0, a share of good trials above 0, up to 1, and most_good > 0");
}

MANTA_DECL void tpe::begin(const space& where, std::uint64_t seed) {
  space_ = where;
  seed_ = seed;
  asked_ = 0;
  history_.clear();
}

MANTA_DECL std::optional<config> tpe::ask(trial_number t) {
  random r(seed_, asked_++, 0x747065ULL);
  const bool is_starting = history_.done().size() < options_.startup || history_.succeeded() == 0;
  config c = is_starting ? space_.draw(r) : space_.first_allowed(r, [&] { return propose(r); });
  history_.began(t, c);
  return c;
}

MANTA_DECL void tpe::again(trial_number t, const config& c) {
  ++asked_;
  history_.began(t, c);
}

namespace detail {
/// What each trial of the front dominates alone; trials behind the front count little.
inline std::vector<double> front_weights(const std::vector<const tried*>& good) {
  std::vector<loss_vector> points;
  for (const tried* t : good) points.push_back(t->result.losses);
  std::vector<double> shares = hypervolume_shares(points, reference_of(points));
  const double most = *std::max_element(shares.begin(), shares.end());
  for (double& s : shares) s = most > 0 ? std::max(s / most, 0.1) : 1;
  return shares;
}
}  // namespace detail

MANTA_DECL config tpe::propose(random& r) const {
  const std::vector<const tried*> order = detail::ranked(history_.done());
  const auto succeeded = static_cast<std::size_t>(
      std::count_if(order.begin(), order.end(), [](const tried* t) { return !t->result.has_failed(); }));
  const auto share = static_cast<std::size_t>(std::ceil(options_.good * static_cast<double>(order.size())));
  std::vector<const tried*> best(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min({share, options_.most_good, succeeded})));
  std::sort(best.begin(), best.end());  // by age: the newest count most
  detail::weighted_configs good, others;
  for (const tried* t : best) good.all.push_back(&t->parameters);
  std::vector<const tried*> rest(order.begin() + static_cast<std::ptrdiff_t>(best.size()), order.end());
  std::sort(rest.begin(), rest.end());
  for (const tried* t : rest) others.all.push_back(&t->parameters);
  // Trials under way count as bad, so that others keep away from them (the "constant liar").
  for (const auto& [t, c] : history_.under_way()) others.all.push_back(&c);

  const auto weighs = [](const tried* t) { return t->result.losses.size() > 1 && t->result.violation() <= 0; };
  if (std::all_of(best.begin(), best.end(), weighs)) good.weights = detail::front_weights(best);
  return detail::promising(space_, good, others, options_.candidates, options_.multivariate, r);
}

}  // namespace manta::tune
