// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sums over a team, in place, part by part. Each member owns a chunk of each part: it receives the others' numbers for
// it, adds them in the order of the members, and sends the sum to all. So all members get the same bits, in each run.
// All memory is kept: MPI's own nonblocking sums take new memory for each part, and half of their time goes into that.
//
// On request numbers travel as bfloat16, which MPI does not know: half the bytes of float. They are added as float.
// What rounding takes off a number is kept and added to it in the next step (error feedback, Seide et al. 2014), so
// that nothing is lost in the long run.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "manta/train/source.hpp"
#include "manta/train/watched_team.hpp"

namespace manta::train::detail {

/// The nearest bfloat16, ties to even. NaN stays NaN, also under -ffast-math.
inline std::uint16_t to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t nearest = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(is_nan ? bits >> 16U | 0x40U : nearest);
}
inline float from_bfloat16(std::uint16_t word) { return std::bit_cast<float>(std::uint32_t(word) << 16U); }

class chunked_sums {
 public:
  explicit chunked_sums(watched_team& members) : team_(members) { requests_.fill(MPI_REQUEST_NULL); }
  chunked_sums(const chunked_sums&) = delete;
  chunked_sums& operator=(const chunked_sums&) = delete;

  /// An array of `size` numbers of `width` bytes, float or double. rounded: they travel as bfloat16.
  MANTA_DECL void begin(std::byte* data, std::size_t width, std::size_t size, bool rounded);
  /// Collective, all members in one order: begins with the part [first, last) of the array, and goes on with those
  /// before. A part has at most INT_MAX numbers.
  MANTA_DECL void add(std::size_t first, std::size_t last);
  /// Lets MPI move on.
  MANTA_DECL void progress();
  /// Waits: the array then has the sums.
  MANTA_DECL void finish();
  /// Drops what rounding has left over.
  MANTA_DECL void forget();

 private:
  /// A part on its way.
  struct part {
    std::size_t first = 0, size = 0;
    std::vector<std::byte> from_others;  ///< their numbers for this member's chunk, in the order of the members
    std::vector<std::uint16_t> words;    ///< rounded: this member's own numbers, then the sums
    std::vector<int> chunks, places;     ///< numbers of the part, for each member
    std::vector<int> to, from, from_places;
  };
  static constexpr std::size_t distance = 2, slots = 2 * distance;
  /// Calls f with the array as float* or double*.
  template <class F>
  void with_array(F&& f);
  /// Cuts the part into chunks, one for each member.
  void cut(part& p, std::size_t first, std::size_t last);
  void round(part& p);
  void send_chunks(std::size_t number);
  void send_sums(std::size_t number);
  void store(std::size_t number);
  template <class T>
  void add_up(part& p, T* own);
  template <class T>
  void add_up_rounded(part& p, const T* own);
  [[nodiscard]] MPI_Datatype type() const;
  void wait(std::size_t number);

  watched_team& team_;
  std::byte* data_ = nullptr;
  std::size_t width_ = 0;
  bool is_rounded_ = false;
  std::vector<float> left_over_;  ///< rounded: of each number
  std::vector<float> sums_;       ///< rounded: of one chunk
  std::array<part, slots> parts_;
  std::array<MPI_Request, slots> requests_;
  std::size_t sent_ = 0, summed_ = 0, stored_ = 0;  ///< parts
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/chunked_sums.ipp"
#endif
