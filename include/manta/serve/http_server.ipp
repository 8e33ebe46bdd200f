// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_server.hpp.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "manta/async.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_server.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

/// Descriptors of this process that are epoll's.
inline std::vector<int> event_descriptors() {
  std::vector<int> all;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return all;
  while (const dirent* const each = ::readdir(folder)) {
    char target[64] = "";
    const std::string path = std::string("/proc/self/fd/") + each->d_name;
    if (::readlink(path.c_str(), target, sizeof target - 1) > 0 && std::strcmp(target, "anon_inode:[eventpoll]") == 0)
      all.push_back(std::atoi(each->d_name));
  }
  ::closedir(folder);
  return all;
}

/// libevent does not say which descriptor its loop waits on: it is the one that has come. -1: not found.
MANTA_DECL int http_server::find_descriptor(const std::vector<int>& before) {
  int found = -1;
  for (const int each : event_descriptors()) {
    if (std::find(before.begin(), before.end(), each) == before.end()) found = each;
  }
  return found;
}

/// Throws if a server with these options could never answer.
inline void check_options(const http_options& o) {
  const auto at_least = [](const char* name, std::int64_t value, std::int64_t least, const char* unit) {
    if (value >= least) return;
    throw error(std::string("manta: serve::http: .") + name + " is " + std::to_string(value) + unit + "; at least " +
                std::to_string(least) + " is needed");
  };
  if (o.port < 0 || o.port > 65535)
    throw error("manta: serve::http: a port is a number from 0 to 65535, not " + std::to_string(o.port));
  at_least("max_header", static_cast<std::int64_t>(o.max_header), 1, "");
  at_least("max_connections", o.max_connections, 1, "");
  at_least("max_requests", o.max_requests, 1, "");
  at_least("request_time", o.request_time.count(), 1, " ms");
  at_least("idle_time", o.idle_time.count(), 1, " ms");
  at_least("answer_time", o.answer_time.count(), 1, " ms");
  at_least("drain_time", o.drain_time.count(), 0, " ms");
  const auto cannot_be_sent = [&](const char& c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || (c == ' ' && &c == &o.token.back());
  };
  if (std::any_of(o.token.begin(), o.token.end(), cannot_be_sent)) {
    throw error(
        "manta: serve::http: .token has a line break, another control character or a space at its end, which no client "
        "can send in a header; std::getline reads a line of a file without its end");
  }
  for (const std::string& host : o.hosts) {
    if (host.find_first_of(":/") != std::string::npos)
      throw error("manta: serve::http: .hosts has names alone, without scheme and port; it has \"" + host + "\"");
  }
}

