// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The shape of one sample. Its numbers lie in one column of a matrix, the last extent fastest, as in PyTorch and NumPy.
//
//   nn::shape{784}          // 784 features
//   nn::shape{3, 32, 32}    // an image: channels, height, width
#pragma once

#include <cereal/types/vector.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "manta/nn/source.hpp"

namespace manta::nn {

class shape {
 public:
  shape() = default;
  shape(std::initializer_list<int> extents) : extents_(extents) {}
  explicit shape(std::vector<int> extents) : extents_(std::move(extents)) {}

  [[nodiscard]] int dimensions() const { return static_cast<int>(extents_.size()); }
  int operator[](int i) const { return extents_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const std::vector<int>& extents() const { return extents_; }
  /// The product of the extents.
  [[nodiscard]] MANTA_DECL int size() const;
  /// As in "3 x 32 x 32".
  [[nodiscard]] MANTA_DECL std::string text() const;

  bool operator==(const shape&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(extents_);
  }

 private:
  std::vector<int> extents_;
};

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/shape.ipp"
#endif
