// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The requester's side of values: asking whether a value is there (`want`), having
// it brought here (`pull`), and what is done where it does not come. Arrays are
// received into their final place.
//
// A rank that asks for a value that is still on its way here gets its parts as
// they come. What a dead rank was the home of is looked for on all others.
//
// No function waits.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/value/completion.hpp"
#include "manta/exec/value/incoming_room.hpp"
#include "manta/exec/value/incoming_values.hpp"
#include "manta/exec/value/results_at_once.hpp"
#include "manta/exec/value/supply.hpp"

namespace manta::exec {

class fetches {
 public:
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    /// Nobody has a copy of this value: has it made again. False if that is not possible.
    bool (*await_heir)(void* rank, node& n);
    /// The slot of the actor that lives here and whose handle's node was that one; no_index: none.
    slot_index (*actor_of)(void* rank, node_place home);
  };

  fetches(const rank_context& own, completion& ends, supply& held, const lineage& made_by, hooks others)
      : own_(own), completion_(ends), supply_(held), lineage_(made_by), others_(others), incoming_(own, held) {}

  // --- is it there, and where?

  /// Has the home announce the value, if that is not known here and was not asked before. Sends `want`.
  MANTA_DECL void need(node& n);
  /// The answer is here, or will not come. What was held for it is the caller's to release.
  void asked_no_more(node& n);
  /// Was this rank asked where the value is, as its home or for a copy (`seek`)?
  bool is_asked_for(const node& n, rank_id asked) const;
  /// Completes the node with what a message says of its value.
  void accept_value(node& n, const result_message& m, const std::byte* data, std::size_t bytes);
  /// An encoded value is not wanted: gives back the references in it.
  void give_back_references(type_id type, const result_message& m, const std::byte* data, std::size_t bytes);

  // --- bring it here

  /// Has a value that lies elsewhere brought here, now or when there is room. Sends `pull`.
  void fetch(node& n);
  /// A call of the function leaves now: shall its result come at once, because this rank reads such results?
  bool takes_result_at_once(function_id function) { return read_here_.take(function); }
  /// The value has come, or will not. Others may be asked for now.
  void no_longer_fetching(node& n);
  /// What was asked for does not come, or is not needed any more.
  void not_fetched(node& n);
  /// What was asked for is there, but its save() or load() has failed.
  void cannot_come(node& n, const store::failure_ptr& why);
  /// At the top level: decodes the values that have come by blocks, for load() is the user's code.
  void decode_arrived();
  bool has_arrivals() const { return incoming_.has_undecoded(); }
  /// Has the value come, and only has to be decoded?
  bool has_arrived(const node& n) const { return incoming_.has_undecoded(n); }
  bool is_quiet() const { return incoming_.is_quiet(); }
  void rank_died(rank_id dead) { incoming_.rank_died(dead); }  ///< Nothing comes any more from a dead rank.
  /// A block has come, whose number is `token`.
  void on_block(std::uint64_t token);

  // --- messages

  void on_value(rank_id from, const result_message& m, const std::byte* data,
                std::size_t bytes);  ///< The home's answer.
  void on_pull(rank_id from,
               const pull_message& m);  ///< A rank asks for a value that is, or was, or will be here.
  void on_data(rank_id from, const data_message& m, const std::byte* data,
               std::size_t bytes);                              ///< The value comes.
  void on_cut_off(rank_id from, const cut_off_message& m);      ///< The sender had it from a rank that has died.
  void on_unavailable(const unavailable_message& m);            ///< The value is not there, or another rank gives it.
  void on_replicate(rank_id from, const replicate_message& m);  ///< This rank is to keep a copy.
  void on_seek(rank_id from, const seek_message& m);            ///< A rank looks for a value whose home has died.
  void on_not_kept(const seek_message& m);                      ///< The rank that was asked has no copy.

 private:
  using incoming_value = incoming_values::value;

  void pull(node& n);          ///< Asks the holder for the value.
  void expect(const node& n);  ///< Makes room for a value that has been asked for, unless it is likely to be mapped.
  void arrived(incoming_value* v);       ///< All of a value is here.
  void came_in_vain(incoming_value* v);  ///< The value has been made here again meanwhile.
  /// The home of a value that has been fetched, or cannot be, needs it no more where it lies. True
  /// if this rank is the home.
  bool let_place_go(node& n);
  template <class Set>
  void has_come(node& n, Set&& set);  ///< A value that was fetched has come; set(moves_home) makes it the node's.
  /// Answers, or lets wait, a rank that pulls a value that is not on this rank; false if the value is here.
  bool not_here(rank_id from, const pull_message& m, node* n);
  void comes_in_part(incoming_value* v);  ///< The rest of a value does not come.
  /// Maps memory that a rank has shown. Null if the ranks do not see each other's processes.
  store::node_file* map_file(rank_id from, const pages_message& where);
  void on_pages(rank_id from, node& n, const std::byte* data, std::size_t bytes);  ///< The value can be mapped.
  /// Asks the others for a value whose home has died, from number `first` of the ranks that keep copies.
  void seek(node& n, std::uint32_t first = 0);

  const rank_context own_;
  completion& completion_;
  supply& supply_;
  const lineage& lineage_;
  const hooks others_;
  incoming_values incoming_;
  incoming_room room_;
  results_at_once read_here_;
  std::uint32_t next_tag_ = 0;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/fetches.ipp"
#endif
