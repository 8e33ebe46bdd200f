// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Memory that processes of a node share, for one array after the other. To get new memory takes several times as long
// as to fill it. So when no rank uses an array any more, its file is kept: the rank that made it keeps the file for the
// next array, and the other ranks keep their mappings, because they will see that array.
//
// The last page of the file counts the other processes that use it. When the maker has closed the file, the last
// process that stops using it gives its pages back to the system; mappings that ranks keep then hold no memory.
#pragma once

#include <fcntl.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "manta/store/pages.hpp"

namespace manta::store {

class node_file {
 public:
  static constexpr std::uint32_t here = ~std::uint32_t{0};  ///< the maker() of files of this process

  /// Makes a file with a copy of an array, at the array's place in its page. Null without memory or a
  /// descriptor for it.
  static node_file* with_copy(const std::byte* array, std::size_t bytes) {
    const std::uint64_t room = room_for(bytes);
    file memory = file::of_memory(room + page_bytes());
    if (!memory.is_open() || !memory.write(array, bytes, page_offset(array))) return nullptr;
    const std::uint64_t identity = memory.identity();
    return new node_file(std::move(memory), identity, room, here);
  }
  /// Opens the file of rank `maker`, which this process uses from now on. Null if it cannot be mapped.
  static node_file* of_rank(std::uint32_t maker, file&& memory, std::uint64_t identity, std::uint64_t room) {
    auto* const f = new node_file(std::move(memory), identity, room, maker);
    if (f->map() && mprotect(f->window_, room, PROT_READ) == 0) {
      f->look();
      return f;
    }
    delete f;
    return nullptr;
  }
  ~node_file() {
    if (window_ != nullptr) munmap(window_, room_ + page_bytes());
  }
  node_file(const node_file&) = delete;
  node_file& operator=(const node_file&) = delete;

  bool is_open() const { return memory_.is_open(); }
  const file& memory() const { return memory_; }
  std::uint64_t identity() const { return identity_; }
  std::uint64_t room() const { return room_; }
  std::uint32_t maker() const { return maker_; }
  bool made_here() const { return maker_ == here; }
  /// Its mapped pages, read-only unless this process made them. Null if they cannot be mapped.
  std::byte* window() { return map() ? window_ : nullptr; }

  // --- for the maker

  /// Whether the file has room for an array of `bytes` bytes, and not much more.
  bool fits(std::uint64_t bytes) const { return room_for(bytes) <= room_ && room_ - bytes <= bytes / 8; }
  bool is_looked_at() { return !map() || lookers().load(std::memory_order_acquire) != 0; }
  /// Writes another array in the place of the former one.
  void write(const std::byte* array, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (!written_) madvise(window_, room_, MADV_POPULATE_WRITE);
#endif
    written_ = true;
    std::memcpy(window_ + page_offset(array), array, bytes);
  }
  /// Closes the file for good. Other processes may still use it; the mapping stays.
  void close() {
    if (map() && lookers().fetch_or(closed, std::memory_order_acq_rel) == 0) free_pages();
    memory_.reset();
  }

  // --- for the other processes

  void look() { lookers().fetch_add(1, std::memory_order_relaxed); }
  /// Stops using the file; only its window may stay mapped. False if the maker will not use the file again.
  bool look_away() {
    const std::uint32_t before = lookers().fetch_sub(1, std::memory_order_acq_rel);
    if (before == (closed | 1U)) free_pages();
    return (before & closed) == 0 && !orphan_;
  }
  /// Stops using the file and closes it; the mapping stays.
  void look_away_for_good() {
    look_away();
    memory_.reset();
  }
  /// Notes that the maker has died.
  void orphan() { orphan_ = true; }

 private:
  static constexpr std::uint32_t closed = std::uint32_t{1} << 31;

  node_file(file&& memory, std::uint64_t identity, std::uint64_t room, std::uint32_t maker)
      : memory_(std::move(memory)), identity_(identity), room_(room), maker_(maker) {}

  /// The room that an array needs, wherever in its page it begins.
  static std::uint64_t room_for(std::uint64_t bytes) { return whole_pages(bytes) + page_bytes(); }
  bool map() {
    if (window_ != nullptr) return true;
    void* const mapped = mmap(nullptr, room_ + page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
    if (mapped != MAP_FAILED) window_ = static_cast<std::byte*>(mapped);
    return window_ != nullptr;
  }
  std::atomic<std::uint32_t>& lookers() { return *reinterpret_cast<std::atomic<std::uint32_t>*>(window_ + room_); }
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  void free_pages() {
    fallocate(memory_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(room_));
  }

  file memory_;
  std::uint64_t identity_;
  std::uint64_t room_;
  std::uint32_t maker_;
  bool written_ = false;  // the maker has written through the window
  bool orphan_ = false;
  std::byte* window_ = nullptr;
};

}  // namespace manta::store
