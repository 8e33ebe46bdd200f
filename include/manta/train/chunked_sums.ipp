// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/train/chunked_sums.hpp"

namespace manta::train::detail {

/// Rounds `x`; `rest` becomes what that took off.
inline std::uint16_t round_keeping_rest(float x, float& rest) {
  const std::uint16_t word = to_bfloat16(x);
  const bool is_finite = (word & 0x7f80U) != 0x7f80U;
  rest = is_finite ? x - from_bfloat16(word) : 0.F;
  return word;
}

template <class F>
void chunked_sums::with_array(F&& f) {
  width_ == sizeof(float) ? f(reinterpret_cast<float*>(data_)) : f(reinterpret_cast<double*>(data_));
}

inline MPI_Datatype chunked_sums::type() const {
  if (is_rounded_) return MPI_UINT16_T;
  return width_ == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
}

inline void chunked_sums::wait(std::size_t number) {
  team_.wait(requests_[number % slots], "the exchange of gradients");
}

MANTA_DECL void chunked_sums::begin(std::byte* data, std::size_t width, std::size_t size, bool rounded) {
  if (rounded && left_over_.size() != size) left_over_.assign(size, 0.F);
  if (width != width_ || rounded != is_rounded_) parts_ = {};
  data_ = data;
  width_ = width;
  is_rounded_ = rounded;
  sent_ = summed_ = stored_ = 0;
}
MANTA_DECL void chunked_sums::forget() { std::fill(left_over_.begin(), left_over_.end(), 0.F); }

/// All members have to begin MPI's collectives in one order, so the second one of a part follows the first one of a
/// later part, at a fixed distance. Few parts are under way at once: their memory then stays in the cache.
MANTA_DECL void chunked_sums::add(std::size_t first, std::size_t last) {
  if (sent_ == stored_ + slots) store(stored_++);
  cut(parts_[sent_ % slots], first, last);
  send_chunks(sent_++);
  if (sent_ > summed_ + distance) send_sums(summed_++);
}

MANTA_DECL void chunked_sums::progress() {
  int done = 0;
  if (sent_ > stored_) MPI_Testall(static_cast<int>(slots), requests_.data(), &done, MPI_STATUSES_IGNORE);
}

MANTA_DECL void chunked_sums::finish() {
  while (summed_ < sent_) send_sums(summed_++);
  while (stored_ < sent_) store(stored_++);
}

inline void chunked_sums::cut(part& p, std::size_t first, std::size_t last) {
  p.first = first;
  if (p.size == last - first) return;
  p.size = last - first;
  const auto n = static_cast<std::size_t>(team_.size()), me = static_cast<std::size_t>(team_.rank());
  const auto begin_of = [&](std::size_t i) { return static_cast<int>(p.size * i / n); };
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
  p.from_others.resize((n - 1) * static_cast<std::size_t>(p.chunks[me]) *
                       (is_rounded_ ? sizeof(std::uint16_t) : width_));
  if (is_rounded_) p.words.resize(p.size);
}

/// This member's own chunk does not travel, and is rounded with the sum alone.
inline void chunked_sums::round(part& p) {
  const auto me = static_cast<std::size_t>(team_.rank());
  with_array([&](const auto* array) {
    const auto* numbers = array + p.first;
    float* rest = left_over_.data() + p.first;
    const auto range = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i)
        p.words[i] = round_keeping_rest(static_cast<float>(numbers[i]) + rest[i], rest[i]);
    };
    const auto mine = static_cast<std::size_t>(p.places[me]);
    range(0, mine);
    range(mine + static_cast<std::size_t>(p.chunks[me]), p.size);
  });
}

inline void chunked_sums::send_chunks(std::size_t number) {
  part& p = parts_[number % slots];
  if (is_rounded_) round(p);
  const void* from = is_rounded_ ? static_cast<void*>(p.words.data()) : data_ + p.first * width_;
  check_mpi(MPI_Ialltoallv(from, p.to.data(), p.places.data(), type(), p.from_others.data(), p.from.data(),
                           p.from_places.data(), type(), team_.comm(), &requests_[number % slots]),
            "MPI_Ialltoallv");
}

inline void chunked_sums::send_sums(std::size_t number) {
  wait(number);
  part& p = parts_[number % slots];
  const auto mine = p.first + static_cast<std::size_t>(p.places[static_cast<std::size_t>(team_.rank())]);
  with_array([&](auto* array) { is_rounded_ ? add_up_rounded(p, array + mine) : add_up(p, array + mine); });
  void* all = is_rounded_ ? static_cast<void*>(p.words.data()) : data_ + p.first * width_;
  check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, type(), all, p.chunks.data(), p.places.data(), type(), team_.comm(),
                            &requests_[number % slots]),
            "MPI_Iallgatherv");
}

/// In place; the first member's numbers gather what comes before this member's own.
template <class T>
void chunked_sums::add_up(part& p, T* own) {
  const int me = team_.rank();
  const auto size = static_cast<std::size_t>(p.chunks[static_cast<std::size_t>(me)]);
  T* others = reinterpret_cast<T*>(p.from_others.data());
  const auto add = [&](T* to, const T* numbers) {
    for (std::size_t i = 0; i < size; ++i) to[i] += numbers[i];
  };
  for (int member = 1; member < me; ++member) add(others, others + static_cast<std::size_t>(member) * size);
  if (me > 0) add(own, others);
  for (int member = me; member + 1 < team_.size(); ++member) add(own, others + static_cast<std::size_t>(member) * size);
}

template <class T>
void chunked_sums::add_up_rounded(part& p, const T* own) {
  const auto me = static_cast<std::size_t>(team_.rank());
  const auto size = static_cast<std::size_t>(p.chunks[me]), mine = static_cast<std::size_t>(p.places[me]);
  const auto* words = reinterpret_cast<const std::uint16_t*>(p.from_others.data());
  float* rest = left_over_.data() + p.first + mine;
  sums_.assign(size, 0.F);
  for (std::size_t member = 0; member < p.chunks.size(); ++member) {
    if (member == me) {
      for (std::size_t i = 0; i < size; ++i) sums_[i] += static_cast<float>(own[i]) + rest[i];
    } else {
      for (std::size_t i = 0; i < size; ++i) sums_[i] += from_bfloat16(words[i]);
      words += size;
    }
  }
  for (std::size_t i = 0; i < size; ++i) p.words[mine + i] = round_keeping_rest(sums_[i], rest[i]);
}

inline void chunked_sums::store(std::size_t number) {
  wait(number);
  if (!is_rounded_) return;
  const part& p = parts_[number % slots];
  with_array([&](auto* array) {
    using number_type = std::remove_reference_t<decltype(*array)>;
    for (std::size_t i = 0; i < p.size; ++i) array[p.first + i] = static_cast<number_type>(from_bfloat16(p.words[i]));
  });
}

}  // namespace manta::train::detail
