// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One large value of a rank: where its bytes lie, who looks at them, and what
// they cost. The ledger changes it; others read it.
#pragma once

#include <cstdint>
#include <string>

#include "manta/graph/node.hpp"
#include "manta/store/node_file.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::store {

class ledger;
struct use_chain;

inline std::string describe_bytes(std::uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  const char* const unit = b < 1e6 ? " kB" : b < 1e9 ? " MB" : " GB";
  return std::to_string(static_cast<std::uint64_t>(b / (b < 1e6 ? 1e3 : b < 1e9 ? 1e6 : 1e9) + 0.5)) + unit;
}

/// Values of at least this size are entered, and may move to a disk;
inline constexpr std::size_t large_bytes = 4 * 1024;
/// arrays of at least this size are shared by the ranks of a node instead of sent from one to the other;
inline constexpr std::size_t shared_bytes = 256 * 1024;
/// those of at least this size move to a disk in place, even if nobody looks at them.
inline constexpr std::size_t in_place_bytes = std::size_t{8} << 20;

/// One copy of a value's array on this rank, and where its pages are.
struct region {
  enum class place : std::uint8_t { none, memory, node, disk };
  std::byte* array = nullptr;
  std::uint64_t disk_at = 0;
  region::place place = place::none;
};

/// A large value.
struct large {
  ledger* book = nullptr;
  graph::node* node = nullptr;       ///< that has it
  std::size_t bytes = 0;             ///< of its array; of a value of another shape: of its memory, about
  bool shapeless = false;            ///< of another shape: `object` says only whether it is in memory
  bool copy = false;                 ///< its home, another rank, has it too or knows who has
  bool stays = false;                ///< a copy that is needed here without being asked for again
  bool fixed = false;                ///< cannot be encoded for a disk
  bool used = false;                 ///< looked at since it came
  bool given = false;                ///< the user has a reference, which is good as long as it lives
  std::uint32_t looks = 0;           ///< who looks at it now
  std::uint32_t shown = 0;           ///< ranks that were told of its file and have not mapped it yet
  std::uint64_t encoding_at = 0;     ///< on the disk, and
  std::uint64_t encoding_bytes = 0;  ///< how long; 0: it is not there
  region object;                     ///< the array inside the decoded value
  region view;          ///< the array as another rank of the node has made it, until the value is decoded and after
  wire::buffer header;  ///< with a view: the value's encoding without the array
  node_file* shared = nullptr;  ///< node memory that holds the array, as long as it is open; the view's mapping
  std::uint64_t shared_at = 0;  ///< where in it
  bool peers = false;           ///< another rank counts that memory
  bool offered = false;         ///< to be shared when there is time
  bool warm = true;             ///< on a disk: looked at since it was moved there
  std::uint32_t function = 0;   ///< what made it, for reports
  std::uint64_t charged = 0;
  use_chain* in = nullptr;  ///< the chain in which it stands, and its neighbours there
  large* older = nullptr;
  large* newer = nullptr;

  /// Neither object nor view: it lies on the disk as a whole.
  bool is_encoded() const { return object.place == region::place::none && view.place == region::place::none; }
  bool is_shared() const { return shared != nullptr && shared->is_open(); }
  bool on_disk() const { return object.place == region::place::disk || view.place == region::place::disk; }
  const std::byte* array() const { return object.place != region::place::none ? object.array : view.array; }
  /// Memory that it takes on this rank.
  std::uint64_t cost() const {
    const bool in_node_memory = object.place == region::place::node || view.place == region::place::node;
    return (object.place == region::place::memory ? bytes : 0) + (in_node_memory && !peers ? bytes : 0) +
           (on_disk() && warm ? bytes : 0);
  }
};

}  // namespace manta::store
