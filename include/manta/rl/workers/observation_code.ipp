// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>

#include "manta/rl/workers/observation_code.hpp"

namespace manta::rl {

MANTA_DECL observation_code::observation_code(const space& observations) : features_(observations.features()) {
  std::vector<const space*> parts = observations.parts();
  if (parts.empty()) parts.push_back(&observations);
  int at = 0;
  for (const space* part : parts) {
    const box* const b = part->as_box();
    if (b != nullptr && b->bytes) bytes_.emplace_back(at, at + part->features());
    at += part->features();
  }
}

MANTA_DECL std::size_t observation_code::size() const {
  int bytes = 0;
  for (const auto& [first, end] : bytes_) bytes += end - first;
  return static_cast<std::size_t>(bytes) + static_cast<std::size_t>(features_ - bytes) * sizeof(float);
}

MANTA_DECL void observation_code::encode(const float* observation, unsigned char* to) const {
  int at = 0;
  const auto copy_floats = [&](int end) {
    const auto size = static_cast<std::size_t>(end - at) * sizeof(float);
    std::memcpy(to, observation + at, size);
    to += size;
  };
  for (const auto& [first, end] : bytes_) {
    copy_floats(first);
    to = std::transform(observation + first, observation + end, to,
                        [](float x) { return static_cast<unsigned char>(x); });
    at = end;
  }
  copy_floats(features_);
}

MANTA_DECL void observation_code::decode(const unsigned char* from, float* observation) const {
  int at = 0;
  const auto copy_floats = [&](int end) {
    const auto size = static_cast<std::size_t>(end - at) * sizeof(float);
    std::memcpy(observation + at, from, size);
    from += size;
  };
  for (const auto& [first, end] : bytes_) {
    copy_floats(first);
    std::copy(from, from + (end - first), observation + first);
    from += end - first;
    at = end;
  }
  copy_floats(features_);
}

}  // namespace manta::rl
