// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The requester's side of transfers: values that come in blocks, which are received into their final place, and sent on
// to ranks that ask meanwhile. What becomes of a value that is here is for fetches.hpp to say.
//
// No function waits.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/base/pointer_table.hpp"
#include "manta/exec/value/supply.hpp"

namespace manta::exec {

class incoming_values {
 public:
  /// A rank to which a value is sent on while it comes.
  struct follower {
    supply::outgoing_value* out;
    rank_id to;
    std::uint32_t tag;
    node_index index;
  };
  /// A value on its way here.
  struct value {
    node* target = nullptr;
    rank_id from = 0;
    std::uint32_t tag = 0;
    std::uint64_t number = 0;  ///< number by which the network tells of its blocks
    wire::buffer body;
    base::list<wire::segment> places;  ///< where its blocks go
    void* box = nullptr;               ///< the value, if its arrays are received in place
    std::size_t next = 0;              ///< the block that comes next
    std::size_t last = 0;              ///< blocks that will come; fewer than all if the value is cut off
    bool references = false;
    base::list<follower> followers;

    bool is_cut_off() const { return last < places.size(); }
    /// Is it an encoding that came as a block, which has to be decoded at the top level?
    bool has_to_be_decoded() const { return box == nullptr && !places.empty(); }
  };

  incoming_values(const rank_context& own, supply& held) : own_(own), supply_(held) {}

  /// A message says what will come. Returns the value if all of it came with the message; the caller gets it. Else has
  /// its blocks received, and returns null.
  value* begin(rank_id from, const data_message& m, const std::byte* data, std::size_t bytes);
  /// A block has come. Returns the value when all of it is here that will come; the caller gets it. Else null.
  value* take_block(std::uint64_t number);
  /// The sender has told that fewer blocks come. Returns the value if nothing of it is under way any more; the caller
  /// gets it. Else null.
  value* cut_off(rank_id from, const cut_off_message& m);
  /// Nothing comes any more from a rank that has died.
  void rank_died(rank_id dead);

  /// Sends a value that comes here on to a rank that pulls it. False if the value does not come in
  /// blocks that can be sent on.
  bool send_on(const node& n, rank_id to, const pull_message& m);
  /// Tells the ranks to which a value was sent on that no more of it comes. Sends `cut_off`.
  void stop_followers(const value& v);
  /// Frees the record of a value that has come in part, or in vain.
  void forget(value* v);

  /// Keeps a value until it is decoded.
  void put_off(value* v) { whole_.push_back(v); }
  bool has_undecoded() const { return !whole_.empty(); }
  value& take_undecoded();                  ///< Takes one of them out.
  bool has_undecoded(const node& n) const;  ///< Is the value of this node one of them?
  bool is_quiet() const { return coming_.size() == 0 && whole_.empty(); }

 private:
  void receive_next(const value& v);  ///< Asks the network for its next block.
  /// The first value of those that come for which is(value) is true, or null.
  template <class Is>
  value* find(Is&& is) const;

  const rank_context own_;
  supply& supply_;
  base::pointer_table<value> coming_;  // by their numbers
  base::list<value*> whole_;           // to be decoded
  std::uint64_t next_number_ = 0;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/incoming_values.ipp"
#endif
