// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network of libtorch at work, without its types: all parameters, gradients and floating-point buffers lie in one
// array each, at which the network's own tensors look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "manta/nn/module.hpp"
#include "manta/torch/net.hpp"

namespace manta::detail {

/// An array of float or double.
struct torch_array {
  void* data = nullptr;
  std::size_t size = 0;
};
/// A matrix of float or double, a column for each sample.
struct torch_matrix {
  const void* data = nullptr;
  std::int64_t rows = 0, columns = 0;
};

class torch_core {
 public:
  /// Parameters and buffers become double or float. Throws manta::error if the network cannot be made.
  MANTA_DECL torch_core(const torch_origin& origin, bool is_double);
  torch_core(const torch_core&) = delete;
  torch_core& operator=(const torch_core&) = delete;
  MANTA_DECL ~torch_core();

  [[nodiscard]] MANTA_DECL const torch_origin& origin() const;
  [[nodiscard]] MANTA_DECL torch_array parameters() const;
  [[nodiscard]] MANTA_DECL torch_array gradients() const;
  [[nodiscard]] MANTA_DECL torch_array buffers() const;
  /// Buffers of integers, such as the number of batches of batch norm.
  [[nodiscard]] MANTA_DECL std::vector<std::int64_t> counts() const;
  MANTA_DECL void counts(const std::vector<std::int64_t>& numbers);
  /// Names and shapes of the parameters.
  [[nodiscard]] MANTA_DECL std::string describe() const;
  MANTA_DECL void save(const std::string& path) const;

  /// Makes the network anew, from random numbers of this seed.
  MANTA_DECL void initialise(std::uint64_t seed);
  MANTA_DECL void mode(const nn::pass& p);
  /// The result lives until the next forward.
  MANTA_DECL torch_matrix forward(const torch_matrix& x);
  /// Null: nobody asks when gradients are final.
  MANTA_DECL void backward(const torch_matrix& dy, const nn::gradients_ready* ready);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace manta::detail

#ifndef MANTA_COMPILED
#include "manta/torch/core.ipp"
#endif
