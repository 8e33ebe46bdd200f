// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of exchange.hpp.
#pragma once

#include <algorithm>
#include <climits>

#include "manta/error.hpp"
#include "manta/train/exchange.hpp"
#include "manta/train/mpi_check.hpp"

namespace manta::train {

template <class T>
void exchange::open(std::span<T> numbers, bool is_rounded) {
  width_ = sizeof(T);
  open_begin_ = open_end_ = numbers.size();
  sums_.begin(reinterpret_cast<std::byte*>(numbers.data()), width_, numbers.size(), is_rounded && team_.size() > 1);
}

MANTA_DECL void exchange::begin(std::span<float> gradients) { open(gradients, format_ == wire::bfloat16); }
MANTA_DECL void exchange::begin(std::span<double> gradients) { open(gradients, format_ == wire::bfloat16); }

template <class T>
void exchange::average_all(std::span<T> numbers) {
  open(numbers, false);
  for (T& x : numbers) x /= static_cast<T>(team_.size());
  finish();
}
MANTA_DECL void exchange::average(std::span<float> numbers) { average_all(numbers); }
MANTA_DECL void exchange::average(std::span<double> numbers) { average_all(numbers); }

MANTA_DECL void exchange::ready(std::size_t first, std::size_t last) {
  if (last != open_begin_)
    throw error("manta: train: a module reported the gradients " + std::to_string(first) + " to " +
                std::to_string(last) + " as final, and all from " + std::to_string(open_begin_) +
                " on before; they have to come from the last to the first");
  open_begin_ = first;
  // All members cut the array alike, also one without samples, which reports it whole.
  constexpr std::size_t most = INT_MAX;
  const std::size_t bucket = std::clamp<std::size_t>(bucket_bytes_ / width_, 1, most);
  while (open_end_ - open_begin_ >= bucket) reduce(open_end_ - bucket);
  sums_.progress();  // MPI moves nonblocking collectives on only while it is called
}

MANTA_DECL void exchange::finish() {
  if (open_begin_ > 0) ready(0, open_begin_);
  if (open_end_ > 0) reduce(0);
  sums_.finish();
}

inline void exchange::reduce(std::size_t first) {
  if (team_.size() > 1) sums_.add(first, open_end_);
  open_end_ = first;
}

MANTA_DECL void exchange::sum(std::span<double> numbers) {
  if (team_.size() == 1) return;
  detail::check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM, team_.comm()),
      "MPI_Allreduce");
}

MANTA_DECL void exchange::broadcast(void* data, std::size_t bytes, int from) {
  if (team_.size() == 1) return;
  constexpr std::size_t most = std::size_t(1) << 30U;
  for (std::size_t at = 0; at < bytes; at += most) {
    detail::check_mpi(MPI_Bcast(static_cast<std::byte*>(data) + at, static_cast<int>(std::min(most, bytes - at)),
                                MPI_BYTE, from, team_.comm()),
                      "MPI_Bcast");
  }
}

MANTA_DECL void exchange::throw_together(const std::string& problem) {
  int first = problem.empty() ? team_.size() : team_.rank();
  if (team_.size() > 1)
    detail::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, team_.comm()), "MPI_Allreduce");
  if (first == team_.size()) return;
  std::string text = problem;
  broadcast(text, first);
  throw error(text);
}

MANTA_DECL void exchange::broadcast(std::string& text, int from) {
  std::size_t size = text.size();
  broadcast(&size, sizeof size, from);
  text.resize(size);
  broadcast(text.data(), size, from);
}

}  // namespace manta::train
