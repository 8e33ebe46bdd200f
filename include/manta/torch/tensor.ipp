// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/torch/tensor.hpp"

namespace manta {

MANTA_DECL torch_tensor::torch_tensor(at::Tensor t) {
  if (!t.defined()) return;
  if (t.layout() != at::kStrided || t.is_quantized())
    throw error("manta: torch: a torch_tensor is dense, and this tensor is " +
                std::string(t.is_quantized() ? "quantised" : "sparse") + "; call .to_dense() or .dequantize()");
  if (t.dim() > static_cast<std::int64_t>(most_extents))
    throw error(base::text("manta: torch: a torch_tensor has at most {} extents, and this tensor has {}; reshape it",
                           most_extents, t.dim()));
  // Memory that libtorch has not allocated itself (from_blob) may go before the value does.
  const bool is_alone = t.use_count() == 1 && t.storage().use_count() == 1 && t.storage().resizable() &&
                        t.storage_offset() == 0 && t.device().is_cpu() && t.is_contiguous() && !t.requires_grad() &&
                        !t.is_conj() && !t.is_neg();
  if (is_alone) {
    tensor_ = std::move(t);
  } else {
    const at::Tensor numbers = t.detach().resolve_conj().resolve_neg();
    tensor_ = at::empty(numbers.sizes(), numbers.options().device(at::kCPU));
    tensor_.copy_(numbers);
  }
}

MANTA_DECL torch_tensor::shape torch_tensor::get_shape() const {
  shape s;
  if (!tensor_.defined()) return s;
  s.type = static_cast<std::int8_t>(tensor_.scalar_type());
  s.dimensions = static_cast<std::int8_t>(tensor_.dim());
  std::copy(tensor_.sizes().begin(), tensor_.sizes().end(), s.extents);
  return s;
}

MANTA_DECL void torch_tensor::set_shape(const shape& s) {
  tensor_ = at::Tensor();
  if (s.type < 0) return;
  tensor_ = at::empty(at::IntArrayRef(s.extents, static_cast<std::size_t>(s.dimensions)),
                      static_cast<at::ScalarType>(s.type));
}

}  // namespace manta
