// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "manta/tune/bohb.hpp"
#include "manta/tune/history.hpp"

namespace manta::tune {

MANTA_DECL void bohb::begin(const space& where, std::uint64_t seed) {
  cube_ = cube(where, "bohb");
  space_ = where;
  seed_ = seed;
  asked_ = 0;
  budget_ = 0;
  points_.clear();
  seen_.clear();
}

MANTA_DECL std::optional<config> bohb::ask(trial_number t) {
  random r(seed_, asked_++, 0x626f6862ULL);
  const bool by_chance = r.chance(options_.at_random);
  config c =
      by_chance || !choose_budget() ? space_.draw(r) : space_.first_allowed(r, [&] { return cube_.at(propose(r), r); });
  points_[t] = cube_.position(c);
  return c;
}

MANTA_DECL void bohb::again(trial_number t, const config& c) {
  ++asked_;
  (void)choose_budget();
  points_[t] = cube_.position(c);
}

MANTA_DECL void bohb::report(trial_number t, double at, double loss) {
  const auto p = points_.find(t);
  if (p == points_.end() || at < budget_) return;
  auto& trials = seen_[at];
  trials[t] = {0, loss, p->second};
  if (trials.size() >= most_kept + most_kept / 4) forget(trials);
  if (seen_.size() > most_kept) seen_.erase(seen_.begin()->first == budget_ ? std::next(seen_.begin()) : seen_.begin());
}

MANTA_DECL void bohb::forget(std::map<trial_number, observation>& trials) {
  std::vector<double> losses;
  for (const auto& [t, o] : trials) losses.push_back(o.violation > 0 ? infinity : o.loss);
  const std::vector<bool> stays = detail::worth_keeping(losses, most_kept);
  std::size_t i = 0;
  std::erase_if(trials, [&](const auto&) { return !stays[i++]; });
}

MANTA_DECL void bohb::tell(trial_number t, const outcome& o) {
  const auto has_it = [&](const auto& at_budget) { return at_budget.second.contains(t); };
  // What is known from elsewhere without its time of training is used until something was trained.
  if (budget_ <= 0 && !o.has_failed() && std::none_of(seen_.begin(), seen_.end(), has_it))
    report(t, std::numeric_limits<double>::min(), o.loss);
  points_.erase(t);
  const double violation = o.has_failed() ? infinity : o.violation();
  if (violation <= 0) return;
  for (auto& [at, trials] : seen_) {  // what it reported on the way is no better than its end
    if (const auto seen = trials.find(t); seen != trials.end()) seen->second.violation = violation;
  }
}

MANTA_DECL bool bohb::choose_budget() {
  const std::size_t enough = cube_.dimensions() + 3;
  for (auto b = seen_.rbegin(); b != seen_.rend() && b->first > budget_; ++b) {
    if (b->second.size() >= enough) budget_ = b->first;
    if (b->first == budget_) break;
  }
  seen_.erase(seen_.begin(), seen_.lower_bound(budget_));
  return budget_ > 0;
}

MANTA_DECL std::vector<double> bohb::propose(random& r) const {
  std::vector<const observation*> all;
  for (const auto& [t, o] : seen_.at(budget_)) all.push_back(&o);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::tie(a->violation, a->loss) < std::tie(b->violation, b->loss);
  });
  const std::size_t least = cube_.dimensions() + 1;
  const auto share = static_cast<std::size_t>(options_.good * static_cast<double>(all.size()));
  const std::size_t good_count = std::min(std::max(least, share), all.size() - 1);
  const std::size_t other_count = std::min(std::max(least, all.size() - share), all.size());
  kernels good, others;
  for (std::size_t i = 0; i < good_count; ++i) good.push_back(&all[i]->at);
  for (std::size_t i = all.size() - other_count; i < all.size(); ++i) others.push_back(&all[i]->at);
  const std::vector<double> l = widths(good), g = widths(others);
  std::vector<double> best;
  double most = -infinity;
  std::size_t attempts = 64 * options_.candidates;
  for (std::size_t k = 0; k < options_.candidates && attempts > 0; --attempts) {
    std::vector<double> u = draw(good, l, r);
    if (best.empty()) best = u;
    if (!cube_.allows(u, r)) continue;
    ++k;
    const double score = log_density(good, l, u) - log_density(others, g, u);
    if (score > most) {
      most = score;
      best = std::move(u);
    }
  }
  return best;
}

MANTA_DECL std::size_t bohb::options_of(std::size_t axis) const {
  const domain& d = cube_.axes()[axis].where;
  return d.type() == domain::kind::choice ? d.options().size() : 0;
}

MANTA_DECL std::vector<double> bohb::widths(const kernels& points) const {
  const auto n = static_cast<double>(points.size());
  const auto d = static_cast<double>(cube_.dimensions());
  std::vector<double> all(cube_.dimensions());
  for (std::size_t a = 0; a < all.size(); ++a) {
    // of a choice the numbers of the options are what varies
    const double scale = options_of(a) > 0 ? static_cast<double>(options_of(a)) : 1;
    double mean = 0, square = 0;
    for (const auto* p : points) mean += scale * (*p)[a] / n;
    for (const auto* p : points) square += (scale * (*p)[a] - mean) * (scale * (*p)[a] - mean) / n;
    all[a] = std::max(1e-3, 1.06 * std::sqrt(square) * std::pow(n, -1 / (4 + d)));
    if (options_of(a) > 0) {  // the share of other options: that of none is not better than of all
      const auto k = static_cast<double>(options_of(a));
      all[a] = std::min(all[a], k > 1 ? (k - 1) / k : 0);
    }
  }
  return all;
}

MANTA_DECL double bohb::log_density(const kernels& points, const std::vector<double>& width,
                                    const std::vector<double>& u) const {
  double most = -infinity;
  std::vector<double> terms;
  for (const auto* p : points) {
    double term = 0;
    for (std::size_t a = 0; a < u.size(); ++a) {
      if (const std::size_t n = options_of(a); n > 0) {  // Aitchison, Aitken 1976
        const bool same = std::abs(u[a] - (*p)[a]) < 0.5 / static_cast<double>(n);
        term += std::log(same ? 1 - width[a] : n > 1 ? width[a] / static_cast<double>(n - 1) : 1);
      } else {
        const double z = (u[a] - (*p)[a]) / width[a];
        term += -0.5 * z * z - std::log(width[a]);
      }
    }
    terms.push_back(term);
    most = std::max(most, term);
  }
  double sum = 0;
  for (const double t : terms) sum += std::exp(t - most);
  return most + std::log(sum / static_cast<double>(points.size()));
}

MANTA_DECL std::vector<double> bohb::draw(const kernels& points, const std::vector<double>& width, random& r) const {
  std::vector<double> u = *points[r.index(points.size())];
  for (std::size_t a = 0; a < u.size(); ++a) {
    if (const std::size_t n = options_of(a); n > 0) {
      if (r.chance(width[a])) u[a] = (static_cast<double>(r.index(n)) + 0.5) / static_cast<double>(n);
    } else {
      const double w = options_.widen * width[a];
      const double low = normal_cdf(-u[a] / w), high = normal_cdf((1 - u[a]) / w);
      u[a] = std::clamp(u[a] + w * normal_quantile(low + (high - low) * r.uniform()), 0.0, 1.0);
    }
  }
  return u;
}

}  // namespace manta::tune
