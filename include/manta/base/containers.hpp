// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Containers for the plain records that the layers above keep: pointers,
// indices, small structs that memcpy may move. Their operations are few and
// share untyped code, because each element type of a standard container costs
// every user's compiler some fifty functions.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "manta/base/hash.hpp"

namespace manta::base {

/// realloc that throws.
inline void* resize_memory(void* memory, std::size_t bytes) {
  void* moved = std::realloc(memory, bytes);
  if (moved == nullptr) throw std::bad_alloc();
  return moved;
}

/// A growing array.
template <class T>
class list {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  list() = default;
  list(list&& other) noexcept { swap(other); }
  list& operator=(list&& other) noexcept {
    swap(other);
    return *this;
  }
  ~list() { std::free(data_); }
  void swap(list& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ < 8 ? 8 : 2 * capacity_);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    data_ = static_cast<T*>(resize_memory(data_, count * sizeof(T)));
    capacity_ = count;
  }
  /// New elements are copies of `value`.
  void resize(std::size_t count, T value) {
    reserve(count);
    T* const end = data_ + count;
    for (T* each = data_ + size_; each < end; ++each) *each = value;
    size_ = count;
  }
  /// The last element takes the place of element i.
  void remove_unordered(std::size_t i) {
    data_[i] = data_[size_ - 1];
    --size_;
  }
  /// Keeps the order; true if it was there.
  bool remove(T value) {
    for (std::size_t i = 0; i < size_; ++i) {
      if (data_[i] != value) continue;
      std::memmove(data_ + i, data_ + i + 1, (size_ - i - 1) * sizeof(T));
      --size_;
      return true;
    }
    return false;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// First in, first out.
template <class T>
class ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ring() = default;
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring() { std::free(data_); }

  bool empty() const { return first_ == last_; }
  std::size_t size() const { return last_ - first_; }
  T front() const { return data_[first_ & (capacity_ - 1)]; }
  void push_back(T value) {
    if (size() == capacity_) grow();
    data_[last_++ & (capacity_ - 1)] = value;
  }
  T pop_front() { return data_[first_++ & (capacity_ - 1)]; }

 private:
  void grow() {
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    data_ = static_cast<T*>(resize_memory(data_, capacity * sizeof(T)));
    // what had wrapped around, and what had not, finds its place in the doubled array
    for (std::size_t i = first_; i != last_; ++i) {
      const std::size_t before = i & (capacity_ - 1), after = i & (capacity - 1);
      if (before != after) data_[after] = data_[before];
    }
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t first_ = 0, last_ = 0;  // they only grow
  std::size_t capacity_ = 0;          // a power of two
};

/// From a 64-bit key to a 64-bit value. Open addressing with linear probing, at most half full.
class index_table {
 public:
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};  ///< must not be used as a key

  index_table() = default;
  index_table(const index_table&) = delete;
  index_table& operator=(const index_table&) = delete;
  ~index_table() { std::free(entries_); }

  std::size_t size() const { return size_; }

  /// The value, or null. Holds until the next insertion or removal.
  std::uint64_t* find(std::uint64_t key) {
    if (size_ == 0) return nullptr;
    entry& e = entries_[place_of(key)];
    return e.key == key ? &e.value : nullptr;
  }
  /// The value, inserted as `otherwise` if it was not there.
  std::uint64_t& insert(std::uint64_t key, std::uint64_t otherwise = 0) {
    assert(key != no_key);
    if (2 * (size_ + 1) > capacity_) grow();
    entry& e = entries_[place_of(key)];
    if (e.key != key) {
      e = {key, otherwise};
      ++size_;
    }
    return e.value;
  }
  void erase(std::uint64_t key) {
    if (size_ == 0) return;
    std::size_t hole = place_of(key);
    if (entries_[hole].key != key) return;
    --size_;
    // whoever stands behind the hole and could stand in it moves up
    for (std::size_t i = next(hole); entries_[i].key != no_key; i = next(i)) {
      const std::size_t wanted = mix(entries_[i].key) & (capacity_ - 1);
      if (((i - wanted) & (capacity_ - 1)) < ((i - hole) & (capacity_ - 1))) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole].key = no_key;
  }
  void clear() {
    std::free(std::exchange(entries_, nullptr));
    size_ = capacity_ = 0;
  }
  /// visit(key, value) for each entry, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (entries_[i].key != no_key) visit(entries_[i].key, entries_[i].value);
    }
  }

 private:
  struct entry {
    std::uint64_t key;
    std::uint64_t value;
  };
  std::size_t next(std::size_t i) const { return (i + 1) & (capacity_ - 1); }
  std::size_t place_of(std::uint64_t key) const {
    std::size_t i = mix(key) & (capacity_ - 1);
    while (entries_[i].key != key && entries_[i].key != no_key) i = next(i);
    return i;
  }
  void grow() {
    entry* const old = entries_;
    const std::size_t old_capacity = capacity_;
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    entries_ = static_cast<entry*>(resize_memory(nullptr, capacity * sizeof(entry)));
    capacity_ = capacity;
    for (std::size_t i = 0; i < capacity; ++i) entries_[i].key = no_key;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].key != no_key) entries_[place_of(old[i].key)] = old[i];
    }
    std::free(old);
  }

  entry* entries_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // a power of two
};

/// A fixed number of objects of any type; they never move.
template <class T>
class array {
 public:
  array() = default;
  explicit array(std::size_t count) : data_(new T[count]()), size_(count) {}
  array(array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  array& operator=(array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~array() { delete[] data_; }

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace manta::base
