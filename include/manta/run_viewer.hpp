// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a page shows of a run while the run goes on (manta/dashboard.hpp is made of it). Rank 0 makes the texts, its
// helper does while the driver or a task computes; any thread may ask for them.
//
//   manta::run_viewer viewer;                                          // in the driver
//   auto before = viewer.get(manta::run_viewer::state);                // from any thread
//   viewer.want(manta::run_viewer::state);                             // a new one comes soon
#pragma once

#include "manta/base/config.hpp"
#include "manta/report/live_texts.hpp"

namespace manta {

class run_viewer {
 public:
  using kind = report::live_texts::kind;  ///< state, statistics or page
  using enum report::live_texts::kind;
  using version = report::live_texts::version;  ///< a text, and how often it was made so far; null: never

  /// To be made in the driver, and destroyed there before the run ends. Throws manta::error if there is another one.
  MANTA_DECL run_viewer();
  MANTA_DECL ~run_viewer();
  run_viewer(const run_viewer&) = delete;
  run_viewer& operator=(const run_viewer&) = delete;

  /// The text is to be made anew. The statistics and the page are made together.
  MANTA_DECL void want(kind which);
  /// The text that was made last.
  MANTA_DECL version get(kind which) const;

 private:
  report::live_texts texts_;
};

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/run_viewer.ipp"
#endif
