// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks and nodes that a request names together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/wire/bytes.hpp"

namespace manta {

/// Ranks and nodes, by their numbers: {{0, 3}} are two ranks, {.nodes = {1}} is a node.
struct places {
  std::vector<int> ranks = {};
  std::vector<int> nodes = {};

  bool empty() const { return ranks.empty() && nodes.empty(); }
  bool has(int rank, int node) const {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end() ||
           std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }
  bool operator==(const places&) const = default;
  void write(wire::buffer& out) const {
    for (const std::vector<int>* list : {&ranks, &nodes}) {
      wire::put(out, static_cast<std::uint32_t>(list->size()));
      for (const int each : *list) wire::put(out, each);
    }
  }
  void read(wire::source& in) {
    for (std::vector<int>* list : {&ranks, &nodes}) {
      list->resize(in.get<std::uint32_t>());
      for (int& each : *list) in.get(each);
    }
  }
};

namespace graph {
/// "ranks 0, 3, node 1"
inline std::string describe(const places& of) {
  std::string text;
  const auto add = [&text](const char* what, const std::vector<int>& numbers) {
    if (!numbers.empty()) text += (text.empty() ? "" : ", ") + std::string(what) + (numbers.size() > 1 ? "s" : "");
    for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? " " : ", ") + std::to_string(numbers[i]);
  };
  add("rank", of.ranks);
  add("node", of.nodes);
  return text;
}

}  // namespace graph

}  // namespace manta
