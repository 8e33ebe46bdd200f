// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The limit of every rate (P1, P3): rank 0 packs 32-byte calls into batches below
// the eager limit, rank 1 runs them and packs 16-byte replies. No graph, no
// dependencies, no types, no future that could be copied: what is left when a task
// runtime is stripped to its messages.
//
// Two ways to keep the results. `allocated_results` calls `new` for each call, as
// a program by hand with one record a task does; it is the limit that the goals
// name. `array_results` knows beforehand how many calls will come and writes into
// one array: a bound on the messages alone, which no runtime can promise to meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <mpi.h>

#include "measure.hpp"

namespace bench {

struct call {
  std::uint64_t task;
  std::uint64_t function;
  std::uint64_t parent;
  std::int32_t argument;
  std::uint32_t bytes;
};
static_assert(sizeof(call) == 32);

struct reply {
  std::uint64_t task;
  std::int32_t value;
  std::int32_t status;
};
static_assert(sizeof(reply) == 16);

/// Batches of `Out` to one peer, batches of `In` from it. Receives are persistent and posted
/// beforehand; they match in the order posted, so only the oldest is ever tested.
template <class Out, class In>
class channel {
 public:
  explicit channel(int peer) : peer_(peer) {
    sending_.fill(MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < slots; ++i) {
      MPI_Recv_init(in_[i].data(), static_cast<int>(sizeof in_[i]), MPI_BYTE, peer_, 0, MPI_COMM_WORLD, &receiving_[i]);
      MPI_Start(&receiving_[i]);
    }
  }
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  /// Both sides must have received all that was sent.
  ~channel() {
    MPI_Waitall(static_cast<int>(slots), sending_.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request& request : receiving_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
    }
  }

  /// True if this filled the batch and sent it.
  bool push(const Out& item) {
    out_[out_slot_][held_++] = item;
    if (held_ < out_[out_slot_].size()) return false;
    flush();
    return true;
  }

  void flush() {
    if (held_ == 0) return;
    MPI_Isend(out_[out_slot_].data(), static_cast<int>(held_ * sizeof(Out)), MPI_BYTE, peer_, 0, MPI_COMM_WORLD,
              &sending_[out_slot_]);
    held_ = 0;
    out_slot_ = (out_slot_ + 1) % slots;
    MPI_Wait(&sending_[out_slot_], MPI_STATUS_IGNORE);  // the oldest send: its buffer is next
  }

  /// Hands each item of one batch, if one has come, to `handle`.
  template <class Handle>
  bool poll(Handle&& handle) {
    int arrived = 0;
    MPI_Status status;
    MPI_Test(&receiving_[in_slot_], &arrived, &status);
    if (arrived == 0) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(In);
    for (std::size_t i = 0; i < count; ++i) handle(in_[in_slot_][i]);
    MPI_Start(&receiving_[in_slot_]);
    in_slot_ = (in_slot_ + 1) % slots;
    return true;
  }

 private:
  static constexpr std::size_t slots = 8;
  static constexpr std::size_t batch_bytes = 3904;  // with MPI's header below the 4 kB eager limit

  int peer_;
  std::size_t held_ = 0;
  std::size_t out_slot_ = 0;
  std::size_t in_slot_ = 0;
  std::array<MPI_Request, slots> sending_;
  std::array<MPI_Request, slots> receiving_;
  std::array<std::array<Out, batch_bytes / sizeof(Out)>, slots> out_;
  std::array<std::array<In, batch_bytes / sizeof(In)>, slots> in_;
};

class allocated_results {
 public:
  explicit allocated_results(int count) { records_.reserve(static_cast<std::size_t>(count)); }
  void create() { records_.push_back(std::make_unique<record>()); }
  void complete(std::size_t task, int value) { *records_[task] = {value, true}; }
  int read(std::size_t task) const { return records_[task]->ready ? records_[task]->value : -1; }

 private:
  struct record {
    int value = 0;
    bool ready = false;
  };
  std::vector<std::unique_ptr<record>> records_;
};

class array_results {
 public:
  explicit array_results(int count) : values_(static_cast<std::size_t>(count), -1) {}
  void create() {}
  void complete(std::size_t task, int value) { values_[task] = value; }
  int read(std::size_t task) const { return values_[task]; }

 private:
  std::vector<int> values_;
};

/// Rank 0: `count` calls whose argument is their index, then all results handed in order to
/// `read(index, value)`. Returns the seconds from the first call until the last result is read and
/// its record freed.
template <class Results, class Read>
double submit_batched(channel<call, reply>& worker, int count, Read&& read) {
  constexpr int window = 4096;  // calls under way; more only fills the receiver's unexpected queue
  const stopwatch watch;
  {
    Results results(count);
    int completed = 0;
    const auto complete = [&](const reply& answer) {
      results.complete(answer.task, answer.value);
      ++completed;
    };
    for (int i = 0; i < count; ++i) {
      results.create();
      if (worker.push({static_cast<std::uint64_t>(i), 1, 0, i, sizeof(int)})) {
        worker.poll(complete);
        while (i - completed >= window) worker.poll(complete);
      }
    }
    worker.flush();
    while (completed < count) worker.poll(complete);
    for (int i = 0; i < count; ++i) read(i, results.read(static_cast<std::size_t>(i)));
  }
  return watch.seconds();
}

/// Rank 1: answers `count` calls with `run(argument)`. Replies leave when a batch is full or when
/// there is nothing to do.
template <class Run>
void serve_batched(channel<reply, call>& driver, int count, Run&& run) {
  int served = 0;
  while (served < count) {
    const bool busy = driver.poll([&](const call& c) {
      driver.push({c.task, run(c.argument), 0});
      ++served;
    });
    if (!busy) driver.flush();
  }
  driver.flush();
}

}  // namespace bench
