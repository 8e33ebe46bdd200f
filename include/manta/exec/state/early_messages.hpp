// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Messages that come between runs: they belong to the next one, which other
// ranks have begun already, and are kept until it begins here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/exec/rank/message_queue.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

class early_messages {
 public:
  /// Is no run going on here, so that messages have to be kept?
  bool are_kept() const { return kept_; }
  void keep(rank_id from, message kind, const std::byte* data, std::size_t bytes) {
    queue_.push(from | static_cast<std::uint32_t>(kind) << kind_bit, data, bytes);
  }
  /// A run has ended here.
  void begin() { kept_ = true; }
  /// A run begins here: handle(from, kind, data, bytes) for what was kept, in the order in which it came.
  template <class Handle>
  void end(Handle&& handle) {
    kept_ = false;
    for (std::size_t i = queue_.size(); i > 0; --i) {
      const message_queue::view v = queue_.pop();
      handle(v.from & ((1U << kind_bit) - 1), static_cast<message>(v.from >> kind_bit), v.data, v.bytes);
    }
  }

 private:
  static constexpr int kind_bit = 24;  // of `from`

  bool kept_ = true;
  message_queue queue_;
};

}  // namespace manta::exec
