// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A batch: the MPI message that carries small messages. It is shorter than the eager limit, so it never waits for its
// receiver. Its layout, all in the sender's byte order:
//
//   [u32 sequence number] { [u16 bytes, u8 kind, u8 part] payload, padded }*
//
// Frames start at 4 modulo 8, so every payload lies at a multiple of 8 behind its header of 4 bytes. A message too
// large for one frame travels in several; its first part starts with the whole size in 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manta::net {

/// Size of a batch. The eager limit is 4096 bytes with shared memory, and more elsewhere, less MPI's own header.
inline constexpr std::size_t batch_bytes = 3968;
inline constexpr std::size_t batch_header_bytes = 4;

/// The tag under which batches travel.
inline constexpr int batch_tag = 0;

/// The position of a frame in its message.
enum class part : std::uint8_t { whole, first, middle, last };

struct frame_header {
  std::uint16_t bytes;
  std::uint8_t kind;
  part position;
};
static_assert(sizeof(frame_header) == 4);

/// The size of a frame with this payload in a batch.
constexpr std::size_t frame_bytes(std::size_t payload) {
  return (payload + sizeof(frame_header) + 7) & ~std::size_t{7};
}

/// Frames lie in [batch_header_bytes, batch_end); the difference is a multiple of 8.
inline constexpr std::size_t batch_end = batch_bytes - 4;
/// The largest payload of one frame.
inline constexpr std::size_t frame_limit = batch_end - batch_header_bytes - sizeof(frame_header);
static_assert(batch_header_bytes + frame_bytes(frame_limit) == batch_end);

/// The memory of a batch. `Request` is the type by which a port (channel.hpp) knows a send.
template <class Request>
struct batch {
  batch* next;
  Request request;
  std::size_t bytes;  ///< bytes with the header; set when sealed
  alignas(8) std::byte data[batch_bytes];
};

/// Recycles batches, beginning with the last used one, which is still in the cache.
template <class Request>
class batch_pool {
  using batch = net::batch<Request>;

 public:
  batch_pool() = default;
  batch_pool(const batch_pool&) = delete;
  batch_pool& operator=(const batch_pool&) = delete;
  ~batch_pool() {
    while (free_ != nullptr) delete take();
  }

  batch* take() {
    if (free_ == nullptr) {
      batch* fresh = new batch;
      fresh->next = nullptr;
      return fresh;
    }
    batch* result = free_;
    free_ = result->next;
    result->next = nullptr;
    --count_;
    return result;
  }

  void give(batch* used) {
    if (count_ >= kept) {  // the memory of a burst goes back to the system
      delete used;
      return;
    }
    used->next = free_;
    free_ = used;
    ++count_;
  }

 private:
  static constexpr std::size_t kept = 1024;
  batch* free_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace manta::net
