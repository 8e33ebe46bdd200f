// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The routes of a server: each has an endpoint, and figures about its answers.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/endpoint.hpp"
#include "manta/serve/http_reply.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve::detail {

/// Figures of a route: the times of its answers, and their statuses.
struct figures {
  static constexpr std::array<double, 12> bounds{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10, 30};  // s
  std::array<std::uint64_t, bounds.size() + 1> within{};
  std::map<int, std::uint64_t> answers;  ///< answers by status
  double seconds = 0;
  std::uint64_t under_way = 0, count = 0;

  /// The route has given an answer that took so long.
  MANTA_DECL void note(int status, double took);
  /// The bound that at least this part of the answers has kept.
  [[nodiscard]] MANTA_DECL double quantile(double part) const;
};

/// The last report of the deployment of a route.
struct last_status {
  std::optional<serve::status> its = {};  ///< empty: no report has come yet
  std::chrono::steady_clock::time_point when = {};
};

struct route {
  std::unique_ptr<endpoint> at;
  std::vector<std::string> segments = {};  ///< segments of a path with names in braces; empty for others
  figures its = {};
  last_status last = {};

  [[nodiscard]] MANTA_DECL bool takes(std::string_view method) const;
  /// For the field Allow: "GET, HEAD, POST".
  [[nodiscard]] MANTA_DECL std::string methods() const;
};

/// The methods that an endpoint has, also those that come by themselves.
[[nodiscard]] MANTA_DECL std::vector<std::string> all_methods(const endpoint& e);

/// The route of a path and a method.
struct found_route {
  route* at = nullptr;
  text_pairs parameters = {};  ///< values of the {names} in the path
  std::string allowed = {};    ///< if a route has this path and none this method: the methods that there are
};

/// The model that a path under /v2/models names.
struct found_model {
  route* at = nullptr;
  int version = 0;     ///< version that the path names; 0: none
  reply problem = {};  ///< answer to the request if there is no such model
};

class route_table {
 public:
  /// Throws if no request could have its path, if the path or the name is taken, or if its names do not fit.
  MANTA_DECL void add(std::unique_ptr<endpoint> e);
  [[nodiscard]] MANTA_DECL found_route find(const std::string& path, std::string_view method) const;
  /// The model NAME[/versions/V].
  [[nodiscard]] MANTA_DECL found_model find_model(std::string name) const;
  [[nodiscard]] const std::vector<std::unique_ptr<route>>& all() const { return routes_; }

 private:
  void refuse_if_taken(const endpoint& e) const;

  std::vector<std::unique_ptr<route>> routes_;
  std::unordered_map<std::string, std::vector<route*>> plain_;  ///< routes without names in their paths
  std::vector<route*> patterns_;                                ///< routes with names in their paths
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_routes.ipp"
#endif
