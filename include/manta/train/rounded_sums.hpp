// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sums over a team of numbers that travel as bfloat16: half the bytes of float. What rounding takes off a number is
// kept and added to it in the next step (error feedback, Seide et al. 2014), so that nothing is lost in the long run.
//
// MPI knows no bfloat16. Each member owns a chunk of a part: it receives the others' words for it, adds them as float
// in the order of the members, rounds the sum, and sends it to all. So all members get the same bits, in each run.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "manta/team.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

/// The nearest bfloat16, ties to even. NaN stays NaN, also under -ffast-math.
inline std::uint16_t to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t nearest = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(is_nan ? bits >> 16U | 0x40U : nearest);
}
inline float from_bfloat16(std::uint16_t word) { return std::bit_cast<float>(std::uint32_t(word) << 16U); }

class rounded_sums {
 public:
  explicit rounded_sums(const team& members) : team_(members) {}
  rounded_sums(const rounded_sums&) = delete;
  rounded_sums& operator=(const rounded_sums&) = delete;

  /// An array of `size` numbers of `width` bytes, float or double.
  MANTA_DECL void begin(std::byte* data, std::size_t width, std::size_t size);
  /// Collective, all members in one order: begins with the part [first, last) of the array, and goes on with those
  /// before.
  MANTA_DECL void add(std::size_t first, std::size_t last);
  /// Waits: the array then has the sums.
  MANTA_DECL void finish();
  /// Drops what rounding has left over.
  MANTA_DECL void forget();

 private:
  /// A part on its way.
  struct part {
    std::size_t first = 0;
    std::vector<std::uint16_t> words;  ///< of the part: this member's own numbers, then the sums
    std::vector<std::uint16_t> from_others;
    std::vector<int> chunks, places;  ///< of `words`, for each member
    std::vector<int> to, from, from_places;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  static constexpr std::size_t distance = 2, slots = 2 * distance;
  part& slot(std::size_t i) { return parts_[i % slots]; }
  /// Calls f with the array as float* or double*.
  template <class F>
  void with_array(F&& f);
  /// Cuts the part into chunks, one for each member.
  void cut(part& p, std::size_t first, std::size_t last);
  void send_chunks(part& p);
  void send_sums(part& p);
  void store(part& p);

  team team_;
  std::byte* data_ = nullptr;
  std::size_t width_ = 0;
  std::vector<float> left_over_;  ///< of each number
  std::vector<float> sums_;       ///< of one chunk
  std::array<part, slots> parts_;
  std::size_t sent_ = 0, summed_ = 0, stored_ = 0;  ///< parts
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/rounded_sums.ipp"
#endif
