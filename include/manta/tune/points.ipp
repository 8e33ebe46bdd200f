// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/tune/points.hpp"

namespace manta::tune::detail {

MANTA_DECL void walk(const space& where, const std::function<bool(const domain&)>& walks, const random& others,
                     const std::function<bool(const config& walked, const config& made)>& visit) {
  struct digit {
    std::uint64_t at, count;
  };
  std::vector<digit> digits;  // of the parameters in the order in which they are met
  do {
    random r = others;
    config walked;
    std::size_t met = 0;
    const config made = where.make(
        [&](const parameter& p, const config& before) {
          if (!walks(p.where)) return p.where.draw(before, r);
          if (met == digits.size()) digits.push_back({0, p.where.count().value()});
          value v = p.where.member(digits[met++].at);
          walked.set(p.name, v);
          return v;
        },
        r);
    if (!visit(walked, made)) return;
    while (!digits.empty() && ++digits.back().at == digits.back().count) digits.pop_back();
  } while (!digits.empty());
}

MANTA_DECL void points::begin(const space& where) {
  space_ = where;
  const auto& all = where.parameters();
  may_repeat_ = std::all_of(all.begin(), all.end(), [](const parameter& p) { return !is_open(p.where); });
  counted_ = false;
  all_.clear();
  given_.clear();
}

MANTA_DECL bool points::is_open(const domain& d) {
  return d.repeats() || (d.type() == domain::kind::number && !d.count());
}

MANTA_DECL std::size_t points::size() {
  if (may_repeat_) count();
  return all_.size();
}

MANTA_DECL void points::add(const config& c) {
  if (!may_repeat_) return;
  std::string key = key_of(c);
  if (given_.contains(key) && !is_repeated(c)) given_.clear();
  given_.insert(std::move(key));
}

MANTA_DECL bool points::is_complete() {
  if (!may_repeat_ || given_.empty()) return false;
  count();
  return may_repeat_ && !all_.empty() && given_.size() >= all_.size();
}

MANTA_DECL bool points::is_repeated(const config& c) {
  if (!may_repeat_ || !given_.contains(key_of(c))) return false;
  count();
  return may_repeat_ && (all_.empty() || given_.size() < all_.size());
}

MANTA_DECL std::optional<config> points::instead_of(const config& c, random& r) {
  const config* best = nullptr;
  double least = infinity;
  for (const auto& [key, point] : all_) {
    if (given_.contains(key)) continue;
    const double d = distance(point, c);
    if (best != nullptr && d >= least) continue;
    best = &point;
    least = d;
  }
  if (best != nullptr) return *best;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    config other = space_.draw(r);
    if (!given_.contains(key_of(other))) return other;
  }
  return std::nullopt;
}

MANTA_DECL std::string points::key_of(const config& c) const {
  std::string key;
  for (const auto& [name, v] : c) {
    const parameter* p = space_.find(name);  // what is computed makes no other point, and may be drawn
    if (p == nullptr || p->where.type() != domain::kind::dependent) key += name + "=" + v.text() + "\n";
  }
  return key;
}

MANTA_DECL void points::count() {
  if (std::exchange(counted_, true)) return;
  std::unordered_set<std::string> seen;
  bool finite = true;
  const auto walks = [&](const domain& d) {
    finite = finite && !is_open(d);
    return d.count().has_value();
  };
  walk(space_, walks, random(0), [&](const config&, const config& made) {
    std::string key = key_of(made);
    if (space_.allows(made) && seen.insert(key).second) all_.emplace_back(std::move(key), made);
    return finite && all_.size() <= most;
  });
  if (!finite || all_.size() > most) all_.clear();
  may_repeat_ = finite;
}

MANTA_DECL double points::distance(const config& a, const config& b) const {
  double sum = 0;
  for (const auto& [name, v] : a) {
    const parameter* p = space_.find(name);
    const value* other = b.find(name);
    if (other == nullptr) sum += 1;
    else if (p != nullptr && p->where.type() == domain::kind::number)
      sum += std::abs(p->where.position(v) - p->where.position(*other));
    else sum += v == *other ? 0 : 1;
  }
  return sum;
}

}  // namespace manta::tune::detail
