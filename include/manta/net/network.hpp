// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// All traffic of a rank: small messages, coalesced into batches and in order from each source, and large blocks from
// memory to memory.
//
// Callbacks and producers only append (begin, commit, send_bulk, receive_bulk). Only the top level calls MPI (poll,
// poll_bulk, pump), in this order: poll, then run and append, then pump. A handler that sent could wait for a buffer
// that only its own caller can free. The class is not thread-safe: the layer above holds one lock around all calls.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "batch.hpp"
#include "bulk.hpp"
#include "channel.hpp"
#include "communicator.hpp"
#include "manta/base/clock.hpp"
#include "manta/base/containers.hpp"
#include "mpi_port.hpp"
#include "node_board.hpp"
#include "receiver.hpp"
#include "teams.hpp"
#include "traffic.hpp"

namespace manta::net {

class network {
 public:
  using teams = net::teams;  ///< the communicators of gangs on this network

  static constexpr int any_number = 1 << 30;
  struct origin {
    MPI_Comm parent;
    int most_ranks_on_node = any_number;
    std::size_t piece_bytes = bulk::default_piece_bytes;
  };
  /// Collective over `parent`. Duplicates `parent` twice, and does not use it afterwards.
  explicit network(const origin& from);
  /// Collective. All sent messages must have been received.
  ~network();
  network(const network&) = delete;
  network& operator=(const network&) = delete;

  int rank() const { return rank_; }
  int size() const { return control_.size(); }
  const net::topology& topology() const { return topology_; }
  /// Notes that the last `spares` ranks stand by.
  void stand_by(int spares) { topology_.stand_by(spares); }
  const node_board& board() const { return board_; }
  int node() const { return topology_.node(); }
  int node_of(int rank) const { return topology_.node_of(rank); }
  /// Whether this network's ranks on this node outnumber the cores they may use.
  bool oversubscribed() const { return topology_.oversubscribed(); }
  /// For collectives at start only.
  MPI_Comm comm() const { return control_.get(); }

  // --- outgoing: these append and never call MPI

  /// Reserves max_bytes at a multiple of 8 for one message to `to` and returns where to write it.
  /// One message is open at a time; another begin() forgets one that was not committed.
  ///
  ///   std::byte* place = net.begin(to, kind, 16);
  ///   std::memcpy(place, &value, sizeof value);
  ///   net.commit(to, sizeof value);
  std::byte* begin(int to, std::uint8_t kind, std::size_t max_bytes) {
    reserved_ = max_bytes;
    if (channel_to(to).fits(max_bytes)) [[likely]]
      return channel_to(to).begin(kind);
    return begin_slowly(to, kind, max_bytes);
  }
  /// Ends the message begun last, with its real size.
  void commit(int to, std::size_t bytes) {
    assert(bytes <= reserved_);
    if (reserved_ > frame_limit) [[unlikely]]
      return commit_large(to, bytes);
    queued_bytes_ += channel_to(to).commit(bytes);
    ++traffic_.messages_sent;
  }

  /// Bytes appended and not yet sent, including bytes in flight.
  std::size_t queued_bytes(int to) const { return channels_[static_cast<std::size_t>(to)].queued_bytes(); }
  std::size_t queued_bytes() const { return queued_bytes_; }

  // --- calls of the top level; never from a callback

  /// Calls on_message(int from, std::uint8_t kind, const std::byte* data, std::size_t bytes) for messages that have
  /// arrived, in order from each source. `data` lies at a multiple of 8 and is valid during the call. on_message must
  /// not throw. Takes a limited number of batches, and of messages to this rank itself those that existed at the start.
  /// Returns whether there was any.
  template <class OnMessage>
  bool poll(OnMessage&& on_message);
  /// Hands full batches to MPI (with `all`, also partly filled ones), and starts and completes sends. Never blocks.
  void pump(bool all);
  /// Sleeps until a rank of this node sends something, or for that time. Call it after a poll that found nothing.
  void sleep(std::int64_t ns) { board_.sleep(ns); }
  /// Ends a sleep; called by another thread.
  void wake() { board_.ring(rank_); }
  /// Whether wake() can end a sleep.
  bool can_be_woken() const { return board_.is_shared(); }
  /// Whether a message of any rank ends this rank's sleep.
  bool is_woken_by_all() const { return board_.all_ring(); }
  /// Whether nothing is queued, in flight or outstanding on this rank.
  bool idle() const { return queued_bytes_ == 0 && bulk_.outstanding() == 0; }

