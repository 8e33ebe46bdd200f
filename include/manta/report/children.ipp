// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "manta/base/amounts.hpp"
#include "manta/base/sorting.hpp"
#include "manta/base/text.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/children.hpp"

namespace manta::report {

MANTA_DECL base::vector<submitted_tasks> submitted_tasks_of(const statistics& s) {
  const auto name = [&](int index, const char* none) {
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && at < s.functions.size() ? s.functions[at].name : std::string(none);
  };
  base::vector<submitted_tasks> all;
  for (const edge_statistics& e : s.children) {
    all.push_back({name(e.from, e.to < 0 ? "others" : ""), name(e.to, "others"), e.count});
  }
  return all;
}

MANTA_DECL base::vector<submitted_tasks> summed(const base::vector<submitted_tasks>& all) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for (const submitted_tasks& each : all) counts[{each.by, each.function}] += each.count;
  base::vector<submitted_tasks> sums;
  for (const auto& [names, count] : counts) sums.push_back({names.first, names.second, count});
  base::sort_falling(sums, &submitted_tasks::count);
  return sums;
}

namespace detail {

/// Walks from the driver to what it submits, and on.
class fan_out_walk {
 public:
  fan_out_walk(const base::vector<submitted_tasks>& all, std::size_t most) : all_(all), most_(most) {}
  base::vector<fan_out_place> tree() {
    visit({"", 0, 0, false});
    for (const submitted_tasks& each : all_) {  // by functions that nobody is known to have submitted
      if (!shown_.contains(each.by)) visit({each.by, 0, 0, false});
    }
    return std::move(places_);
  }

 private:
  void visit(fan_out_place place) {
    constexpr int deepest = 20;
    if (places_.size() >= most_) return;
    const bool has_children = std::ranges::count(all_, place.function, &submitted_tasks::by) > 0;
    if (place.function.empty() && !has_children) return;
    place.is_elsewhere = has_children && !shown_.insert(place.function).second;
    places_.push_back(place);
    if (!has_children || place.is_elsewhere || place.depth >= deepest) return;
    for (const submitted_tasks& each : all_) {
      if (each.by == place.function) visit({each.function, each.count, place.depth + 1, false});
    }
  }

  const base::vector<submitted_tasks>& all_;
  const std::size_t most_;
  base::vector<fan_out_place> places_;
  std::set<std::string> shown_;
};

}  // namespace detail

MANTA_DECL base::vector<fan_out_place> fan_out_tree(const base::vector<submitted_tasks>& all, std::size_t most) {
  return detail::fan_out_walk(all, most).tree();
}

MANTA_DECL std::vector<std::string> fan_out_texts(const base::vector<submitted_tasks>& all, std::size_t most) {
  constexpr std::size_t most_functions = 4, most_places = 1000, widest = 40;
  std::vector<std::string> texts;
  std::set<std::string> said;
  for (const fan_out_place& place : fan_out_tree(all, most_places)) {
    const auto by_it = [&](const submitted_tasks& each) { return each.by == place.function; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(all, by_it));
    if (count == 0 || texts.size() == most || !said.insert(place.function).second) continue;
    std::string text = (place.function.empty() ? "the driver" : place.function.substr(0, widest)) + ":";
    std::size_t shown = 0;
    for (const submitted_tasks& each : all) {
      if (!by_it(each) || shown == most_functions) continue;
      text += base::text("{} {} {}", shown++ == 0 ? "" : ",", base::count_text(each.count),
                         each.function.substr(0, widest));
    }
    if (count > shown) text += base::text(" and {} other functions", count - shown);
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace manta::report
