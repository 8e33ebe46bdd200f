// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Long arguments that went with calls to actors on other ranks and are under
// way, until the results of these calls come. The receivers' ledgers do not
// count them, so they are bounded here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/store/value.hpp"

namespace manta::exec {

class sent_arguments {
 public:
  static constexpr std::size_t most_sent = std::size_t{1} << 20;       ///< bytes, by one rank
  static constexpr std::size_t most_received = std::size_t{64} << 20;  ///< bytes, if all ranks send as many to one

  /// Is more under way than may be, so that long arguments have to be fetched instead?
  bool is_too_much(std::size_t ranks) const { return bytes_ > most_sent || bytes_ * ranks > most_received; }
  bool empty() const { return bytes_ == 0; }
  /// A call, known by its node, was sent with its arguments. Short arguments are not counted.
  void add(std::uint32_t call, std::size_t bytes) {
    if (bytes <= store::inline_bytes) return;
    by_call_.insert(call) = bytes;
    bytes_ += bytes;
  }
  /// The result of a call has come.
  void remove(std::uint32_t call) {
    const std::uint64_t* const bytes = by_call_.find(call);
    if (bytes == nullptr) return;
    bytes_ -= *bytes;
    by_call_.erase(call);
  }
  void clear() {
    by_call_.clear();
    bytes_ = 0;
  }

 private:
  base::index_table by_call_;  // node of a call -> bytes
  std::size_t bytes_ = 0;      // of all
};

}  // namespace manta::exec
