// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/parameter_groups.hpp"

namespace manta::nn {

MANTA_DECL bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at) {
    if (matches(rest, name.substr(at))) return true;
  }
  return false;
}

MANTA_DECL std::string parameter_group::name() const {
  return dimensions == 0 ? arrays : base::text("{} of {} dimensions", arrays, dimensions);
}

namespace detail {

MANTA_DECL std::string names_of(const std::vector<named_array>& arrays) {
  constexpr std::size_t most = 20;
  std::string all;
  for (std::size_t i = 0; i < std::min(most, arrays.size()); ++i) all += (i == 0 ? "" : ", ") + arrays[i].name;
  if (arrays.size() > most) all += base::text(", .. ({} in all)", arrays.size());
  return all.empty() ? "none" : all;
}

inline bool has(const parameter_group& g, const named_array& a) {
  return (g.dimensions == 0 || g.dimensions == a.extents.dimensions()) && matches(g.arrays, a.name);
}

MANTA_DECL std::vector<parameter_range> ranges_of(const std::vector<parameter_group>& groups,
                                                  const std::vector<named_array>& arrays, double weight_decay,
                                                  std::string_view whose) {
  for (const parameter_group& g : groups) {
    if (std::ranges::none_of(arrays, [&](const named_array& a) { return has(g, a); }))
      throw error(base::text("manta: nn: {}: no array of the network suits the group {}; the arrays are {}", whose,
                             g.name(), names_of(arrays)));
  }
  std::vector<parameter_range> ranges;
  for (const named_array& a : arrays) {
    const auto g = std::ranges::find_if(groups, [&](const parameter_group& each) { return has(each, a); });
    const std::size_t end = a.begin + static_cast<std::size_t>(a.extents.size());
    parameter_range r{a.begin, end, 1, weight_decay};
    if (g != groups.end()) r = {a.begin, end, g->rate, g->weight_decay.value_or(weight_decay)};
    if (a.frozen) r.rate = 0;
    const bool goes_on =
        !ranges.empty() && ranges.back().rate == r.rate && ranges.back().weight_decay == r.weight_decay;
    goes_on ? void(ranges.back().end = r.end) : ranges.push_back(r);
  }
  return ranges;
}

}  // namespace detail

}  // namespace manta::nn
