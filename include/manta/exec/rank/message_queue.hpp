// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Messages that have been received and wait to be run: nothing of the user's
// runs inside a receive, so they are copied here and taken out at the top level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::exec {

class message_queue {
 public:
  struct view {
    const std::byte* data;
    std::size_t bytes;
    rank_id from;
  };

  message_queue() = default;
  message_queue(const message_queue&) = delete;
  message_queue& operator=(const message_queue&) = delete;
  ~message_queue() {
    while (first_ != nullptr) drop_first();
    std::free(spare_);
  }

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }

  void push(rank_id from, const std::byte* data, std::size_t bytes) {
    const header h{static_cast<std::uint32_t>(bytes), from};
    const std::size_t needed = sizeof h + padded(bytes);
    if (last_ == nullptr || last_->end + needed > last_->capacity) [[unlikely]]
      add_chunk(needed);
    std::byte* const at = last_->bytes() + last_->end;
    std::memcpy(at, &h, sizeof h);
    if (bytes != 0) std::memcpy(at + sizeof h, data, bytes);
    last_->end += needed;
    ++count_;
  }
  /// The oldest message; its bytes hold until the next pop or push.
  view pop() {
    for (;;) {
      if (first_->begin == first_->end) [[unlikely]] {
        drop_first();
        continue;
      }
      const std::byte* const at = first_->bytes() + first_->begin;
      const header h = at_place(at);
      first_->begin += room_of(h);
      if (is_taken(h)) continue;
      if (--count_ == 0) all_taken(first_);
      return {at + sizeof h, h.bytes, h.from};
    }
  }
  /// To the end with the message that was popped last.
  void put_back(const view& v) {
    const wire::buffer copy(v.data, v.bytes);
    push(v.from, copy.data(), copy.size());
  }
  /// Is there a message for which is_it(view) holds?
  template <class Is>
  bool any(Is&& is_it) const {
    for (chunk* c = first_; c != nullptr; c = c->next) {
      for (std::size_t i = c->begin; i < c->end;) {
        const std::byte* const at = c->bytes() + i;
        const header h = at_place(at);
        if (!is_taken(h) && is_it(view{at + sizeof h, h.bytes, h.from})) return true;
        i += room_of(h);
      }
    }
    return false;
  }
  /// Takes the first message for which may(view) holds out of the middle and gives it to take(view), which must not
  /// push. False if there is none.
  template <class May, class Take>
  bool take(May&& may, Take&& take) {
    for (chunk* c = first_; c != nullptr; c = c->next) {
      for (std::size_t i = c->begin; i < c->end;) {
        std::byte* const at = c->bytes() + i;
        header h = at_place(at);
        const view v{at + sizeof h, h.bytes, h.from};
        if (!is_taken(h) && may(v)) {
          h.bytes |= taken_bit;
          std::memcpy(at, &h, sizeof h);
          if (--count_ == 0) all_taken(c);
          take(v);
          return true;
        }
        i += room_of(h);
      }
    }
    return false;
  }

 private:
  struct header {
    std::uint32_t bytes;  // with taken_bit
    rank_id from;
  };
  /// A piece of the queue, with its bytes behind it. Pieces, unlike one array that grows, never copy what waits.
  struct chunk {
    chunk* next;
    std::size_t begin, end, capacity;
    std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
  };
  static constexpr std::uint32_t taken_bit = 0x80000000u;
  static constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

  static header at_place(const std::byte* at) {
    header h;
    std::memcpy(&h, at, sizeof h);
    return h;
  }
  static bool is_taken(const header& h) { return (h.bytes & taken_bit) != 0; }
  static std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
  static std::size_t room_of(const header& h) { return sizeof h + padded(h.bytes & ~taken_bit); }

  void add_chunk(std::size_t needed) {
    const bool fits_spare = spare_ != nullptr && needed <= spare_->capacity;
    chunk* c = fits_spare ? std::exchange(spare_, nullptr) : nullptr;
    if (c == nullptr) {
      const std::size_t capacity = std::max(chunk_bytes - sizeof(chunk), needed);
      c = new (base::resize_memory(nullptr, sizeof(chunk) + capacity)) chunk{nullptr, 0, 0, capacity};
    }
    *c = {nullptr, 0, 0, c->capacity};
    (last_ == nullptr ? first_ : last_->next) = c;
    last_ = c;
  }
  /// No message is left. The bytes of the last one, in this chunk, stay readable.
  void all_taken(chunk* with_last) {
    while (first_ != with_last) drop_first();
    with_last->begin = with_last->end = 0;
  }
  /// Nothing in the first chunk is needed any more. Keeps one for the next add_chunk().
  void drop_first() {
    chunk* const c = first_;
    first_ = c->next;
    if (first_ == nullptr) last_ = nullptr;
    if (spare_ == nullptr && c->capacity < chunk_bytes) {
      spare_ = c;
    } else {
      std::free(c);
    }
  }

  chunk* first_ = nullptr;
  chunk* last_ = nullptr;
  chunk* spare_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace manta::exec
