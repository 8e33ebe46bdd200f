// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Convolutions of stride 1 without a matrix of patches. In an image with a border of zeros, what all positions see at
// one offset of the window is the plane itself, shifted: one stretch of memory. So the sums over the window are taken
// from the image, with tiles of sums in registers. Positions lie in rows of the bordered width; the few behind the end
// of a row are computed and left out. The order of each sum is fixed.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "manta/nn/source.hpp"

namespace manta::nn::detail {

/// With packets of 16 bytes (x86 without -march=native) Eigen's product is quicker, patches included.
template <class T>
inline constexpr bool has_wide_packets = Eigen::internal::packet_traits<T>::size * sizeof(T) >= 32;

/// Images of some planes, a square window, and a border of zeros.
struct bordered_planes {
  int planes, height, width, size, border;

  [[nodiscard]] Eigen::Index row() const { return Eigen::Index{width} + 2 * border; }
  [[nodiscard]] Eigen::Index plane() const { return row() * (height + 2 * border); }
  [[nodiscard]] int out_height() const { return height + 2 * border - size + 1; }
  [[nodiscard]] int out_width() const { return width + 2 * border - size + 1; }
  /// The positions of an image, those behind the ends of rows included, up to the next whole packet.
  template <class T>
  [[nodiscard]] Eigen::Index positions() const {
    constexpr Eigen::Index width_of_packet = Eigen::internal::packet_traits<T>::size;
    return (out_height() * row() + width_of_packet - 1) / width_of_packet * width_of_packet;
  }
  /// The numbers of an image, and what packets read beyond it.
  template <class T>
  [[nodiscard]] Eigen::Index extent() const {
    return planes * plane() + size + Eigen::Index{Eigen::internal::packet_traits<T>::size};
  }
  /// Copies an image into `to`, whose border is zero already.
  template <class T>
  void copy(const T* image, T* to) const {
    for (int c = 0; c < planes; ++c) {
      for (int y = 0; y < height; ++y, image += width)
        std::copy(image, image + width, to + c * plane() + (y + border) * row() + border);
    }
  }
  /// Where the plane begins that positions see at each offset of the window, for all planes.
  [[nodiscard]] std::vector<Eigen::Index> offsets() const {
    std::vector<Eigen::Index> all;
    for (int c = 0; c < planes; ++c) {
      for (int ky = 0; ky < size; ++ky) {
        for (int kx = 0; kx < size; ++kx) all.push_back(c * plane() + ky * row() + kx);
      }
    }
    return all;
  }
};

/// What positions see through four filters.
template <class T>
class filtered_planes {
  using packet = typename Eigen::internal::packet_traits<T>::type;
  static constexpr Eigen::Index width = Eigen::internal::packet_traits<T>::size;

 public:
  static constexpr int filters_at_once = 4;

  explicit filtered_planes(const bordered_planes& in)
      : in_(in), offsets_(in.offsets()), image_(static_cast<std::size_t>(in.extent<T>()), T(0)) {}

  /// Takes the weights: weight(f, k) is that of filter f for offset k.
  template <class Weight>
  void set_filters(int count, Weight weight) {
    filters_ = count;
    weights_.assign(
        (static_cast<std::size_t>(count) + filters_at_once - 1) / filters_at_once * filters_at_once * offsets_.size(),
        T(0));
    for (int f = 0; f < count; ++f) {
      T* to = weights_.data() + f / filters_at_once * filters_at_once * static_cast<int>(offsets_.size()) +
              f % filters_at_once;
      for (int k = 0; k < static_cast<int>(offsets_.size()); ++k) to[k * filters_at_once] = weight(f, k);
    }
  }

  /// result: a plane for each filter; set to the sums and the filter's number in `bias`, which may be null.
  void filter(const T* image, const T* bias, T* result) {
    const Eigen::Index positions = in_.positions<T>();
    in_.copy(image, image_.data());
    sums_.resize(static_cast<std::size_t>(positions) * filters_at_once);
    for (int f = 0; f < filters_; f += filters_at_once) {
      const T* const weights = weights_.data() + f * static_cast<int>(offsets_.size());
      Eigen::Index p = 0;
      for (; p + 3 * width <= positions; p += 3 * width) set_tile<3>(weights, p);
      if (p + 2 * width <= positions) set_tile<2>(weights, p), p += 2 * width;
      if (p < positions) set_tile<1>(weights, p);
      for (int i = 0; i < std::min(filters_at_once, filters_ - f); ++i)
        copy_rows(sums_.data() + i * positions, bias ? bias[f + i] : T(0),
                  result + Eigen::Index{f + i} * in_.out_height() * in_.out_width());
    }
  }

 private:
  template <int Packets>
  void set_tile(const T* weights, Eigen::Index p) {
    packet sums[filters_at_once][static_cast<std::size_t>(Packets)];
    for (auto& row : sums) {
      for (packet& sum : row) sum = Eigen::internal::pset1<packet>(T(0));
    }
    for (const Eigen::Index offset : offsets_) {
      const T* const seen = image_.data() + offset + p;
      packet x[static_cast<std::size_t>(Packets)];
      for (int v = 0; v < Packets; ++v) x[v] = Eigen::internal::ploadu<packet>(seen + v * width);
      for (int f = 0; f < filters_at_once; ++f) {
        const packet weight = Eigen::internal::pset1<packet>(weights[f]);
        for (int v = 0; v < Packets; ++v) sums[f][v] = Eigen::internal::pmadd(x[v], weight, sums[f][v]);
      }
      weights += filters_at_once;
    }
    for (int f = 0; f < filters_at_once; ++f) {
      for (int v = 0; v < Packets; ++v)
        Eigen::internal::pstoreu(sums_.data() + f * in_.positions<T>() + p + v * width, sums[f][v]);
    }
  }
  void copy_rows(const T* from, T bias, T* to) const {
    const int n = in_.out_width();
    for (int y = 0; y < in_.out_height(); ++y, from += in_.row(), to += n) {
      for (int x = 0; x < n; ++x) to[x] = from[x] + bias;
    }
  }

  bordered_planes in_;
  std::vector<Eigen::Index> offsets_;
  int filters_ = 0;
  std::vector<T> image_, weights_, sums_;
};

}  // namespace manta::nn::detail
