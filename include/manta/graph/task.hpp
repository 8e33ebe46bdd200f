// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A task in general form: a function, plain argument bytes, input nodes, and the place of its result. The inputs and
// bytes follow the record in memory.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>

#include "manta/base/pool.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/request.hpp"

namespace manta::graph {

/// The ranks that run a gang task together, and this rank's place among them.
struct gang {
  std::uint64_t id = 0;             ///< number from the scheduler, unique in a run
  std::uint32_t member = 0;         ///< this rank's place in `ranks`
  base::list<std::uint32_t> ranks;  ///< the first one is the leader
};

/// Where a task of this home is; its node says the rest.
enum class place : std::uint8_t {
  here,       ///< it waits for inputs, stands in the local queue, is staged or runs
  scheduler,  ///< rank 0: it stands in the scheduler
  elsewhere,  ///< it was sent to the rank in `caller`; for the home this may be rank 0, which has passed it on
  resting,    ///< it has failed, and waits for a decision about it or for its next attempt
};

struct task {
  std::uint64_t id = 0;
  std::uint32_t function = no_index;
  std::uint32_t home_rank = 0;    ///< the rank that gets the result
  std::uint32_t home_index = 0;   ///< the node of the result there
  std::uint32_t charge = 0;       ///< nanoseconds that the scheduler has booked for it
  std::uint32_t slot = no_index;  ///< slot of the called actor on its rank
  std::uint32_t caller = 0;       ///< the rank that called it; at its home: the rank that it was sent to
  std::uint32_t missing = 0;      ///< number of inputs whose values are not on this rank yet
  std::uint64_t digest = 0;       ///< digest of function and arguments for the journal; 0: not for the journal
  std::uint64_t sequence = 0;     ///< order of arrival at the scheduler
  std::uint16_t attempt = 0;
  std::uint8_t hidden = 0;      ///< number of inputs at the end that the function does not see
  bool by_scheduler = false;    ///< rank 0 counts it as running here
  bool ahead = false;           ///< it was sent before its inputs existed
  bool for_member = false;      ///< the call's place_terms::for_member
  bool result_at_once = false;  ///< whether the call's result comes with the news of its end (task_message)
  graph::place place = graph::place::here;
  std::uint32_t input_count = 0;
  std::uint32_t argument_bytes = 0;
  request_ptr request;
  graph::gang* gang = nullptr;  ///< owned
  node* result = nullptr;       ///< its result as a node of this rank, if tasks here wait for it; holds a reference
  task* next = nullptr;         ///< neighbours in a task_list
  task* previous = nullptr;

  std::uint32_t seen_inputs() const { return input_count - hidden; }
  /// Whether this input is the value that the task wants to be near: the task runs even if that has failed.
  bool is_wish(std::uint32_t input) const {
    return input == seen_inputs() && request != nullptr && request->near != request::nowhere;
  }
  node** inputs() { return reinterpret_cast<node**>(this + 1); }
  std::byte* arguments() { return reinterpret_cast<std::byte*>(inputs() + input_count); }

  static std::size_t bytes_of(std::uint32_t inputs, std::uint32_t argument_bytes) {
    return sizeof(task) + inputs * sizeof(node*) + argument_bytes;
  }
};

/// Makes and frees records of tasks. Most of them are small and of one size, and are reused while still in the cache.
class task_pool {
  struct small {
    alignas(task) std::byte bytes[128];
    small() {}  // leaves the bytes uninitialised
  };
  static_assert(sizeof(small) >= sizeof(task) + sizeof(node*) + 8);

 public:
  task* make(std::uint32_t inputs, std::uint32_t argument_bytes) {
    const std::size_t bytes = task::bytes_of(inputs, argument_bytes);
    void* memory = nullptr;
    if (bytes <= sizeof(small)) {
      memory = small_.make();
    } else {
      memory = base::resize_memory(nullptr, bytes);
      large_bytes_ += bytes;
    }
    task* const t = new (memory) task;
    t->input_count = inputs;
    t->argument_bytes = argument_bytes;
    return t;
  }
  /// Frees a record whose inputs have been released before.
  void free(task* t) {
    const std::size_t bytes = task::bytes_of(t->input_count, t->argument_bytes);
    delete t->gang;
    t->~task();
    if (bytes <= sizeof(small)) return small_.free(reinterpret_cast<small*>(t));
    std::free(t);
    large_bytes_ -= bytes;
  }
  std::size_t live_small() const { return small_.live(); }
  /// Bytes of the records that are not small.
  std::size_t large_bytes() const { return large_bytes_; }

 private:
  base::pool<small> small_;
  std::size_t large_bytes_ = 0;
};

/// Tasks in the order of their arrival.
class task_list {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }

  void push_back(task* t) {
    t->next = nullptr;
    t->previous = last_;
    (last_ == nullptr ? first_ : last_->next) = t;
    last_ = t;
    ++size_;
  }
  void push_front(task* t) {
    t->next = first_;
    t->previous = nullptr;
    (first_ == nullptr ? last_ : first_->previous) = t;
    first_ = t;
    ++size_;
  }
  void remove(task* t) {
    (t->previous == nullptr ? first_ : t->previous->next) = t->next;
    (t->next == nullptr ? last_ : t->next->previous) = t->previous;
    --size_;
  }
  task* pop_front() {
    task* const t = first_;
    remove(t);
    return t;
  }
  /// The first task for which is(task) is true; null if there is none.
  template <class Is>
  task* find(Is&& is) const {
    task* t = first_;
    while (t != nullptr && !is(*t)) t = t->next;
    return t;
  }
  /// Takes out the first task for which is(task) is true; null if there is none.
  template <class Is>
  task* take(Is&& is) {
    task* const t = find(is);
    if (t != nullptr) remove(t);
    return t;
  }
  task* front() const { return first_; }

 private:
  task* first_ = nullptr;
  task* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace manta::graph
