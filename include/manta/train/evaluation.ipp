// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/train/evaluation.hpp"

namespace manta::train::detail {

MANTA_DECL std::vector<samples> parts_for_tasks(const samples& data) {
  constexpr std::size_t for_each_rank = 4;  // so that a rank that is late has less left than the others
  const std::size_t batches = (data.size() + samples_at_once - 1) / samples_at_once;
  const std::size_t tasks = for_each_rank * static_cast<std::size_t>(std::max(1, manta::size() - 1));
  const std::size_t each = samples_at_once * std::max<std::size_t>(1, (batches + tasks - 1) / tasks);
  std::vector<samples> parts;
  for (std::size_t at = 0; at < data.size(); at += each)
    parts.push_back(data.range(at, std::min(each, data.size() - at)));
  return parts;
}

}  // namespace manta::train::detail
