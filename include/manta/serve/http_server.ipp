// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "manta/async.hpp"
#include "manta/base/text.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_control.hpp"
#include "manta/serve/http_files.hpp"
#include "manta/serve/http_metrics.hpp"
#include "manta/serve/http_server.hpp"
#include "manta/serve/router.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

/// Throws if a server with these options could never answer.
inline void check_options(const http_options& o) {
  const auto at_least = [](const char* name, std::int64_t value, std::int64_t least, const char* unit) {
    if (value >= least) return;
    throw error(base::text("manta: serve::http: .{} is {}{}; at least {} is needed", name, value, unit, least));
  };
  if (o.port < 0 || o.port > 65535)
    throw error(base::text("manta: serve::http: a port is a number from 0 to 65535, not {}", o.port));
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
      throw error(
          base::text("manta: serve::http: .hosts has names alone, without scheme and port; it has \"{}\"", host));
  }
  for (const std::string& origin : o.cors) {
    const std::size_t scheme = origin.find("://");
    if (origin != "*" && (scheme == std::string::npos || origin.find('/', scheme + 3) != std::string::npos))
      throw error(
          base::text("manta: serve::http: .cors has origins, such as \"https://app.example\", or \"*\"; "
                     "\"{}\" is none",
                     origin));
  }
}

MANTA_DECL http_server::http_server(http_options options) : options_(std::move(options)), ids_(random_digits(1) + "-") {
  check_options(options_);
  if (!options_.files.empty() && !std::filesystem::is_directory(options_.files)) {
    throw error(base::text("manta: serve::http: there is no folder {}, which .files names", options_.files));
  }
  if (!options_.access_log.empty()) log_.open(options_.access_log, options_.log_as_json);
  listener_.open(events_, connections_);
  guard_.set_port(listener_.port());
  started_ = clock_ns();
}

MANTA_DECL http_server::~http_server() { watcher_.watch_descriptor(-1); }

MANTA_DECL void http_server::add(std::unique_ptr<endpoint> e) {
  const actor<router> its = e->deployment;
  routes_.add(std::move(e));
  if (its.valid()) async<&router::keep_away>(its, manta::rank(), options_.no_replicas);
}

// --- requests

