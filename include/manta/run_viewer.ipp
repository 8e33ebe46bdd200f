// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/run_viewer.hpp"
#include "manta/statistics.ipp"

namespace manta {

MANTA_DECL run_viewer::run_viewer() {
  exec::engine& rank_0 = detail::engine_of_rank_0("run_viewer");
  const exec::engine::guard in(rank_0);
  if (rank_0.seeing().is_shown())
    throw error("manta: this run is shown already: there is one manta::dashboard, or manta::run_viewer, at a time");
  rank_0.seeing().show_in(&texts_);
}

MANTA_DECL run_viewer::~run_viewer() {
  exec::engine* const rank_0 = exec::engine::current();
  if (rank_0 == nullptr || !exec::engine::inside()) return;
  const exec::engine::guard in(*rank_0);
  rank_0->seeing().show_in(nullptr);
}

MANTA_DECL void run_viewer::want(kind which) { texts_.want(which == page ? statistics : which); }

MANTA_DECL run_viewer::version run_viewer::get(kind which) const { return texts_.get(which); }

}  // namespace manta
