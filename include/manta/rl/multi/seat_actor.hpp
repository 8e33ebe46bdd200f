// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A policy at work from seats of several games at once.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "manta/rl/multi/multi_setting.hpp"
#include "manta/rl/multi/seat_lanes.hpp"
#include "manta/rl/policies/acting_policy.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl::detail {

/// Columns of a forward pass for seats of games. The bits of a column depend on its number modulo 16 alone (see
/// even_forward), and that is its game's number modulo 16, however games are divided among workers: the first seat of
/// each game has a column in the first block of columns, the second one in the second block, and so on.
class even_columns {
 public:
  even_columns() = default;
  explicit even_columns(const seat_lanes& l)
      : place_(l.first() % 16), block_((place_ + l.size() + 15) / 16 * 16), used_(static_cast<std::size_t>(l.size())) {}
  /// For these seats, in the order of their games.
  MANTA_DECL void set(std::span<const seat_place> seats);
  /// The column of the k-th of them.
  [[nodiscard]] Eigen::Index operator[](std::size_t k) const { return of_[k]; }
  [[nodiscard]] int block() const { return block_; }
  [[nodiscard]] int blocks() const { return blocks_; }
  /// The game with which a block's first column would begin.
  [[nodiscard]] std::uint64_t first(const seat_lanes& l) const {
    return static_cast<std::uint64_t>(l.first() - place_);
  }
  /// All columns, of which some belong to no seat: a multiple of 16, and at least 32.
  [[nodiscard]] int width() const { return std::max(32, blocks_ * block_); }

 private:
  int place_ = 0, block_ = 16, blocks_ = 0;
  std::vector<int> used_;
  std::vector<Eigen::Index> of_;
};

class seat_actor {
 public:
  virtual ~seat_actor() = default;
  /// Chooses in the games for these seats. step: of each game since the training began, by which
  /// random numbers are drawn.
  virtual void choose(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) = 0;
  /// Episodes begin in a game.
  virtual void begin(int lane) { (void)lane; }
};

/// One that learns elsewhere: it draws, and values what it sees.
class learning_actor final : public seat_actor {
 public:
  MANTA_DECL learning_actor(const seated_policy& p, const seat_lanes& l, std::uint64_t seed, int central);
  MANTA_DECL void set(const policy::weights& w);
  MANTA_DECL void choose(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) override;

  // What there is of the k-th seat of the last choose():
  [[nodiscard]] std::span<const float> seen(std::size_t k) const { return column(seen_, columns_[k]); }
  [[nodiscard]] std::span<const float> action(std::size_t k) const {
    return column(actions_, static_cast<Eigen::Index>(k));
  }
  [[nodiscard]] float log_probability(std::size_t k) const { return log_probabilities_[k]; }
  [[nodiscard]] float value(std::size_t k) const { return values_[k]; }

  /// What the critic makes of states of seats: write(k, where) writes the features of the k-th of them.
  template <class Write>
  std::vector<float> values(std::span<const seat_place> seats, Write&& write) {
    columns_.set(seats);
    seen_.setZero(features_ + central_, columns_.width());
    for (std::size_t k = 0; k < seats.size(); ++k) write(k, seen_.col(columns_[k]).data());
    filter_.apply(seen_, filtered_);
    read_values(seats.size());
    return values_;
  }
  /// Features by the filter of the last set().
  void filter(const nn::matrix<float>& x, nn::matrix<float>& to) const { filter_.apply(x, to); }
  [[nodiscard]] int features() const { return features_; }
  [[nodiscard]] int central() const { return central_; }
  [[nodiscard]] int action_size() const { return distribution_->size(); }
  [[nodiscard]] int mask_size() const { return mask_size_; }
  [[nodiscard]] const collection* own_collection() const { return collection_.get(); }

 private:
  static std::span<const float> column(const nn::matrix<float>& m, Eigen::Index i) {
    return {m.col(i).data(), static_cast<std::size_t>(m.rows())};
  }
  MANTA_DECL void read_values(std::size_t count);
  void draw(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step);

  std::uint64_t seed_;
  int features_, central_, mask_size_;
  bool is_own_distribution_;
  std::unique_ptr<distribution> distribution_;
  std::unique_ptr<const collection> collection_;
  policy policy_;
  normaliser filter_;
  even_forward actor_, critic_;
  even_columns columns_;
  nn::matrix<float> seen_, filtered_, for_actor_, outputs_, actions_;
  std::vector<float> log_probabilities_, values_, sent_;
};

/// What acts for each policy of a setting, with those that learn by their numbers.
struct seat_actors {
  std::vector<std::unique_ptr<seat_actor>> all;
  std::map<int, learning_actor*> learning;
  /// Lets all of them choose where they have to act.
  MANTA_DECL void choose(seat_lanes& l, std::uint64_t step);
  /// An episode begins.
  void begin(int lane) {
    for (const auto& a : all) a->begin(lane);
  }
  /// Where the policy of this number has acted in the last choose().
  [[nodiscard]] const std::vector<seat_place>& places(int policy) const {
    return places_[static_cast<std::size_t>(policy)];
  }

 private:
  std::vector<std::vector<seat_place>> places_;
};
[[nodiscard]] MANTA_DECL seat_actors make_actors(const multi_setting& s, const seat_lanes& l, std::uint64_t seed);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/multi/seat_actor.ipp"
#endif
