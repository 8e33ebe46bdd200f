// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

namespace detail {
MANTA_DECL std::string text_of(std::span<const float> numbers) {
  std::string s = "{";
  for (std::size_t i = 0; i < numbers.size() && i < 8; ++i) s += (i > 0 ? ", " : "") + base::text("{}", numbers[i]);
  return s + (numbers.size() > 8 ? ", ..}" : "}");
}
/// Throws if a space has more than a million choices: a network reads a number for each.
inline void require_readable(const space& s, double choices) {
  if (choices <= 1 << 20) return;
  throw error(
      base::text("manta: rl: {} has too many choices: a network reads a number for each, at most 1048576. "
                 "Describe the same by several smaller choices, rl::multi_discrete, or by numbers, rl::box",
                 s.text()));
}
/// Is this one of 0, 1, .., n - 1?
inline bool is_choice(float value, int n) {
  return value >= 0 && value < static_cast<float>(n) && value == std::floor(value);
}
}  // namespace detail

MANTA_DECL space::space(box b) : is_(std::move(b)) {
  const box& its = *as_box();
  bool valid = its.low.size() == its.high.size() && !its.low.empty();
  for (std::size_t i = 0; valid && i < its.low.size(); ++i) {
    valid = !base::is_nan(static_cast<double>(its.low[i])) && !base::is_nan(static_cast<double>(its.high[i])) &&
            its.low[i] <= its.high[i];
  }
  if (valid && !its.shape.empty()) {
    valid = *std::min_element(its.shape.begin(), its.shape.end()) >= 1 &&
            std::accumulate(its.shape.begin(), its.shape.end(), 1.0, std::multiplies<>()) ==
                static_cast<double>(its.low.size());
  }
  if (!valid) {
    throw error(
        base::text("manta: rl: {} is no space: a box needs a lower and an upper bound for each number, at least "
                   "one number, no upper bound below the lower one, and a shape of as many numbers",
                   text()));
  }
}
MANTA_DECL space::space(discrete d) : is_(d) {
  if (d.n < 1) throw error(base::text("manta: rl: {} is no space: it needs at least one choice", text()));
  if (std::abs(static_cast<double>(d.start)) > 1 << 23)
    throw error(
        base::text("manta: rl: {} is no space: choices are stored as floats, which are exact up to 16777216", text()));
  detail::require_readable(*this, d.n);
}
MANTA_DECL space::space(multi_discrete m) : is_(std::move(m)) {
  const auto& [n, start] = *as_multi_discrete();
  if (n.empty() || *std::min_element(n.begin(), n.end()) < 1)
    throw error(base::text("manta: rl: {} is no space: it needs at least one choice at each place", text()));
  if (!start.empty() && start.size() != n.size())
    throw error(
        base::text("manta: rl: {} is no space: it has {} places and {} starts", text(), n.size(), start.size()));
  detail::require_readable(*this, std::accumulate(n.begin(), n.end(), 0.0));
}

MANTA_DECL space::space(multi_binary m) : is_(m) {
  if (m.n < 1) throw error(base::text("manta: rl: {} is no space: it needs at least one number", text()));
  detail::require_readable(*this, m.n);
}
MANTA_DECL space::space(tuple t) : is_(std::move(t)) {
  if (parts().empty()) throw error(base::text("manta: rl: {} is no space: it needs at least one part", text()));
}
MANTA_DECL space::space(dict d) : is_(std::move(d)) {
  if (parts().empty()) throw error(base::text("manta: rl: {} is no space: it needs at least one part", text()));
}

MANTA_DECL bool tuple::operator==(const tuple& other) const { return parts == other.parts; }
MANTA_DECL bool dict::operator==(const dict& other) const { return parts == other.parts; }
MANTA_DECL bool space::operator==(const space& other) const { return is_ == other.is_; }

MANTA_DECL std::vector<const space*> space::parts() const {
  std::vector<const space*> all;
  if (const tuple* t = as_tuple())
    for (const space& part : t->parts) all.push_back(&part);
  if (const dict* d = as_dict())
    for (const auto& [name, part] : d->parts) all.push_back(&part);
  return all;
}

MANTA_DECL std::span<const float> space::part(const std::string& name, std::span<const float> value) const {
  std::string names;
  std::size_t at = 0;
  for (const auto& [its, part] : as_dict() != nullptr ? as_dict()->parts : std::map<std::string, space>()) {
    const auto size = static_cast<std::size_t>(part.size());
    if (its == name) return value.subspan(at, size);
    at += size;
    names += (names.empty() ? "" : ", ") + its;
  }
  throw error(base::text("manta: rl: the space {} has no part \"{}\"; its parts are {}", text(), name,
                         names.empty() ? "without names" : names));
}

MANTA_DECL int space::size() const {
  if (const box* b = as_box()) return static_cast<int>(b->low.size());
  if (as_tuple() != nullptr || as_dict() != nullptr) {
    int sum = 0;
    for (const space* part : parts()) sum += part->size();
    return sum;
  }
  if (const multi_binary* m = as_multi_binary()) return m->n;
  if (const multi_discrete* m = as_multi_discrete()) return static_cast<int>(m->n.size());
  return 1;
}

