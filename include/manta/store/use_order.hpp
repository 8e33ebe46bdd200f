// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The large values of a rank in the order of their use, in three chains: values that may be dropped, values that may
// move to a disk, and the others.
#pragma once

#include "manta/base/containers.hpp"
#include "manta/store/large.hpp"

namespace manta::store {

/// A chain of values in the order of their use.
struct use_chain {
  large* oldest = nullptr;
  large* newest = nullptr;
};

class use_order {
 public:
  std::size_t size() const { return size_; }
  /// The copy that was used longest ago; null: there is none.
  large* oldest_copy() const { return copies_.oldest; }
  /// The value that may move to a disk and was used longest ago; null: there is none.
  large* oldest_in_memory() const { return in_memory_.oldest; }

  void add(large& e) {
    ++size_;
    link(e, others_);
  }
  void remove(large& e) {
    --size_;
    unlink(e);
  }
  /// Makes a used value the newest of its chain.
  void renew(large& e) {
    unlink(e);
    link(e, *e.in);
  }
  /// Moves a value to the chain where it belongs, after a change of its state.
  void sort_in(large& e) {
    use_chain& c = chain_of(e);
    if (&c == e.in) return;
    unlink(e);
    link(e, c);
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const use_chain* c : {&copies_, &in_memory_, &others_}) {
      for (large* e = c->newest; e != nullptr; e = e->older) visit(*e);
    }
  }
  /// Calls visit(const large&) for the `count` largest values, the largest first.
  template <class Visit>
  void largest(std::size_t count, Visit&& visit) const {
    base::list<const large*> all;
    for_each([&](const large& e) {
      std::size_t i = all.size();
      if (i < count) {
        all.push_back(&e);
      } else if (all[i - 1]->bytes >= e.bytes) {
        return;
      } else {
        --i;
      }
      for (; i > 0 && all[i - 1]->bytes < e.bytes; --i) all[i] = all[i - 1];
      all[i] = &e;
    });
    for (const large* e : all) visit(*e);
  }

 private:
  use_chain& chain_of(const large& e) {
    const bool seen = e.looks != 0 || e.given;
    if (e.charged == 0 || (e.shapeless && (seen || e.fixed))) return others_;
    const bool may_go = e.copy && e.used && e.encoding.bytes == 0 && !seen && !e.stays && !e.fixed;
    return may_go ? copies_ : in_memory_;
  }
  static void link(large& e, use_chain& c) {
    e.in = &c;
    e.newer = nullptr;
    e.older = c.newest;
    (c.newest == nullptr ? c.oldest : c.newest->newer) = &e;
    c.newest = &e;
  }
  static void unlink(large& e) {
    (e.older == nullptr ? e.in->oldest : e.older->newer) = e.newer;
    (e.newer == nullptr ? e.in->newest : e.newer->older) = e.older;
  }

  use_chain copies_;     // values that other ranks have too, which can be dropped
  use_chain in_memory_;  // values that can move to a disk
  use_chain others_;     // values that have moved to a disk, or cannot
  std::size_t size_ = 0;
};

}  // namespace manta::store
