// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/augment.hpp"

namespace manta::train {

namespace detail {
struct picture_size {
  std::size_t channels, height, width;
};
inline picture_size size_of_picture(std::size_t numbers, const nn::shape& shape) {
  if (shape.extents().size() != 3 || static_cast<std::size_t>(shape.size()) != numbers)
    throw error(base::text(
        "manta: train: a sample of {} numbers is no picture of the shape {}; pictures are {channels, height, width}",
        numbers, shape.text()));
  const auto extent = [&](std::size_t i) { return static_cast<std::size_t>(shape.extents()[i]); };
  return {extent(0), extent(1), extent(2)};
}
}  // namespace detail

template <class T>
void random_crop(std::span<T> picture, const nn::shape& shape, int padding, draws& random,
                 std::type_identity_t<T> fill) {
  const auto [channels, height, width] = detail::size_of_picture(picture.size(), shape);
  const auto choices = static_cast<std::uint64_t>(2 * std::max(0, padding) + 1);
  const auto down = static_cast<std::ptrdiff_t>(random.index(choices)) - padding,
             right = static_cast<std::ptrdiff_t>(random.index(choices)) - padding;
  const std::vector<T> from(picture.begin(), picture.end());
  std::fill(picture.begin(), picture.end(), fill);
  const auto inside = [](std::ptrdiff_t i, std::size_t n) { return i >= 0 && static_cast<std::size_t>(i) < n; };
  for (std::size_t row = 0; row < channels * height; ++row) {
    const std::ptrdiff_t y = static_cast<std::ptrdiff_t>(row % height) + down;
    if (!inside(y, height)) continue;
    const std::size_t source = (row - row % height + static_cast<std::size_t>(y)) * width;
    for (std::size_t x = 0; x < width; ++x) {
      const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(x) + right;
      if (inside(column, width)) picture[row * width + x] = from[source + static_cast<std::size_t>(column)];
    }
  }
}

template <class T>
void random_flip(std::span<T> picture, const nn::shape& shape, draws& random, double probability) {
  const auto [channels, height, width] = detail::size_of_picture(picture.size(), shape);
  if (random.uniform() >= probability) return;
  for (std::size_t row = 0; row < channels * height; ++row) {
    const auto line = picture.subspan(row * width, width);
    std::reverse(line.begin(), line.end());
  }
}

}  // namespace manta::train
