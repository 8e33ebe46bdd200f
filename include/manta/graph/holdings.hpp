// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The resources of each rank that tasks, actors and reservations hold.
//
// Reservations are met in the order of their arrival. While the first one waits, a limited number of tasks may take
// resources before it (reservation_patience); then the ranks on which it would fit are kept free for it.
#pragma once

#include <utility>

#include "manta/base/pointer_table.hpp"
#include "manta/graph/rank_load.hpp"
#include "manta/graph/reservation.hpp"

namespace manta::graph {

class holdings {
 public:
  static constexpr unsigned reservation_patience = 64;

  holdings(rank_load& load, const offers& world) : load_(load), ranks_(world.size()) {
    for (std::uint32_t r = 0; r < world.size(); ++r) fill(ranks_[r], world[r]);
    sites_ = sites_of(
        world, [](void* all, std::uint32_t r) { return &ranks_in(all)[r].free; }, &ranks_);
    lasting_sites_ = sites_of(
        world, [](void* all, std::uint32_t r) { return &ranks_in(all)[r].without_tasks; }, &ranks_);
  }
  holdings(const holdings&) = delete;
  holdings& operator=(const holdings&) = delete;
  ~holdings() {
    reservations_.for_each([](reservation& r) { delete &r; });
  }

  /// The resources that tasks with conditions may still take; reserved cpus are not free.
  const stock& free_on(std::uint32_t rank) const { return ranks_[rank].free; }
  /// The resources that would be free if all tasks had ended: all that actors and reservations do not hold.
  const stock& without_tasks(std::uint32_t rank) const { return ranks_[rank].without_tasks; }
  std::uint32_t actors(std::uint32_t rank) const { return ranks_[rank].actors; }
  bool keeps_free(std::uint32_t rank) const { return ranks_[rank].kept_free; }

  // --- tasks

  /// Gives resources of `rank` to a task, and notes them in its request.
  void take(request& wanted, std::uint32_t rank) {
    rank_stock& r = ranks_[rank];
    grant& g = wanted.granted;
    g.rank = static_cast<std::int32_t>(rank);
    if (wanted.actor) ++r.actors;
    if (!wanted.holds()) return;
    if (wanted.reservation != 0) {
      reservation::part& part = find_reservation(wanted.reservation)->parts[static_cast<std::size_t>(g.bundle)];
      g.devices = part.free.take(wanted);
      if (wanted.actor) part.without_tasks.take(g.devices, wanted);
      return;
    }
    g.devices = r.free.take(wanted);
    if (wanted.actor) r.without_tasks.take(g.devices, wanted);
    if (!pending_.empty() && ++passed_ >= reservation_patience && !keeping_free_) keep_free();
  }
  /// Takes back the resources of a task or an actor that has ended on `rank`.
  void give_back(std::uint32_t rank, const request& wanted) {
    if (wanted.actor) --ranks_[rank].actors;
    if (!wanted.holds()) return;
    const std::uint64_t devices = wanted.granted.devices;
    if (reservation* r = wanted.reservation == 0 ? nullptr : find_reservation(wanted.reservation)) {
      reservation::part& p = r->parts[static_cast<std::size_t>(wanted.granted.bundle)];
      p.free.give(devices, wanted);
      if (wanted.actor) p.without_tasks.give(devices, wanted);
      return;
    }
    if (!load_[rank].all.executes) return;  // it has died
    ranks_[rank].free.give(devices, wanted);
    // If a reservation was given up meanwhile, what its actor held no longer counts as reserved.
    if (wanted.actor && wanted.reservation == 0) ranks_[rank].without_tasks.give(devices, wanted);
    may_meet_ = true;
  }

  // --- ranks

  void died(std::uint32_t rank) {
    ranks_[rank] = rank_stock{};
    keep_nothing_free();
    for (base::list<site>* sites : {&sites_, &lasting_sites_}) {
      std::size_t kept = 0;  // the order by node stays
      for (const site& s : *sites) {
        if (s.rank != rank) (*sites)[kept++] = s;
      }
      sites->resize(kept, site{nullptr, 0, 0});
    }
  }
  void joins(std::uint32_t rank, const capacity& its) {
    rank_stock& r = ranks_[rank];
    fill(r, its);
    for (base::list<site>* sites : {&sites_, &lasting_sites_}) {
      sites->push_back({sites == &sites_ ? &r.free : &r.without_tasks, rank, its.node});
      for (std::size_t i = sites->size() - 1; i > 0 && (*sites)[i - 1].node > its.node; --i)
        std::swap((*sites)[i], (*sites)[i - 1]);
    }
    keep_nothing_free();  // a waiting reservation may fit on this rank
    may_meet_ = true;
  }

  // --- reservations

