// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The exchange of gradients between the members of a team: the sum over all, in place. Parts of the gradients are
// summed by nonblocking collectives while the backward pass goes on with the others. All members begin the parts in one
// order, from the end of the array, and each part is added in the order of the members: the same bits in each run.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "manta/team.hpp"
#include "manta/train/chunked_sums.hpp"
#include "manta/train/source.hpp"
#include "manta/train/wire.hpp"

namespace manta::train {

class exchange {
 public:
  /// The array is reduced in parts of `bucket_bytes`, from its end to its beginning.
  explicit exchange(const team& members, std::size_t bucket_bytes = std::size_t(1) << 20U, wire format = wire::as_is)
      : team_(members), bucket_bytes_(bucket_bytes), format_(format), sums_(members) {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Collective: begins the exchange of this array. Only one is under way at a time.
  MANTA_DECL void begin(std::span<float> gradients);
  MANTA_DECL void begin(std::span<double> gradients);
  /// The range [first, last) of the array changes no more. Ranges come from the end of the array to its beginning.
  MANTA_DECL void ready(std::size_t first, std::size_t last);
  /// Reduces what is left, and waits: the array then has the sums over all members.
  MANTA_DECL void finish();

  /// Drops what rounding has left over for the next exchange.
  void forget() { sums_.forget(); }

  /// Collective: the mean over all members, in place, never rounded.
  MANTA_DECL void average(std::span<float> numbers);
  MANTA_DECL void average(std::span<double> numbers);
  /// Collective: sums of a few numbers over all members, in place.
  MANTA_DECL void sum(std::span<double> numbers);
  /// Collective: the bytes of one member for all.
  MANTA_DECL void broadcast(void* data, std::size_t bytes, int from = 0);
  MANTA_DECL void broadcast(std::string& text, int from = 0);
  /// Collective: throws on all members what went wrong on the first one that has a problem. A member that threw alone
  /// would leave the others in MPI.
  MANTA_DECL void throw_together(const std::string& problem);

 private:
  template <class T>
  void open(std::span<T> numbers, bool is_rounded);
  template <class T>
  void average_all(std::span<T> numbers);
  /// What is ready from here on.
  void reduce(std::size_t first);

  team team_;
  std::size_t bucket_bytes_;
  wire format_;
  detail::chunked_sums sums_;
  std::size_t width_ = 0;
  std::size_t open_begin_ = 0, open_end_ = 0;  ///< ready, and not yet being reduced
};

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/exchange.ipp"
#endif
