// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The ranks that may take the tasks of one request, in the order of preference: a heap whose entries may be out of
// date. The reader notices that a rank has become worse when its entry reaches the top. A rank that has become better
// is pushed once more. So the order costs time only where the scheduler looks at it.
#pragma once

#include "manta/graph/node.hpp"

namespace manta::graph {

class best_ranks {
 public:
  struct entry {
    std::uint64_t work = 0;  ///< first criterion: less work is better
    std::uint32_t turn = 0;  ///< second criterion: the rank whose turn was longer ago is better
    std::uint32_t rank = 0;  ///< third criterion: the lower number is better
    friend bool operator==(const entry&, const entry&) = default;
  };

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const entry& top() const { return heap_[0]; }

  void push(const entry& e) {
    heap_.push_back(e);
    std::size_t at = heap_.size() - 1;
    for (; at > 0 && before(e, heap_[(at - 1) / 2]); at = (at - 1) / 2) heap_[at] = heap_[(at - 1) / 2];
    heap_[at] = e;
  }
  void pop() {
    const entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) replace_top(last);
  }
  void replace_top(const entry& e) {
    std::size_t at = 0;
    for (std::size_t next = 1; next < heap_.size(); next = 2 * at + 1) {
      if (next + 1 < heap_.size() && before(heap_[next + 1], heap_[next])) ++next;
      if (!before(heap_[next], e)) break;
      heap_[at] = heap_[next];
      at = next;
    }
    heap_[at] = e;
  }
  void clear() { heap_.clear(); }
  void free() { heap_ = {}; }

 private:
  static bool before(const entry& a, const entry& b) {
    if (a.work != b.work) return a.work < b.work;
    return a.turn != b.turn ? a.turn < b.turn : a.rank < b.rank;
  }

  base::list<entry> heap_;
};

}  // namespace manta::graph
