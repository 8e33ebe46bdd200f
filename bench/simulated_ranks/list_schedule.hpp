// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a scheduler can do that does not know how long jobs take: each job goes, in the order submitted, to the first
// place that is free, at no cost. A place is so many ranks, whichever. Where one of them dies, the job there is
// submitted again, and the other ranks form places with those that others have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace simulated_ranks {

/// At this time this rank dies.
struct death {
  std::int64_t at;
  std::uint32_t rank;
};

class list_schedule {
 public:
  /// `lengths` of the jobs, `members` ranks each; ranks 1 to `ranks`; deaths in the order of their times.
  list_schedule(const std::vector<std::int64_t>& lengths, std::size_t members, std::uint32_t ranks,
                const std::vector<death>& deaths)
      : lengths_(lengths), members_(members), place_of_(ranks + 1, none) {
    for (std::uint32_t r = 1; r <= ranks; ++r) add(r);
    for (std::size_t j = 0; j < lengths.size(); ++j) waiting_.push_back(j);
    std::size_t next_death = 0;
    for (;;) {
      while (!waiting_.empty() && !idle_.empty()) begin();
      while (!ends_.empty() && places_[ends_.top().second].end != ends_.top().first) ends_.pop();  // a rank has died
      if (ends_.empty() && waiting_.empty()) return;
      const bool dies = next_death < deaths.size() && (ends_.empty() || deaths[next_death].at <= ends_.top().first);
      if (!dies && ends_.empty()) return;  // too few ranks are left
      if (dies) {
        now_ = deaths[next_death].at;
        lose(deaths[next_death++].rank);
      } else {
        now_ = last_ = ends_.top().first;
        idle_.push_back(ends_.top().second);
        places_[ends_.top().second].end = -1;
        ends_.pop();
      }
    }
  }
  /// When the last job has ended.
  std::int64_t last() const { return last_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct place {
    std::vector<std::uint32_t> ranks;
    std::size_t job = none;
    std::int64_t end = -1;  // of its job; -1: it has none
    bool is_whole = true;
  };

  void add(std::uint32_t rank) {
    spare_.push_back(rank);
    if (spare_.size() < members_) return;
    for (const std::uint32_t r : spare_) place_of_[r] = places_.size();
    idle_.push_back(places_.size());
    places_.push_back({std::exchange(spare_, {})});
  }
  void begin() {
    const std::size_t at = idle_.front();
    idle_.pop_front();
    place& p = places_[at];
    if (!p.is_whole) return;
    p.job = waiting_.front();
    waiting_.pop_front();
    p.end = now_ + lengths_[p.job];
    ends_.push({p.end, at});
  }
  void lose(std::uint32_t rank) {
    const std::size_t at = std::exchange(place_of_[rank], none);
    if (at == none) {
      std::erase(spare_, rank);
      return;
    }
    place& p = places_[at];
    p.is_whole = false;
    if (p.end >= 0) waiting_.push_back(p.job);
    p.end = -1;
    for (const std::uint32_t r : std::exchange(p.ranks, {})) {
      if (r == rank) continue;
      place_of_[r] = none;
      add(r);
    }
  }

  const std::vector<std::int64_t>& lengths_;
  std::size_t members_;
  std::vector<std::size_t> place_of_;  // by rank
  std::vector<place> places_;
  std::vector<std::uint32_t> spare_;  // ranks of no place
  std::deque<std::size_t> idle_, waiting_;
  std::priority_queue<std::pair<std::int64_t, std::size_t>, std::vector<std::pair<std::int64_t, std::size_t>>,
                      std::greater<>>
      ends_;
  std::int64_t now_ = 0, last_ = 0;
};

}  // namespace simulated_ranks
