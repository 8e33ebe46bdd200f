// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The exchange of gradients between the members of a team: the sum over all, in place. Parts of the gradients are
// summed by nonblocking collectives while the backward pass goes on with the others, where that is quicker than after
// it (overlap_choice.hpp). All members begin the parts in one order, from the end of the array, and each part is added
// in the order of the members: the same bits in each run.
//
// Where a job goes on when ranks die (manta-run), all of this throws rank_lost once a member has died: nobody waits for
// it inside MPI. What MPI has not ended then keeps its memory for good: that of the exchange, and the array that was
// summed, which must not be freed (is_abandoned).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "manta/team.hpp"
#include "manta/train/chunked_sums.hpp"
#include "manta/train/overlap_choice.hpp"
#include "manta/train/source.hpp"
#include "manta/train/wire.hpp"

namespace manta::train {

class exchange {
 public:
  /// The array is reduced in parts of `bucket_bytes`, from its end to its beginning. A small array has smaller parts,
  /// so that most of it is on its way when the last of its numbers are ready.
  explicit exchange(const team& members, std::size_t bucket_bytes = std::size_t(1) << 20U, wire format = wire::as_is,
                    overlap when = overlap::measured)
      : kept_(std::make_unique<kept>(members)),
        team_(kept_->team),
        bucket_bytes_(bucket_bytes),
        format_(format),
        choice_(when) {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange() {
    if (is_abandoned()) (void)kept_.release();
  }

  /// Collective: begins the exchange of this array. Only one is under way at a time.
  MANTA_DECL void begin(std::span<float> gradients);
  MANTA_DECL void begin(std::span<double> gradients);
  /// The range [first, last) of the array changes no more. Ranges come from the end of the array to its beginning.
  MANTA_DECL void ready(std::size_t first, std::size_t last);
  /// As ready, of a member that reports gradients a second time: what it has reported before is left out.
  void ready_again(std::size_t first, std::size_t last) {
    if (first < open_begin_) ready(first, std::min(last, open_begin_));
  }
  /// Reduces what is left, and waits: the array then has the sums over all members.
  MANTA_DECL void finish();

  [[nodiscard]] int members() const { return team_.size(); }
  /// Drops what rounding has left over for the next exchange.
  void forget() { kept_->sums.forget(); }

  /// Collective: the mean over all members, in place, never rounded. Where it throws, the numbers are as before.
  MANTA_DECL void average(std::span<float> numbers);
  MANTA_DECL void average(std::span<double> numbers);
  /// Collective: sums of a few numbers over all members, in place.
  MANTA_DECL void sum(std::span<double> numbers);
  /// Collective: the bytes of one member for all.
  MANTA_DECL void broadcast(void* data, std::size_t bytes, int from = 0);
  MANTA_DECL void broadcast(std::string& text, int from = 0);
  /// Collective: the number of the first member that says true; members() if none does.
  [[nodiscard]] MANTA_DECL int first_of(bool is_it);
  /// Collective: the text of the first member whose text is not empty; "" if all are.
  [[nodiscard]] MANTA_DECL std::string first_text(const std::string& text);
  /// Collective: throws on all members what went wrong on the first one that has a problem. A member that threw alone
  /// would leave the others in MPI.
  MANTA_DECL void throw_together(const std::string& problem);
  /// Collective: what each member gives, in their order.
  template <class T>
    requires(std::is_trivially_copyable_v<T>)
  [[nodiscard]] std::vector<T> gather(const T& mine) {
    std::vector<T> all(static_cast<std::size_t>(members()));
    gather(&mine, all.data(), sizeof(T));
    return all;
  }

  /// Whether a member's death has ended it. MPI may still write to the arrays that it was given.
  [[nodiscard]] bool is_abandoned() const { return team_.is_abandoned(); }

 private:
  MANTA_DECL void gather(const void* mine, void* all, std::size_t bytes);
  template <class T>
  void open(std::span<T> numbers, bool is_rounded);
  template <class T>
  void average_all(std::span<T> numbers);
  /// Reduces what is left, and waits.
  void sum_array();
  /// Begins the sums of the parts that are ready.
  void reduce_ready();
  /// What is ready from here on.
  void reduce(std::size_t first);
  /// Measures the step; now and then the members agree on when to exchange.
  void end_step();

  /// All memory that MPI has a hold on between two calls, but for the arrays themselves.
  struct kept {
    explicit kept(const manta::team& members) : team(members), sums(team) {}
    detail::watched_team team;
    detail::chunked_sums sums;
    std::vector<double> numbers;
    std::vector<std::byte> copy, gathered;
    std::string text;
    int member = 0;
  };
  /// Waits for what `call` begins.
  template <class Call>
  void complete(const char* name, Call&& call);

  std::unique_ptr<kept> kept_;
  detail::watched_team& team_;
  std::size_t bucket_bytes_;
  wire format_;
  std::size_t width_ = 0;
  std::size_t bucket_ = 1;                     ///< numbers of a part
  std::size_t open_begin_ = 0, open_end_ = 0;  ///< ready, and not yet being reduced
  detail::overlap_choice choice_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/exchange.ipp"
#endif
