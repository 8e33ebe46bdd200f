// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values and actors that lie on this rank and whose home has died. Nobody counts their handles any more, so this rank
// asks all others whether they know a handle, and gives up what nobody knows.
//
// A handle may go from one rank to another between two answers. So an orphan goes only when two rounds in a row have
// found no handle, no rank has passed on a handle of such an object between its two answers, and no rank has values or
// calls that it has not read yet and in which handles may be. Else this rank asks again later, ever more rarely; where
// each orphan has a holder, it asks these alone, until one of them has let go.
//
// No function waits.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/work/actor_host.hpp"

namespace manta::exec {

class orphans {
 public:
  /// The parts that it uses.
  struct parts {
    actor_host& actors;
    const exec::executor& executor;
  };

  orphans(const rank_context& own, parts of_it) : own_(own), below_(of_it) {}

  /// A rank has died, and the members know it: looks for orphans, and asks the other ranks if there are any.
  void rank_died();
  bool has_to_look() const { return due_ != 0; }  ///< Has any rank died?
  void look(std::int64_t now) {                   ///< Looks for orphans again, if it is time.
    if (now >= due_) begin_round(true);
  }
  /// Is nothing about to be found? Some time after a death, ranks that have not read all that they have do not count.
  bool is_quiet() const { return awaited_ == 0 && !(unsure_ && pause_ <= longest_doubt); }

  // --- messages

  /// A rank asks which of its orphans this rank knows. Sends `holders`.
  void on_ask(rank_id from, const holders_message& m, const std::byte* data, std::size_t bytes);
  /// A rank has answered.
  void on_answer(rank_id from, const holders_message& m, const std::byte* data, std::size_t bytes);

 private:
  /// An object by its home, which has died; or by the actor's slot, where it lies.
  struct orphan {
    std::uint32_t home_rank, home_index;
    std::uint32_t slot;               ///< slot of an actor; no_index: a value
    std::uint32_t holder = no_index;  ///< a rank that has a handle
    bool is_held() const { return holder != no_index; }
  };
  static bool by_home(const orphan& a, const orphan& b) {
    return std::pair(a.home_rank, a.home_index) < std::pair(b.home_rank, b.home_index);
  }
  static constexpr std::int64_t first_pause = 2'000'000, longest_doubt = 200'000'000, longest_pause = 16'000'000'000;
  static constexpr std::size_t most_at_once = 8192;

  void collect();  ///< Lists the orphans that lie here.
  /// Asks all other ranks that live; or, where it may, those that held an orphan before.
  void begin_round(bool may_ask_holders);
  /// The ranks that have handles of the orphans, as far as known: false if an orphan has none, or a dead one.
  bool find_holders(std::vector<std::uint32_t>& ranks) const;
  void end_round();               ///< All have answered.
  void rest();                    ///< The next round begins later.
  void give_up(const orphan& o);  ///< Nobody has a handle: the value or the actor goes.
  /// Does this rank have a handle, beside the copy that it keeps for the home?
  bool knows(rank_id home_rank, node_index home_index);
  /// Does this rank have values or calls in which it has not looked for handles yet?
  bool is_unsure() const;

  const rank_context own_;
  const parts below_;
  std::uint32_t round_ = 0;
  std::uint32_t awaited_ = 0;    // answers in this round
  bool unsure_ = false;          // in this round
  std::uint64_t lent_ = 0;       // handles that were passed on, by all ranks until their answers in this round
  bool asks_holders_ = false;    // in this round, only those
  base::vector<orphan> asked_;   // in this round
  base::vector<orphan> held_;    // by home: somebody had a handle in the round before in which all were asked
  base::vector<orphan> unheld_;  // by home: nobody had a handle in the round before, which was sure
  std::uint64_t lent_before_ = 0;
  std::int64_t pause_ = 0;
  std::int64_t due_ = 0;  // 0: no rank has died
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/orphans.ipp"
#endif
