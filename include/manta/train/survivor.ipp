// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "manta/async.hpp"
#include "manta/error.hpp"
#include "manta/run.hpp"
#include "manta/train/survivor.hpp"

namespace manta::train::detail {

inline std::map<std::uint64_t, survivor>& survivors() {
  static std::map<std::uint64_t, survivor> all;
  return all;
}

MANTA_DECL void leave_survivor(std::uint64_t training, survivor s) { survivors()[training] = std::move(s); }
MANTA_DECL void forget_survivor(std::uint64_t training) { survivors().erase(training); }

/// Steps, epochs, and this rank.
using progress_here = std::tuple<std::uint64_t, std::uint64_t, int>;
inline progress_here how_far(std::uint64_t training) {
  const auto found = survivors().find(training);
  if (found == survivors().end()) return {0, 0, rank()};
  return {found->second.at.step, found->second.at.epoch, rank()};
}
inline survivor take_survivor(std::uint64_t training) {
  const auto node = survivors().extract(training);
  if (node.empty()) return {};
  survivor s = std::move(node.mapped());
  s.seconds = seconds_since(s.since);
  return s;
}

/// Does nothing more where the rank that `f` asks has died.
template <class F>
void ask_if_alive(F&& f) {
  try {
    f();
  } catch (const unschedulable&) {
  } catch (const rank_lost&) {
  } catch (const object_lost&) {
  }
}

MANTA_DECL std::optional<survivor> furthest_survivor(const std::vector<int>& ranks, std::uint64_t training,
                                                     const state& known) {
  std::vector<future<progress_here>> asked;
  for (const int r : ranks)
    ask_if_alive([&] { asked.push_back(async<how_far>({.name = "train: how far", .rank = r}, training)); });
  std::vector<progress_here> all;
  for (const auto& answer : asked) ask_if_alive([&] { all.push_back(answer.get()); });
  std::sort(all.begin(), all.end(), std::greater<>());

  std::optional<survivor> furthest;
  for (const auto& [step, epoch, r] : all) {
    ask_if_alive([&, is_wanted = !furthest && std::pair(step, epoch) > std::pair(known.step, known.epoch), r = r] {
      const future<survivor> left = async<take_survivor>({.name = "train: go on", .rank = r}, training);
      if (is_wanted) furthest = left.get();
    });
  }
  return furthest;
}

}  // namespace manta::train::detail
