// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// From a request to its answer: the call is started, its futures are watched, and each step of it is sent as it ends.
#pragma once

#include <cmath>
#include <cstdlib>

#include "manta/serve/http_guard.ipp"
#include "manta/serve/http_server.hpp"
#include "manta/serve/overloaded.hpp"

namespace manta::serve::detail {

inline const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Internal Server Error";
  }
}

/// While an answer of ours is written.
class sending {
 public:
  explicit sending(connection* c) : c_(c) { set(true); }
  ~sending() { set(false); }
  sending(const sending&) = delete;

 private:
  void set(bool ours) {
    if (c_ != nullptr) c_->ours = ours;
  }
  connection* c_;
};

MANTA_DECL void http_server::send(evhttp_request* request, reply answer) {
  evkeyvalq* const header = ::evhttp_request_get_output_headers(request);
  connection* const c = connection_of(request);
  if (!answer.type.empty()) ::evhttp_add_header(header, "Content-Type", answer.type.c_str());
  for (const auto& [name, value] : answer.header) ::evhttp_add_header(header, name.c_str(), value.c_str());
  if (!draining_.empty()) ::evhttp_add_header(header, "Connection", "close");
  evbuffer* const out = ::evhttp_request_get_output_buffer(request);
  ::evbuffer_add(out, answer.body.data(), answer.body.size());
  if (::evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {  // libevent would send the body
    ::evhttp_add_header(header, "Content-Length", std::to_string(::evbuffer_get_length(out)).c_str());
    ::evbuffer_drain(out, ::evbuffer_get_length(out));
  }
  const sending under_way(c);
  ::evhttp_send_reply(request, answer.status, reason(answer.status), nullptr);
}

MANTA_DECL void http_server::request_came(evhttp_request* request, void* self) {
  auto& server = *static_cast<http_server*>(self);
  try {
    server.handle(request);
  } catch (const std::exception& e) {  // nothing has been sent
    server.send(request, failure(500, e.what()));
  }
}

MANTA_DECL void http_server::handle(evhttp_request* request) {
  if (connection* const c = connection_of(request)) c->began = 0;
  reply answer;
  if (refuse(request, answer)) {
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
  for (const auto& each : routes_) {
    if (each->path != path) continue;
    if (post || (get && each->parameters == 0)) return start(request, *each, false, body);
    answer = failure(405, path + " is called by POST");
    answer.header.emplace_back("Allow", each->parameters == 0 ? "GET, HEAD, POST" : "POST");
    return send(request, std::move(answer));
  }
  constexpr std::string_view models = "/v2/models/", infer = "/infer";
  if (path.starts_with(models) && path.ends_with(infer) && post) {
    endpoint* const at = find_model(path.substr(models.size(), path.size() - models.size() - infer.size()), answer);
    return at != nullptr ? start(request, *at, true, body) : send(request, std::move(answer));
  }
  if (get && send_file(request, path)) return;
  send(request, page(path, get));
}

/// Throws if the server has no room for these further calls. Each row of tensors is a call, and a short body may have
/// millions of them.
MANTA_DECL void http_server::check_room(std::int64_t calls) const {
  const std::int64_t most = options_.max_requests;
  if (calls > most) {
    throw json_error("inputs: a batch of " + std::to_string(calls) +
                     " rows, each of which is a request; this server takes " + std::to_string(most) + " at a time");
  }
  if (calls_under_way_ + calls > most) throw overloaded("too many requests are under way");
}

MANTA_DECL void http_server::start(evhttp_request* request, endpoint& at, bool infer, std::string_view body) {
  figures& its = figures_[&at];
  const auto refused = [&](reply answer) {
    ++its.answers[answer.status];
    if (answer.status == 503) answer.header.emplace_back("Retry-After", "1");
    send(request, std::move(answer));
  };
  if (!draining_.empty()) return refused(failure(503, "the server is about to end"));
  exchange x{request, &at, nullptr, connection_of(request), clock_ns()};
  try {
    check_room(1);
    if (infer) {
      if (!at.infer)
        throw json_error("the values of \"" + at.options.name + "\" are no tensors: POST JSON to " + at.path);
      const std::string length = header_of(request, "Inference-Header-Content-Length");
      if (length.size() > 18 || length.find_first_not_of("0123456789") != std::string::npos)
        throw json_error("Inference-Header-Content-Length: expected a number, not \"" + shown(length) + "\"");
      infer_request tensors = read_infer_request(body, length.empty() ? std::string_view::npos : std::stoull(length));
      if (!tensors.inputs.empty()) x.calls = std::max<std::int64_t>(1, tensors.inputs[0].shape[0]);
      check_room(x.calls);
      x.work = at.infer(std::move(tensors));
      x.as = exchange::form::infer;
    } else {
      x.work = at.start(body);
      const bool events = header_of(request, "Accept").find("text/event-stream") != std::string::npos;
      if (at.streams) x.as = events ? exchange::form::events : exchange::form::lines;
    }
  } catch (const json_error& e) {
    return refused(failure(400, e.what()));
  } catch (const std::exception& e) {
    return refused(failure(is_overload(e) ? 503 : 500, e.what()));
  }
  const std::uint64_t id = next_id_++;
  ++its.under_way;
  calls_under_way_ += x.calls;
  if (x.from != nullptr) {
    x.from->exchange = id;
    ::evhttp_connection_set_closecb(::evhttp_request_get_connection(request), &http_server::connection_closed, x.from);
  }
  exchange& kept = exchanges_.emplace(id, std::move(x)).first->second;
  wait_for(id, kept);
}

MANTA_DECL void http_server::wait_for(std::uint64_t id, exchange& x) {
  const any_future what = x.work->waits_for();
  what.valid() ? watcher_.add(what, id) : advance(id);
}

/// Its future has ended, or it waits for none.
MANTA_DECL void http_server::advance(std::uint64_t id) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end()) return;  // the client has gone
  exchange& x = found->second;
  const bool parts = x.as == exchange::form::lines || x.as == exchange::form::events;
  int status = 200;
  bool more = false;
  try {
    more = x.work->step(x.answer);
  } catch (const std::exception& e) {
    status = is_overload(e) ? 503
             : x.as == exchange::form::infer && dynamic_cast<const json_error*>(&e) != nullptr &&
                     std::string_view(e.what()).starts_with("outputs: ")
                 ? 400
                 : 500;
    x.answer = failure(status, e.what()).body;
  }
  if (exchanges_.find(id) == exchanges_.end()) return;  // gone while the step waited
  if (!parts) return more ? wait_for(id, x) : finish(id, x, status);
  if (status != 200 && !x.begun) return finish(id, x, status);
  if (status != 200 && x.as == exchange::form::events) {
    x.answer = "event: error\ndata: " + x.answer + "\n\n";
  } else if (!x.answer.empty()) {
    x.answer = x.as == exchange::form::events ? "data: " + x.answer + "\n\n" : x.answer + "\n";
  }
  if (status == 200 && !more && x.as == exchange::form::events) x.answer += "event: end\ndata:\n\n";
  send_part(id, x, !more);
}

