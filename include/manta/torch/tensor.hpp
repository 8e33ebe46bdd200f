// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tensors of libtorch as arguments and results of tasks, as members of classes that travel, and as matrices of Eigen.
//
//   manta::torch_tensor activate(const manta::torch_tensor& x) { return torch::relu(x.view()); }
//   torch::Tensor y = manta::async<activate>(torch::randn({1000, 1000})).get();
//
// A torch::Tensor is a handle: copies of it share their numbers, so that one of them can change what another one shows.
// A torch_tensor is a value, as a std::vector is. Its numbers are sent from where they lie and received in place, and
// the ranks of a node share those of a large one. As a member of a class, or where a copy more does not matter, a
// torch::Tensor travels too: cereal knows it.
#pragma once

#include <Eigen/Core>
#include <cereal/cereal.hpp>
#include <cereal/types/vector.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/signature.hpp"
#include "manta/torch/headers.hpp"
#include "manta/torch/source.hpp"

namespace manta {

/// A dense tensor in the memory of the processor, with numbers that no other tensor has.
class torch_tensor {
 public:
  /// The most extents that a torch_tensor has.
  static constexpr std::size_t most_extents = 12;
  /// What travels before the numbers.
  struct shape {
    std::int8_t type = -1;  ///< at::ScalarType; -1: an undefined tensor
    std::int8_t dimensions = 0;
    std::int64_t extents[most_extents] = {};
  };

  torch_tensor() = default;
  /// Takes the tensor over if nobody else has its numbers, as of a result that is returned or moved; else copies them.
  /// Gradients stay behind. Throws manta::error for tensors that are sparse, quantised, or of more extents than 12.
  MANTA_DECL torch_tensor(at::Tensor t);
  torch_tensor(const torch_tensor& other) : tensor_(other.tensor_.defined() ? other.tensor_.clone() : at::Tensor()) {}
  torch_tensor(torch_tensor&&) noexcept = default;
  torch_tensor& operator=(const torch_tensor& other) { return *this = torch_tensor(other); }
  torch_tensor& operator=(torch_tensor&&) noexcept = default;
  ~torch_tensor() = default;

  /// The tensor itself, without a copy: to be read while this value lives, and no longer.
  [[nodiscard]] const at::Tensor& view() const { return tensor_; }
  /// A copy, which the program may change and keep.
  operator at::Tensor() const& { return torch_tensor(*this).tensor_; }
  /// The tensor itself.
  operator at::Tensor() && { return std::move(tensor_); }

  /// The numbers as bytes.
  [[nodiscard]] std::byte* data() const {
    return tensor_.defined() ? static_cast<std::byte*>(tensor_.data_ptr()) : nullptr;
  }
  /// The number of bytes.
  [[nodiscard]] std::size_t size() const { return tensor_.defined() ? tensor_.nbytes() : 0; }

  [[nodiscard]] MANTA_DECL shape get_shape() const;
  /// Becomes a tensor of this shape, whose numbers are to be written.
  MANTA_DECL void set_shape(const shape& s);

 private:
  at::Tensor tensor_;
};

namespace wire {
template <>
struct array_shape<torch_tensor> {
  static torch_tensor::shape get(const torch_tensor& t) { return t.get_shape(); }
  static void set(torch_tensor& t, const torch_tensor::shape& s) { t.set_shape(s); }
};
}  // namespace wire

template <class Archive>
void save(Archive& archive, const torch_tensor& t) {
  const torch_tensor::shape s = t.get_shape();
  archive(s.type, s.dimensions);
  for (std::int8_t i = 0; i < s.dimensions; ++i) archive(s.extents[i]);
  archive(cereal::binary_data(t.data(), t.size()));
}
template <class Archive>
void load(Archive& archive, torch_tensor& t) {
  torch_tensor::shape s;
  archive(s.type, s.dimensions);
  if (s.dimensions < 0 || s.dimensions > static_cast<std::int8_t>(torch_tensor::most_extents))
    throw error(base::text("manta: torch: a tensor was saved with {} extents: the bytes are damaged", s.dimensions));
  for (std::int8_t i = 0; i < s.dimensions; ++i) archive(s.extents[i]);
  t.set_shape(s);
  archive(cereal::binary_data(t.data(), t.size()));
}

/// A tensor of samples x features that looks at a matrix of features x samples, a column for each sample, as nn has
/// it. The matrix has to live as long.
template <class T>
at::Tensor view_as_tensor(Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& m) {
  return at::from_blob(m.data(), {m.cols(), m.rows()}, c10::CppTypeToScalarType<T>::value);
}
/// A matrix of features x samples that looks at a tensor of samples x features, of whatever further extents. The
/// tensor has to live as long. Throws manta::error if it is not contiguous, or has numbers of another type.
template <class T>
Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> view_as_matrix(const at::Tensor& t) {
  if (!t.defined() || t.dim() == 0 || !t.is_contiguous() || !t.device().is_cpu() ||
      t.scalar_type() != c10::CppTypeToScalarType<T>::value)
    throw error(std::string("manta: torch: view_as_matrix needs a contiguous tensor of ") +
                c10::toString(c10::CppTypeToScalarType<T>::value) +
                " in the processor's memory; call .contiguous(), or .to(..)");
  const std::int64_t samples = t.size(0);
  return {t.data_ptr<T>(), samples == 0 ? 0 : t.numel() / samples, samples};
}

}  // namespace manta

namespace at {
/// Tensors as members of classes that travel or are saved, for cereal's archives of bytes.
template <class Archive>
void save(Archive& archive, const Tensor& t) {
  manta::save(archive, manta::torch_tensor(t));
}
template <class Archive>
void load(Archive& archive, Tensor& t) {
  manta::torch_tensor value;
  manta::load(archive, value);
  t = std::move(value);
}
}  // namespace at

#ifndef MANTA_COMPILED
#include "manta/torch/tensor.ipp"
#endif
