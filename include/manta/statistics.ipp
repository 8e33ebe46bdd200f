// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/engine.hpp"
#include "manta/statistics.hpp"

namespace manta {

namespace detail {

/// The engine of rank 0, which alone knows of all ranks.
inline exec::engine& engine_of_rank_0(const char* call) {
  exec::engine& here = exec::engine::here(call);
  if (here.rank() != 0) {
    throw error(base::text("manta: {} was called on rank {}; only rank 0 knows of all ranks: call it in the driver",
                           call, here.rank()));
  }
  return here;
}

}  // namespace detail

MANTA_DECL statistics statistics_now() {
  exec::engine& rank_0 = detail::engine_of_rank_0("statistics_now()");
  const exec::engine::guard in(rank_0);
  return rank_0.seeing().statistics_now();
}

MANTA_DECL std::string state() {
  exec::engine& rank_0 = detail::engine_of_rank_0("state()");
  const exec::engine::guard in(rank_0);
  return rank_0.seeing().state_now();
}

MANTA_DECL phase::phase(std::string name)
    : number_(detail::engine_of_rank_0("phase").seeing().begin_phase(std::move(name))) {}

MANTA_DECL phase::~phase() {
  if (exec::engine* const engine = exec::engine::current(); engine != nullptr && exec::engine::inside()) {
    engine->seeing().end_phase(number_);
  }
}

}  // namespace manta