  // --- large blocks, from memory to memory

  /// Queues a block; its memory must not change until `sent` is called, in a later pump or poll_bulk.
  void send_bulk(int to, int tag, const void* data, std::size_t bytes, completion sent);
  /// Expects a block of exactly that size. `tag` in [0, bulk_tags()) must not be in use for another block from `from`.
  void receive_bulk(int from, int tag, void* data, std::size_t bytes, std::uint64_t token);
  /// Forgets a block that receive_bulk expects, because its sender will never send it.
  void forget_bulk(int from, int tag) { bulk_.forget(from, tag); }
  /// Calls on_bulk(token) for every block that is complete now. Returns whether there was one.
  template <class OnBulk>
  bool poll_bulk(OnBulk&& on_bulk);
  /// Number of sent and expected blocks that are not complete.
  std::size_t bulk_outstanding() const { return bulk_.outstanding(); }
  int bulk_tags() const { return bulk_.tags(); }

  /// Notes that a rank has died: nothing more is sent to it or expected from it. Calls lost(token) for each block that
  /// will not arrive. Must not be called in a callback of poll_bulk.
  template <class Lost>
  void abandon(int rank, Lost&& lost);
  /// Waits for MPI to complete all sends. False if they are not complete after `ns`: a rank may have died.
  bool flush_for(std::int64_t ns);

  const traffic& counters() const { return traffic_; }

 private:
  static constexpr int patience = 4;                 // number of incomplete sends after which a pump stops testing
  static constexpr std::size_t smallest_part = 256;  // least free space in which a large message starts
  static constexpr std::size_t kept_scratch = std::size_t{1} << 20;

  class exclusive {
   public:
    explicit exclusive(bool& flag) : flag_(flag) {
      assert(!flag && "poll or pump called from a callback");
      flag_ = true;
    }
    ~exclusive() { flag_ = false; }
    exclusive(const exclusive&) = delete;
    exclusive& operator=(const exclusive&) = delete;

   private:
    bool& flag_;
  };

  using channel = net::channel<mpi_port>;
  using batch = net::batch<mpi_port::request>;

  channel& channel_to(int to) {
    assert(to >= 0 && to < size());
    return channels_[static_cast<std::size_t>(to)];
  }
  [[gnu::cold]] std::byte* begin_slowly(int to, std::uint8_t kind, std::size_t max_bytes);
  [[gnu::cold]] void commit_large(int to, std::size_t bytes);
  void append_part(int to, part position, const std::byte* data, std::size_t bytes);
  void renew(int to);
  void seal(int to);
  bool advance(channel& out, int to, int& patience_left);
  template <class OnMessage>
  bool deliver_local(OnMessage& on_message);

  communicator control_;
  communicator blocks_;
  base::array<channel> channels_;
  std::size_t reserved_ = 0;
  std::size_t queued_bytes_ = 0;
  traffic traffic_;
  int rank_;
  bool busy_in_mpi_ = false;

  base::list<int> open_;          // other ranks with an open batch
  base::list<int> sending_;       // other ranks with sealed batches or batches in flight
  std::size_t turn_ = 0;          // where in sending_ the next pump begins
  std::byte* scratch_ = nullptr;  // a message too large for a frame, until it is committed
  std::size_t scratch_bytes_ = 0;
  std::uint8_t scratch_kind_ = 0;
  batch_pool<mpi_port::request> pool_;

