// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A task in general form: a function, plain argument bytes, input nodes and
// where its result goes. One allocation; the inputs and bytes follow the
// record.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>

#include "manta/graph/node.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

/// Who runs a gang task together, and as what this rank takes part.
struct gang {
  std::uint64_t id = 0;               ///< given by the scheduler, unique in a run
  std::uint32_t member = 0;           ///< this rank's place in `ranks`
  base::list<std::uint32_t> ranks;    ///< the first gives the value
};

/// Where a task of this rank is, beyond what its node says.
enum class place : std::uint8_t {
  here,       ///< waits for inputs, stands in the local queue, is staged or runs
  scheduler,  ///< rank 0: stands in the scheduler
  elsewhere,  ///< sent to the rank in `caller`, which for the home may be rank 0 that has sent it on
  resting,    ///< has failed: waits to be judged, or for its next attempt
};

struct task {
  std::uint64_t id = 0;
  std::uint32_t function = no_index;
  std::uint32_t home_rank = 0;     ///< where the result is to be told,
  std::uint32_t home_index = 0;    ///< and the node there
  std::uint32_t charge = 0;        ///< nanoseconds the scheduler booked for it
  std::uint32_t slot = no_index;   ///< the actor called, on its rank
  std::uint32_t caller = 0;        ///< the rank that called it; at its home: the rank it was sent to
  std::uint32_t missing = 0;       ///< inputs whose values are not here yet
  std::uint64_t digest = 0;        ///< of function and arguments, for the journal; 0: not for it
  std::uint64_t sequence = 0;      ///< when it came to the scheduler
  std::uint16_t attempt = 0;
  std::uint8_t hidden = 0;         ///< last inputs that the function does not see
  bool by_scheduler = false;       ///< rank 0 counts it as running here
  bool ahead = false;              ///< was sent before its inputs had been made
  graph::place place = graph::place::here;
  std::uint32_t input_count = 0;
  std::uint32_t argument_bytes = 0;
  request_ptr request;
  graph::gang* gang = nullptr;     ///< owned
  task* next = nullptr;            ///< in a task_list

  std::uint32_t seen_inputs() const { return input_count - hidden; }
  node** inputs() { return reinterpret_cast<node**>(this + 1); }
  std::byte* arguments() { return reinterpret_cast<std::byte*>(inputs() + input_count); }

  static task* make(std::uint32_t inputs, std::uint32_t argument_bytes) {
    void* memory = std::malloc(sizeof(task) + inputs * sizeof(node*) + argument_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    task* t = new (memory) task;
    t->input_count = inputs;
    t->argument_bytes = argument_bytes;
    return t;
  }
  /// Frees the record; the inputs must have been given back before.
  static void free(task* t) {
    delete t->gang;
    t->~task();
    std::free(t);
  }
};

/// Tasks in the order in which they came.
class task_list {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }

  void push_back(task* t) {
    t->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = t;
    last_ = t;
    ++size_;
  }
  void push_front(task* t) {
    t->next = first_;
    first_ = t;
    if (last_ == nullptr || size_ == 0) last_ = t;
    ++size_;
  }
  task* pop_front() {
    task* t = first_;
    first_ = t->next;
    --size_;
    return t;
  }
  /// The first for which may(task) holds, taken out; null if there is none.
  template <class May>
  task* take(May&& may) {
    task* before = nullptr;
    for (task* t = first_; t != nullptr; before = t, t = t->next) {
      if (!may(*t)) continue;
      (before == nullptr ? first_ : before->next) = t->next;
      if (t == last_) last_ = before;
      --size_;
      return t;
    }
    return nullptr;
  }
  /// Takes out this one; false if it is not there.
  bool remove(const task* wanted) {
    return take([&](const task& t) { return &t == wanted; }) != nullptr;
  }
  task* front() const { return first_; }

 private:
  task* first_ = nullptr;
  task* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace manta::graph
