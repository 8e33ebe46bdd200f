// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of run_viewer.hpp.
#pragma once

#include "manta/report/live_texts.hpp"
#include "manta/run_viewer.hpp"
#include "manta/statistics.ipp"

namespace manta {

MANTA_DECL run_viewer::run_viewer() : texts_(std::make_unique<report::live_texts>()) {
  exec::engine& rank_0 = detail::engine_of_rank_0("run_viewer");
  const exec::engine::guard in(rank_0);
  rank_0.seeing().show_in(texts_.get());
}

MANTA_DECL run_viewer::~run_viewer() {
  exec::engine* const rank_0 = exec::engine::current();
  if (rank_0 == nullptr || !exec::engine::inside()) return;
  const exec::engine::guard in(*rank_0);
  rank_0->seeing().show_in(nullptr);
}

MANTA_DECL void run_viewer::want(kind which) {
  texts_->want(which == state ? report::live_texts::state : report::live_texts::statistics);
}

MANTA_DECL run_viewer::version run_viewer::get(kind which) const {
  report::live_texts::version made = texts_->get(static_cast<report::live_texts::kind>(which));
  return {std::move(made.text), made.number};
}

}  // namespace manta