  net::topology topology_;
  node_board board_;
  batch_reader reader_;
  receive_ring* ring_ = nullptr;  // null in a world of one
  bulk bulk_;
};

inline network::network(const origin& from)
    : control_(from.parent),
      blocks_(from.parent),
      channels_(static_cast<std::size_t>(control_.size())),
      rank_(control_.rank()),
      topology_(control_, from.most_ranks_on_node),
      board_(control_, topology_),
      reader_(control_.size()),
      bulk_(blocks_.get(), blocks_.rank(), from.piece_bytes) {
  if (size() > 1) ring_ = new receive_ring(control_.get());
}

inline network::~network() {
  if (mpi_is_given_up()) ring_ = nullptr;  // leaks it, because MPI may still write to it
  if (size() > 1 && mpi_is_running()) {
    // Normally the sends here have been received, but are not known to be complete.
    for (const int to : sending_) channel_to(to).wait();
    bulk_.wait();
    MPI_Barrier(control_.get());  // no rank removes its receives while a send of another rank needs them
  }
  delete ring_;
  std::free(scratch_);
}

inline std::byte* network::begin_slowly(int to, std::uint8_t kind, std::size_t max_bytes) {
  if (max_bytes <= frame_limit) {
    renew(to);
    return channel_to(to).begin(kind);
  }
  if (scratch_bytes_ < max_bytes) {
    std::free(std::exchange(scratch_, nullptr));
    scratch_bytes_ = 0;
    scratch_ = static_cast<std::byte*>(base::resize_memory(nullptr, max_bytes));
    scratch_bytes_ = max_bytes;
  }
  scratch_kind_ = kind;
  return scratch_;
}

inline void network::commit_large(int to, std::size_t bytes) {
  const std::byte* data = scratch_;
  if (bytes <= frame_limit) {
    append_part(to, part::whole, data, bytes);
  } else {
    // The first part has the size in 8 bytes and then data; the other parts have data.
    const std::uint64_t whole = bytes;
    if (channel_to(to).room() < smallest_part) renew(to);
    std::size_t length = channel_to(to).room() - sizeof whole;
    if (length > bytes) length = bytes;
    std::byte* place = channel_to(to).begin(scratch_kind_, part::first);
    std::memcpy(place, &whole, sizeof whole);
    std::memcpy(place + sizeof whole, data, length);
    queued_bytes_ += channel_to(to).commit(sizeof whole + length);
    for (std::size_t done = length; done < bytes; done += length) {
      length = bytes - done < frame_limit ? bytes - done : frame_limit;
      append_part(to, done + length == bytes ? part::last : part::middle, data + done, length);
    }
  }
  ++traffic_.messages_sent;
  if (scratch_bytes_ > kept_scratch) {
    std::free(std::exchange(scratch_, nullptr));
    scratch_bytes_ = 0;
  }
}

inline void network::append_part(int to, part position, const std::byte* data, std::size_t bytes) {
  if (!channel_to(to).fits(bytes)) renew(to);
  std::memcpy(channel_to(to).begin(scratch_kind_, position), data, bytes);
  queued_bytes_ += channel_to(to).commit(bytes);
}

// Seals the open batch, if any, and opens another.
inline void network::renew(int to) {
  channel& out = channel_to(to);
  if (out.has_open()) {
    seal(to);
  } else if (to != rank_) {
    open_.push_back(to);
  }
  out.open(pool_.take());
}

inline void network::seal(int to) {
  channel& out = channel_to(to);
  if (out.is_abandoned()) [[unlikely]] {
    queued_bytes_ -= out.discard(pool_);
    return;
  }
  const bool was_busy = out.busy();
  out.seal(pool_);
  if (!was_busy && out.busy() && to != rank_) sending_.push_back(to);
}

inline void network::pump(bool all) {
  const exclusive guard(busy_in_mpi_);
  if (bulk_.outstanding() != 0) bulk_.pump();
  if (size() == 1) return;
  if (all) {
    for (const int to : open_) seal(to);
    open_.clear();
  }
  int patience_left = patience;
  std::size_t resume = 0;
  for (std::size_t visits = sending_.size(); visits > 0; --visits) {
    if (turn_ >= sending_.size()) turn_ = 0;
    const int to = sending_[turn_];
    const bool patient = patience_left > 0;
    if (advance(channel_to(to), to, patience_left)) {
      ++turn_;
    } else {
      sending_.remove_unordered(turn_);
    }
    if (patient && patience_left == 0) resume = turn_;
  }
  if (patience_left == 0) turn_ = resume;
}

// Completes and starts sends of one destination; false if nothing is left to do there.
inline bool network::advance(channel& out, int to, int& patience_left) {
  while (out.in_flight() > 0 && patience_left > 0) {
    std::size_t done = 0;
    if (!out.complete_one(pool_, done)) {
      --patience_left;
      break;
    }
    queued_bytes_ -= done;
    traffic_.bytes_sent += done;
  }
  traffic_.batches_sent += static_cast<std::uint64_t>(out.send(mpi_port(control_.get()), to));
  board_.ring(to);
  return out.busy();
}

template <class OnMessage>
bool network::poll(OnMessage&& on_message) {
  const exclusive guard(busy_in_mpi_);
  bool any = channel_to(rank_).queued_bytes() != 0 && deliver_local(on_message);
  if (ring_ != nullptr) {
    any |= ring_->poll([&](int from, const std::byte* data, std::size_t bytes) {
      traffic_.messages_received += reader_.read(from, data, bytes, on_message);
      traffic_.bytes_received += bytes - batch_header_bytes;
      ++traffic_.batches_received;
    });
  }
  return any;
}

template <class OnMessage>
bool network::deliver_local(OnMessage& on_message) {
  channel& self = channel_to(rank_);
  if (self.has_open()) seal(rank_);
  // Callbacks may append to this channel; their batches stand behind `last`.
  const batch* last = self.newest();
  for (bool more = last != nullptr; more;) {
    batch* next = self.take_oldest();
    more = next != last;
    const std::size_t bytes = next->bytes - batch_header_bytes;
    queued_bytes_ -= bytes;
    traffic_.messages_received += reader_.read(rank_, next->data, next->bytes, on_message);
    traffic_.bytes_sent += bytes;
    traffic_.bytes_received += bytes;
    pool_.give(next);
  }
  return last != nullptr;
}

template <class Lost>
void network::abandon(int rank, Lost&& lost) {
  queued_bytes_ -= channel_to(rank).abandon(pool_);
  open_.remove(rank);
  sending_.remove(rank);
  bulk_.abandon(rank, lost);
  keep_looking_for_tcp(topology_.ranks_on_node() < size());
}

inline bool network::flush_for(std::int64_t ns) {
  const std::int64_t end = base::now_ns() + ns;
  for (;;) {
    bool complete = bulk_.test();
    for (const int to : sending_) complete = channel_to(to).test() && complete;
    if (complete || base::now_ns() > end) return complete;
  }
}

inline void network::send_bulk(int to, int tag, const void* data, std::size_t bytes, completion sent) {
  if (channel_to(to).is_abandoned()) return;
  ++traffic_.bulks_sent;
  traffic_.bulk_bytes_sent += bytes;
  bulk_.send(to, tag, data, bytes, sent);
}

inline void network::receive_bulk(int from, int tag, void* data, std::size_t bytes, std::uint64_t token) {
  bulk_.receive(from, tag, data, bytes, token);
}

template <class OnBulk>
bool network::poll_bulk(OnBulk&& on_bulk) {
  if (bulk_.outstanding() == 0) return false;
  const exclusive guard(busy_in_mpi_);
  bulk_.pump();
  return bulk_.poll([&](std::uint64_t token, std::size_t bytes) {
    ++traffic_.bulks_received;
    traffic_.bulk_bytes_received += bytes;
    on_bulk(token);
  });
}

}  // namespace manta::net
