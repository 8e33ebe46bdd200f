// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank knows of the run that goes on: its number, whether it is about to
// stop, and how it has ended. This part decides nothing; it is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "manta/wire/buffer.hpp"

namespace manta::exec {

class run_phase {
 public:
  /// A run begins; `stops`: it starts nothing, for the program has to end. Returns its number, from 1.
  std::uint64_t begin(bool stops) {
    stops_ = stops;
    return ++runs_;
  }

  /// Is nothing more to be begun? Then the driver has thrown, or the program has to end.
  bool is_stopping() const { return stops_; }
  /// From now on nothing is begun.
  void stop() { stops_ = true; }
  /// As stop(); besides, what has not started is to be dropped at the top level.
  void stop_and_drop() { stops_ = drops_ = true; }
  /// The stop is over: what follows belongs to the next run.
  void end_stop() { stops_ = false; }
  /// Is what has not started to be dropped?
  bool has_to_drop() const { return drops_; }
  void note_dropped() { drops_ = false; }

  /// The current stack waits, or looks for work: rank 0 may find this rank quiet.
  void set_resting(bool rests) { rests_ = rests; }
  bool is_resting() const { return rests_; }
  /// As long as this stands, user code runs, and rank 0 must not find this rank quiet.
  class busy {
   public:
    explicit busy(run_phase& p) : phase_(p), rested_(std::exchange(p.rests_, false)) {}
    ~busy() { phase_.rests_ = rested_; }
    busy(const busy&) = delete;
    busy& operator=(const busy&) = delete;

   private:
    run_phase& phase_;
    bool rested_;
  };

  /// Rank 0: the driver has returned.
  void note_driver_end(std::int64_t now_ns) { driver_ended_ns_ = now_ns; }
  /// How long ago that was.
  std::int64_t since_driver_end(std::int64_t now_ns) const { return now_ns - driver_ended_ns_; }

  /// The ways in which a run ends.
  enum class end : std::uint8_t {
    returned,  ///< the driver has returned
    failed,    ///< the driver has thrown
    lost       ///< the driver has returned, but a rank has died, and the program's own code does not handle that
  };
  /// How a run has ended, as rank 0 tells it: the bytes that the driver left, or the text of an error.
  struct outcome {
    run_phase::end how;
    const std::byte* data;
    std::size_t bytes;
    std::string text() const { return {reinterpret_cast<const char*>(data), bytes}; }
  };
  /// The message in which rank 0 tells of an outcome.
  static wire::buffer message_of(end how, const void* data, std::size_t bytes) {
    wire::buffer message;
    message.append(&how, 1);
    message.append(data, bytes);
    return message;
  }
  /// The run has ended; keeps the message.
  void note_outcome(const std::byte* data, std::size_t bytes) { outcome_ = wire::buffer(data, bytes); }
  outcome get_outcome() const {
    return {static_cast<end>(outcome_.data()[0]), outcome_.data() + 1, outcome_.size() - 1};
  }

 private:
  std::uint64_t runs_ = 0;
  bool stops_ = false, drops_ = false, rests_ = false;
  std::int64_t driver_ended_ns_ = 0;
  wire::buffer outcome_;
};

}  // namespace manta::exec
