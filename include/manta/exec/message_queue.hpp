// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Messages that have been received and wait to be run: nothing of the user's
// runs inside a receive, so they are copied here and taken out at the top level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "manta/base/containers.hpp"
#include "manta/exec/ids.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::exec {

class message_queue {
 public:
  struct view {
    const std::byte* data;
    std::size_t bytes;
    rank_id from;
  };

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }

  void push(rank_id from, const std::byte* data, std::size_t bytes) {
    const header h{static_cast<std::uint32_t>(bytes), from};
    const std::size_t padded = (bytes + 7) / 8 * 8;
    if (end_ + sizeof h + padded > bytes_.size()) make_room(sizeof h + padded);
    std::memcpy(&bytes_[end_], &h, sizeof h);
    if (bytes != 0) std::memcpy(&bytes_[end_ + sizeof h], data, bytes);
    end_ += sizeof h + padded;
    ++count_;
  }
  /// The oldest message; its bytes hold until the next push.
  view pop() {
    header h = at(begin_);
    while (is_taken(h)) h = at(begin_ += room_of(h));
    const view v{&bytes_[begin_ + sizeof h], h.bytes, h.from};
    begin_ += room_of(h);
    if (--count_ == 0) begin_ = end_ = 0;
    return v;
  }
  /// To the end with the message that was popped last.
  void put_back(const view& v) {
    const wire::buffer copy(v.data, v.bytes);
    push(v.from, copy.data(), copy.size());
  }
  /// Is there a message for which is_it(view) holds?
  template <class Is>
  bool any(Is&& is_it) const {
    for (std::size_t i = begin_; i < end_;) {
      const header h = at(i);
      if (!is_taken(h) && is_it(view{&bytes_[i + sizeof h], h.bytes, h.from})) return true;
      i += room_of(h);
    }
    return false;
  }
  /// Takes the first message for which may(view) holds out of the middle and gives it to take(view), which must not
  /// push. False if there is none.
  template <class May, class Take>
  bool take(May&& may, Take&& take) {
    for (std::size_t i = begin_; i < end_;) {
      header h = at(i);
      const view v{&bytes_[i + sizeof h], h.bytes, h.from};
      if (!is_taken(h) && may(v)) {
        h.bytes |= taken_bit;
        std::memcpy(&bytes_[i], &h, sizeof h);
        if (--count_ == 0) begin_ = end_ = 0;
        take(v);
        return true;
      }
      i += room_of(h);
    }
    return false;
  }

 private:
  struct header {
    std::uint32_t bytes;  // with taken_bit
    rank_id from;
  };
  static constexpr std::uint32_t taken_bit = 0x80000000u;
  header at(std::size_t place) const {
    header h;
    std::memcpy(&h, &bytes_[place], sizeof h);
    return h;
  }
  static bool is_taken(const header& h) { return (h.bytes & taken_bit) != 0; }
  static std::size_t room_of(const header& h) { return sizeof h + (std::size_t{h.bytes & ~taken_bit} + 7) / 8 * 8; }

  void make_room(std::size_t needed) {
    if (begin_ >= bytes_.size() / 2 && begin_ > 0) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ + needed > bytes_.size()) bytes_.resize(2 * bytes_.size() + needed + 4096, std::byte{0});
  }

  base::list<std::byte> bytes_;
  std::size_t begin_ = 0, end_ = 0, count_ = 0;
};

}  // namespace manta::exec
