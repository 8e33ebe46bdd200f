// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of rounded_sums.hpp.
#pragma once

#include <algorithm>

#include "manta/train/mpi_check.hpp"
#include "manta/train/rounded_sums.hpp"

namespace manta::train::detail {

/// Rounds `x`; `rest` becomes what that took off.
inline std::uint16_t round_keeping_rest(float x, float& rest) {
  const std::uint16_t word = to_bfloat16(x);
  const bool is_finite = (word & 0x7f80U) != 0x7f80U;
  rest = is_finite ? x - from_bfloat16(word) : 0.F;
  return word;
}

template <class F>
void rounded_sums::with_array(F&& f) {
  width_ == sizeof(float) ? f(reinterpret_cast<float*>(data_)) : f(reinterpret_cast<double*>(data_));
}

MANTA_DECL void rounded_sums::begin(std::byte* data, std::size_t width, std::size_t size) {
  data_ = data;
  width_ = width;
  if (left_over_.size() != size) left_over_.assign(size, 0.F);
  sent_ = summed_ = stored_ = 0;
}
MANTA_DECL void rounded_sums::forget() { std::fill(left_over_.begin(), left_over_.end(), 0.F); }

/// All members have to begin MPI's collectives in one order, so the second one of a part follows the first one of a
/// later part, at a fixed distance. Few parts are under way at once: their memory then stays in the cache.
MANTA_DECL void rounded_sums::add(std::size_t first, std::size_t last) {
  if (sent_ == stored_ + slots) store(slot(stored_++));
  part& p = slot(sent_++);
  cut(p, first, last);
  send_chunks(p);
  if (sent_ > summed_ + distance) send_sums(slot(summed_++));
}

MANTA_DECL void rounded_sums::finish() {
  while (summed_ < sent_) send_sums(slot(summed_++));
  while (stored_ < sent_) store(slot(stored_++));
  sent_ = summed_ = stored_ = 0;
}

inline void rounded_sums::cut(part& p, std::size_t first, std::size_t last) {
  p.first = first;
  if (p.words.size() == last - first) return;
  p.words.resize(last - first);
  const auto n = static_cast<std::size_t>(team_.size()), me = static_cast<std::size_t>(team_.rank());
  const auto begin_of = [&](std::size_t i) { return static_cast<int>((last - first) * i / n); };
  p.chunks.resize(n), p.places.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    p.places[i] = begin_of(i);
    p.chunks[i] = begin_of(i + 1) - begin_of(i);
  }
  p.to = p.chunks;
  p.to[me] = 0;
  p.from.assign(n, p.chunks[me]);
  p.from[me] = 0;
  p.from_places.assign(n, 0);
  for (std::size_t i = 1; i < n; ++i) p.from_places[i] = p.from_places[i - 1] + p.from[i - 1];
  p.from_others.resize((n - 1) * static_cast<std::size_t>(p.chunks[me]));
}

inline void rounded_sums::send_chunks(part& p) {
  const auto me = static_cast<std::size_t>(team_.rank());
  with_array([&](const auto* array) {
    const auto* numbers = array + p.first;
    float* rest = left_over_.data() + p.first;
    const auto round = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i)
        p.words[i] = round_keeping_rest(static_cast<float>(numbers[i]) + rest[i], rest[i]);
    };
    // This member's own chunk does not travel, and is rounded with the sum alone.
    const auto mine = static_cast<std::size_t>(p.places[me]);
    round(0, mine);
    round(mine + static_cast<std::size_t>(p.chunks[me]), p.words.size());
  });
  check_mpi(MPI_Ialltoallv(p.words.data(), p.to.data(), p.places.data(), MPI_UINT16_T, p.from_others.data(),
                           p.from.data(), p.from_places.data(), MPI_UINT16_T, team_.comm(), &p.request),
            "MPI_Ialltoallv");
}

inline void rounded_sums::send_sums(part& p) {
  check_mpi(MPI_Wait(&p.request, MPI_STATUS_IGNORE), "the exchange of gradients");
  const auto me = static_cast<std::size_t>(team_.rank());
  const auto size = static_cast<std::size_t>(p.chunks[me]), mine = static_cast<std::size_t>(p.places[me]);
  sums_.assign(size, 0.F);
  with_array([&](const auto* array) {
    const auto* numbers = array + p.first + mine;
    float* rest = left_over_.data() + p.first + mine;
    for (std::size_t member = 0; member < p.chunks.size(); ++member) {
      if (member == me) {
        for (std::size_t i = 0; i < size; ++i) sums_[i] += static_cast<float>(numbers[i]) + rest[i];
      } else {
        const std::uint16_t* words = p.from_others.data() + p.from_places[member];
        for (std::size_t i = 0; i < size; ++i) sums_[i] += from_bfloat16(words[i]);
      }
    }
    for (std::size_t i = 0; i < size; ++i) p.words[mine + i] = round_keeping_rest(sums_[i], rest[i]);
  });
  check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_UINT16_T, p.words.data(), p.chunks.data(), p.places.data(),
                            MPI_UINT16_T, team_.comm(), &p.request),
            "MPI_Iallgatherv");
}

inline void rounded_sums::store(part& p) {
  check_mpi(MPI_Wait(&p.request, MPI_STATUS_IGNORE), "the exchange of gradients");
  with_array([&](auto* array) {
    for (std::size_t i = 0; i < p.words.size(); ++i) {
      using number = std::remove_reference_t<decltype(*array)>;
      array[p.first + i] = static_cast<number>(from_bfloat16(p.words[i]));
    }
  });
}

}  // namespace manta::train::detail
