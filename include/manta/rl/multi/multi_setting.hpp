// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a training of several policies, or an evaluation of them, is told of each, and who sits where. A value that is
// put once for all workers and changes only with a snapshot or another map.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manta/rl/multi/multi_policy.hpp"
#include "manta/rl/multi/policy_map.hpp"
#include "manta/rl/seats/game.hpp"

namespace manta::rl::detail {

/// A policy as workers know it.
struct seated_policy {
  std::string name;
  bool learns = false;
  // One that learns:
  any_environment spaces = {};
  model_options model = {};
  std::uint64_t seed = 0;
  own_collection collection = {};
  // One that does not:
  frozen_policy frozen = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, learns, spaces, model, seed, collection, frozen);
  }
};

struct multi_setting {
  std::uint64_t version = 0;  ///< differs where anything here does
  int environments = 0;       ///< environments of all workers
  int central = 0;            ///< numbers that critics read behind those of an observation
  std::vector<seated_policy> policies;
  own_policy_map map;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(version, environments, central, policies, map);
  }
};

/// Says for a seat and an episode who acts: by the program's map, or else by the seat's name, or the only policy.
class seat_order {
 public:
  seat_order() = default;
  MANTA_DECL seat_order(const any_game& g, const multi_setting& s);
  /// The number of a policy. Throws manta::error, a sentence without a head, if there is none that can take the seat.
  [[nodiscard]] MANTA_DECL int policy_of(int seat, std::uint64_t episode) const;

 private:
  [[nodiscard]] std::string name_for(int seat, std::uint64_t episode) const;

  rl::seats seats_;
  std::vector<std::string> names_;
  std::vector<std::vector<char>> can_take_;  ///< whether a policy can take a seat, by policy and seat
  std::unique_ptr<const policy_map> map_;
};

/// Whether the policy's spaces are those of the seat.
[[nodiscard]] MANTA_DECL bool fits(const seated_policy& p, const seat& s);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/multi/multi_setting.ipp"
#endif
