// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The outgoing stream to one rank. Messages are appended to an open batch, full batches are sealed into a queue, and
// send() hands the batches of the queue to the port in order, a few at a time. Appending never calls the port, so
// handlers may append. The port is MPI (mpi_port.hpp), or a substitute in tests.
//
// An eager send is complete once MPI has copied it, even if the receiver does nothing. To limit the messages that
// wait at the receiver, one batch in about every 64 KiB goes by a synchronous send, which completes when the
// receiver matches it. The number of sends in flight is limited and they complete in order, so at most about 130 kB
// are on their way.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "batch.hpp"

namespace manta::net {

/// A port starts and completes sends. Its type `request` identifies a send; its functions are
///   void start(request&, const std::byte* data, std::size_t bytes, int to, bool synchronous) const
///   static bool complete(request&)         also true if the receiver has died
///   static void wait(request&) noexcept    returns when the send is complete, also if it has failed
///   static bool test(request&) noexcept
template <class Port>
class channel {
  using batch = net::batch<typename Port::request>;
  using batch_pool = net::batch_pool<typename Port::request>;

 public:
  static constexpr bool begins_as_zeros = true;  ///< base::array: a rank has a channel to each other, and uses few
  static constexpr int max_in_flight = 16;
  static constexpr std::size_t synchronise_every = 64 * 1024;  ///< bytes, including message_cost for each message
  static constexpr std::size_t message_cost = 512;             ///< memory of the receiver for an unexpected message

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

  /// Ends the payload begun last; returns the size of its frame.
  std::size_t commit(std::size_t bytes) {
    const auto length = static_cast<std::uint16_t>(bytes);
    std::memcpy(cursor_, &length, sizeof length);
    const std::size_t taken = frame_bytes(bytes);
    cursor_ += taken;
    return taken;
  }

  /// The largest payload that still fits; 0 may also mean that not even an empty one does.
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
    if (!Port::complete(oldest_->request)) return false;
    --in_flight_;
    batch* sent = take_oldest();
    done += sent->bytes - batch_header_bytes;
    pool.give(sent);
    return true;
  }

  /// Hands sealed batches to the port while fewer than max_in_flight are in flight. Returns their number.
  int send(const Port& port, int to) {
    int sent = 0;
    for (; unsent_ != nullptr && in_flight_ < max_in_flight; ++sent, ++in_flight_) {
      unmatched_ += unsent_->bytes + message_cost;
      const bool synchronous = unmatched_ >= synchronise_every;
      if (synchronous) unmatched_ = 0;
      port.start(unsent_->request, unsent_->data, unsent_->bytes, to, synchronous);
      unsent_ = unsent_->next;
    }
    return sent;
  }

  /// Takes the oldest batch out of the queue, for messages of this rank to itself.
  batch* take_oldest() {
    batch* first = oldest_;
    if (unsent_ == first) unsent_ = first->next;
    oldest_ = first->next;
    if (oldest_ == nullptr) newest_ = nullptr;
    sealed_bytes_ -= first->bytes - batch_header_bytes;
    return first;
  }

  const batch* newest() const { return newest_; }

  /// Notes that the receiver has died. Batches in flight keep their memory for ever, because the port may still use it;
  /// all others are forgotten, and so are messages appended from now on (see discard). Returns the queued frame bytes.
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
  /// Gives the open batch back without sending it. Returns its frame bytes.
  std::size_t discard(batch_pool& pool) {
    const std::size_t bytes = open_bytes();
    pool.give(std::exchange(open_, nullptr));
    cursor_ = limit_ = nullptr;
    return bytes;
  }

  /// Waits for the batches in flight; called only at the end.
  void wait() noexcept {
    for (batch* each = oldest_; each != unsent_; each = each->next) Port::wait(each->request);
  }
  /// Whether all batches in flight are complete.
  bool test() noexcept {
    for (batch* each = oldest_; each != unsent_; each = each->next) {
      if (!Port::test(each->request)) return false;
    }
    return true;
  }

 private:
  std::size_t open_bytes() const {
    return open_ == nullptr ? 0 : static_cast<std::size_t>(cursor_ - open_->data) - batch_header_bytes;
  }

  // Null when no batch is open, so that fits() is one comparison.
  std::byte* cursor_ = nullptr;
  std::byte* limit_ = nullptr;
  batch* open_ = nullptr;
  // One list: the batches in flight from oldest_ up to unsent_, then the sealed ones up to newest_.
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
