// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How observations are kept and sent: numbers of an image, which are whole and from 0 to 255, as a byte each,
// others as floats.
#pragma once

#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "manta/rl/environments/space.hpp"

namespace manta::rl {

class observation_code {
 public:
  observation_code() = default;
  /// All numbers are floats.
  explicit observation_code(int features) : features_(features) {}
  /// For the features of observations of this space: those of boxes of bytes are bytes.
  MANTA_DECL explicit observation_code(const space& observations);

  [[nodiscard]] int features() const { return features_; }
  /// The bytes of an observation.
  [[nodiscard]] MANTA_DECL std::size_t size() const;
  MANTA_DECL void encode(const float* observation, unsigned char* to) const;
  MANTA_DECL void decode(const unsigned char* from, float* observation) const;

  bool operator==(const observation_code&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(features_, bytes_);
  }

 private:
  int features_ = 0;
  std::vector<std::pair<int, int>> bytes_;  ///< first and end of the features that are bytes, in their order
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/workers/observation_code.ipp"
#endif
