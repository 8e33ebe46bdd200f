// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The large values of a rank: how much memory they take, and where they lie. An array begins in plain memory. When
// another rank of the node wants it, its pages move to memory that both ranks map. When the rank holds more than its
// share, the pages of the value that was used longest ago move to a disk. Both moves happen in place: pointers into the
// array stay valid, and the system reads pages back from the disk when the program touches them.
//
// Values of any other shape move to a disk as a whole, and only while no task uses them: the ledger writes their
// encoding, destroys the object, and makes it again when a task needs it. Arrays of moderate size that no task uses
// move in this way too, because a process may have only some ten thousand mappings. Before anything moves to a disk,
// the ledger drops copies of values that other ranks have as well.
//
// The ledger decides which values go. Its parts: large.hpp (a value's record), use_order.hpp, budget.hpp,
// node_files.hpp and disk_store.hpp.
#pragma once

#include <malloc.h>

#include <utility>

#include "manta/base/heap.hpp"
#include "manta/store/budget.hpp"
#include "manta/store/disk_store.hpp"
#include "manta/store/large.hpp"
#include "manta/store/node_files.hpp"
#include "manta/store/use_order.hpp"

namespace manta::store {

class ledger {
 public:
  ledger() = default;
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;

  /// Sets the rank's share of memory, and the folder for the disk; "none": no value moves to a disk.
  void set_limits(std::uint64_t share, const std::string& folder) {
    budget_.set_share(share);
    disk_.set_folder(folder);
    files_.set_limits(share / 8);  // of the whole share, also of what other ranks have borrowed: it may come back
    base::keep_freed_memory(share / 8);
  }
  /// Makes this rank report what it holds in `held_here`: see budget.hpp.
  void lend(std::atomic<std::uint64_t>& held_here) { budget_.lend(held_here); }
  void borrow_from(std::uint32_t rank, const std::atomic<std::uint64_t>& held, std::uint64_t share) {
    budget_.borrow_from(rank, held, share);
  }

  const budget& memory() const { return budget_; }
  const use_order& values() const { return order_; }
  node_files& files() { return files_; }
  const node_files& files() const { return files_; }
  const disk_store& disk() const { return disk_; }
  /// Number of copies dropped so far.
  std::uint64_t dropped() const { return dropped_; }

  /// Gives borrowed memory back, if other ranks of the node have used their shares since this rank made room last.
  void pay_back() {
    if (budget_.may_borrow() && budget_.wanted(files_.kept_bytes()) > budget_.share()) make_room();
  }
  /// Notes that `bytes` are on their way here, and makes room for them.
  void expect(std::uint64_t bytes) {
    budget_.expect(bytes);
    make_room();
  }
  void expect_no_more(std::uint64_t bytes) { budget_.expect_no_more(bytes); }
  /// Why this rank holds more than its share and could not move values to a disk; empty if it does not.
  std::string excess() const {
    if (budget_.charged() <= budget_.limit()) return {};
    if (!disk_.is_allowed()) return "it may not be moved to a disk (MANTA_SPILL_FOLDER=none)";
    return order_.oldest_in_memory() != nullptr ? disk_.why_not() : "they are looked at, or have futures inside";
  }

  // --- values come and go

  /// Enters a value whose object has arrived or was made here. Makes room for it; the caller checks excess()
  /// afterwards.
  large& enter(std::byte* array, std::size_t bytes, std::uint32_t function) {
    large& e = add(bytes, function);
    e.object = {array, 0, region::place::memory};
    recount(e);
    make_room();
    return e;
  }
  /// Enters the decoded value of a node. `shapeless`: it is not one array. `fixed`: it cannot be encoded. `copy`:
  /// another rank has it too.
  large& enter(graph::node& n, const wire::segment& array, bool shapeless, bool fixed, bool copy,
               std::uint32_t function) {
    large& e = add(array.bytes, function);
    e.node = &n;
    e.shapeless = shapeless;
    e.fixed = fixed;
    e.copy = copy;
    e.object = {static_cast<std::byte*>(array.data), 0, region::place::memory};
    n.boxed.large = &e;
    recount(e);
    make_room();
    return e;
  }
  /// Enters a value that tasks read in node memory; the caller then fills its header, the encoding without the array.
  /// `peers`: another rank counts this memory. Null if there is no memory, or if it cannot be mapped.
  large* enter(node_file* memory, std::uint64_t at, std::size_t bytes, bool peers, std::uint32_t function) {
    if (memory == nullptr) return nullptr;
    std::byte* const window = memory->window();
    if (window == nullptr) {
      delete memory;
      return nullptr;
    }
    large& e = add(bytes, function);
    e.view = {window + at, 0, region::place::node};
    e.peers = peers;
    own(e, memory, at);
    make_room();
    return &e;
  }
  /// Enters a copy, in node memory, of an array that stays with its owner.
  large* enter_copy(const std::byte* array, std::size_t bytes, std::uint32_t function) {
    return enter(files_.copy(array, bytes), page_offset(array), bytes, false, function);
  }
  /// Removes a value that is destroyed, or moved out of its node.
  void remove(large& e) {
    if (e.on_disk()) give_up_shared(e);  // the pages of its view are those of the disk's file now
    for (const region* r : {&e.object, &e.view}) {
      if (r->place == region::place::disk) disk_.release_array(e, *r);
    }
    if (e.object.place == region::place::node || e.object.place == region::place::disk)
      let_go_of_file(e.object.array, e.bytes);
    disk_.release_encoding(e);
    if (e.shared != nullptr) files_.leave(std::exchange(e.shared, nullptr));
    withdraw_offer(e);
    budget_.charge(0, e.charged);
    order_.remove(e);
    delete &e;
  }
  /// Notes that a rank has died: files that it made, or may have used when it died, are not used again.
  void rank_died(std::uint32_t rank) {
    budget_.borrow_no_more(rank);
    files_.rank_died();
    order_.for_each([&](large& e) {
      if (e.shared != nullptr && e.shared->maker() == rank) e.shared->orphan();
    });
  }

