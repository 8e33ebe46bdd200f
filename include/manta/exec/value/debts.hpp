// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How many references each rank owes this home, where ranks may die: what a dead rank owed is given up, so that what
// only that rank held ends with it.
//
// A reference that is on its way inside a value is owed by no rank yet, unless the home knew the receiver when it wrote
// the reference. A handle that a rank passes on to another rank is a loan until the home has granted the receiver a
// reference of its own. The notice of a loan and the request for that reference come to the home on different ways,
// so the number of a lender's loans falls below 0 where the request came first.
//
// Rank 0 is in no book: the job ends with it. This part keeps numbers; it sends nothing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/ids.hpp"

namespace manta::exec {

class debts {
 public:
  /// References that a rank has owed when it died.
  struct loss {
    std::uint32_t object;  ///< index of the node
    std::uint32_t count;
  };

  void add(node_index object, rank_id debtor, std::uint32_t count = 1) {
    entry e = of(object, debtor);
    e.owed += count;
    set(object, debtor, e);
  }
  void pay(node_index object, rank_id debtor, std::uint32_t count) {
    entry e = of(object, debtor);
    e.owed -= std::min(e.owed, count);
    set(object, debtor, e);
  }
  /// A rank has passed a handle on. True if the object needs one reference more for it: the receiver has not asked yet.
  bool begin_loan(node_index object, rank_id lender) {
    entry e = of(object, lender);
    ++e.lent;
    set(object, lender, e);
    return e.lent > 0;
  }
  /// The receiver has a reference of its own. True if the reference that was kept for the loan goes.
  bool end_loan(node_index object, rank_id lender, bool lender_lives) {
    entry e = of(object, lender);
    if (e.lent <= 0 && !lender_lives) return false;  // the notice of the loan died with its lender
    --e.lent;
    set(object, lender, e);
    return e.lent >= 0;
  }
  /// The rank has died: it owes nothing any more. Loans whose receivers have not asked yet stay.
  base::list<loss> forget(rank_id dead) {
    base::list<loss> losses;
    base::list<std::uint32_t> known;
    by_rank_.for_each([&](std::uint64_t key, std::uint64_t) {
      if (static_cast<std::uint32_t>(key) == dead.number()) known.push_back(static_cast<std::uint32_t>(key >> 32));
    });
    for (const std::uint32_t object : known) {
      const entry e = of(object, dead);
      set(object, dead, {0, std::max(e.lent, 0)});
      lost_.insert(object) = dead.number();
      losses.push_back({object, e.owed});
    }
    return losses;
  }

  /// Whether any rank has died that knew an object of this home.
  bool has_losses() const { return lost_.size() != 0; }
  /// The rank that knew this object and has died, or null. Handles that it had passed on may still be on their way, and
  /// the calls that it has made are not known.
  const std::uint64_t* lost_with(node_index object) { return lost_.find(object); }
  /// The number of pairs of an object and a rank that are in the book.
  std::size_t size() const { return by_rank_.size(); }

 private:
  struct entry {
    std::uint32_t owed = 0;
    std::int32_t lent = 0;
  };
  static std::uint64_t key(node_index object, rank_id debtor) {
    return static_cast<std::uint64_t>(object) << 32 | debtor;
  }
  entry of(node_index object, rank_id debtor) {
    const std::uint64_t* const at = by_rank_.find(key(object, debtor));
    if (at == nullptr) return {};
    return {static_cast<std::uint32_t>(*at), static_cast<std::int32_t>(*at >> 32)};
  }
  void set(node_index object, rank_id debtor, entry e) {
    if (e.owed == 0 && e.lent == 0) return by_rank_.erase(key(object, debtor));
    by_rank_.insert(key(object, debtor)) =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(e.lent)) << 32 | e.owed;
  }

  base::index_table by_rank_;  // object and rank -> what it owes, and what it has lent
  base::index_table lost_;     // object -> the rank that has died
};

}  // namespace manta::exec
