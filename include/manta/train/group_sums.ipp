// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <sstream>

#include "manta/base/text.hpp"
#include "manta/train/group_sums.hpp"

namespace manta::train::detail {

namespace group_numbers {
enum : std::size_t { loss, weight, samples, new_names, first_metric };
}

inline void group_sums::add_up(exchange& e, const sums& mine, std::span<const double> more) {
  namespace at = group_numbers;
  numbers_.assign(at::first_metric + names_.size() + more.size(), 0.);
  numbers_[at::loss] = mine.loss;
  numbers_[at::weight] = mine.weight;
  numbers_[at::samples] = static_cast<double>(mine.samples);
  for (const auto& [name, value] : mine.metrics) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
      numbers_[at::new_names] += 1;
    } else {
      numbers_[at::first_metric + static_cast<std::size_t>(found - names_.begin())] = value;
    }
  }
  std::copy(more.begin(), more.end(), numbers_.end() - static_cast<std::ptrdiff_t>(more.size()));
  e.sum(numbers_);
}

inline void group_sums::agree_on_names(exchange& e, const sums& mine) {
  for (int member = 0; member < e.members(); ++member) {
    std::string lines;
    for (const auto& [name, value] : mine.metrics) lines += base::text("{} {}", name.size(), name);
    e.broadcast(lines, member);
    std::istringstream in(lines);
    for (std::size_t size = 0; in >> size;) {
      std::string name(size, '\0');
      in.ignore(1);
      in.read(name.data(), static_cast<std::streamsize>(size));
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
  }
}

MANTA_DECL sums group_sums::over_all(exchange& e, const sums& mine, std::span<double> more) {
  namespace at = group_numbers;
  if (e.members() == 1) return mine;
  add_up(e, mine, more);
  if (numbers_[at::new_names] > 0) {
    agree_on_names(e, mine);
    add_up(e, mine, more);
  }
  std::copy(numbers_.end() - static_cast<std::ptrdiff_t>(more.size()), numbers_.end(), more.begin());
  sums all{numbers_[at::loss], numbers_[at::weight], static_cast<std::uint64_t>(numbers_[at::samples]), {}};
  for (std::size_t i = 0; i < names_.size(); ++i) all.metrics[names_[i]] = numbers_[at::first_metric + i];
  return all;
}

}  // namespace manta::train::detail
