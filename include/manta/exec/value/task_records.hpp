// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The records of tasks: made from what was submitted, written into messages with
// their inputs, and made again from messages where they come to be run.
//
// No function waits.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/state/staging.hpp"
#include "manta/exec/state/task_contents.hpp"
#include "manta/exec/value/completion.hpp"

namespace manta::exec {

/// Reads the request that follows a task_message, behind its length; returns where it ends.
MANTA_DECL const std::byte* read_request(const std::byte* at, graph::request& request);

class task_records {
 public:
  task_records(const rank_context& own, staging& received, completion& ends)
      : own_(own), staging_(received), completion_(ends) {}

  /// A task of this rank, with a copy of the arguments. Takes the references of the inputs over.
  task* make(std::uint64_t id, function_id function, const task_arguments& given, graph::request_ptr request);
  /// Appends a task to the batch for a rank. Small inputs go with it, for the others references do.
  void send(rank_id to, message kind, const task_message& header, const task_arguments& given,
            const task_conditions& wanted = {});
  /// The record of a task that has come from a rank. May ask for references to its inputs.
  task* read(rank_id from, const std::byte* data);
  /// Gives up the inputs, which the task needs no more.
  void drop_inputs(task* t);
  /// Frees the record, and gives up its inputs.
  void free(task* t);

 private:
  /// Writes the request, the gang and the digest of a task, and says so in its header.
  void append_conditions(task_message& m, const task_conditions& wanted);
  /// Writes the inputs: values as far as they are small, else references; of those from number `by_value` on references
  /// in any case. `header`: of the task, which answers for the save() of its inputs.
  void append_inputs(const task_arguments& given, std::uint32_t by_value, const task_message& header);
  /// Writes, from number `i` on, plain inputs of one type that are there; `most`: there are no more. Returns how many.
  std::uint32_t append_plain_inputs(const task_arguments& given, std::uint32_t i, std::uint32_t most);
  /// Writes a reference to an input, and what is known of its value.
  void append_reference(node& n, bool goes_ahead);
  /// Writes the value of an input of a task behind `in`, if the value is small. False if it is not written.
  bool append_encoded(node& n, input_message in, std::uint64_t task);
  void read_inputs(task& t, const std::byte* at);  ///< Makes the nodes of the inputs that stand at `at`.
  /// The node of an input of a task that was sent ahead of it: it is made on this rank.
  node& to_be_made_here(const reference_message& r, type_id type);

  const rank_context own_;
  staging& staging_;
  completion& completion_;
  wire::buffer scratch_;  // what follows the header of a message
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/task_records.ipp"
#endif
