// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The holder's side of values: what is told of a value, how it is sent, and which
// rank gives it. Small values are told with the news; a large one stays where it
// was made until somebody pulls it, straight from that rank.
//
// Ranks of one node map the same memory. Of each other node one rank gets a copy
// by messages: the first two nodes from where the value lies, the next ones from
// these, as a tree. A rank that asks is told which rank to ask.
//
// No function waits.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/value/completion.hpp"
#include "manta/exec/value/neighbours.hpp"
#include "manta/exec/value/outgoing_pulls.hpp"

namespace manta::exec {

/// A task or call that ran here for another rank, or that rank 0 has placed for it.
struct ended_task {
  rank_id home_rank;
  node_index home_index;
  function_id function = no_index;
  std::uint32_t charge = 0;
  std::uint64_t ns = 0;       ///< how long it took
  bool by_scheduler = false;  ///< rank 0, its home, has sent it
  graph::placement_reason reason = graph::placement_reason::none;
  bool at_once = false;  ///< see task_message::result_at_once
};

/// The parts in which large arrays travel: a part can be sent on while the next one comes.
MANTA_DECL base::list<wire::segment> in_parts(const base::list<wire::segment>& arrays);

class supply {
 public:
  /// A value that is being sent from where it lies.
  struct outgoing_value {
    supply* sender;
    node* value;
    store::large* looked_at;  // null if its bytes are in `body`
    wire::buffer body;
    std::size_t blocks;  // not yet sent
  };
  /// The encoding of a value, but for its large arrays.
  struct value_body {
    wire::buffer bytes;
    bool references = false;  ///< the body holds references
    bool by_block = false;    ///< they are many: they do not go with the message, but as a block
  };
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*pulled)(void* rank, rank_id from,
                   const pull_message& m);  ///< A pull that was put off is answered now.
  };

  supply(const rank_context& own, completion& ends, hooks others)
      : own_(own), completion_(ends), others_(others), neighbours_(own.size) {}

  /// Tells the stand-in `to` of a value that has ended: the value itself if it is small, else where it lies.
  void tell_value(node_place to, node& n, message kind = message::value);
  /// Tells the stand-in `to` of a value, now or when it has ended.
  void promise_value(node_place to, node& n);
  /// A rank wants to be told of a value of this home.
  void on_want(rank_id from, const want_message& m) {
    promise_value({from, m.index}, own_.graph.nodes.at(m.home_index));
  }
  /// Sends the result of a task to its home, or keeps it here and tells where it lies. `expected`: tasks here
  /// wait for it.
  void send_result(const ended_task& t, invocation& call, node* expected);
  /// Sends the failure of a task to its home.
  void send_failure(const ended_task& t, const store::failure_ptr& why, node* expected = nullptr);

  /// Answers a pull for a value that is here: by its memory, by messages, or with the rank that gives it.
  void give(rank_id from, const pull_message& m, node& n);
  /// Answers the pulls that were put off, because what was on its way to others took too much memory.
  void answer_deferred();
  /// Tells a rank how many blocks will come. Null if the whole value goes with this message.
  outgoing_value* announce(rank_id to, const pull_message& m, node& n, value_body&& body,
                           const base::list<wire::segment>& blocks);
  /// Sends one of the blocks that announce() has announced.
  void send_block(rank_id to, std::uint32_t tag, const wire::segment& block, outgoing_value* out);
  /// Blocks have been sent, or will not be. The value is let go with the last block.
  void have_been_sent(outgoing_value* out, std::size_t blocks);

  /// Has other ranks keep copies of a value made here, ranks of other nodes first; sends at once.
  MANTA_DECL void replicate(node& n, int copies);
  /// The ranks that keep copies of what `home` has put stand at places, in the order in which they are taken: those of
  /// other nodes first. This is the first place with a rank, from `place` on; no_index: there is none.
  std::uint32_t next_keeper(rank_id home, std::uint32_t place) const;
  rank_id keeper_at(rank_id home, std::uint32_t place) const {
    return (home.number() + 1 + place % (own_.size - 1)) % own_.size;
  }

  /// A rank has mapped the pages that it was shown.
  void on_mapped(rank_id by, node_index shown);
  void rank_died(rank_id dead);  ///< Pages that were shown to a dead rank are needed no more.
  /// The ranks of this node, as far as their memory can be mapped.
  neighbours& node_ranks() { return neighbours_; }

  /// Bytes of values that this rank has sent since it began, other than by memory that both ranks map.
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  /// The number of these values.
  std::uint64_t transfers() const { return transfers_; }

 private:
  /// What a home is told of a result besides the value.
  result_message header_of(const ended_task& t, form f, node* expected) const;
  /// Keeps a large result here, in a stand-in that the home lets go.
  void keep_result(const ended_task& t, result_message& m, node& value, node* expected);
  void send_value(rank_id to, const pull_message& m, node& n,
                  wire::encoded&& value);  ///< By messages and blocks.
  void send_pages(rank_id to, const pull_message& m, node& n,
                  store::large& l);  ///< Says where in the memory of the node the value lies.
  void no_longer_shown(node& n);     ///< A rank needs the pages of this value no more.
  /// The rank that gives a value that is here to another one: this rank, or one that has asked before.
  unavailable_message who_gives(node& n, rank_id from, const pull_message& m);

  const rank_context own_;
  completion& completion_;
  const hooks others_;
  std::uint64_t sent_bytes_ = 0, transfers_ = 0;
  outgoing_pulls pulls_;
  neighbours neighbours_;
  wire::buffer scratch_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/supply.ipp"
#endif
