// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One large value of a rank: where its bytes lie, what uses them, and how much memory they take. The ledger changes the
// record; other parts read it.
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

/// Values of at least this size are entered in the ledger, and may move to a disk.
inline constexpr std::size_t large_bytes = 4 * 1024;
/// The ranks of a node share arrays of at least this size, instead of sending them to each other.
inline constexpr std::size_t shared_bytes = 256 * 1024;
/// Arrays of at least this size move to a disk in place, even if no task uses them.
inline constexpr std::size_t in_place_bytes = std::size_t{8} << 20;

/// One copy of a value's array on this rank, and the place of its pages.
struct region {
  enum class place : std::uint8_t { none, memory, node, disk };
  std::byte* array = nullptr;
  std::uint64_t disk_at = 0;
  region::place place = place::none;
};

/// A piece of the disk file.
struct disk_piece {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;  ///< 0: there is none
};

/// A large value.
struct large {
  ledger* book = nullptr;
  graph::node* node = nullptr;  ///< the node of the value
  std::size_t bytes = 0;        ///< size of the array; of a value of another shape, an estimate of its memory
  bool shapeless = false;       ///< the value is no array: `object` says only whether it is in memory
  bool copy = false;            ///< the home is another rank, which has the value too or knows a holder
  bool stays = false;           ///< a copy that must not be dropped
  bool fixed = false;           ///< the value cannot be encoded for a disk
  bool used = false;            ///< used since it arrived
  bool given = false;           ///< the user has a reference, which is valid as long as the value lives
  std::uint32_t looks = 0;      ///< number of uses at the moment
  std::uint32_t shown = 0;      ///< number of ranks that know its file and have not mapped it yet
  disk_piece encoding;          ///< its encoding on the disk, if there is one
  region object;                ///< the array inside the decoded value
  region view;          ///< the array that another rank of the node has made, before and after the value is decoded
  wire::buffer header;  ///< the value's encoding without the array, for a view
  node_file* shared = nullptr;  ///< node memory that holds the array, as long as it is open; the view's mapping
  std::uint64_t shared_at = 0;  ///< place of the array in this memory
  bool peers = false;           ///< another rank counts this memory
  bool offered = false;         ///< it will be shared when there is time
  bool warm = true;             ///< on a disk: used since it was moved there
  std::uint32_t function = 0;   ///< the function that made it, for reports
  std::uint64_t task = 0;       ///< the id of the task that made it; 0: not known
  std::uint64_t charged = 0;
  use_chain* in = nullptr;  ///< its chain; its neighbours in the chain follow
  large* older = nullptr;
  large* newer = nullptr;

  /// Whether it has neither an object nor a view: it lies on the disk as a whole.
  bool is_encoded() const { return object.place == region::place::none && view.place == region::place::none; }
  bool is_shared() const { return shared != nullptr && shared->is_open(); }
  bool on_disk() const { return object.place == region::place::disk || view.place == region::place::disk; }
  const std::byte* array() const { return object.place != region::place::none ? object.array : view.array; }
  /// Bytes of memory that it takes on this rank.
  std::uint64_t cost() const {
    const bool in_node_memory = object.place == region::place::node || view.place == region::place::node;
    return (object.place == region::place::memory ? bytes : 0) + (in_node_memory && !peers ? bytes : 0) +
           (on_disk() && warm ? bytes : 0);
  }
};

}  // namespace manta::store