/// A client's id is taken if it can stand in a header and in a log.
inline bool is_good_id(std::string_view id) {
  constexpr std::size_t longest = 128;
  return !id.empty() && id.size() <= longest &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

inline exchange http_server::exchange_for(http_connection& c) {
  exchange x{&c};
  x.began = connections_.now();
  if (!options_.cors.empty()) x.origin = c.message().field("Origin");
  x.may_compress = options_.compression && list_has(c.message().field("Accept-Encoding"), "gzip");
  if (!options_.request_ids) return x;
  const std::string_view given = c.message().field("X-Request-Id");
  x.id_is_clients = is_good_id(given);
  x.id = x.id_is_clients ? std::string(given) : ids_ + std::to_string(++next_request_);
  return x;
}

/// Whether the client must not ask, or asks for what no server has; it is answered then.
inline bool http_server::refuses(exchange& x, const http_target& target) {
  const http_message& m = x.from->message();
  const std::string_view method = m.method();
  reply problem;
  if (method == "CONNECT" || method == "TRACE") {
    problem = failure(501, base::text("this server does not do {}", method));
  } else if (target.path.empty()) {
    problem = failure(400, "the address is no path, or has a % without two hexadecimal digits");
  } else {
    const bool gets = method == "GET" || method == "HEAD";
    const bool is_open = options_.open_health && gets && is_open_path(target.path);
    const bool is_page = gets && (is_page_for_people(target.path) || !options_.files.empty()) &&
                         routes_.find(target.path, method).at == nullptr;
    if (!guard_.refuses(m, target, is_open, is_page, problem)) return false;
  }
  ++refused_;
  exchanges_.answer_at_once(x, std::move(problem));
  return true;
}

/// A request that is refused for its head does not send a long body in vain.
MANTA_DECL bool http_server::admit(http_connection& c) {
  const http_message& m = c.message();
  constexpr std::size_t long_body = 64 * 1024;
  if (c.announced_body() <= long_body && !m.has_field("Expect") && !m.has_field("Transfer-Encoding")) return true;
  exchange x = exchange_for(c);
  http_target target;
  if (!parse_target(m.target(), target)) target.path.clear();
  return m.method() == "OPTIONS" || !refuses(x, target);
}

MANTA_DECL void http_server::answer_refusal(http_connection& c, const message_refusal& why) {
  exchange x = exchange_for(c);
  ++refused_;
  exchanges_.answer_at_once(x, failure(why.status, why.why));
}

MANTA_DECL void http_server::answer_request(http_connection& c) {
  exchange x = exchange_for(c);
  http_target target;
  if (!parse_target(c.message().target(), target)) target.path.clear();
  try {
    answer(std::move(x), target);
  } catch (...) {  // nothing has been sent
    exchange failed = exchange_for(c);
    failed.problem = http_failures::whole_text();
    exchanges_.answer_at_once(failed, failures_.answer());
  }
}

inline void http_server::answer(exchange x, const http_target& target) {
  if (x.from->message().method() == "OPTIONS") return answer_options(x, target);
  if (refuses(x, target) || !read_coding(x)) return;
  if (answer_by_route(x, target) || answer_by_model(x, target) || answer_by_change(x, target)) return;
  answer_by_page(x, target);
}

/// What may be done with a path; and, for a page of another site, whether it may (CORS).
inline void http_server::answer_options(exchange& x, const http_target& target) {
  const http_message& m = x.from->message();
  const bool is_preflight = m.has_field("Access-Control-Request-Method");
  if (!(is_preflight && guard_.may_read(m.field("Origin"))) && refuses(x, target)) return;
  reply answer{204, "", ""};
  const std::string allowed = routes_.find(target.path, "").allowed;
  if (allowed.empty() && !is_own_path(target.path) && target.path != "*" && !is_page_for_people(target.path))
    return exchanges_.answer_at_once(x, failure(404, base::text("there is no {}", shown(target.path))));
  const std::string methods = (allowed.empty() ? "GET, HEAD, POST" : allowed) + ", OPTIONS";
  answer.header.emplace_back("Allow", methods);
  if (is_preflight && guard_.may_read(m.field("Origin"))) {
    answer.header.emplace_back("Access-Control-Allow-Methods", methods);
    const std::string_view asked = m.field("Access-Control-Request-Headers");
    if (!asked.empty()) answer.header.emplace_back("Access-Control-Allow-Headers", asked);
    answer.header.emplace_back("Access-Control-Max-Age", "600");
  }
  exchanges_.answer_at_once(x, std::move(answer));
}

/// Expands a compressed body. False if that cannot be done; it is answered then.
inline bool http_server::read_coding(exchange& x) {
  http_message& m = x.from->message();
  const std::string_view coding = m.field("Content-Encoding");
  if (coding.empty() || same_word(coding, "identity")) return true;
  reply problem;
  if (!options_.compression || !same_word(coding, "gzip")) {
    problem = failure(415, base::text("Content-Encoding: this server does not read \"{}\"", shown(coding)));
    if (options_.compression) problem.header.emplace_back("Accept-Encoding", "gzip");
  } else {
    std::string expanded;
    if (!options_.compression->expand(m.body(), options_.max_body, expanded)) {
      problem = failure(400, "the body is no gzip, or not whole");
    } else if (expanded.size() > options_.max_body) {
      problem = failure(413, "the body is too long");
    } else {
      m.body() = std::move(expanded);
      return true;
    }
  }
  exchanges_.answer_at_once(x, std::move(problem));
  return false;
}

inline bool http_server::answer_by_route(exchange& x, const http_target& target) {
  const http_message& m = x.from->message();
  found_route found = routes_.find(target.path, m.method());
  if (found.at == nullptr) {
    if (found.allowed.empty()) return false;
    reply refused = failure(405, base::text("{} is called by {}", target.path, found.allowed));
    refused.header.emplace_back("Allow", found.allowed);
    exchanges_.answer_at_once(x, std::move(refused));
    return true;
  }
  x.at = found.at;
  if (found.at->at->streams && m.method() == "HEAD") {
    exchanges_.answer_at_once(x, {200, "", "application/x-ndjson"});
    return true;
  }
  incoming in{m, target, std::move(found.parameters)};
  if (!target.query.empty()) in.query = parse_query(target.query);
  const std::string id = x.id;
  in.id = id;
  in.client = x.from->peer();
  exchanges_.start(std::move(x), in);
  return true;
}

inline bool http_server::answer_by_model(exchange& x, const http_target& target) {
  constexpr std::string_view models = "/v2/models/", infer = "/infer";
  const std::string& path = target.path;
  if (!path.starts_with(models) || !path.ends_with(infer) || x.from->message().method() != "POST") return false;
  found_model found = routes_.find_model(path.substr(models.size(), path.size() - models.size() - infer.size()));
  if (found.at == nullptr) {
    exchanges_.answer_at_once(x, std::move(found.problem));
  } else {
    x.at = found.at;
    exchanges_.start_inference(std::move(x), {x.from->message(), target}, found.version);
  }
  return true;
}

inline bool http_server::answer_by_change(exchange& x, const http_target& target) {
  if (!is_control_path(target.path)) return false;
  if (x.from->message().method() != "POST") {
    reply refused = failure(405, "deployments are changed by POST; GET /api/status says how they do");
    refused.header.emplace_back("Allow", "POST");
    exchanges_.answer_at_once(x, std::move(refused));
    return true;
  }
  try {
    const bool may_change = !options_.token.empty() || !options_.socket.empty();
    std::unique_ptr<call> change = control_call(routes_, target.path, x.from->message().body(), may_change);
    exchanges_.start_page(std::move(x), std::move(change));
  } catch (const json_error& e) {
    exchanges_.answer_at_once(x, failure(400, e.what()));
  }
  return true;
}

inline reply refuse_method(const std::string& path, bool is_there) {
  if (!is_there) return failure(404, base::text("there is no {}; GET /openapi.json lists what there is", shown(path)));
  reply refused = failure(405, base::text("{} is a page: it is called by GET", shown(path)));
  refused.header.emplace_back("Allow", "GET, HEAD");
  return refused;
}

/// The folder's address has a slash at its end, so that what its page names is found beside it.
inline reply lead_to_folder(const http_target& target) {
  reply moved{301};
  moved.header.emplace_back("Location", target.path + "/" + (target.query.empty() ? "" : "?" + target.query));
  return moved;
}
/// Whether the path, which is decoded, can stand in a field as it is.
inline bool is_plain(std::string_view path) {
  return std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
  });
}

