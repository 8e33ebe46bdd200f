// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Shared ownership of an immutable record that counts its owners itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace manta::base {

/// The base class of a record that can be shared.
struct counted {
  counted() = default;
  counted(const counted&) {}  // a copy begins without owners
  counted& operator=(const counted&) { return *this; }
  mutable std::atomic<std::uint32_t> owners{0};
};

template <class T>
class shared {
 public:
  shared() = default;
  shared(std::nullptr_t) {}
  /// Takes over a record made by `new`.
  explicit shared(T* record) : record_(record) { hold(); }
  shared(const shared& other) : record_(other.record_) { hold(); }
  shared(shared&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  shared& operator=(shared other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~shared() {
    if (record_ != nullptr && record_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete record_;
  }

  T* get() const { return record_; }
  T& operator*() const { return *record_; }
  T* operator->() const { return record_; }
  explicit operator bool() const { return record_ != nullptr; }
  friend bool operator==(const shared& s, std::nullptr_t) { return s.record_ == nullptr; }

 private:
  void hold() {
    if (record_ != nullptr) record_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  T* record_ = nullptr;
};

}  // namespace manta::base
