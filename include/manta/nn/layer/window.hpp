// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A square window that moves over the planes of an image: what convolution and pooling share.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "manta/error.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

struct window {
  int channels, height, width;  ///< of the image
  int size, stride, padding;
  int out_height, out_width;

  /// Throws where the input is no image or smaller than the window. The size is s.sizes[at]; 0 stands for the whole
  /// image. The stride of a convolution is 1, and that of pooling the size, where nothing else is said.
  window(const spec& s, std::size_t at, const shape& in)
      : size(s.sizes[at]), padding(static_cast<int>(s.option("padding", 0))) {
    if (in.dimensions() != 3) throw error("it needs an image, nn::shape{channels, height, width}");
    channels = in[0], height = in[1], width = in[2];
    if (size == 0 && height != width) throw error("a window of the whole image needs one that is as high as wide");
    if (size == 0) size = height;
    stride = static_cast<int>(s.option("stride", at == 1 ? 1 : size));
    if (size < 1 || stride < 1 || padding < 0 || padding >= size)
      throw error("size and stride have to be at least 1, and the padding smaller than the size");
    if (height + 2 * padding < size || width + 2 * padding < size)
      throw error("a window of " + std::to_string(size) + " needs an image of at least " +
                  std::to_string(size - 2 * padding) + " x " + std::to_string(size - 2 * padding) +
                  " for its padding of " + std::to_string(padding));
    out_height = (height + 2 * padding - size) / stride + 1;
    out_width = (width + 2 * padding - size) / stride + 1;
  }

  [[nodiscard]] shape output(int out_channels) const { return shape{out_channels, out_height, out_width}; }
  [[nodiscard]] Eigen::Index positions() const { return Eigen::Index{out_height} * out_width; }

  /// The output positions [first, last) along an axis at which offset k of the window lies inside the image.
  [[nodiscard]] std::pair<int, int> inside(int k, int extent, int outputs) const {
    const int first = std::min(outputs, std::max(0, (padding - k + stride - 1) / stride));
    const int last = std::min(outputs, (extent - 1 + padding - k) / stride + 1);
    return {first, extent - 1 + padding < k ? first : std::max(first, last)};
  }

  /// What each position sees at offset (ky, kx) of the window: 0 outside the image.
  template <class T>
  void copy_shifted(const T* plane, int ky, int kx, T* column) const {
    const auto [top, bottom] = inside(ky, height, out_height);
    const auto [left, right] = inside(kx, width, out_width);
    std::fill(column, column + top * out_width, T{0});
    for (int y = top; y < bottom; ++y) {
      T* to = column + y * out_width;
      const T* from = plane + (y * stride + ky - padding) * width + kx - padding;
      std::fill(to, to + left, T{0});
      if (stride == 1) {
        std::copy(from + left, from + right, to + left);
      } else {
        for (int x = left; x < right; ++x) to[x] = from[x * stride];
      }
      std::fill(to + right, to + out_width, T{0});
    }
    std::fill(column + bottom * out_width, column + positions(), T{0});
  }

  template <class T>
  void add_shifted(const T* column, int ky, int kx, T* plane) const {
    const auto [top, bottom] = inside(ky, height, out_height);
    const auto [left, right] = inside(kx, width, out_width);
    for (int y = top; y < bottom; ++y) {
      const T* from = column + y * out_width;
      T* to = plane + (y * stride + ky - padding) * width + kx - padding;
      for (int x = left; x < right; ++x) to[x * stride] += from[x];
    }
  }
};

}  // namespace manta::nn::detail