inline void http_server::answer_by_page(exchange& x, const http_target& target) {
  const std::string_view method = x.from->message().method();
  if (method != "GET" && method != "HEAD") {
    const bool is_there = is_own_page(target.path) || has_file(options_.files, target.path);
    return exchanges_.answer_at_once(x, refuse_method(target.path, is_there));
  }
  reply file;
  if (find_file(options_.files, target.path, file)) return exchanges_.answer_at_once(x, std::move(file));
  if (is_plain(target.path) && has_file(options_.files, target.path + "/"))
    return exchanges_.answer_at_once(x, lead_to_folder(target));
  exchanges_.start_page(std::move(x), server_page(routes_, state(), target.path));
}

MANTA_DECL server_state http_server::state() const {
  return {url(),
          static_cast<double>(clock_ns() - started_) * 1e-9,
          connections_.size(),
          refused_,
          end_.has_begun(),
          exchanges_.other_answers(),
          !options_.token.empty(),
          ask_others_};
}

MANTA_DECL std::string http_server::state_text() const { return server_text(routes_, state()); }

// --- the loop

/// A Ctrl-C reaches all ranks; those of replicas have to live until the server has answered.
inline void ignore_interrupt() {
  struct sigaction present {};
  if (::sigaction(SIGINT, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGINT, SIG_IGN);
}

MANTA_DECL void http_server::begin() {
  if (interrupts_.has_begun()) return;
  for (int r = 0; r < manta::size(); ++r) {  // a rank may be in a long task: nobody waits for it
    try {
      if (r != manta::rank()) async<ignore_interrupt>({.rank = r});
    } catch (const unschedulable&) {  // it has died
    }
  }
  struct sigaction present {};
  if (::sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
  watcher_.watch_descriptor(events_.descriptor());
  watcher_.watch_stops();
  interrupts_.begin();
  events_.add(interrupt_watch::descriptor(), EPOLLIN | EPOLLET, interrupt_news_);
  if (options_.quiet) return;
  std::string text = base::text("manta: serving on {}", url());
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (job != nullptr && port() != 0) {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    text += base::text("; from elsewhere: ssh -L {}:localhost:{} {}", port(), port(), std::string_view(name));
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

/// When something has to be looked at, even if nothing comes.
inline std::int64_t http_server::next_look() const {
  constexpr std::int64_t period = 10'000'000'000;
  return std::min({connections_.next_deadline(), exchanges_.next_deadline(), looked_for_end_ + period});
}

inline void http_server::look_for_end(std::int64_t now) {
  looked_for_end_ = now;
  log_.flush();
  if (!end_.has_begun() && this_task::stop_requested()) drain("the run has to end");
}

MANTA_DECL void http_server::turn(std::chrono::nanoseconds longest) {
  connections_.begin_turn();
  const bool any = events_.turn();
  const std::int64_t now = connections_.now();
  if (interrupts_.came()) drain("SIGINT has come");
  // A wait that nothing has ended may have been ended by the end of the run.
  constexpr std::int64_t some = 500'000'000;
  if ((!any && has_waited_) || now - looked_for_end_ > some) look_for_end(now);
  exchanges_.end_overdue(now);
  connections_.end_turn();
  if (has_ended()) return log_.flush();
  const std::int64_t wait = std::clamp<std::int64_t>(next_look() - clock_ns(), 0, longest.count());
  auto id = watcher_.next(std::chrono::nanoseconds(wait));
  has_waited_ = !id;
  if (id) connections_.begin_turn();
  while (id) {
    exchanges_.advance(*id);
    id = watcher_.ready() ? watcher_.next(std::chrono::nanoseconds(0)) : std::nullopt;
  }
}

MANTA_DECL void http_server::drain(const std::string& why) {
  if (end_.has_begun()) return;
  end_ = {why, clock_ns() + in_ns(options_.drain_time)};
  exchanges_.note_end();
  listener_.close();
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
