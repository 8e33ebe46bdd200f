// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An array of floats or of doubles, for code that is compiled once for both.
#pragma once

#include <cstddef>
#include <span>

#include "manta/train/source.hpp"

namespace manta::train::detail {

/// Refers to the array of a module or of an optimiser, such as its gradients.
class number_array {
 public:
  number_array() = default;
  number_array(std::span<float> array) : data_(array.data()), size_(array.size()) {}
  number_array(std::span<double> array) : data_(array.data()), size_(array.size()), is_double_(true) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * (is_double_ ? sizeof(double) : sizeof(float)); }

  /// Calls f with the array as std::span<float> or std::span<double>.
  template <class F>
  decltype(auto) visit(F&& f) const {
    if (is_double_) return f(std::span<double>(static_cast<double*>(data_), size_));
    return f(std::span<float>(static_cast<float*>(data_), size_));
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_double_ = false;
};

}  // namespace manta::train::detail
