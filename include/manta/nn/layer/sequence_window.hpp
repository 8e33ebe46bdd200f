// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A window that moves over the positions of a sequence: what convolution and pooling share.
#pragma once

#include <string>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

/// A window that moves over the positions of a sequence.
struct sequence_window {
  int length, features;  ///< extents of the sequence
  int size, stride, padding, dilation;
  int outputs;

  /// Throws where the input is no sequence or too short. The size is s.sizes[at]; 0 stands for the whole sequence. The
  /// stride of a convolution is 1, and that of pooling the size, where nothing else is said.
  sequence_window(const spec& s, std::size_t at, const shape& in)
      : size(s.sizes[at]),
        padding(static_cast<int>(s.option("padding", 0))),
        dilation(static_cast<int>(s.option("dilation", 1))) {
    if (in.dimensions() != 2) throw error("it needs a sequence, nn::shape{length, features}");
    length = in[0], features = in[1];
    if (size == 0) size = length;
    stride = static_cast<int>(s.option("stride", at == 1 ? 1 : size));
    if (size < 1 || stride < 1 || dilation < 1 || padding < 0)
      throw error("size, stride and dilation have to be at least 1, and the padding at least 0");
    const int reach = dilation * (size - 1) + 1;
    if (length + 2 * padding < reach)
      throw error(base::text("a window over {} positions needs a sequence of at least {} for its padding of {}", reach,
                             reach - 2 * padding, padding));
    outputs = (length + 2 * padding - reach) / stride + 1;
  }

  /// Calls f(position of the output, offset in the window, position of the input) where the window is inside.
  template <class Function>
  void each(Function f) const {
    for (int t = 0; t < outputs; ++t) {
      for (int k = 0; k < size; ++k) {
        const int from = t * stride - padding + k * dilation;
        if (from >= 0 && from < length) f(t, k, from);
      }
    }
  }
};

}  // namespace manta::nn::detail
