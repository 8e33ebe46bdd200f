// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How much memory the large values of a rank take, and how much they may. A rank
// near its share borrows half of what others of its node leave of theirs: were
// all to borrow at once, they would stay within the node's budget.
#pragma once

#include <atomic>
#include <cstdint>

#include "manta/base/containers.hpp"

namespace manta::store {

class budget {
 public:
  void set_share(std::uint64_t bytes) { share_ = limit_ = bytes; }
  /// This rank reports what it holds in `held_here`.
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
  /// With what it might borrow when room was made last.
  std::uint64_t limit() const { return limit_; }
  std::uint64_t charged() const { return charged_; }
  /// Should what can wait not begin, so that what is there may go first?
  bool is_short() const { return charged_ > limit_ - limit_ / 4; }
  /// Is much on its way here?
  bool expects_much() const { return expected_ > share_ / 4; }

  void expect(std::uint64_t bytes) { expected_ += bytes; }
  void expect_no_more(std::uint64_t bytes) { expected_ -= bytes; }
  void charge(std::uint64_t now, std::uint64_t before) {
    if (now == before) return;
    charged_ += now - before;
    if (held_here_ != nullptr) held_here_->store(charged_, std::memory_order_relaxed);
  }

  /// What is here or on its way, with `kept` bytes besides.
  std::uint64_t wanted(std::uint64_t kept) const { return charged_ + expected_ + kept; }
  /// Is that more than the rank may hold? Looks up what others of the node hold, now and then.
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
  std::uint64_t limit_ = ~std::uint64_t{0};  // as it was when the lenders were looked up last
  unsigned limit_holds_ = 1;                 // questions for which the limit still holds
  std::uint64_t charged_ = 0;
  std::uint64_t expected_ = 0;
  base::list<lender> lenders_;
  std::atomic<std::uint64_t>* held_here_ = nullptr;
};

}  // namespace manta::store
