// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whose save() runs on a thread: the value's type, the function that made it, and the task that answers for it. When a
// save() ends the process, the report names them, and the death counts for that task.
#pragma once

#include <cstdint>

#include "manta/graph/ids.hpp"

namespace manta::store {

/// The thread may run the save() of a value, from construction to destruction.
class saving {
 public:
  /// `task`: the id of the task that has made the value, or with which it is sent; 0: none is known.
  saving(std::uint32_t type, std::uint32_t function, std::uint64_t task)
      : type_(type), function_(function), task_(task), outer_(innermost_) {
    innermost_ = this;
  }
  /// The function and the task are those of the saving around this one.
  explicit saving(std::uint32_t type)
      : saving(type, innermost_ == nullptr ? graph::no_index : innermost_->function_, task_now()) {}
  ~saving() { innermost_ = outer_; }
  saving(const saving&) = delete;
  saving& operator=(const saving&) = delete;

  /// What runs on the calling thread; null: no save() does.
  static const saving* innermost() { return innermost_; }
  /// The task that answers for what is saved on the calling thread; 0: none.
  static std::uint64_t task_now() { return innermost_ == nullptr ? 0 : innermost_->task_; }

  std::uint32_t type() const { return type_; }
  std::uint32_t function() const { return function_; }  ///< graph::no_index: not known
  std::uint64_t task() const { return task_; }

 private:
  std::uint32_t type_, function_;
  std::uint64_t task_;
  const saving* outer_;
  static inline thread_local const saving* innermost_ = nullptr;
};

}  // namespace manta::store
