// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/exchange.hpp"

namespace manta::train {

template <class T>
void exchange::open(std::span<T> numbers, bool is_rounded) {
  width_ = sizeof(T);
  // All members cut the array alike, also one without samples, which reports it whole.
  constexpr std::size_t most = INT_MAX, least_bytes = std::size_t(1) << 18U, least_parts = 8;
  const std::size_t bytes = std::min(bucket_bytes_, std::max(least_bytes, numbers.size_bytes() / least_parts));
  bucket_ = std::clamp<std::size_t>(bytes / width_, 1, most);
  open_begin_ = open_end_ = numbers.size();
  began_ = std::chrono::steady_clock::now();
  kept_->sums.begin(reinterpret_cast<std::byte*>(numbers.data()), width_, numbers.size(),
                    is_rounded && team_.size() > 1);
}

MANTA_DECL void exchange::begin(std::span<float> gradients) { open(gradients, format_ == wire::bfloat16); }
MANTA_DECL void exchange::begin(std::span<double> gradients) { open(gradients, format_ == wire::bfloat16); }

template <class T>
void exchange::average_all(std::span<T> numbers) {
  if (team_.size() == 1) return;
  kept_->copy.resize(numbers.size_bytes());
  const std::span<T> means(reinterpret_cast<T*>(kept_->copy.data()), numbers.size());
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = numbers[i] / static_cast<T>(team_.size());
  open(means, false);
  sum_array();
  std::copy(means.begin(), means.end(), numbers.begin());
}
MANTA_DECL void exchange::average(std::span<float> numbers) { average_all(numbers); }
MANTA_DECL void exchange::average(std::span<double> numbers) { average_all(numbers); }

MANTA_DECL void exchange::ready(std::size_t first, std::size_t last) {
  if (last != open_begin_)
    throw error(
        base::text("manta: train: a module reported the gradients {} to {} as final, and all from {} on before; "
                   "they have to come from the last to the first",
                   first, last, open_begin_));
  open_begin_ = first;
  if (!choice_.overlaps()) return;
  reduce_ready();
  kept_->sums.progress();  // MPI moves nonblocking collectives on only while it is called
}

MANTA_DECL void exchange::finish() {
  sum_array();
  end_step();
}

inline void exchange::sum_array() {
  team_.check();
  open_begin_ = 0;
  reduce_ready();
  if (open_end_ > 0) reduce(0);
  kept_->sums.finish();
}

inline void exchange::reduce_ready() {
  while (open_end_ - open_begin_ >= bucket_) reduce(open_end_ - bucket_);
}

inline void exchange::reduce(std::size_t first) {
  if (team_.size() > 1) kept_->sums.add(first, open_end_);
  open_end_ = first;
}

inline void exchange::end_step() {
  if (team_.size() == 1) return;
  const std::chrono::duration<double> step = std::chrono::steady_clock::now() - began_;
  if (!choice_.add(step.count())) return;
  int& overlaps = kept_->member = choice_.is_quicker_with();
  broadcast(&overlaps, sizeof overlaps);
  choice_.choose(overlaps == 1);
}

template <class Call>
void exchange::complete(const char* name, Call&& call) {
  team_.check();
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check_mpi(call(&request), name);
  team_.wait(request, name);
}

MANTA_DECL void exchange::sum(std::span<double> numbers) {
  if (team_.size() == 1) return;
  std::vector<double>& all = kept_->numbers;
  all.assign(numbers.begin(), numbers.end());
  complete("MPI_Iallreduce", [&](MPI_Request* r) {
    return MPI_Iallreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, team_.comm(), r);
  });
  std::copy(all.begin(), all.end(), numbers.begin());
}

MANTA_DECL void exchange::broadcast(void* data, std::size_t bytes, int from) {
  if (team_.size() == 1) return;
  constexpr std::size_t most = std::size_t(1) << 30U;
  for (std::size_t at = 0; at < bytes; at += most) {
    complete("MPI_Ibcast", [&](MPI_Request* r) {
      return MPI_Ibcast(static_cast<std::byte*>(data) + at, static_cast<int>(std::min(most, bytes - at)), MPI_BYTE,
                        from, team_.comm(), r);
    });
  }
}

MANTA_DECL int exchange::first_of(bool is_it) {
  int& first = kept_->member = is_it ? team_.rank() : team_.size();
  if (team_.size() > 1) {
    complete("MPI_Iallreduce", [&](MPI_Request* r) {
      return MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, team_.comm(), r);
    });
  }
  return first;
}

MANTA_DECL std::string exchange::first_text(const std::string& text) {
  const int first = first_of(!text.empty());
  if (first == team_.size()) return "";
  std::string all = text;
  broadcast(all, first);
  return all;
}

MANTA_DECL void exchange::throw_together(const std::string& problem) {
  const std::string text = first_text(problem);
  if (!text.empty()) throw error(text);
}

MANTA_DECL void exchange::gather(const void* mine, void* all, std::size_t bytes) {
  const std::size_t here = static_cast<std::size_t>(team_.rank()) * bytes;
  std::vector<std::byte>& numbers = kept_->gathered;
  numbers.resize(static_cast<std::size_t>(team_.size()) * bytes);
  std::memcpy(numbers.data() + here, mine, bytes);
  if (team_.size() > 1) {
    complete("MPI_Iallgather", [&](MPI_Request* r) {
      return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, numbers.data(), static_cast<int>(bytes), MPI_BYTE, team_.comm(),
                            r);
    });
  }
  std::memcpy(all, numbers.data(), numbers.size());
}

MANTA_DECL void exchange::broadcast(std::string& text, int from) {
  std::string& all = kept_->text = text;
  double size[1] = {team_.rank() == from ? static_cast<double>(all.size()) : 0};
  sum(size);
  all.resize(static_cast<std::size_t>(size[0]));
  broadcast(all.data(), all.size(), from);
  text = std::exchange(all, {});
}

}  // namespace manta::train