MANTA_DECL int space::features() const {
  if (as_tuple() != nullptr || as_dict() != nullptr) {
    int sum = 0;
    for (const space* part : parts()) sum += part->features();
    return sum;
  }
  if (const discrete* d = as_discrete()) return d->n;
  if (const multi_discrete* m = as_multi_discrete()) return std::accumulate(m->n.begin(), m->n.end(), 0);
  return size();
}

MANTA_DECL void space::flatten(std::span<const float> value, float* features) const {
  if (as_box() != nullptr || as_multi_binary() != nullptr) {
    std::copy(value.begin(), value.end(), features);
    return;
  }
  if (as_tuple() != nullptr || as_dict() != nullptr) {
    for (const space* part : parts()) {
      const auto n = static_cast<std::size_t>(part->size());
      part->flatten(value.first(n), features);
      value = value.subspan(n);
      features += part->features();
    }
    return;
  }
  std::fill(features, features + this->features(), 0.f);
  if (const discrete* d = as_discrete()) {
    features[static_cast<int>(value[0]) - d->start] = 1;
    return;
  }
  const multi_discrete& m = *as_multi_discrete();
  for (std::size_t i = 0; i < m.n.size(); ++i) {
    features[static_cast<int>(value[i]) - m.start_of(i)] = 1;
    features += m.n[i];
  }
}

MANTA_DECL bool space::contains(std::span<const float> value) const {
  if (static_cast<int>(value.size()) != size()) return false;
  if (as_tuple() != nullptr || as_dict() != nullptr) {
    for (const space* part : parts()) {
      const auto n = static_cast<std::size_t>(part->size());
      if (!part->contains(value.first(n))) return false;
      value = value.subspan(n);
    }
    return true;
  }
  if (const box* b = as_box()) {  // at each step of each environment: one loop without jumps
    const float *low = b->low.data(), *high = b->high.data();
    bool inside = true, is_number = true;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const float x = value[i];
      is_number = is_number & !base::is_nan(static_cast<double>(x));
      inside = inside & (x >= low[i]) & (x <= high[i]);
    }
    if (b->bytes)
      is_number = is_number && std::ranges::all_of(value, [](float x) { return detail::is_choice(x, 256); });
    return is_number && (inside || b->is_soft);
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    const float x = value[i];
    if (base::is_nan(static_cast<double>(x))) return false;
    if (const discrete* d = as_discrete()) {
      if (!detail::is_choice(x - static_cast<float>(d->start), d->n)) return false;
    } else if (const multi_discrete* m = as_multi_discrete()) {
      if (!detail::is_choice(x - static_cast<float>(m->start_of(i)), m->n[i])) return false;
    } else if (!detail::is_choice(x, 2)) {
      return false;
    }
  }
  return true;
}

MANTA_DECL void space::sample(random& random, float* value) const {
  if (const discrete* d = as_discrete()) {
    value[0] = static_cast<float>(d->start + random.index(d->n));
  } else if (const multi_discrete* m = as_multi_discrete()) {
    for (std::size_t i = 0; i < m->n.size(); ++i) *value++ = static_cast<float>(m->start_of(i) + random.index(m->n[i]));
  } else if (const multi_binary* switches = as_multi_binary()) {
    for (int i = 0; i < switches->n; ++i) *value++ = static_cast<float>(random.index(2));
  } else if (as_box() == nullptr) {
    for (const space* part : parts()) {
      part->sample(random, value);
      value += part->size();
    }
  } else {
    const box& b = *as_box();
    for (std::size_t i = 0; i < b.low.size(); ++i) {
      const double low = static_cast<double>(b.low[i]), high = static_cast<double>(b.high[i]);
      double x = random.normal();
      if (base::is_finite(low) && base::is_finite(high)) {
        x = random.uniform(low, high);
      } else if (base::is_finite(low)) {
        x = low + std::abs(x);
      } else if (base::is_finite(high)) {
        x = high - std::abs(x);
      }
      value[i] = static_cast<float>(b.bytes ? std::floor(x) : x);
    }
  }
}

MANTA_DECL std::string space::text() const {
  const auto list = [](const auto& all, auto&& text_of_one) {
    std::string s;
    for (const auto& one : all) s += (s.empty() ? "" : ", ") + text_of_one(one);
    return s;
  };
  if (const discrete* d = as_discrete())
    return d->start != 0 ? base::text("discrete{{}, {}}", d->n, d->start) : base::text("discrete{{}}", d->n);
  if (const multi_discrete* m = as_multi_discrete()) {
    const auto numbers = [&](const std::vector<int>& all) {
      return "{" + list(all, [](int n) { return base::text("{}", n); }) + "}";
    };
    return "multi_discrete{" + numbers(m->n) + (m->start.empty() ? "" : ", " + numbers(m->start)) + "}";
  }
  if (const multi_binary* m = as_multi_binary()) return base::text("multi_binary{{}}", m->n);
  if (const tuple* t = as_tuple())
    return "tuple{{" + list(t->parts, [](const space& part) { return part.text(); }) + "}}";
  if (const dict* d = as_dict())
    return "dict{{" + list(d->parts, [](const auto& p) { return "{\"" + p.first + "\", " + p.second.text() + "}"; }) +
           "}}";
  return "box{" + detail::text_of(as_box()->low) + ", " + detail::text_of(as_box()->high) + "}";
}

}  // namespace manta::rl
