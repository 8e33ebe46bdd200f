// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A square window that moves over the planes of an image: what convolution and pooling share; and one that moves over
// volumes, of which an image is one of depth 1.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

struct window {
  int channels, height, width;  ///< extents of the image
  int size, stride, padding;
  int dilation;  ///< distance between neighbouring offsets of the window
  int out_height, out_width;

  /// Throws where the input is no image or smaller than the window. The size is s.sizes[at]; 0 stands for the whole
  /// image. The stride of a convolution is 1, and that of pooling the size, where nothing else is said.
  window(const spec& s, std::size_t at, const shape& in)
      : size(s.sizes[at]),
        padding(static_cast<int>(s.option("padding", 0))),
        dilation(static_cast<int>(s.option("dilation", 1))) {
    if (in.dimensions() != 3) throw error("it needs an image, nn::shape{channels, height, width}");
    channels = in[0], height = in[1], width = in[2];
    if (size == 0 && height != width) throw error("a window of the whole image needs one that is as high as wide");
    if (size == 0) size = height;
    stride = static_cast<int>(s.option("stride", at == 1 ? 1 : size));
    if (size < 1 || stride < 1 || padding < 0 || padding >= reach())
      throw error("size and stride have to be at least 1, and the padding smaller than the size");
    if (dilation < 1) throw error("the dilation has to be at least 1");
    if (height + 2 * padding < reach() || width + 2 * padding < reach())
      throw error(base::text("a window of {} needs an image of at least {} x {} for its padding of {}", reach(),
                             reach() - 2 * padding, reach() - 2 * padding, padding));
    out_height = outputs_of(height);
    out_width = outputs_of(width);
  }

  /// From the window's first offset to its last.
  [[nodiscard]] int reach() const { return dilation * (size - 1) + 1; }
  [[nodiscard]] int outputs_of(int extent) const { return (extent + 2 * padding - reach()) / stride + 1; }

  [[nodiscard]] shape output(int out_channels) const { return shape{out_channels, out_height, out_width}; }
  [[nodiscard]] Eigen::Index positions() const { return Eigen::Index{out_height} * out_width; }

  /// The output positions [first, last) along an axis at which what is k behind the window's begin lies in the image.
  [[nodiscard]] std::pair<int, int> inside(int k, int extent, int outputs) const {
    const int first = std::min(outputs, std::max(0, (padding - k + stride - 1) / stride));
    const int last = std::min(outputs, (extent - 1 + padding - k) / stride + 1);
    return {first, extent - 1 + padding < k ? first : std::max(first, last)};
  }

  /// What each position sees at offset (ky, kx) of the window: 0 outside the image.
  template <class T>
  void copy_shifted(const T* plane, int ky, int kx, T* column) const {
    ky *= dilation, kx *= dilation;
    const auto [top, bottom] = inside(ky, height, out_height);
    const auto [left, right] = inside(kx, width, out_width);
    const bool sees_border = top > 0 || bottom < out_height || left > 0 || right < out_width;
    if (sees_border) std::fill(column, column + positions(), T{0});
    for (int y = top; y < bottom; ++y) {
      T* to = column + y * out_width;
      const T* from = plane + (y * stride + ky - padding) * width + kx - padding;
      if (stride == 1) {
        std::copy(from + left, from + right, to + left);
      } else {
        for (int x = left; x < right; ++x) to[x] = from[x * stride];
      }
    }
  }

  template <class T>
  void add_shifted(const T* column, int ky, int kx, T* plane) const {
    ky *= dilation, kx *= dilation;
    const auto [top, bottom] = inside(ky, height, out_height);
    const auto [left, right] = inside(kx, width, out_width);
    for (int y = top; y < bottom; ++y) {
      const T* from = column + y * out_width;
      T* to = plane + (y * stride + ky - padding) * width + kx - padding;
      for (int x = left; x < right; ++x) to[x * stride] += from[x];
    }
  }
};

/// A window over the planes of a volume, {channels, depth, height, width}, or over one plane, an image.
struct volume_window {
  window plane;
  int depth = 1, size = 1, out_depth = 1;  ///< size: planes that the window sees
  bool is_image;

  /// The size is s.sizes[at], as window's.
  volume_window(const spec& s, std::size_t at, const shape& in, int dimensions)
      : plane(s, at, plane_of(in, dimensions)), is_image(dimensions == 2) {
    if (is_image) return;
    depth = in[1], size = plane.size;
    if (s.sizes[at] == 0 && depth != size) throw error("a window of the whole volume needs one that is a cube");
    if (depth + 2 * plane.padding < plane.reach())
      throw error(base::text("a window of {} needs a volume at least {} deep for its padding of {}", plane.reach(),
                             plane.reach() - 2 * plane.padding, plane.padding));
    out_depth = plane.outputs_of(depth);
  }

  [[nodiscard]] shape output(int out_channels) const {
    if (is_image) return plane.output(out_channels);
    return shape{out_channels, out_depth, plane.out_height, plane.out_width};
  }
  [[nodiscard]] Eigen::Index positions() const { return out_depth * plane.positions(); }
  /// The offsets of the window, and the numbers of a channel.
  [[nodiscard]] int offsets() const { return size * plane.size * plane.size; }
  [[nodiscard]] Eigen::Index extent() const { return Eigen::Index{depth} * plane.height * plane.width; }

  /// Calls f(number of the output's plane, number of the plane that offset kz sees), the latter -1 outside the volume.
  template <class Function>
  void each_plane(int kz, Function f) const {
    for (int z = 0; z < out_depth; ++z) {
      const int from = is_image ? 0 : z * plane.stride + kz * plane.dilation - plane.padding;
      f(z, from >= 0 && from < depth ? from : -1);
    }
  }
  /// As window's, for the offset (kz, ky, kx).
  template <class T>
  void copy_shifted(const T* channel, int kz, int ky, int kx, T* column) const {
    each_plane(kz, [&](int z, int from) {
      T* const to = column + z * plane.positions();
      if (from < 0) {
        std::fill(to, to + plane.positions(), T{0});
      } else {
        plane.copy_shifted(channel + Eigen::Index{from} * plane.height * plane.width, ky, kx, to);
      }
    });
  }
  template <class T>
  void add_shifted(const T* column, int kz, int ky, int kx, T* channel) const {
    each_plane(kz, [&](int z, int from) {
      if (from >= 0)
        plane.add_shifted(column + z * plane.positions(), ky, kx,
                          channel + Eigen::Index{from} * plane.height * plane.width);
    });
  }

 private:
  static shape plane_of(const shape& in, int dimensions) {
    if (dimensions == 2) return in;
    if (in.dimensions() != 4) throw error("it needs a volume, nn::shape{channels, depth, height, width}");
    return shape{in[0], in[2], in[3]};
  }
};

}  // namespace manta::nn::detail
