// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Large transfers: one contiguous block from memory to memory, in pieces that fit MPI's int counts. Sender and
// receiver must have agreed on tag and size by a message before. The receiver chooses the tag, which belongs to one
// block from that sender until the block has arrived. The receiver probes for pieces and receives the matched
// message. If it posted receives beforehand, a receive that a dying sender has matched would never complete, and
// never give its memory back.
#pragma once

#include <cassert>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "block_sent.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/text.hpp"
#include "mpi.hpp"

namespace manta::net {

class bulk {
 public:
  static constexpr std::size_t default_piece_bytes = std::size_t{1} << 30;
  static constexpr std::size_t max_in_flight = 32;  ///< number of pieces in flight to all destinations together
  static constexpr int steps = 4;                   ///< number of requests tested or probed in one call

  bulk(MPI_Comm comm, int rank, std::size_t piece_bytes) : comm_(comm), rank_(rank), piece_bytes_(piece_bytes) {
    if (piece_bytes == 0 || piece_bytes > INT_MAX)
      throw error("manta: pieces of a large transfer must have 1 to INT_MAX bytes");
    void* value = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
    const int highest = found != 0 ? *static_cast<const int*>(value) : 32767;  // the least that the standard allows
    tags_ = highest == INT_MAX ? INT_MAX : highest + 1;
  }
  bulk(const bulk&) = delete;
  bulk& operator=(const bulk&) = delete;

  int tags() const { return tags_; }
  /// Number of sends and receives that are not complete.
  std::size_t outstanding() const { return sends_ + expected_.size() + arriving_.size() + local_expected_.size(); }

  void send(int to, int tag, const void* data, std::size_t bytes, completion sent) {
    assert(tag >= 0 && tag < tags_);
    auto* const last = new outgoing{static_cast<const std::byte*>(data), bytes, 0, to, tag, 0, sent, nullptr};
    ++sends_;
    if (to == rank_) return local_sends_.push_back(last);
    (first_ == nullptr ? first_ : last_->next) = last;
    last_ = last;
  }

  void receive(int from, int tag, void* data, std::size_t bytes, std::uint64_t token) {
    assert(tag >= 0 && tag < tags_);
    (from == rank_ ? local_expected_ : expected_)
        .push_back({static_cast<std::byte*>(data), bytes, 0, from, tag, token, MPI_REQUEST_NULL, false});
  }

  /// Forgets an expected block of which the sender has sent nothing, and never will.
  void forget(int from, int tag) {
    for (std::size_t i = expected_.size(); i-- > 0;) {
      if (expected_[i].from == from && expected_[i].tag == tag) expected_.remove_unordered(i);
    }
  }

