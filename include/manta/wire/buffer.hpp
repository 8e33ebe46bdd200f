// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A growing block of bytes that is never zeroed, and the encoded form of one value: its bytes, and a list of its large
// arrays, which are sent from their own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "manta/base/containers.hpp"

namespace manta::wire {

class buffer {
 public:
  buffer() = default;
  buffer(const void* data, std::size_t bytes) { append(data, bytes); }
  buffer(buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~buffer() { std::free(data_); }

  const std::byte* data() const { return data_; }
  std::byte* data() { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void shrink(std::size_t bytes) { size_ = bytes; }

  /// Makes room, so that what is appended up to this size is not moved.
  void reserve(std::size_t bytes) {
    if (bytes > capacity_) move_to(bytes);
  }
  void append(const void* data, std::size_t bytes) {
    if (bytes != 0) std::memcpy(extend(bytes), data, bytes);
  }
  /// Adds `bytes` uninitialised bytes; the pointer to them is valid until the next growth.
  std::byte* extend(std::size_t bytes) {
    if (size_ + bytes > capacity_) grow(size_ + bytes);
    std::byte* at = data_ + size_;
    size_ += bytes;
    return at;
  }

 private:
  void grow(std::size_t needed) {
    std::size_t capacity = capacity_ < 64 ? 64 : 2 * capacity_;
    move_to(capacity < needed ? needed : capacity);
  }
  void move_to(std::size_t capacity) {
    data_ = static_cast<std::byte*>(base::resize_memory(data_, capacity));
    capacity_ = capacity;
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// A large array inside a value. It is sent from `data` and received into its final place.
struct segment {
  void* data;
  std::size_t bytes;
};

/// Arrays of at least this size travel as segments of their own.
inline constexpr std::size_t segment_bytes = 16 * 1024;

/// A value as bytes. `segments` point into the value, which must outlive them.
struct encoded {
  buffer bytes;
  base::list<segment> segments;
  bool holds_references = false;  ///< futures or handles are inside: decode it exactly once

  std::size_t total_bytes() const {
    std::size_t total = bytes.size();
    for (const segment& s : segments) total += s.bytes;
    return total;
  }
};

}  // namespace manta::wire
