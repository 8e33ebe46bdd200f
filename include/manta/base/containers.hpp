// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Containers for the plain records that the layers above keep: pointers, indices, small structs that memcpy may move.
// Their operations are few and share untyped code, because each element type of a standard container costs every user's
// compiler some fifty functions.
#pragma once

#include <sys/mman.h>

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

/// Calls realloc, and throws std::bad_alloc if it fails.
inline void* resize_memory(void* memory, std::size_t bytes) {
  void* moved = std::realloc(memory, bytes);
  if (moved == nullptr) throw std::bad_alloc();
  return moved;
}

/// The untyped part of a growing array: all element types share the code that manages memory. Some eighty element types
/// are compiled into each program, so short functions are inlined even without optimisation.
class raw_list {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  void pop_back() { --size_; }

 protected:
  raw_list() = default;
  raw_list(const raw_list&) = delete;
  raw_list& operator=(const raw_list&) = delete;
  ~raw_list() { std::free(data_); }
  void swap_with(raw_list& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void reserve_elements(std::size_t count, std::size_t element_bytes) {
    if (count <= capacity_) return;
    data_ = resize_memory(data_, count * element_bytes);
    capacity_ = count;
  }
  /// Makes room for one more element and returns its place.
  void* grow(std::size_t element_bytes) {
    if (size_ == capacity_) reserve_elements(capacity_ < 8 ? 8 : 2 * capacity_, element_bytes);
    return static_cast<char*>(data_) + size_++ * element_bytes;
  }
  /// Removes element i; the elements behind it move up.
  void close_gap(std::size_t i, std::size_t element_bytes) {
    char* const at = static_cast<char*>(data_) + i * element_bytes;
    std::memmove(at, at + element_bytes, (size_ - i - 1) * element_bytes);
    --size_;
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <class T>
class list : public raw_list {
  static_assert(std::is_trivially_copyable_v<T>);
  using size_type = std::size_t;

 public:
  [[gnu::always_inline]] list() {}
  [[gnu::always_inline]] list(list&& other) noexcept { swap_with(other); }
  [[gnu::always_inline]] list& operator=(list&& other) noexcept {
    swap_with(other);
    return *this;
  }
  [[gnu::always_inline]] ~list() {}
  [[gnu::always_inline]] void swap(list& other) noexcept { swap_with(other); }

  [[gnu::always_inline]] T& operator[](size_type i) { return static_cast<T*>(data_)[i]; }
  [[gnu::always_inline]] const T& operator[](size_type i) const { return static_cast<const T*>(data_)[i]; }
  [[gnu::always_inline]] T& back() { return static_cast<T*>(data_)[size_ - 1]; }
  [[gnu::always_inline]] T* data() { return static_cast<T*>(data_); }
  [[gnu::always_inline]] const T* data() const { return static_cast<const T*>(data_); }
  [[gnu::always_inline]] T* begin() { return static_cast<T*>(data_); }
  [[gnu::always_inline]] T* end() { return static_cast<T*>(data_) + size_; }
  [[gnu::always_inline]] const T* begin() const { return static_cast<const T*>(data_); }
  [[gnu::always_inline]] const T* end() const { return static_cast<const T*>(data_) + size_; }

  [[gnu::always_inline]] void push_back(const T& value) {
    const T copy = value;  // `value` may be an element of this list
    *static_cast<T*>(grow(sizeof(T))) = copy;
  }
  [[gnu::always_inline]] void reserve(size_type count) { reserve_elements(count, sizeof(T)); }
  /// Changes the size; new elements are copies of `value`.
  void resize(size_type count, T value) {
    reserve(count);
    T* const end = data() + count;
    for (T* each = data() + size_; each < end; ++each) *each = value;
    size_ = count;
  }
  /// Removes element i; the last element takes its place.
  [[gnu::always_inline]] void remove_unordered(size_type i) { (*this)[i] = (*this)[--size_]; }
  /// Removes the first element with this value and keeps the order; false if there is none.
  bool remove(T value) {
    for (size_type i = 0; i < size_; ++i) {
      if ((*this)[i] != value) continue;
      close_gap(i, sizeof(T));
      return true;
    }
    return false;
  }
};

/// A first-in first-out queue.
template <class T>
class ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[gnu::always_inline]] ring() {}
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  [[gnu::always_inline]] ~ring() { std::free(data_); }

  [[gnu::always_inline]] bool empty() const { return first_ == last_; }
  [[gnu::always_inline]] std::size_t size() const { return last_ - first_; }
  [[gnu::always_inline]] T front() const { return data_[first_ & (capacity_ - 1)]; }
  [[gnu::always_inline]] void push_back(T value) {
    if (size() == capacity_) grow();
    data_[last_++ & (capacity_ - 1)] = value;
  }
  [[gnu::always_inline]] T pop_front() { return data_[first_++ & (capacity_ - 1)]; }

 private:
  void grow() {
    const std::size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    data_ = static_cast<T*>(resize_memory(data_, capacity * sizeof(T)));
    // Each element gets its place in the doubled array, whether it had wrapped around or not.
    for (std::size_t i = first_; i != last_; ++i) {
      const std::size_t before = i & (capacity_ - 1), after = i & (capacity - 1);
      if (before != after) data_[after] = data_[before];
    }
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t first_ = 0, last_ = 0;  // positions that only grow
  std::size_t capacity_ = 0;          // a power of two
};

/// A map from 64-bit keys to 64-bit values, by open addressing with linear probing; at most half full.
class index_table {
 public:
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};  ///< must not be used as a key

  index_table() = default;
  index_table(const index_table&) = delete;
  index_table& operator=(const index_table&) = delete;
  ~index_table() { std::free(entries_); }

  std::size_t size() const { return size_; }

  /// The value of a key, or null. The pointer is valid until the next insertion or removal.
  std::uint64_t* find(std::uint64_t key) {
    if (size_ == 0) return nullptr;
    entry& e = entries_[place_of(key)];
    return e.key == key ? &e.value : nullptr;
  }
  /// The value of a key; inserts `otherwise` if the key is missing.
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
    // Each entry behind the hole that may stand in the hole moves up.
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
  /// Calls visit(key, value) for each entry, in no particular order.
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

/// Zeroed blocks of at least this size are mappings of their own, whose pages take no memory before they are written.
inline constexpr std::size_t least_mapping = std::size_t{8} << 10;
/// Zeroed memory, which free_zeroed() takes back.
inline void* zeroed_memory(std::size_t bytes) {
  void* made = nullptr;
  if (bytes < least_mapping) {
    made = std::calloc(bytes == 0 ? 1 : bytes, 1);
  } else {
    made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) made = nullptr;
  }
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
inline void free_zeroed(void* memory, std::size_t bytes) {
  if (bytes < least_mapping) return std::free(memory);
  ::munmap(memory, bytes);
}

/// Is a new object nothing but zeros? A class whose constructor would only write zeros says so by a
/// member of this name.
template <class T>
constexpr bool begins_as_zeros = alignof(T) <= alignof(std::max_align_t) &&
                                 (std::is_trivially_default_constructible_v<T> ||
                                  requires { requires T::begins_as_zeros; });

/// A fixed number of objects of any type; they never move. Where a new object is nothing but zeros, those that are
/// never written take no memory if there are many: of what a rank keeps for each other rank, it uses little.
template <class T>
class array {
 public:
  [[gnu::always_inline]] array() {}
  [[gnu::always_inline]] explicit array(std::size_t count) : data_(make(count)), size_(count) {}
  [[gnu::always_inline]] array(array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  [[gnu::always_inline]] array& operator=(array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  [[gnu::always_inline]] ~array() {
    if constexpr (begins_as_zeros<T>) {
      if constexpr (!std::is_trivially_destructible_v<T>) {
        for (T* each = begin(); each != end(); ++each) each->~T();
      }
      free_zeroed(data_, size_ * sizeof(T));
    } else {
      delete[] data_;
    }
  }

  [[gnu::always_inline]] std::size_t size() const { return size_; }
  [[gnu::always_inline]] T& operator[](std::size_t i) { return data_[i]; }
  [[gnu::always_inline]] const T& operator[](std::size_t i) const { return data_[i]; }
  [[gnu::always_inline]] T* begin() { return data_; }
  [[gnu::always_inline]] T* end() { return data_ + size_; }
  [[gnu::always_inline]] const T* begin() const { return data_; }
  [[gnu::always_inline]] const T* end() const { return data_ + size_; }

 private:
  [[gnu::always_inline]] static T* make(std::size_t count) {
    if constexpr (begins_as_zeros<T>) {
      return static_cast<T*>(zeroed_memory(count * sizeof(T)));
    } else {
      return new T[count]();
    }
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace manta::base