  // --- uses of a value, and what else decides whether it may go

  /// Notes that a task of this rank uses the value.
  void use(large& e) {
    e.used = true;
    touch(e);
  }
  /// Notes that a task wants the value, here or elsewhere.
  void touch(large& e) {
    order_.renew(e);
    if (e.on_disk()) e.warm = true;
    ++e.looks;  // make_room() must not move this value
    recount(e);
    make_room();
    --e.looks;
    recount(e);
  }
  /// Keeps its object, or its view, in place until look_away().
  void look(large& e) {
    ++e.looks;
    recount(e);
  }
  void look_away(large& e) {
    --e.looks;
    recount(e);
    make_room();
  }
  /// Keeps also its file in place until shown_no_more(): another rank knows the file and has not mapped it yet.
  void show(large& e) {
    ++e.shown;
    look(e);
  }
  void shown_no_more(large& e) {
    --e.shown;
    if (e.shown == 0 && !e.peers && e.on_disk()) give_up_shared(e);
    look_away(e);
  }
  /// Keeps the value in place as long as it lives.
  void give(large& e) {
    e.given = true;
    recount(e);
  }
  /// Notes that another rank has the value too.
  void is_copy(large& e) {
    e.copy = true;
    recount(e);
  }
  /// Keeps a copy from being dropped.
  void keep(large& e) {
    e.stays = true;
    recount(e);
  }

  // --- the place of a value

  /// Fills the array of an object into which the value of a view has been decoded.
  void fill(large& e, std::byte* array) {
    const bool mapped =
        e.view.place == region::place::node && take_place_of(array, e.bytes, e.shared->memory(), e.shared_at);
    e.object = {array, 0, mapped ? region::place::node : region::place::memory};
    if (mapped) {
      copy_ends(array, e.view.array, e.bytes);
    } else {
      std::memcpy(array, e.view.array, e.bytes);
    }
    use(e);
  }
  /// Makes the object of a value that lies on the disk as a whole. Throws what load() of its type throws.
  void bring_back(large& e) {
    const disk_store::encoding bytes(disk_, e);
    wire::source in(bytes.data, e.encoding_bytes);
    const wire::type_entry& type = wire::type_at(e.node->type);
    e.node->boxed.object = type.read(in);
    e.node->form = graph::form::box;
    e.object.place = region::place::memory;
    if (!e.shapeless) e.object.array = static_cast<std::byte*>(type.array(e.node->boxed.object).data);
  }
  /// Moves the array to node memory; false if it stays where it is.
  bool share(large& e) {
    if (e.is_shared()) return true;
    if (e.bytes < shared_bytes || e.shapeless || e.is_encoded() || e.on_disk()) return false;
    node_file* const memory = files_.copy(e.object.array, e.bytes);
    if (memory == nullptr) return false;
    const std::uint64_t at = page_offset(e.object.array);
    if (take_place_of(e.object.array, e.bytes, memory->memory(), at)) e.object.place = region::place::node;
    own(e, memory, at);
    return true;
  }
  /// Offers the value to the other ranks of the node: it is shared when this rank has nothing else to do.
  void offer(large& e) {
    if (e.bytes < shared_bytes || e.shapeless || e.is_shared() || e.offered) return;
    e.offered = true;
    offered_.push_back(&e);
  }
  std::size_t offers() const { return offered_.size(); }
  void share_offered() {
    if (offered_.empty()) return;
    large& next = *offered_.back();
    withdraw_offer(next);
    share(next);
  }
  /// Notes that this rank now owns a value in memory that another rank of the node has made.
  void take_over(large& e) {
    e.peers = false;
    recount(e);
    make_room();
  }

