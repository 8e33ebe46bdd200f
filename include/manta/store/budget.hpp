// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How much memory the large values of a rank take, and how much they may take. A rank near its share borrows half of
// what the other ranks of its node leave unused. Even if all ranks borrow at once, they stay within the node's budget.
#pragma once

#include <atomic>
#include <cstdint>

#include "manta/base/containers.hpp"

namespace manta::store {

class budget {
 public:
  void set_share(std::uint64_t bytes) { share_ = limit_ = bytes; }
  /// Makes this rank report in `held_here` how many bytes it holds.
  void lend(std::atomic<std::uint64_t>& held_here) { held_here_ = &held_here; }
  void borrow_from(std::uint32_t rank, const std::atomic<std::uint64_t>& held, std::uint64_t share) {
    lenders_.push_back({&held, share, rank});
  }
  void borrow_no_more(std::uint32_t rank) {
    for (std::size_t i = lenders_.size(); i-- > 0;) {
      if (lenders_[i].rank == rank) lenders_.remove_unordered(i);
    }
  }
  bool may_borrow() const { return !lenders_.empty(); }

  /// The rank's own share.
  std::uint64_t share() const { return share_; }
  /// The share and what the rank could borrow when it made room last.
  std::uint64_t limit() const { return limit_; }
  std::uint64_t charged() const { return charged_; }
  /// The most bytes so far.
  std::uint64_t most() const { return most_; }
  /// Whether memory is short: work that can wait should not begin, so that values can go first.
  bool is_short() const { return charged_ > limit_ - limit_ / 4; }
  /// Whether more than a quarter of the share is on its way here.
  bool expects_much() const { return expected_ > share_ / 4; }

  void expect(std::uint64_t bytes) { expected_ += bytes; }
  void expect_no_more(std::uint64_t bytes) { expected_ -= bytes; }
  void charge(std::uint64_t now, std::uint64_t before) {
    if (now == before) return;
    charged_ += now - before;
    if (charged_ > most_) most_ = charged_;
    if (held_here_ != nullptr) held_here_->store(charged_, std::memory_order_relaxed);
  }

  /// Bytes that are here or on their way, and `kept` further bytes.
  std::uint64_t wanted(std::uint64_t kept) const { return charged_ + expected_ + kept; }
  /// Whether this is more than the rank may hold. Now and then looks up how much the other ranks of the node hold.
  bool is_exceeded(std::uint64_t kept) {
    if (lenders_.empty() || wanted(kept) <= share_ - share_ / 4) {
      limit_ = share_;
    } else if (wanted(kept) > limit_ || --limit_holds_ == 0) {
      std::uint64_t shares = 0, held = 0;
      for (const lender& l : lenders_) {
        shares += l.share;
        held += l.held->load(std::memory_order_relaxed);
      }
      limit_ = share_ + (held < shares ? (shares - held) / 2 : 0);
      limit_holds_ = 16;
    }
    return wanted(kept) > limit_;
  }

 private:
  struct lender {
    const std::atomic<std::uint64_t>* held;
    std::uint64_t share;
    std::uint32_t rank;
  };

  std::uint64_t share_ = ~std::uint64_t{0};
  std::uint64_t limit_ = ~std::uint64_t{0};  // the limit at the last look at the other ranks
  unsigned limit_holds_ = 1;                 // number of questions before the next look
  std::uint64_t charged_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t expected_ = 0;
  base::list<lender> lenders_;
  std::atomic<std::uint64_t>* held_here_ = nullptr;
};

}  // namespace manta::store
