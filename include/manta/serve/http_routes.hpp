// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The routes of a server: each has an endpoint, and figures about its answers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/endpoint.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

/// How long answers took, and what they were.
struct figures {
  static constexpr std::array<double, 12> bounds{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10, 30};  // s
  std::array<std::uint64_t, bounds.size() + 1> within{};
  std::map<int, std::uint64_t> answers;  // by status
  double seconds = 0;
  std::uint64_t under_way = 0, count = 0;

  /// The route has given an answer that took so long.
  void note(int status, double took) {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && took > bounds[bucket]) ++bucket;
    ++within[bucket];
    ++answers[status];
    ++count;
    seconds += took;
  }
  /// The bound that at least this part of the answers has kept.
  double quantile(double part) const {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < within.size(); ++i) {
      seen += within[i];
      if (count != 0 && static_cast<double>(seen) >= part * static_cast<double>(count))
        return bounds[i < bounds.size() ? i : bounds.size() - 1];
    }
    return 0;
  }
};

struct route {
  std::unique_ptr<endpoint> at;
  figures its = {};
};

class route_table {
 public:
  /// Throws if no request could have its path, if the path or the name is taken, or if its names do not fit.
  MANTA_DECL void add(std::unique_ptr<endpoint> e);
  /// Null if no route has this path.
  MANTA_DECL route* find(std::string_view path) const;
  /// The model NAME[/versions/V]. Null, and the answer that says why, if there is none.
  MANTA_DECL route* find_model(std::string name, reply& problem) const;
  const std::vector<std::unique_ptr<route>>& all() const { return routes_; }

 private:
  std::vector<std::unique_ptr<route>> routes_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_routes.ipp"
#endif
