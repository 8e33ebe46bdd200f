// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Observations of a replay memory, each once: the one after a transition is that of a later transition too.
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <vector>

#include "manta/rl/source.hpp"
#include "manta/rl/workers/observation_code.hpp"

namespace manta::rl::detail {

class frame_store {
 public:
  frame_store() = default;
  explicit frame_store(observation_code code) : code_(std::move(code)) {}

  /// Keeps an observation, or finds it among the last ones that were kept. The number stays its own until it is
  /// released as often as it was given.
  MANTA_DECL std::uint32_t keep(const float* observation);
  MANTA_DECL void release(std::uint32_t number);
  void read(std::uint32_t number, float* observation) const { code_.decode(frame(number), observation); }
  [[nodiscard]] const observation_code& code() const { return code_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(code_, chunks_, uses_, free_, last_);
  }

 private:
  static constexpr std::size_t frames_of_chunk = 256, remembered = 4096;

  [[nodiscard]] const unsigned char* frame(std::uint32_t number) const {
    return chunks_[number / frames_of_chunk].data() + number % frames_of_chunk * code_.size();
  }

  observation_code code_;
  std::vector<std::vector<unsigned char>> chunks_;
  std::vector<std::uint32_t> uses_;  ///< uses of each frame; 0: it is free
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> last_;  ///< frames that were kept last, by a part of their hash
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/learning/frame_store.ipp"
#endif
