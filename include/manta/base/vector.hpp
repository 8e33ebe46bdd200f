// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A vector for the records that the engine keeps and reports. Each element type of std::vector costs the compiler of a
// header-only program some eighty functions, and the engine has sixty such types; vector costs five functions for each.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace manta::base {

/// The part of std::vector that the engine uses, with the same meaning. Short functions are inlined even without
/// optimisation. An element type must not throw when it is moved.
template <class T>
class vector {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  [[gnu::always_inline]] vector() {}
  [[gnu::always_inline]] explicit vector(std::size_t count) { resize(count); }
  vector(std::initializer_list<T> all) { append({all.begin(), all.size()}); }
  vector(const vector& other) { append(other); }
  [[gnu::always_inline]] vector(vector&& other) noexcept { swap(other); }
  [[gnu::always_inline]] vector& operator=(vector other) noexcept {
    swap(other);
    return *this;
  }
  [[gnu::always_inline]] ~vector() { release(); }

  [[gnu::always_inline]] std::size_t size() const { return size_; }
  [[gnu::always_inline]] bool empty() const { return size_ == 0; }
  [[gnu::always_inline]] T* data() { return data_; }
  [[gnu::always_inline]] const T* data() const { return data_; }
  [[gnu::always_inline]] T* begin() { return data_; }
  [[gnu::always_inline]] const T* begin() const { return data_; }
  [[gnu::always_inline]] T* end() { return data_ + size_; }
  [[gnu::always_inline]] const T* end() const { return data_ + size_; }
  [[gnu::always_inline]] T& operator[](std::size_t i) { return data_[i]; }
  [[gnu::always_inline]] const T& operator[](std::size_t i) const { return data_[i]; }
  [[gnu::always_inline]] T& front() { return data_[0]; }
  [[gnu::always_inline]] const T& front() const { return data_[0]; }
  [[gnu::always_inline]] T& back() { return data_[size_ - 1]; }
  [[gnu::always_inline]] const T& back() const { return data_[size_ - 1]; }

  friend bool operator==(const vector& left, const vector& right) {
    if (left.size_ != right.size_) return false;
    for (std::size_t i = 0; i < left.size_; ++i) {
      if (!(left.data_[i] == right.data_[i])) return false;
    }
    return true;
  }

  [[gnu::always_inline]] void swap(vector& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_, capacity = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = data, other.size_ = size, other.capacity_ = capacity;
  }
  [[gnu::always_inline]] void push_back(T value) { emplace_back(static_cast<T&&>(value)); }
  /// The arguments must not refer to elements of this vector.
  template <class... Arguments>
  [[gnu::always_inline]] T& emplace_back(Arguments&&... arguments) {
    make_room(1);
    T* const made = ::new (static_cast<void*>(data_ + size_)) T{static_cast<Arguments&&>(arguments)...};
    ++size_;
    return *made;
  }
  /// Adds copies of these elements, which are not elements of this vector.
  void append(std::span<const T> added) {
    make_room(added.size());
    for (const T& each : added) emplace_back(each);
  }
  /// Returns where the new element stands.
  T* insert(T* at, T value) {
    const std::size_t place = static_cast<std::size_t>(at - data_);
    push_back(static_cast<T&&>(value));
    for (std::size_t i = size_ - 1; i > place; --i) std::swap(data_[i - 1], data_[i]);
    return data_ + place;
  }
  [[gnu::always_inline]] void pop_back() { truncate(size_ - 1); }
  [[gnu::always_inline]] void clear() { truncate(0); }
  /// Removes the elements from `first` to before `last`; those behind them move up.
  void erase(T* first, T* last) {
    T* to = first;
    if (first == last) return;
    for (T* from = last; from != end(); ++from, ++to) *to = static_cast<T&&>(*from);
    truncate(static_cast<std::size_t>(to - data_));
  }
  [[gnu::always_inline]] void erase(T* at) { erase(at, at + 1); }
  /// Changes the size; new elements are as by T{}.
  void resize(std::size_t count) {
    if (count < size_) return truncate(count);
    make_room(count - size_);
    for (; size_ < count; ++size_) ::new (static_cast<void*>(data_ + size_)) T{};
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    vector larger;
    larger.data_ = static_cast<T*>(::operator new(count * sizeof(T)));
    larger.capacity_ = count;
    for (T& each : *this) ::new (static_cast<void*>(larger.data_ + larger.size_++)) T(static_cast<T&&>(each));
    swap(larger);
  }

 private:
  [[gnu::always_inline]] void make_room(std::size_t more) {
    if (size_ + more > capacity_) reserve(size_ + more < 2 * capacity_ ? 2 * capacity_ : size_ + more + 2);
  }
  void truncate(std::size_t count) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      size_ = count;
    } else {
      while (size_ > count) data_[--size_].~T();
    }
  }
  void release() {
    truncate(0);
    ::operator delete(data_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace manta::base
