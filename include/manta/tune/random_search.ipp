// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <set>

#include "manta/base/text.hpp"
#include "manta/tune/points.hpp"
#include "manta/tune/random_search.hpp"

namespace manta::tune {

MANTA_DECL void random_search::begin(const space& where, std::uint64_t seed) {
  space_ = where;
  seed_ = seed;
  asked_ = 0;
  combinations_.clear();
  constexpr std::size_t most = 1'000'000;
  std::set<std::string> seen;
  const auto is_conditional_grid = [](const parameter& p) { return p.where.is_grid() && p.where.is_conditional(); };
  const auto& list = where.parameters();
  // what is drawn may decide which grids there are, and so does a program: that is tried several times
  const bool may_vary = where.is_program() || std::any_of(list.begin(), list.end(), is_conditional_grid);
  std::size_t without_chance = 0;
  for (std::uint64_t k = 0; k < (may_vary ? 16 : 1); ++k) {
    std::set<std::string> now;
    detail::walk(
        where, [](const domain& d) { return d.is_grid(); }, random(0, k, 0x67726964ULL),
        [&](const config& walked, const config&) {
          if (combinations_.size() == most)
            throw error(
                "manta: random_search: the grids of this space have more than a million combinations; use choice "
                "instead");
          std::string text = walked.text();
          if (!seen.contains(text)) combinations_.push_back(walked);
          now.insert(std::move(text));
          return true;
        });
    seen.merge(now);
    if (k == 0) without_chance = combinations_.size();
  }
  if (combinations_.size() == without_chance) return leave_out_forbidden();
  // those that only have less than another one do not count
  const auto is_part = [](const config& part, const config& of) {
    return part.size() < of.size() && std::all_of(part.begin(), part.end(), [&](const auto& e) {
             return of.find(e.first) != nullptr && *of.find(e.first) == e.second;
           });
  };
  const std::vector<config> all = combinations_;
  const auto is_covered = [&](const config& c) {
    return std::any_of(all.begin(), all.end(), [&](const config& other) { return is_part(c, other); });
  };
  std::erase_if(combinations_, is_covered);
  leave_out_forbidden();
}

MANTA_DECL config random_search::drawn(const config& fixed, random& r) const {
  return space_.make(
      [&](const parameter& p, const config& before) {
        const value* v = p.where.is_grid() ? fixed.find(p.name) : nullptr;
        return v != nullptr ? *v : p.where.draw(before, r);
      },
      r);
}

MANTA_DECL std::optional<config> random_search::allowed_of(const config& fixed, int attempts, random& r) const {
  return space_.allowed_one(attempts, [&] { return drawn(fixed, r); });
}

MANTA_DECL void random_search::leave_out_forbidden() {
  if (!space_.forbids_any() || combinations_.size() < 2) return;
  random r(seed_, 0, 0x616c6c6f77ULL);
  const auto& all = space_.parameters();
  const bool draws_nothing = !space_.is_program() && std::all_of(all.begin(), all.end(), [](const parameter& p) {
    return p.where.is_grid() || !(p.where.is_searched() || p.where.draws());
  });
  // Each of many combinations gets fewer attempts, so that a search begins within seconds.
  const int attempts =
      draws_nothing ? 1 : static_cast<int>(std::clamp<std::size_t>(2'000'000 / combinations_.size(), 200, 10'000));
  std::erase_if(combinations_, [&](const config& fixed) { return !allowed_of(fixed, attempts, r); });
  if (combinations_.empty())
    throw error("manta: random_search: all combinations of the grids are forbidden (tune::forbid)");
}

MANTA_DECL std::optional<config> random_search::ask(trial_number) {
  constexpr int attempts = 100'000;
  random r(seed_, asked_);
  const config& fixed = combinations_[asked_++ % combinations_.size()];
  if (auto c = allowed_of(fixed, attempts, r)) return c;
  throw error(
      base::text("manta: random_search: {} configurations drawn at random{} are all forbidden; loosen tune::forbid",
                 attempts, fixed.empty() ? "" : " with " + fixed.text()));
}

MANTA_DECL void grid_search::begin(const space& where, std::uint64_t seed) {
  points_.clear();
  index_.clear();
  asked_ = 0;
  cube_ = cube(where, "grid_search");
  std::vector<std::vector<double>> marks;
  double count = 1;
  for (const parameter& p : cube_.axes()) {
    marks.push_back(marks_of(p.where));
    count *= static_cast<double>(marks.back().size());
  }
  if (count > 1e7) throw error("manta: grid_search: this grid has more than ten million points; make it coarser");
  random dependent(seed);
  std::vector<double> u(marks.size());
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::size_t rest = k;
    for (std::size_t i = marks.size(); i-- > 0;) {
      u[i] = marks[i][rest % marks[i].size()];
      rest /= marks[i].size();
    }
    config c = cube_.at(u, dependent);
    if (!where.allows(c)) continue;
    if (index_.emplace(key_of(c), points_.size()).second) points_.push_back(std::move(c));
  }
}

MANTA_DECL std::optional<config> grid_search::ask(trial_number) {
  if (asked_ == points_.size()) return std::nullopt;
  config c = points_[asked_++];
  index_.erase(key_of(c));
  return c;
}

MANTA_DECL void grid_search::add(trial_number, const config& c) {
  const auto at = index_.find(key_of(c));
  if (at == index_.end()) return;
  const std::size_t gone = at->second;
  points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(gone));
  index_.erase(at);
  for (auto& [key, i] : index_) i -= i > gone;
}

MANTA_DECL std::string grid_search::key_of(const config& c) const {
  std::string key;
  for (const parameter& p : cube_.axes()) {
    const value* v = c.find(p.name);
    if (v == nullptr) continue;
    const bool is_real = p.where.type() == domain::kind::number && !p.where.is_integer();  // 1 is 1.0
    key += p.name + "=" + (is_real ? value(v->as<double>()) : *v).text() + "\n";
  }
  return key;
}

MANTA_DECL std::vector<double> grid_search::marks_of(const domain& d) const {
  std::vector<double> marks;
  const auto count = d.count();
  if (count && (d.type() == domain::kind::choice || *count <= options_.per_parameter)) {
    for (std::uint64_t i = 0; i < *count; ++i) marks.push_back(d.position(d.member(i)));
    return marks;
  }
  const std::size_t levels = options_.per_parameter;
  for (std::size_t i = 0; i < levels; ++i) {
    // ends included for bounded numbers; the middles of equally probable parts for what has no end
    const bool ends = !d.is_normal() && levels > 1;
    marks.push_back(ends ? static_cast<double>(i) / static_cast<double>(levels - 1)
                         : (static_cast<double>(i) + 0.5) / static_cast<double>(levels));
  }
  return marks;
}

}  // namespace manta::tune
