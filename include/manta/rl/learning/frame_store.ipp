// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "manta/base/hash.hpp"
#include "manta/rl/learning/frame_store.hpp"

namespace manta::rl::detail {

MANTA_DECL std::uint32_t frame_store::keep(const float* observation) {
  const std::size_t size = code_.size();
  last_.resize(remembered);
  if (free_.empty()) {
    for (std::size_t i = 0; i < frames_of_chunk; ++i)
      free_.push_back(static_cast<std::uint32_t>(uses_.size() + frames_of_chunk - 1 - i));
    chunks_.emplace_back(size * frames_of_chunk);
    uses_.resize(uses_.size() + frames_of_chunk);
  }
  const std::uint32_t free = free_.back();
  auto* const place = chunks_[free / frames_of_chunk].data() + free % frames_of_chunk * size;
  code_.encode(observation, place);
  std::uint32_t& last = last_[base::hash_bytes(place, size) % remembered];
  if (uses_[last] > 0 && std::memcmp(frame(last), place, size) == 0) {
    ++uses_[last];
    return last;
  }
  free_.pop_back();
  uses_[free] = 1;
  return last = free;
}

MANTA_DECL void frame_store::release(std::uint32_t number) {
  if (--uses_[number] == 0) free_.push_back(number);
}

}  // namespace manta::rl::detail
