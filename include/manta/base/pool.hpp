// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Records of fixed size. The record freed last is reused first, while it is still in the cache. Records lie in pages,
// which go back to the system only with the pool.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "manta/base/containers.hpp"

namespace manta::base {

template <class T, std::size_t PageRecords = 512>
class pool {
  union cell {
    cell* next;
    alignas(T) std::byte bytes[sizeof(T)];
  };

 public:
  pool() = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() {
    for (cell* page : pages_) delete[] page;
  }

  template <class... Args>
  T* make(Args&&... args) {
    if (free_ == nullptr) add_page();
    cell* c = free_;
    free_ = c->next;
    ++live_;
    return new (c->bytes) T{std::forward<Args>(args)...};
  }
  void free(T* record) {
    record->~T();
    cell* c = reinterpret_cast<cell*>(record);
    c->next = free_;
    free_ = c;
    --live_;
  }
  std::size_t live() const { return live_; }

 private:
  void add_page() {
    pages_.push_back(new cell[PageRecords]);
    for (std::size_t i = PageRecords; i-- > 0;) {
      pages_.back()[i].next = free_;
      free_ = &pages_.back()[i];
    }
  }

  cell* free_ = nullptr;
  base::list<cell*> pages_;
  std::size_t live_ = 0;
};

}  // namespace manta::base
