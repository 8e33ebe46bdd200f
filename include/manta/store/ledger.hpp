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

#include <utility>

#include "manta/base/config.hpp"
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
  MANTA_DECL std::string excess() const;

  // --- values come and go

  /// Enters a value whose object has arrived or was made here. Makes room for it; the caller
  /// checks excess() afterwards.
  MANTA_DECL large& enter(std::byte* array, std::size_t bytes, std::uint32_t function);
  /// Enters the decoded value of a node. `shapeless`: it is not one array. `fixed`: it cannot be encoded. `copy`:
  /// another rank has it too.
  MANTA_DECL large& enter(graph::node& n, const wire::segment& array, bool shapeless, bool fixed, bool copy,
                          std::uint32_t function);
  /// Enters a value that tasks read in node memory; the caller then fills its header, the encoding without the array.
  /// `peers`: another rank counts this memory. Null if there is no memory, or if it cannot be mapped.
  MANTA_DECL large* enter(node_file* memory, std::uint64_t at, std::size_t bytes, bool peers, std::uint32_t function);
  /// Enters a copy, in node memory, of an array that stays with its owner.
  MANTA_DECL large* enter_copy(const std::byte* array, std::size_t bytes, std::uint32_t function);
  /// Removes a value that is destroyed, or moved out of its node.
  MANTA_DECL void remove(large& e);
  /// Notes that a rank has died: files that it made, or may have used when it died, are not used again.
  MANTA_DECL void rank_died(std::uint32_t rank);

  // --- uses of a value, and what else decides whether it may go

  /// Notes that a task of this rank uses the value.
  void use(large& e) {
    e.used = true;
    touch(e);
  }
  /// Notes that a task wants the value, here or elsewhere.
  MANTA_DECL void touch(large& e);
  /// Keeps its object, or its view, in place until look_away().
  MANTA_DECL void look(large& e);
  MANTA_DECL void look_away(large& e);
  /// Keeps also its file in place until shown_no_more(): another rank knows the file and has not mapped it yet.
  MANTA_DECL void show(large& e);
  MANTA_DECL void shown_no_more(large& e);
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
  MANTA_DECL void fill(large& e, std::byte* array);
  /// Makes the object of a value that lies on the disk as a whole. Throws what load() of its type throws.
  MANTA_DECL void bring_back(large& e);
  /// Moves the array to node memory; false if it stays where it is.
  MANTA_DECL bool share(large& e);
  /// Offers the value to the other ranks of the node: it is shared when this rank has nothing else to do.
  MANTA_DECL void offer(large& e);
  /// Shares one of the values that were offered; false if there is none.
  MANTA_DECL bool share_offered();
  /// Notes that this rank now owns a value in memory that another rank of the node has made.
  MANTA_DECL void take_over(large& e);

 private:
  large& add(std::size_t bytes, std::uint32_t function);
  void own(large& e, node_file* memory, std::uint64_t at);
  void withdraw_offer(large& e);
  MANTA_DECL void recount(large& e);
  /// Closes the file of an array that lies elsewhere now.
  void give_up_shared(large& e) {
    if (e.is_shared()) files_.close(*e.shared);
  }

  /// Makes room until the rank is within its limit: frees kept memory, then drops copies, then moves values to a disk.
  /// Values that have moved stand in the chain of the others.
  MANTA_DECL void make_room();
  void drop(large& e);
  /// Moves a value to the disk; false if the disk takes no more.
  bool move_to_disk(large& e);
  bool move_whole(large& e);

  budget budget_;
  use_order order_;
  node_files files_;
  disk_store disk_;
  base::list<large*> offered_;  // values to share when there is time
  std::uint64_t dropped_ = 0;
  base::freed_memory freed_;
};

}  // namespace manta::store

#ifndef MANTA_COMPILED
#include "manta/store/ledger.ipp"
#endif