 private:
  large& add(std::size_t bytes, std::uint32_t function) {
    auto* const e = new large;
    e->book = this;
    e->bytes = bytes;
    e->function = function;
    order_.add(*e);
    return *e;
  }
  void own(large& e, node_file* memory, std::uint64_t at) {
    e.shared = memory;
    e.shared_at = at;
    files_.use();
    recount(e);
  }
  void withdraw_offer(large& e) {
    if (!e.offered) return;
    e.offered = false;
    offered_.remove(&e);
  }
  void recount(large& e) {
    const std::uint64_t cost = e.cost();
    budget_.charge(cost, e.charged);
    e.charged = cost;
    order_.sort_in(e);
  }
  /// Closes the file of an array that lies elsewhere now.
  void give_up_shared(large& e) {
    if (e.is_shared()) files_.close(*e.shared);
  }
  static void copy_ends(std::byte* to, const std::byte* from, std::size_t bytes) {
    const inner_pages inner(to, bytes);
    const auto before = inner.bytes == 0 ? bytes : static_cast<std::size_t>(inner.begin - to);
    std::memcpy(to, from, before);
    const std::size_t after = before + inner.bytes;
    std::memcpy(to + after, from + after, bytes - after);
  }

  /// Makes room until the rank is within its limit: frees kept memory, then drops copies, then moves values to a disk.
  /// Values that have moved stand in the chain of the others.
  void make_room() {
    while (budget_.is_exceeded(files_.kept_bytes())) {
      if (files_.kept_bytes() != 0) {
        files_.stop_keeping_own();
        continue;
      }
      if (large* const copy = order_.oldest_copy()) {
        drop(*copy);
        continue;
      }
      large* e = order_.oldest_in_memory();
      if (e != nullptr && move_to_disk(*e)) continue;
      if (disk_.bytes() == 0) return;
      // The disk is full, but a value whose encoding lies there already can still go.
      while (e != nullptr && e->encoding_bytes == 0) e = e->newer;
      if (e == nullptr || !move_to_disk(*e)) return;
    }
  }
  void drop(large& e) {
    graph::node& n = *e.node;
    // This rank must owe the home a reference, else the home may have forgotten the value.
    const graph::link* const home = n.links;
    const bool still =
        home != nullptr && home->kind == graph::link_kind::home && home->count != 0 && !n.has(graph::node::primary);
    if (!still) return keep(e);
    void* const object = n.form == graph::form::box ? n.boxed.object : nullptr;
    const std::uint64_t bytes = e.bytes;
    remove(e);
    if (object != nullptr) wire::type_at(n.type).destroy(object);
    n.form = graph::form::remote;
    n.remote.bytes = bytes;
    n.remote.place = n.links->rank;
    n.size = 0;
    ++dropped_;
    freed(bytes);
  }
  /// Moves a value to the disk; false if the disk takes no more.
  bool move_to_disk(large& e) {
    const bool plain = e.object.place == region::place::memory && e.view.place == region::place::none && !e.is_shared();
    const bool seen = e.looks != 0 || e.given;
    if (e.shapeless || (plain && !seen && !e.fixed && e.bytes < in_place_bytes && e.node != nullptr))
      return move_whole(e);
    bool moved = true;
    for (region* r : {&e.object, &e.view}) {
      if (r->place == region::place::disk) {
        forget_pages(r->array, e.bytes);
      } else if (r->place == region::place::memory || (r->place == region::place::node && !e.peers)) {
        moved = moved && disk_.write_array(e, *r);
      }
    }
    if (moved) {
      if (!e.peers && e.shown == 0) give_up_shared(e);  // other ranks keep their mappings
      e.warm = false;
    }
    recount(e);
    return moved;
  }
  bool move_whole(large& e) {
    if (e.encoding_bytes == 0 && !disk_.write_encoding(e)) {
      recount(e);
      return e.fixed;
    }
    graph::node& n = *e.node;
    wire::type_at(n.type).destroy(std::exchange(n.boxed.object, nullptr));
    n.form = graph::form::pages;
    e.object = region{};
    recount(e);
    freed(e.bytes);
    return true;
  }
  /// Counts freed bytes, and now and then gives free pieces of memory back to the system.
  void freed(std::uint64_t bytes) {
    freed_ += bytes;
    if (freed_ <= budget_.share() / 8) return;
    freed_ = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
  }

  budget budget_;
  use_order order_;
  node_files files_;
  disk_store disk_;
  base::list<large*> offered_;  // values to share when there is time
  std::uint64_t dropped_ = 0;
  std::uint64_t freed_ = 0;  // bytes freed since memory went back to the system
};

}  // namespace manta::store
