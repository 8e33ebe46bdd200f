// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The arguments of calls to actors that have been sent, until the results of these calls come. Long ones to other ranks
// are bounded here, since the receivers' ledgers do not count them. All of them count for the submitter that runs ahead
// (throttle.hpp): the calls of an actor that is busy wait in its mailbox with their arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/store/value.hpp"

namespace manta::exec {

class sent_arguments {
 public:
  static constexpr std::size_t most_sent = std::size_t{1} << 20;       ///< long arguments' bytes, by one rank
  static constexpr std::size_t most_received = std::size_t{64} << 20;  ///< bytes, if all ranks send as many to one
  static constexpr std::size_t uncounted = 64;                         ///< bytes that a call has room for in any case

  /// Is more under way than may be, so that long arguments have to be fetched instead?
  bool is_too_much(std::size_t ranks) const { return long_bytes_ > most_sent || long_bytes_ * ranks > most_received; }
  bool empty() const { return by_call_.size() == 0; }
  /// Bytes of all arguments that are counted.
  std::size_t bytes() const { return bytes_; }
  /// A call, known by its node, was sent with its arguments.
  void add(std::uint32_t call, std::size_t bytes, bool to_other_rank) {
    if (bytes <= uncounted) return;
    const bool is_long = to_other_rank && bytes > store::inline_bytes;
    by_call_.insert(call) = bytes << 1U | (is_long ? 1U : 0U);
    bytes_ += bytes;
    if (is_long) long_bytes_ += bytes;
  }
  /// The result of a call has come.
  void remove(std::uint32_t call) {
    const std::uint64_t* const found = by_call_.find(call);
    if (found == nullptr) return;
    bytes_ -= *found >> 1U;
    if ((*found & 1U) != 0) long_bytes_ -= *found >> 1U;
    by_call_.erase(call);
  }
  void clear() {
    by_call_.clear();
    bytes_ = long_bytes_ = 0;
  }

 private:
  base::index_table by_call_;   // node of a call -> its bytes, and in the lowest bit: they are long
  std::size_t bytes_ = 0;       // of all
  std::size_t long_bytes_ = 0;  // of long ones to other ranks
};

}  // namespace manta::exec