/// The next step follows when this part has left, so that a slow client holds no memory but one part.
MANTA_DECL void http_server::send_part(std::uint64_t id, exchange& x, bool last) {
  evkeyvalq* const header = ::evhttp_request_get_output_headers(x.request);
  if (!x.begun) {
    x.begun = true;
    ::evhttp_add_header(header, "Content-Type",
                        x.as == exchange::form::events ? "text/event-stream" : "application/x-ndjson");
    ::evhttp_add_header(header, "Cache-Control", "no-cache");
    ::evhttp_add_header(header, "X-Accel-Buffering", "no");  // proxies hand parts on at once
    ::evhttp_send_reply_start(x.request, 200, "OK");
  }
  evbuffer* const part = ::evbuffer_new();
  ::evbuffer_add(part, x.answer.data(), x.answer.size());
  x.answer.clear();
  if (last) {
    if (::evbuffer_get_length(part) != 0) ::evhttp_send_reply_chunk(x.request, part);
    ::evbuffer_free(part);
    return finish(id, x, 200);
  }
  ::evhttp_send_reply_chunk_with_cb(x.request, part, &http_server::part_sent, x.from);
  ::evbuffer_free(part);
}

MANTA_DECL void http_server::part_sent(evhttp_connection*, void* from) {
  auto& c = *static_cast<connection*>(from);
  const auto found = c.server->exchanges_.find(c.exchange);
  if (found != c.server->exchanges_.end()) c.server->wait_for(found->first, found->second);
}

MANTA_DECL void http_server::finish(std::uint64_t id, exchange& x, int status) {
  figures& its = figures_[x.at];
  const double seconds = static_cast<double>(clock_ns() - x.began) * 1e-9;
  std::size_t bucket = 0;
  while (bucket < figures::bounds.size() && seconds > figures::bounds[bucket]) ++bucket;
  ++its.within[bucket];
  ++its.answers[status];
  ++its.count;
  its.seconds += seconds;
  const exchange done = take_out(id);
  if (status != 200) done.work->abandon();  // such as further rows of tensors
  if (done.from != nullptr) done.from->exchange = 0;
  ::evhttp_connection_set_closecb(::evhttp_request_get_connection(done.request), nullptr, nullptr);
  if (done.begun) {
    const sending under_way(done.from);
    return ::evhttp_send_reply_end(done.request);
  }
  reply answer{status, done.answer};
  if (status == 503) answer.header.emplace_back("Retry-After", "1");
  if (done.as == exchange::form::infer && status == 200) {
    const std::size_t json_bytes = split_infer_answer(answer.body);
    if (json_bytes != std::string::npos) {
      answer.type = "application/octet-stream";
      answer.header.emplace_back("Inference-Header-Content-Length", std::to_string(json_bytes));
    }
  }
  send(done.request, std::move(answer));
}

/// The exchange that is no longer under way.
MANTA_DECL exchange http_server::take_out(std::uint64_t id) {
  exchange x = std::move(exchanges_.extract(id).mapped());
  --figures_[x.at].under_way;
  calls_under_way_ -= x.calls;
  return x;
}

/// Answers what takes too long.
MANTA_DECL void http_server::overdue() {
  const std::int64_t now = clock_ns();
  std::vector<std::uint64_t> late;
  for (const auto& [id, x] : exchanges_) {
    if (!x.begun && (now - x.began > in_ns(options_.answer_time) || (!draining_.empty() && now > drain_until_)))
      late.push_back(id);
  }
  for (const std::uint64_t id : late) {
    exchange& x = exchanges_.find(id)->second;
    x.answer = failure(504, "the deployment has not answered in time").body;
    finish(id, x, 504);
  }
}

}  // namespace manta::serve::detail
