// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The incoming side of batches: a ring of persistent receives from any source. MPI matches messages with receives in
// the order in which the receives were posted. So it is enough to test the head of the ring, and the order of each
// source is kept. A receive is posted again once its batch has been read.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "batch.hpp"
#include "manta/base/containers.hpp"
#include "mpi.hpp"

namespace manta::net {

/// Reads batches: calls back for each message, and joins the parts of large messages.
class batch_reader {
 public:
  explicit batch_reader(int sources) : sources_(static_cast<std::size_t>(sources)) {}

  /// Returns the number of complete messages. A callback that throws ends the program, because the messages behind it
  /// would be lost.
  template <class OnMessage>
  std::uint64_t read(int from, const std::byte* data, std::size_t bytes, OnMessage& on_message) noexcept {
    source& src = sources_[static_cast<std::size_t>(from)];
    std::uint32_t sequence = 0;
    std::memcpy(&sequence, data, sizeof sequence);
    assert(sequence == src.sequence && "batches out of order: poll was called from a callback");
    src.sequence = sequence + 1;

    std::uint64_t messages = 0;
    const std::byte* const end = data + bytes;
    for (const std::byte* at = data + batch_header_bytes; at < end;) {
      frame_header header;
      std::memcpy(&header, at, sizeof header);
      const std::byte* payload = at + sizeof header;
      at += frame_bytes(header.bytes);
      if (header.position == part::whole) [[likely]] {
        on_message(from, header.kind, payload, std::size_t{header.bytes});
        ++messages;
      } else if (src.append(header, payload)) {
        std::byte* const joined = std::exchange(src.joined, nullptr);
        on_message(from, header.kind, static_cast<const std::byte*>(joined), src.filled);
        delete[] joined;
        ++messages;
      }
    }
    return messages;
  }

 private:
  struct source {
    static constexpr bool begins_as_zeros = true;
    std::byte* joined = nullptr;
    std::size_t filled = 0;
    std::size_t expected = 0;
    std::uint32_t sequence = 0;

    ~source() { delete[] joined; }
    bool append(const frame_header& header, const std::byte* payload) {
      std::size_t bytes = header.bytes;
      if (header.position == part::first) {
        std::uint64_t whole = 0;
        std::memcpy(&whole, payload, sizeof whole);
        payload += sizeof whole;
        bytes -= sizeof whole;
        expected = whole;
        filled = 0;
        joined = new std::byte[expected];
      }
      assert(bytes <= expected - filled);
      std::memcpy(joined + filled, payload, bytes);
      filled += bytes;
      assert((header.position == part::last) == (filled == expected));
      return header.position == part::last;
    }
  };

  base::array<source> sources_;
};

/// The ring of posted receives.
class receive_ring {
 public:
  static constexpr std::size_t depth = 8;
  /// Most batches that one poll takes, so that the caller gets to its sends.
  static constexpr int batches_a_poll = 16;

  explicit receive_ring(MPI_Comm comm) : comm_(comm), slots_(depth) {
    for (std::size_t i = 0; i < depth; ++i) {
      check(MPI_Recv_init(slots_[i].data, static_cast<int>(batch_bytes), MPI_BYTE, MPI_ANY_SOURCE, batch_tag, comm,
                          &requests_[i]),
            "MPI_Recv_init");
    }
    check(MPI_Startall(static_cast<int>(depth), requests_), "MPI_Startall");
  }
  receive_ring(const receive_ring&) = delete;
  receive_ring& operator=(const receive_ring&) = delete;
  ~receive_ring() {
    if (!mpi_is_running()) return;
    for (MPI_Request& request : requests_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
    }
  }

  /// Calls on_batch(from, data, bytes) for each batch that has arrived. Must not be called from on_batch: the head
  /// would be an inactive request, which tests as complete and empty.
  template <class OnBatch>
  bool poll(OnBatch&& on_batch) {
    for (int taken = 0; taken < batches_a_poll; ++taken) {
      int complete = 0;
      MPI_Status status;
      if (!check_alive(MPI_Test(&requests_[head_], &complete, &status), "MPI_Test")) [[unlikely]] {
        // The code says that the receive might wait for a dead rank. A batch may have arrived all the same. It is
        // complete, because batches are eager, and MPI gives it only once: it must be read.
        go_on_without_dead(comm_);
        if (complete == 0) return true;
      }
      if (complete == 0) return taken > 0;
      int bytes = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      assert(status.MPI_SOURCE >= 0 && bytes > 0 && "the receive was not posted");
      on_batch(status.MPI_SOURCE, static_cast<const std::byte*>(slots_[head_].data), static_cast<std::size_t>(bytes));
      check(MPI_Start(&requests_[head_]), "MPI_Start");
      head_ = (head_ + 1) % depth;
    }
    return true;
  }

 private:
  struct slot {
    alignas(64) std::byte data[batch_bytes];
  };
  MPI_Comm comm_;
  base::array<slot> slots_;
  MPI_Request requests_[depth] = {};
  std::size_t head_ = 0;
};

}  // namespace manta::net