  /// Starts and completes sends. Never blocks.
  void pump() {
    for (int step = 0; step < steps && !pieces_.empty(); ++step) {
      if (test_turn_ >= pieces_.size()) test_turn_ = 0;
      piece& tested = pieces_[test_turn_];
      int complete = 0;
      const bool alive = check_alive(MPI_Test(&tested.request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
      if (alive && complete == 0) {
        ++test_turn_;
        continue;
      }
      outgoing* owner = tested.owner;
      pieces_.remove_unordered(test_turn_);
      if (--owner->in_flight == 0 && owner != first_) finish(owner);
    }
    while (first_ != nullptr && pieces_.size() < max_in_flight) start_piece();
  }

  /// Calls on_bulk(token, bytes) for each block that has arrived. Never blocks; on_bulk may start further transfers.
  template <class OnBulk>
  bool poll(OnBulk&& on_bulk) {
    bool any = false;
    if (!local_expected_.empty() && !local_sends_.empty()) any = deliver_local(on_bulk);
    for (int step = 0; step < steps && !expected_.empty(); ++step) {
      if (probe_turn_ >= expected_.size()) probe_turn_ = 0;
      if (!start_receive(expected_[probe_turn_])) {
        ++probe_turn_;
        continue;
      }
      arriving_.push_back(expected_[probe_turn_]);
      expected_.remove_unordered(probe_turn_);
    }
    for (int step = 0; step < steps && !arriving_.empty(); ++step) {
      if (arrive_turn_ >= arriving_.size()) arrive_turn_ = 0;
      int complete = 0;
      incoming& tested = arriving_[arrive_turn_];
      if (!tested.cut_off)
        tested.cut_off = !check_alive(MPI_Test(&tested.request, &complete, MPI_STATUS_IGNORE), "MPI_Test");
      if (tested.cut_off || complete == 0) {
        ++arrive_turn_;
        continue;
      }
      const incoming block = arriving_[arrive_turn_];
      arriving_.remove_unordered(arrive_turn_);
      if (block.done < block.bytes) {
        expected_.push_back(block);  // the next piece
      } else {
        on_bulk(block.token, block.bytes);
        any = true;
      }
    }
    return any;
  }

  /// Forgets all blocks on their way to and from a rank that has died. Never calls the completions of such sends,
  /// because MPI may still use their memory. Calls lost(token) for each block that will not arrive, whose memory must
  /// stay as well.
  template <class Lost>
  void abandon(int rank, Lost&& lost) {
    outgoing* kept = nullptr;
    outgoing* newest = nullptr;
    for (outgoing* each = first_; each != nullptr;) {
      outgoing* const block = std::exchange(each, each->next);
      block->next = nullptr;
      if (block->to == rank) {
        if (block->in_flight == 0) --sends_;
        continue;
      }
      (kept == nullptr ? kept : newest->next) = block;
      newest = block;
    }
    first_ = kept;
    last_ = newest;
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      if (pieces_[i].owner->to != rank) continue;
      if (--pieces_[i].owner->in_flight == 0) --sends_;
      pieces_.remove_unordered(i);
    }
    base::list<std::uint64_t> tokens;
    for (base::list<incoming>* blocks : {&expected_, &arriving_}) {
      for (std::size_t i = blocks->size(); i-- > 0;) {
        if ((*blocks)[i].from != rank) continue;
        tokens.push_back((*blocks)[i].token);
        blocks->remove_unordered(i);
      }
    }
    for (const std::uint64_t token : tokens) lost(token);
  }
  /// Whether all sends in flight are complete.
  bool test() noexcept {
    int complete = 1;
    for (std::size_t i = 0; i < pieces_.size() && complete != 0; ++i) {
      MPI_Test(&pieces_[i].request, &complete, MPI_STATUS_IGNORE);
    }
    return complete != 0;
  }

  /// Waits for the sends in flight; called only at the end.
  void wait() noexcept {
    for (piece& each : pieces_) MPI_Wait(&each.request, MPI_STATUS_IGNORE);
  }

  ~bulk() {
    for (piece& each : pieces_) {
      if (--each.owner->in_flight == 0 && each.owner != first_) finish(each.owner);
    }
    while (first_ != nullptr) finish(std::exchange(first_, first_->next));
    for (outgoing* each : local_sends_) finish(each);
  }

 private:
  struct outgoing {
    const std::byte* data;
    std::size_t bytes;
    std::size_t started;  // number of bytes given to MPI
    int to;
    int tag;
    int in_flight;  // number of pieces
    completion sent;
    outgoing* next;
  };
  struct piece {
    MPI_Request request;
    outgoing* owner;
  };
  struct incoming {
    std::byte* data;
    std::size_t bytes;
    std::size_t done;  // number of bytes matched so far; they have arrived when the request is complete
    int from;
    int tag;
    std::uint64_t token;
    MPI_Request request;
    bool cut_off = false;  // its sender has died; abandon() will report the block
  };

  // Pieces of a block start in order and MPI matches equal tags in order, so they need no numbers.
  void start_piece() {
    outgoing* block = first_;
    const std::size_t left = block->bytes - block->started;
    const std::size_t bytes = left < piece_bytes_ ? left : piece_bytes_;
    MPI_Request request = MPI_REQUEST_NULL;
    if (!check_alive(MPI_Isend(block->data + block->started, static_cast<int>(bytes), MPI_BYTE, block->to, block->tag,
                               comm_, &request),
                     "MPI_Isend")) {
      request = MPI_REQUEST_NULL;  // the receiver has died, and the piece is lost
    }
    pieces_.push_back({request, block});
    block->started += bytes;
    ++block->in_flight;
    if (block->started == block->bytes) {
      first_ = block->next;
      if (first_ == nullptr) last_ = nullptr;
    }
  }

  // The completion may call send() or receive(), so callers must hold no references into the lists.
  void finish(outgoing* block) {
    --sends_;
    const completion sent = block->sent;
    delete block;
    if (sent.call != nullptr) sent.call(sent.argument);
  }

  bool start_receive(incoming& block) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (!check_alive(MPI_Improbe(block.from, block.tag, comm_, &found, &message, &status), "MPI_Improbe") || found == 0)
      return false;
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    const auto arrived = static_cast<std::size_t>(bytes);
    if (arrived > block.bytes - block.done || (arrived == 0 && block.bytes != 0)) {
      wrong_size(block.from, block.tag, block.bytes, block.done + arrived);
    }
    block.cut_off =
        !check_alive(MPI_Imrecv(block.data + block.done, bytes, MPI_BYTE, &message, &block.request), "MPI_Imrecv");
    block.done += arrived;
    return true;
  }

  [[noreturn]] static void wrong_size(int from, int tag, std::size_t expected, std::size_t came) {
    throw error(base::text(
        "manta: a large transfer from rank {} (tag {}) should have {} bytes, but {} came. This is an error in manta; "
        "please report it.",
        from, tag, expected, came));
  }

  // From this rank to itself: a copy, once both ends are known.
  template <class OnBulk>
  bool deliver_local(OnBulk& on_bulk) {
    bool any = false;
    base::list<incoming> wanted;
    wanted.swap(local_expected_);  // on_bulk may add expected blocks
    for (const incoming& each : wanted) {
      outgoing* block = nullptr;
      for (std::size_t i = 0; i < local_sends_.size() && block == nullptr; ++i) {
        if (local_sends_[i]->tag == each.tag) block = local_sends_[i];
      }
      if (block == nullptr) {
        local_expected_.push_back(each);
        continue;
      }
      if (block->bytes != each.bytes) wrong_size(rank_, each.tag, each.bytes, block->bytes);
      local_sends_.remove(block);
      if (block->bytes != 0) std::memcpy(each.data, block->data, block->bytes);
      finish(block);
      on_bulk(each.token, each.bytes);
      any = true;
    }
    return any;
  }

  MPI_Comm comm_;
  int rank_;
  int tags_;
  std::size_t piece_bytes_;

  outgoing* first_ = nullptr;  // blocks not fully started, in order of send()
  outgoing* last_ = nullptr;
  base::list<piece> pieces_;
  std::size_t sends_ = 0;          // number of blocks, local ones included
  base::list<incoming> expected_;  // blocks that wait for their next piece
  base::list<incoming> arriving_;  // blocks whose next piece is matched
  base::list<outgoing*> local_sends_;
  base::list<incoming> local_expected_;
  // Where the next round of tests continues, so that a few tests per call reach all requests.
  std::size_t test_turn_ = 0;
  std::size_t probe_turn_ = 0;
  std::size_t arrive_turn_ = 0;
};

}  // namespace manta::net
