// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The outgoing stream to one rank. Messages are appended to an open batch;
// full batches are sealed into a queue; send() hands the queue to MPI, a few
// at a time, in order. Appending never calls MPI, so handlers may append.
//
// An eager send is complete once MPI has copied it, wherever the receiver is.
// To bound what piles up there, every 64 KiB or so one batch goes by a
// synchronous send, which completes when it is matched: with sends in flight
// limited and completed in order, at most about 130 kB are on their way.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "batch.hpp"

namespace manta::net {

class channel {
 public:
  static constexpr int max_in_flight = 16;
  static constexpr int tag = 0;

  channel() = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    delete open_;
    while (oldest_ != nullptr) delete take_oldest();
  }

  /// Whether the open batch, if any, has space for a payload of max_bytes.
  bool fits(std::size_t max_bytes) const {
    return frame_bytes(max_bytes) <= static_cast<std::size_t>(limit_ - cursor_);
  }

  /// Where to write a payload that fits().
  std::byte* begin(std::uint8_t kind, part position = part::whole) {
    const frame_header header{0, kind, position};
    std::memcpy(cursor_, &header, sizeof header);
    return cursor_ + sizeof header;
  }

  /// Ends the payload begun last; returns what it took in the batch.
  std::size_t commit(std::size_t bytes) {
    const auto length = static_cast<std::uint16_t>(bytes);
    std::memcpy(cursor_, &length, sizeof length);
    const std::size_t taken = frame_bytes(bytes);
    cursor_ += taken;
    return taken;
  }

  /// The largest payload that still fits; 0 may also mean that none does.
  std::size_t room() const {
    const auto left = static_cast<std::size_t>(limit_ - cursor_);
    return left < sizeof(frame_header) ? 0 : left - sizeof(frame_header);
  }

  bool has_open() const { return open_ != nullptr; }

  void open(batch* fresh) {
    assert(open_ == nullptr);
    open_ = fresh;
    cursor_ = fresh->data + batch_header_bytes;
    limit_ = fresh->data + batch_end;
  }

  /// Closes the open batch and queues it. An empty one goes back to the pool.
  void seal(batch_pool& pool) {
    const std::size_t bytes = open_bytes();
    batch* full = open_;
    open_ = nullptr;
    cursor_ = limit_ = nullptr;
    if (bytes == 0) return pool.give(full);
    std::memcpy(full->data, &sequence_, sizeof sequence_);
    ++sequence_;
    full->bytes = bytes + batch_header_bytes;
    full->next = nullptr;
    sealed_bytes_ += bytes;
    (oldest_ == nullptr ? oldest_ : newest_->next) = full;
    newest_ = full;
    if (unsent_ == nullptr) unsent_ = full;
  }

  /// Frame bytes appended and not yet sent: sealed, in flight, or in the open batch.
  std::size_t queued_bytes() const { return sealed_bytes_ + open_bytes(); }
  /// Whether anything is sealed or in flight.
  bool busy() const { return oldest_ != nullptr; }
  int in_flight() const { return in_flight_; }

  /// Tests the oldest send; true if it was complete, in which case its frame bytes are added to `done`.
  bool complete_one(batch_pool& pool, std::size_t& done) {
    int complete = 0;
    const bool alive = check_alive(MPI_Test(&oldest_->request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (alive && complete == 0) return false;
    --in_flight_;
    batch* sent = take_oldest();
    done += sent->bytes - batch_header_bytes;
    pool.give(sent);
    return true;
  }

  /// Hands sealed batches to MPI while fewer than max_in_flight are there. Returns how many.
  int send(MPI_Comm comm, int to) {
    int sent = 0;
    for (; unsent_ != nullptr && in_flight_ < max_in_flight; ++sent, ++in_flight_) {
      const auto bytes = static_cast<int>(unsent_->bytes);
      unmatched_ += unsent_->bytes + message_cost;
      if (unmatched_ < synchronise_every) {
        start(MPI_Isend(unsent_->data, bytes, MPI_BYTE, to, tag, comm, &unsent_->request), "MPI_Isend");
      } else {
        start(MPI_Issend(unsent_->data, bytes, MPI_BYTE, to, tag, comm, &unsent_->request), "MPI_Issend");
        unmatched_ = 0;
      }
      unsent_ = unsent_->next;
    }
    return sent;
  }

  /// Takes the oldest batch out of the queue; the loop back to this rank delivers them so.
  batch* take_oldest() {
    batch* first = oldest_;
    if (unsent_ == first) unsent_ = first->next;
    oldest_ = first->next;
    if (oldest_ == nullptr) newest_ = nullptr;
    sealed_bytes_ -= first->bytes - batch_header_bytes;
    return first;
  }

  const batch* newest() const { return newest_; }

  /// The other end has died. What is in flight stays where it is for ever, for MPI may still look at it; the rest is
  /// forgotten, as is all that comes from now on (see discard). Returns the frame bytes that were queued.
  std::size_t abandon(batch_pool& pool) {
    const std::size_t bytes = queued_bytes();
    if (open_ != nullptr) discard(pool);
    while (unsent_ != nullptr) pool.give(std::exchange(unsent_, unsent_->next));
    oldest_ = newest_ = nullptr;
    sealed_bytes_ = 0;
    in_flight_ = 0;
    abandoned_ = true;
    return bytes;
  }
  bool is_abandoned() const { return abandoned_; }
  /// Instead of seal(): gives the open batch back as it is. Returns its frame bytes.
  std::size_t discard(batch_pool& pool) {
    const std::size_t bytes = open_bytes();
    pool.give(std::exchange(open_, nullptr));
    cursor_ = limit_ = nullptr;
    return bytes;
  }

  /// Waits for what is in flight. For the end only.
  void wait() noexcept {
    for (batch* each = oldest_; each != unsent_; each = each->next) MPI_Wait(&each->request, MPI_STATUS_IGNORE);
  }
  /// Whether all that is in flight is complete.
  bool test() noexcept {
    int complete = 1;
    for (batch* each = oldest_; each != unsent_ && complete != 0; each = each->next) {
      MPI_Test(&each->request, &complete, MPI_STATUS_IGNORE);
    }
    return complete != 0;
  }

 private:
  static constexpr std::size_t synchronise_every = 64 * 1024;
  static constexpr std::size_t message_cost = 512;  // what an unexpected message costs its receiver beside its bytes

  /// What is sent to one that has died is gone, like what it has not read yet.
  void start(int code, const char* call) {
    if (!check_alive(code, call)) unsent_->request = MPI_REQUEST_NULL;
  }
  std::size_t open_bytes() const {
    return open_ == nullptr ? 0 : static_cast<std::size_t>(cursor_ - open_->data) - batch_header_bytes;
  }

  // Null when no batch is open, so that fits() is one comparison.
  std::byte* cursor_ = nullptr;
  std::byte* limit_ = nullptr;
  batch* open_ = nullptr;
  // One list: in flight from oldest_ up to unsent_, then sealed up to newest_.
  batch* oldest_ = nullptr;
  batch* unsent_ = nullptr;
  batch* newest_ = nullptr;
  std::size_t sealed_bytes_ = 0;
  std::size_t unmatched_ = 0;
  int in_flight_ = 0;
  std::uint32_t sequence_ = 0;
  bool abandoned_ = false;
};

}  // namespace manta::net
