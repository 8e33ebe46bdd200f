// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of space.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/base/number.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

namespace detail {
MANTA_DECL std::string text_of(std::span<const float> numbers) {
  std::string s = "{";
  for (std::size_t i = 0; i < numbers.size() && i < 8; ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%g", static_cast<double>(numbers[i]));
    s += (i ? ", " : "") + std::string(number);
  }
  return s + (numbers.size() > 8 ? ", ..}" : "}");
}
/// Throws if a space has more than a million choices: a network reads a number for each.
inline void require_readable(const space& s, double choices) {
  if (choices <= 1 << 20) return;
  throw error("manta: rl: " + s.text() +
              " has too many choices: a network reads a number for each, at most 1048576. "
              "Describe the same by several smaller choices, rl::multi_discrete, or by numbers, rl::box");
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
    throw error("manta: rl: " + text() +
                " is no space: a box needs a lower and an upper bound for each number, at least "
                "one number, no upper bound below the lower one, and a shape of as many numbers");
  }
}
MANTA_DECL space::space(discrete d) : is_(d) {
  if (d.n < 1) throw error("manta: rl: " + text() + " is no space: it needs at least one choice");
  if (std::abs(static_cast<double>(d.start)) > 1 << 23)
    throw error("manta: rl: " + text() + " is no space: choices are stored as floats, which are exact up to 16777216");
  detail::require_readable(*this, d.n);
}
MANTA_DECL space::space(multi_discrete m) : is_(std::move(m)) {
  const std::vector<int>& n = as_multi_discrete()->n;
  if (n.empty() || *std::min_element(n.begin(), n.end()) < 1)
    throw error("manta: rl: " + text() + " is no space: it needs at least one choice at each place");
  detail::require_readable(*this, std::accumulate(n.begin(), n.end(), 0.0));
}

MANTA_DECL space::space(multi_binary m) : is_(m) {
  if (m.n < 1) throw error("manta: rl: " + text() + " is no space: it needs at least one number");
  detail::require_readable(*this, m.n);
}
MANTA_DECL space::space(tuple t) : is_(std::move(t)) {
  if (parts().empty()) throw error("manta: rl: " + text() + " is no space: it needs at least one part");
}
MANTA_DECL space::space(dict d) : is_(std::move(d)) {
  if (parts().empty()) throw error("manta: rl: " + text() + " is no space: it needs at least one part");
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
  const std::vector<int>& n = as_multi_discrete()->n;
  for (std::size_t i = 0; i < n.size(); ++i) {
    features[static_cast<int>(value[i])] = 1;
    features += n[i];
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
    bool inside = true;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const float x = value[i];
      inside = inside & !base::is_nan(static_cast<double>(x)) & (x >= low[i]) & (x <= high[i]);
    }
    return inside;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    const float x = value[i];
    if (base::is_nan(static_cast<double>(x))) return false;
    if (const discrete* d = as_discrete()) {
      if (!detail::is_choice(x - static_cast<float>(d->start), d->n)) return false;
    } else if (!detail::is_choice(x, as_multi_binary() != nullptr ? 2 : as_multi_discrete()->n[i])) {
      return false;
    }
  }
  return true;
}

MANTA_DECL void space::sample(random& random, float* value) const {
  if (const discrete* d = as_discrete()) {
    value[0] = static_cast<float>(d->start + random.index(d->n));
  } else if (const multi_discrete* m = as_multi_discrete()) {
    for (int n : m->n) *value++ = static_cast<float>(random.index(n));
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
      value[i] = static_cast<float>(x);
    }
  }
}

MANTA_DECL std::string space::text() const {
  if (const discrete* d = as_discrete()) {
    return "discrete{" + std::to_string(d->n) + (d->start != 0 ? ", " + std::to_string(d->start) : "") + "}";
  }
  if (const multi_discrete* m = as_multi_discrete()) {
    std::string s;
    for (int n : m->n) s += (s.empty() ? "" : ", ") + std::to_string(n);
    return "multi_discrete{{" + s + "}}";
  }
  if (const multi_binary* m = as_multi_binary()) return "multi_binary{" + std::to_string(m->n) + "}";
  if (const tuple* t = as_tuple()) {
    std::string s;
    for (const space& part : t->parts) s += (s.empty() ? "" : ", ") + part.text();
    return "tuple{{" + s + "}}";
  }
  if (const dict* d = as_dict()) {
    std::string s;
    for (const auto& [name, part] : d->parts) s += (s.empty() ? "{\"" : ", {\"") + name + "\", " + part.text() + "}";
    return "dict{{" + s + "}}";
  }
  return "box{" + detail::text_of(as_box()->low) + ", " + detail::text_of(as_box()->high) + "}";
}

}  // namespace manta::rl
