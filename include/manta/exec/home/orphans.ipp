// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/base/sorting.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/home/orphans.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

MANTA_DECL void orphans::rank_died() {
  // What was found before this death does not count: the dead rank may have been a holder, or have passed a handle on.
  unheld_.clear();
  held_.clear();
  pause_ = first_pause;
  begin_round(false);
}

MANTA_DECL void orphans::collect() {
  asked_.clear();
  own_.graph.nodes.for_each([&](const node& n) {
    // A primary copy is kept for the home, with or without handles here; any other copy goes with its last handle.
    if (asked_.size() < most_at_once && is_stand_in(n) && n.has(node::primary) && own_.members.is_dead(n.links->rank))
      asked_.push_back({n.links->rank, n.links->index, no_index});
  });
  below_.actors.for_each_led([&](slot_index number, const actor_slot& slot) {
    // A detached actor lives until the run ends, with or without handles.
    if (asked_.size() < most_at_once && own_.members.is_dead(slot.home.rank) && !slot.request->rules.detached)
      asked_.push_back({slot.home.rank, slot.home.index, number});
  });
}

MANTA_DECL void orphans::begin_round(bool may_ask_holders) {
  collect();
  ++round_;
  awaited_ = 0;
  unsure_ = false;
  if (asked_.empty()) return rest();  // a task of a dead home may still run here
  due_ = INT64_MAX;                   // until the round has ended
  std::vector<std::uint32_t> ranks, names;
  asks_holders_ = may_ask_holders && find_holders(ranks);
  if (!asks_holders_) {
    unsure_ = is_unsure();
    lent_ = own_.refs.orphans_lent();
    ranks.resize(own_.size);
    std::iota(ranks.begin(), ranks.end(), 0U);
  }
  for (orphan& o : asked_) {
    // A handle on this rank counts as much as one elsewhere, and costs no message.
    if (knows(o.home_rank, o.home_index)) o.holder = own_.rank;
    names.insert(names.end(), {o.home_rank, o.home_index});
  }
  for (const std::uint32_t r : ranks) {
    if (r == own_.rank.number() || own_.members.is_dead(r)) continue;
    ++awaited_;
    own_.post.send(r, message::ask_holders, holders_message{0, round_, 0}, names.data(),
                   names.size() * sizeof(std::uint32_t));
  }
  if (awaited_ == 0) end_round();
}

MANTA_DECL bool orphans::find_holders(std::vector<std::uint32_t>& ranks) const {
  for (const orphan& o : asked_) {
    const auto found = std::ranges::lower_bound(held_, o, by_home);
    if (found == held_.end() || by_home(o, *found) || own_.members.is_dead(found->holder)) return false;
    ranks.push_back(found->holder);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return true;
}

MANTA_DECL void orphans::on_ask(rank_id from, const holders_message& m, const std::byte* data, std::size_t bytes) {
  std::vector<std::uint32_t> names(bytes / sizeof(std::uint32_t));
  std::memcpy(names.data(), data, names.size() * sizeof(std::uint32_t));
  std::vector<std::uint8_t> known;
  for (std::size_t i = 0; i + 1 < names.size(); i += 2) known.push_back(knows(names[i], names[i + 1]));
  own_.post.send(from, message::holders, holders_message{own_.refs.orphans_lent(), m.round, is_unsure()}, known.data(),
                 known.size());
}

MANTA_DECL void orphans::on_answer(rank_id from, const holders_message& m, const std::byte* data, std::size_t bytes) {
  // The answer belongs to a round that a death has broken off.
  if (m.round != round_) return;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (data[i] != std::byte{0}) asked_[i].holder = from;
  }
  unsure_ = unsure_ || m.is_unsure != 0;
  lent_ += m.lent;
  if (--awaited_ == 0) end_round();
}

MANTA_DECL void orphans::end_round() {
  if (asks_holders_) {
    const bool are_held = std::ranges::all_of(asked_, &orphan::is_held);
    // A holder has let go, or has passed the handle on to a rank that was not asked: only all ranks together know.
    return are_held ? rest() : begin_round(false);
  }
  // If no handle was passed on since the round before, what nobody held in both rounds was not
  // under way between them either.
  const bool is_second = !unsure_ && lent_ == lent_before_;
  base::vector<orphan> unheld;
  held_.clear();
  for (const orphan& o : asked_) {
    if (o.is_held()) held_.push_back(o);
    if (o.is_held() || unsure_) continue;
    if (is_second && std::ranges::binary_search(unheld_, o, by_home)) {
      give_up(o);
    } else {
      unheld.push_back(o);
    }
  }
  base::sort(held_, by_home);
  base::sort(unheld, by_home);
  unheld_ = std::move(unheld);
  lent_before_ = lent_;
  if (!unheld_.empty()) return begin_round(false);  // at once, for the second time
  rest();
}

MANTA_DECL void orphans::rest() {
  due_ = base::now_ns() + pause_;
  // Orphans that somebody holds may stay for the whole run, so the questions become rarer.
  pause_ = std::min(2 * pause_, longest_pause);
}

MANTA_DECL void orphans::give_up(const orphan& o) {
  if (o.slot != no_index) return below_.actors.end_orphan(o.slot);
  node* const n = own_.refs.known(o.home_rank, o.home_index);
  if (n != nullptr && n->has(node::primary)) own_.refs.give_up_copy(*n);
}

MANTA_DECL bool orphans::knows(rank_id home_rank, node_index home_index) {
  const node* const n = own_.refs.known(home_rank, home_index);
  // The primary copy has a reference of its own, which no program holds.
  return n != nullptr && n->refs.load(std::memory_order_acquire) > (n->has(node::primary) ? 1U : 0U);
}

MANTA_DECL bool orphans::is_unsure() const {
  bool has_unread = below_.executor.has_unread_inputs() || below_.actors.has_unread_inputs();
  own_.graph.nodes.for_each([&](const node& n) { has_unread = has_unread || n.has(node::references); });
  return has_unread;
}

}  // namespace manta::exec
