// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/tune/places.hpp"

namespace manta::tune::detail {

MANTA_DECL std::size_t places::possible() const {
  std::size_t ranks = 0;
  for (const rank_resources& r : capacity()) ranks += r.runs_tasks && r.cpus >= options_.cpus;
  return std::max<std::size_t>(1, ranks / static_cast<std::size_t>(std::max(1, options_.ranks)));
}

MANTA_DECL void places::add() {
  actor_options o;
  o.cpus = options_.cpus;
  o.gpus = options_.gpus;
  o.resources = quantities(options_.resources);
  o.ranks = options_.ranks;
  o.spread = !gang_;
  if (options_.isolate) {
    o.isolate = options_.isolate;
  } else {
    o.concurrency = options_.repeats + 1;
  }
  place p;
  p.who = spawn_runner(o, what_, gang_, options_.repeats);
  p.greeting = p.who->greet();
  all_.push_back(std::move(p));
}

MANTA_DECL void places::tell(std::size_t i, order o) {
  place& p = all_[i];
  p.idle = false;
  p.heard = place::clock::now();
  if (options_.isolate) o.silent_until = 0;  // what has been reported counts, whatever happens next
  p.call = p.who->tell(std::move(o));
}

MANTA_DECL bool places::is_under_way() const {
  return std::any_of(all_.begin(), all_.end(), [](const place& p) { return !p.gone && p.call.valid(); });
}

MANTA_DECL bool places::has_other_rank(std::size_t i) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const place& p) { return p.placed && !p.gone && p.rank != all_[i].rank; });
}

MANTA_DECL void places::abandon(place& p) {
  if (p.call.valid()) manta::cancel(p.call);
  for (const future<void>& work : p.work) manta::cancel(work);
  if (!options_.isolate) (void)p.who->tell(quit_order());  // waits there until the trial reports
  p.call = {};
  p.who = nullptr;
}

MANTA_DECL void places::stop_trials() {
  using namespace std::chrono_literals;
  const auto patience_ends = place::clock::now() + 20s;
  const auto stop = [&](std::size_t i) {
    order o;
    o.what = order::kind::stop;
    tell(i, std::move(o));
  };
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const place& p = all_[i];
    if (p.placed && !p.gone && !p.idle && !p.call.valid()) stop(i);  // it waits for an answer to its report
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    place& p = all_[i];
    while (!p.gone && p.call.valid()) {
      if (!p.call.wait_for(std::max<place::clock::duration>(patience_ends - place::clock::now(), 0s)))
        break;  // close() gives it up
      bool waits = false;
      try {
        const answers all = std::exchange(p.call, {}).get();
        for (const notice& n : all) waits = waits || n.what == notice::kind::report || n.what == notice::kind::saved;
      } catch (const manta::error&) {
        p.gone = true;
      }
      if (waits) stop(i);
      p.idle = !p.gone && !waits;
    }
  }
}

MANTA_DECL void places::close() {
  for (place& p : all_) {
    if (p.gone) continue;
    if (!p.placed) {
      manta::cancel(p.greeting);
    } else if (p.idle) {
      p.call = p.who->tell(quit_order());
    } else {  // it computes, and an exception of ours ends the run
      abandon(p);
    }
  }
  for (place& p : all_) {
    if (!p.gone && p.idle && p.call.valid()) p.call.wait();
  }
  all_.clear();
}

}  // namespace manta::tune::detail