MANTA_DECL http_server::http_server(http_options options) : options_(std::move(options)) {
  check_options(options_);
  if (!options_.files.empty() && !std::filesystem::is_directory(options_.files)) {
    throw error("manta: serve::http: there is no folder " + options_.files + ", which .files names");
  }
  const std::vector<int> before = event_descriptors();
  base_ = ::event_base_new();
  descriptor_ = find_descriptor(before);
  http_ = base_ != nullptr ? ::evhttp_new(base_) : nullptr;
  if (http_ == nullptr) throw error("manta: serve::http: libevent cannot start");
  ::evhttp_set_max_headers_size(http_, static_cast<ev_ssize_t>(options_.max_header));
  ::evhttp_set_max_body_size(http_, static_cast<ev_ssize_t>(options_.max_body));
  ::evhttp_set_timeout(http_, static_cast<int>(std::max<std::int64_t>(1, in_ns(options_.idle_time) / 1'000'000'000)));
  ::evhttp_set_allowed_methods(http_, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |
                                          EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH);
  ::evhttp_set_bevcb(http_, &http_connections::accept, &connections_);
  ::evhttp_set_gencb(http_, &http_server::request_came, this);
  ::evhttp_set_default_content_type(http_, nullptr);
  listener_.open(http_);
  started_ = clock_ns();
}

MANTA_DECL http_server::~http_server() {
  watcher_.watch_descriptor(-1);
  exchanges_.let_go();
  if (http_ != nullptr) ::evhttp_free(http_);
  connections_.clear();
  if (base_ != nullptr) ::event_base_free(base_);
}

// --- requests

MANTA_DECL void http_server::request_came(evhttp_request* request, void* self) {
  auto& server = *static_cast<http_server*>(self);
  try {
    server.handle(request);
  } catch (const std::exception& e) {  // nothing has been sent
    server.send(request, failure(500, e.what()));
  }
}

MANTA_DECL void http_server::handle(evhttp_request* request) {
  if (connection* const c = connections_.of(request)) c->began = 0;
  reply answer;
  if (refuse_request(options_, request, answer)) {
    ++refused_;
    return send(request, std::move(answer));
  }
  const char* const raw = ::evhttp_uri_get_path(::evhttp_request_get_evhttp_uri(request));
  std::size_t length = 0;
  char* const decoded = ::evhttp_uridecode(raw != nullptr ? raw : "/", 0, &length);
  std::string path = decoded != nullptr ? std::string(decoded, length) : "/";
  std::free(decoded);
  if (path.empty()) path = "/";
  if (path.find('\0') != std::string::npos) return send(request, failure(400, "the path has a zero in it"));
  const evhttp_cmd_type method = ::evhttp_request_get_command(request);
  const bool get = method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD, post = method == EVHTTP_REQ_POST;
  evbuffer* const in = ::evhttp_request_get_input_buffer(request);
  const std::size_t bytes = ::evbuffer_get_length(in);
  const char* const data = bytes != 0 ? reinterpret_cast<const char*>(::evbuffer_pullup(in, -1)) : "";
  const std::string_view body(data, bytes);
  if (route* const found = routes_.find(path)) {
    const bool bare = found->at->parameters == 0;
    if (post || (get && bare)) return exchanges_.start(request, *found, false, body);
    answer = failure(405, path + " is called by POST");
    answer.header.emplace_back("Allow", bare ? "GET, HEAD, POST" : "POST");
    return send(request, std::move(answer));
  }
  constexpr std::string_view models = "/v2/models/", infer = "/infer";
  if (path.starts_with(models) && path.ends_with(infer) && post) {
    const std::size_t length_of_name = path.size() - models.size() - infer.size();
    route* const at = routes_.find_model(path.substr(models.size(), length_of_name), answer);
    return at != nullptr ? exchanges_.start(request, *at, true, body) : send(request, std::move(answer));
  }
  if (const char* const type = get ? add_file(request, options_.files, path) : nullptr)
    return send(request, {200, "", type});
  send(request, server_page(routes_, state(), path, get));
}

MANTA_DECL void http_server::send(evhttp_request* request, reply answer) {
  send_reply(request, connections_.of(request), std::move(answer), end_.has_begun());
}

MANTA_DECL server_state http_server::state() const {
  return {url(), static_cast<double>(clock_ns() - started_) * 1e-9, connections_.size(), refused_, end_.has_begun()};
}

// --- the loop

/// A Ctrl-C reaches all ranks; those of replicas have to live until the server has answered.
inline void ignore_interrupt() {
  struct sigaction present {};
  if (::sigaction(SIGINT, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGINT, SIG_IGN);
}

MANTA_DECL void http_server::begin() {
  if (interrupts_.has_begun()) return;
  std::vector<future<void>> told;
  for (int r = 0; r < manta::size(); ++r) {
    if (r != manta::rank()) told.push_back(async<ignore_interrupt>({.rank = r}));
  }
  for (const future<void>& each : told) each.wait_for(std::chrono::seconds(2));  // a rank may be in a long task
  struct sigaction present {};
  if (::sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
  watcher_.watch_descriptor(descriptor_);
  interrupts_.begin();
  if (options_.quiet) return;
  std::string text = "manta: serving on " + url();
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (job != nullptr && port() != 0) {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    const std::string number = std::to_string(port());
    text += "; from elsewhere: ssh -L " + number + ":localhost:" + number + " " + name;
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

MANTA_DECL void http_server::turn(std::chrono::nanoseconds longest) {
  ::event_base_loop(base_, EVLOOP_NONBLOCK);
  if (interrupts_.came()) drain("SIGINT has come");
  const std::int64_t now = clock_ns();
  constexpr std::int64_t tick = 200'000'000;
  if (now - swept_ > tick) {
    swept_ = now;
    connections_.sweep();
    exchanges_.end_overdue();
    if (!end_.has_begun() && this_task::stop_requested()) drain("the run has to end");
  }
  if (has_ended()) return;
  const auto until = descriptor_ >= 0 ? std::chrono::nanoseconds(tick) : std::chrono::nanoseconds(1'000'000);
  auto id = watcher_.next(std::min(longest, until));
  while (id) {
    exchanges_.advance(*id);
    id = watcher_.ready() ? watcher_.next(std::chrono::nanoseconds(0)) : std::nullopt;
  }
}

MANTA_DECL void http_server::drain(const std::string& why) {
  if (end_.has_begun()) return;
  end_ = {why, clock_ns() + in_ns(options_.drain_time)};
  listener_.close(http_);
  if (!options_.quiet) {
    std::fprintf(stderr, "manta: %s: no longer serving on %s; %zu requests are still answered\n", why.c_str(),
                 url().c_str(), exchanges_.size());
  }
}

MANTA_DECL bool http_server::has_ended() const {
  if (!end_.has_begun()) return false;
  return clock_ns() > end_.until || (exchanges_.size() == 0 && !connections_.has_unsent());
}

}  // namespace manta::serve::detail
