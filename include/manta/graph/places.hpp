// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks and nodes that a request names together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/shared.hpp"
#include "manta/wire/bytes.hpp"

namespace manta {

/// Ranks and nodes, by their numbers: {{0, 3}} are two ranks, {.nodes = {1}} is a node.
struct places {
  std::vector<int> ranks = {};
  std::vector<int> nodes = {};

  bool has(int rank, int node) const {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end() ||
           std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }
  bool operator==(const places&) const = default;
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

/// The places that a request excepts. Where there are none, as almost always, it is one word, and each question to it
/// one comparison: the scheduler asks it for each task and rank.
class exceptions {
 public:
  exceptions() = default;
  explicit exceptions(places of) {
    if (!of.ranks.empty() || !of.nodes.empty()) its_ = base::shared<const record>(new record(std::move(of)));
  }

  bool empty() const { return its_ == nullptr; }
  bool has(int rank, int node) const { return its_ != nullptr && its_->what.has(rank, node); }
  places all() const { return empty() ? places() : its_->what; }
  friend bool operator==(const exceptions& a, const exceptions& b) {
    return a.its_.get() == b.its_.get() || (!a.empty() && !b.empty() && a.its_->what == b.its_->what);
  }
  void write(wire::buffer& out) const {
    const places what = all();
    for (const std::vector<int>* list : {&what.ranks, &what.nodes}) {
      wire::put(out, static_cast<std::uint32_t>(list->size()));
      for (const int each : *list) wire::put(out, each);
    }
  }
  void read(wire::source& in) {
    places what;
    for (std::vector<int>* list : {&what.ranks, &what.nodes}) {
      list->resize(in.get<std::uint32_t>());
      for (int& each : *list) in.get(each);
    }
    *this = exceptions(std::move(what));
  }

 private:
  struct record : base::counted {
    explicit record(places of) : what(std::move(of)) {}
    places what;
  };
  base::shared<const record> its_;
};

}  // namespace graph

}  // namespace manta
