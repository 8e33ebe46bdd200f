// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Augmentation: training samples that differ a little each time they are used. A recipe's member does it, with random
// numbers that follow from the seed, the step and the sample's number, so the result does not depend on the workers.
//
//   void augment(std::span<float> picture, train::draws& random) const {
//     train::random_crop(picture, {3, 32, 32}, 4, random);
//     train::random_flip(picture, {3, 32, 32}, random);
//   }
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "manta/nn/random.hpp"
#include "manta/nn/shape.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

/// The random numbers for one use of one sample, one after the other.
class draws {
 public:
  draws(std::uint64_t seed, std::uint64_t step, std::uint64_t sample) : numbers_(seed ^ base::mix(step), sample, 2) {}

  /// In (0, 1).
  double uniform() { return numbers_.uniform(next_++); }
  /// Mean 0, variance 1.
  double normal() { return numbers_.normal(next_++); }
  /// 0 to n - 1, each as likely as the others.
  std::uint64_t index(std::uint64_t n) { return n == 0 ? 0 : numbers_.bits(next_++) % n; }

 private:
  nn::random numbers_;
  std::uint64_t next_ = 0;
};

/// Moves the picture, of shape {channels, height, width}, by up to `padding` rows and columns; `fill` comes in at the
/// edges. Throws if the picture has another size.
template <class T>
void random_crop(std::span<T> picture, const nn::shape& shape, int padding, draws& random,
                 std::type_identity_t<T> fill = T(0));
/// Mirrors the picture left to right with this probability.
template <class T>
void random_flip(std::span<T> picture, const nn::shape& shape, draws& random, double probability = 0.5);

#ifdef MANTA_COMPILED
extern template void random_crop(std::span<float>, const nn::shape&, int, draws&, float);
extern template void random_crop(std::span<double>, const nn::shape&, int, draws&, double);
extern template void random_flip(std::span<float>, const nn::shape&, draws&, double);
extern template void random_flip(std::span<double>, const nn::shape&, draws&, double);
#endif

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/augment.ipp"
#endif
