// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/serve/dashboard_page.hpp"
#include "manta/serve/dashboard_server.hpp"
#include "manta/serve/http_target.hpp"

namespace manta::serve::detail {

inline http_options options_of(const dashboard_options& o) {
  http_options all;
  all.port = o.port;
  all.address = o.address;
  all.token = o.token.empty() ? random_digits(4) : o.token == "none" ? std::string() : o.token;
  all.max_connections = 64;
  all.max_body = 1024;
  if (o.port < 0 || o.port > 65535)
    throw error(base::text("manta: dashboard: a port is a number from 0 to 65535, not {}", o.port));
  return all;
}

MANTA_DECL dashboard_server::dashboard_server(const dashboard_options& options) : options_(options_of(options)) {
  listener_.open(events_, connections_);
  guard_.set_port(listener_.port());
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ < 0 || !events_.add(bell_, EPOLLIN, ends_))
    throw error("manta: dashboard: the system has no descriptors left");
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);  // signals are for the program's own threads
  thread_ = std::thread([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!options.quiet) std::fprintf(stderr, "manta: dashboard at %s\n", url().c_str());
}

MANTA_DECL dashboard_server::~dashboard_server() {
  has_to_end_ = true;
  const std::uint64_t once = 1;
  (void)!::write(bell_, &once, sizeof once);
  thread_.join();
  ::close(bell_);
}

MANTA_DECL std::string dashboard_server::url() const {
  return listener_.url() + "/" + (options_.token.empty() ? "" : "?token=" + options_.token);
}

inline void dashboard_server::work() {
  while (!has_to_end_) {
    wait();
    connections_.begin_turn();
    events_.turn();
    answer_waiting();
    connections_.end_turn();
  }
}

inline void dashboard_server::wait() {
  constexpr std::int64_t look_ns = 20'000'000, most_ns = 1'000'000'000;
  const std::int64_t left = std::clamp<std::int64_t>(connections_.next_deadline() - clock_ns(), 0, most_ns);
  const std::int64_t ns = waiting_.empty() ? left : std::min(left, look_ns);
  pollfd all{events_.descriptor(), POLLIN, 0};
  ::poll(&all, 1, static_cast<int>((ns + 999'999) / 1'000'000));
}

MANTA_DECL bool dashboard_server::admit(http_connection&) { return true; }

MANTA_DECL void dashboard_server::answer_refusal(http_connection& c, const message_refusal& why) {
  c.answer(failure(why.status, why.why), true);
}

MANTA_DECL void dashboard_server::client_left(http_connection& c) {
  std::erase_if(waiting_, [&](const waiting& each) { return each.from == &c; });
}

MANTA_DECL void dashboard_server::answer_request(http_connection& c) {
  const http_message& m = c.message();
  http_target target;
  reply problem;
  if (!parse_target(m.target(), target)) {
    problem = failure(400, "the address of the request is none");
  } else if (m.method() != "GET" && m.method() != "HEAD") {
    problem = failure(405, base::text("{} is called by GET", shown(target.path)));
    problem.header.emplace_back("Allow", "GET, HEAD");
  } else if (!guard_.refuses(m, target, false, target.path == "/", problem)) {
    if (target.path == "/api/state") return answer_by_text(c, run_viewer::state);
    if (target.path == "/api/statistics") return answer_by_text(c, run_viewer::statistics);
    if (target.path == "/report") return answer_by_text(c, run_viewer::page);
    problem = failure(
        404, base::text("there is no {}; there are /, /report, /api/state and /api/statistics", shown(target.path)));
    if (target.path == "/") {
      problem = {200, dashboard_page, "text/html; charset=utf-8"};
      problem.header.emplace_back("Content-Security-Policy",
                                  "default-src 'none'; style-src 'unsafe-inline'; script-src "
                                  "'unsafe-inline'; connect-src 'self'; frame-src 'self'");
      problem.header.emplace_back("Referrer-Policy", "no-referrer");
    }
  }
  c.answer(std::move(problem), false);
}

inline reply dashboard_server::reply_of(const run_viewer::version& text, run_viewer::kind which) const {
  if (text.text == nullptr) return failure(503, "rank 0 has not answered yet; ask again");
  reply all{200, *text.text, which == run_viewer::page ? "text/html; charset=utf-8" : "application/json"};
  all.header.emplace_back("Cache-Control", "no-store");
  all.header.emplace_back("Referrer-Policy", "no-referrer");
  return all;
}

inline void dashboard_server::answer_by_text(http_connection& c, run_viewer::kind which) {
  constexpr std::int64_t patience_ns = 4'000'000'000;  // ranks that do not answer take two seconds
  viewer_.want(which);
  waiting_.push_back({&c, which, viewer_.get(which).number, connections_.now() + patience_ns});
}

inline void dashboard_server::answer_waiting() {
  for (std::size_t i = 0; i < waiting_.size();) {
    const waiting each = waiting_[i];
    const run_viewer::version text = viewer_.get(each.which);
    if (text.number == each.known && connections_.now() < each.until) {
      ++i;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    each.from->answer(reply_of(text, each.which), false);
  }
}

}  // namespace manta::serve::detail