  reservation* find_reservation(std::uint64_t id) const { return reservations_.find(id); }
  /// The first reservation that is not met, or null.
  const reservation* first_pending() const { return pending_.empty() ? nullptr : pending_[0]; }
  /// Any reservation, or null.
  reservation* any_reservation() const {
    reservation* any = nullptr;
    reservations_.for_each([&](reservation& r) { any = &r; });
    return any;
  }
  /// Adds a reservation, and owns its record from now on.
  void reserve(reservation* r) {
    reservations_.set(r->id, r);
    pending_.push_back(r);
    may_meet_ = true;
  }
  /// Meets the first waiting reservation if there are places for all of its bundles. False if none was met.
  bool meet_next() {
    if (!may_meet_ || pending_.empty()) return false;
    reservation& r = *pending_[0];
    place_finder finder(sites_, r.wanted, r.how);
    may_meet_ = finder.find();
    if (!may_meet_) return false;
    for (std::size_t i = 0; i < r.parts.size(); ++i) fill(r.parts[i], r.wanted[i], finder.place_of(i).rank);
    r.met = true;
    pending_.remove(&r);
    met_.push_back(&r);
    keep_nothing_free();
    return true;
  }
  /// The next reservation that has been met and not reported yet; null: none.
  reservation* take_met() { return met_.empty() ? nullptr : met_.pop_front(); }
  /// Gives a reservation up. What its tasks do not hold is free at once, the rest when they end. The caller owns the
  /// record from now on.
  void release(reservation& r) {
    reservations_.erase(r.id);
    may_meet_ = true;
    if (!r.met) {
      pending_.remove(&r);
      return keep_nothing_free();
    }
    for (reservation::part& p : r.parts) {
      if (!load_[p.rank].all.executes) continue;  // it has died, and what it had is gone
      rank_stock& at = ranks_[p.rank];
      at.free.cpus += p.wanted.cpus;
      at.free.gpus.give(p.free.gpus);
      for (const quantity& q : p.free.named) at.free.named[q.name] += q.units;
      p.wanted.give_to(at.without_tasks, p.devices);
    }
  }
  bool is_keeping_free() const { return keeping_free_; }
  void keep_nothing_free() {
    passed_ = 0;
    if (!std::exchange(keeping_free_, false)) return;
    for (const std::uint32_t rank : load_.executing()) ranks_[rank].kept_free = false;
    load_.log().note_everywhere();
    load_.log().changed_for_gangs();
  }

  /// Whether this bundle, number `i` of its reservation, can ever take the request. False if its rank has died.
  bool is_for(const request& wanted, std::size_t i, const reservation::part& p) const {
    return load_[p.rank].all.executes && wanted.may_come_to(static_cast<int>(p.rank)) &&
           (wanted.bundle < 0 || i == static_cast<std::size_t>(wanted.bundle)) && p.wanted.is_enough_for(wanted);
  }
  /// The number of the first bundle on this rank that a member of a gang fits into.
  std::int32_t bundle_on(std::uint32_t rank, const request& wanted) const {
    const reservation& r = *find_reservation(wanted.reservation);
    std::size_t i = 0;
    while (r.parts[i].rank != rank || !is_for(wanted, i, r.parts[i]) || !r.parts[i].free.fits(wanted)) ++i;
    return static_cast<std::int32_t>(i);
  }

 private:
  struct rank_stock {
    stock free;
    stock without_tasks;
    std::uint32_t actors = 0;
    bool kept_free = false;  // its resources are kept for a reservation that has waited too long
  };
  static base::array<rank_stock>& ranks_in(void* all) { return *static_cast<base::array<rank_stock>*>(all); }

  static void fill(rank_stock& r, const capacity& all) {
    r.free = all.whole();
    r.without_tasks = all.whole();
  }
  void fill(reservation::part& p, const bundle& b, std::uint32_t rank) {
    rank_stock& at = ranks_[rank];
    p.rank = rank;
    p.wanted = b;
    p.devices = b.take_from(at.free);
    at.without_tasks.cpus -= b.cpus;
    at.without_tasks.take(p.devices, b);
    for (stock* s : {&p.free, &p.without_tasks}) {
      s->cpus = b.cpus;
      s->give(p.devices, b);
    }
  }
  /// Keeps ranks free for the first reservation, which has waited too long. On the ranks where it would fit once all
  /// tasks have ended, no other task may take resources until it is met. Does nothing if the reservation waits for
  /// actors or other reservations, because then all tasks would have to wait for them.
  void keep_free() {
    passed_ = 0;
    reservation& r = *pending_[0];
    place_finder finder(lasting_sites_, r.wanted, r.how);
    if (!finder.find()) return;
    keeping_free_ = true;
    for (std::size_t i = 0; i < r.wanted.size(); ++i) ranks_[finder.place_of(i).rank].kept_free = true;
  }

  rank_load& load_;
  base::array<rank_stock> ranks_;
  base::pointer_table<reservation> reservations_;  // by id, owned
  base::list<reservation*> pending_;               // reservations that are not met, in the order of their arrival
  base::ring<reservation*> met_;                   // reservations that are met and not reported yet
  base::list<site> sites_, lasting_sites_;         // free resources now; and if all tasks had ended
  unsigned passed_ = 0;                            // number of tasks that took resources before a waiting reservation
  bool keeping_free_ = false;
  bool may_meet_ = false;  // resources have come back since the last attempt to meet pending_
};

}  // namespace manta::graph
