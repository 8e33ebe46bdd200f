// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// In a child process: runs the functions that its rank asks for, and keeps the actor that lives here. The child was
// forked from the rank's program, so functions have the same indices and classes of actors the same addresses.
//
// Here is no engine: a function that submits or waits gets an error.
#pragma once

#include "manta/base/child.hpp"
#include "manta/base/config.hpp"
#include "manta/exec/isolation/child_messages.hpp"
#include "manta/exec/rank/threads.hpp"

namespace manta::exec {

class child_side {
 public:
  /// `page` is what the child shares with its rank.
  MANTA_DECL child_side(int socket, base::child_page& page);
  child_side(const child_side&) = delete;
  child_side& operator=(const child_side&) = delete;

  /// What the function that runs now knows of its task and its rank.
  const isolated_view& view() const { return view_; }
  /// Answers the questions of the rank, until there is nobody any more who asks; then the process ends. Waits.
  [[noreturn]] MANTA_DECL void serve();

 private:
  struct work;  // what one question leads to

  /// Answers one question, whose bytes are `question`. Throws what the function or the class has thrown.
  void answer(std::uint32_t what, wire::source question, work& made, child_letter& answer);
  /// Runs the function of a task, and writes its result.
  void run_task(wire::source& question, work& made, child_letter& answer);
  /// Reads what the view says of the task. The request is read into `wanted`.
  child_task read_task(wire::source& question, graph::request& wanted);
  /// Receives bytes, and ends the process if there is nobody any more who sends.
  void receive(void* into, std::size_t bytes);
  void receive_array(void* into, std::size_t bytes);  ///< As receive(), for an array that follows a question.
  void skip_arrays();  ///< Receives what is left of the arrays after a failure, so that the next question is found.
  /// Sends bytes, and ends the process if there is nobody any more who receives.
  void send(const void* data, std::size_t bytes);

  const int socket_;
  biased_lock lock_;
  thread_numbers threads_;
  isolated_view view_;
  std::uint64_t arrays_ = 0;  // bytes of arrays that are still to come
  void* self_ = nullptr;      // the actor that lives here
  const actor_class* type_ = nullptr;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/isolation/child_side.ipp"
#endif
