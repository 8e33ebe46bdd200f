// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdio>

#include "manta/async.hpp"
#include "manta/base/text.hpp"
#include "manta/capacity.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_peers.hpp"
#include "manta/serve/http_server.hpp"
#include "manta/serve/router.hpp"

namespace manta::serve::detail {

// --- one of them

MANTA_DECL http_peer::http_peer(const sent_http_options& o) : server_(std::make_unique<http_server>(o.its)) {}
MANTA_DECL http_peer::~http_peer() = default;

MANTA_DECL void http_peer::add(const sent_route& r) {
  server_->add(find_endpoint_maker(r.type)(r.path, r.options, r.parts));
}
MANTA_DECL void http_peer::add_status(const std::string& type, int status) {
  server_->add_status(type.c_str(), status);
}
MANTA_DECL void http_peer::run() {
  server_->begin();
  while (!server_->has_ended()) server_->turn(std::chrono::hours(1));
}
MANTA_DECL void http_peer::stop() { server_->drain("the program has asked for it"); }
MANTA_DECL std::string http_peer::state() const { return server_->state_text(); }

// --- all of them

/// The numbers of these ranks' nodes.
inline std::vector<int> nodes_of(const std::vector<int>& ranks) {
  const std::vector<rank_resources> all = capacity();
  std::vector<int> nodes;
  for (const int rank : ranks) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.rank == rank; });
    if (found == all.end() || found->node < 0)
      throw error(base::text("manta: serve::http: .ranks names rank {}; there are {} ranks, 0 to {}", rank,
                             manta::size(), manta::size() - 1));
    nodes.push_back(found->node);
  }
  return nodes;
}

MANTA_DECL http_peers::http_peers(const http_options& o) : patience_(o.drain_time + std::chrono::seconds(2)) {
  if (o.tls || o.compression)
    throw error("manta: serve::http: .ranks goes without .tls and .compression: a proxy before the servers has them");
  std::vector<int> ranks{manta::rank()};  // the first server's, and the others'
  ranks.insert(ranks.end(), o.ranks.begin(), o.ranks.end());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(i), ranks[i]) !=
        ranks.begin() + static_cast<std::ptrdiff_t>(i))
      throw error(base::text("manta: serve::http: .ranks names rank {} twice, or it is the rank of the first server",
                             ranks[i]));
  }
  const std::vector<int> nodes = nodes_of(ranks);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    sent_http_options its{o};
    const auto before = std::count(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes[i]);
    if (its.its.port != 0) its.its.port += static_cast<int>(before);
    if (!its.its.socket.empty()) its.its.socket += base::text(".{}", ranks[i]);
    all_.push_back(spawn<http_peer>({.rank = ranks[i], .concurrency = 1 << 16}, its));
  }
  for (const future<std::string>& each : ask()) each.get();  // each listens
}

MANTA_DECL void http_peers::add(const std::string& path, const route_options& o, const char* type,
                                std::vector<handle_parts> parts) {
  const sent_route route{path, type, std::move(parts), o};
  std::vector<future<void>> added;
  for (const actor<http_peer>& each : all_) added.push_back(async<&http_peer::add>(each, route));
  for (const future<void>& each : added) each.get();
}

MANTA_DECL void http_peers::add_status(const char* type, int status) {
  for (const actor<http_peer>& each : all_) async<&http_peer::add_status>(each, std::string(type), status).get();
}

MANTA_DECL void http_peers::begin() {
  if (!running_.empty()) return;
  for (const actor<http_peer>& each : all_) running_.push_back(async<&http_peer::run>(each));
}

MANTA_DECL void http_peers::end() {
  std::vector<future<void>> stopped;
  for (const actor<http_peer>& each : all_) stopped.push_back(async<&http_peer::stop>(each));
  stopped.insert(stopped.end(), running_.begin(), running_.end());
  running_.clear();
  all_.clear();
  const auto end = std::chrono::steady_clock::now() + patience_;
  for (const future<void>& each : stopped) {
    try {
      if (each.wait_for(end - std::chrono::steady_clock::now())) each.get();
    } catch (const error& e) {  // such as the death of its rank
      std::fprintf(stderr, "manta: serve: a server on another rank has not ended well: %s\n", e.what());
    }
  }
}

MANTA_DECL std::vector<future<std::string>> http_peers::ask() const {
  std::vector<future<std::string>> all;
  for (const actor<http_peer>& each : all_) all.push_back(async<&http_peer::state>(each));
  return all;
}

}  // namespace manta::serve::detail
