// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_exchanges.hpp.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/serve/http_exchanges.hpp"
#include "manta/serve/http_guard.hpp"
#include "manta/serve/overloaded.hpp"

namespace manta::serve::detail {

/// Throws if the server has no room for these further calls. Each row of tensors is a call, and a short body may have
/// millions of them.
MANTA_DECL void http_exchanges::check_room(std::int64_t calls) const {
  const std::int64_t most = options_.max_requests;
  if (calls > most) {
    throw json_error("inputs: a batch of " + std::to_string(calls) +
                     " rows, each of which is a request; this server takes " + std::to_string(most) + " at a time");
  }
  if (calls_under_way_ + calls > most) throw overloaded("too many requests are under way");
}

/// Throws json_error if the body does not fit.
MANTA_DECL void http_exchanges::start_call(exchange& x, bool infer, std::string_view body) {
  const endpoint& at = *x.at->at;
  check_room(1);
  if (infer) {
    if (!at.infer)
      throw json_error("the values of \"" + at.options.name + "\" are no tensors: POST JSON to " + at.path);
    const std::string length = header_of(x.request, "Inference-Header-Content-Length");
    if (length.size() > 18 || length.find_first_not_of("0123456789") != std::string::npos)
      throw json_error("Inference-Header-Content-Length: expected a number, not \"" + shown(length) + "\"");
    infer_request tensors = read_infer_request(body, length.empty() ? std::string_view::npos : std::stoull(length));
    if (!tensors.inputs.empty()) x.calls = std::max<std::int64_t>(1, tensors.inputs[0].shape[0]);
    check_room(x.calls);
    x.work = at.infer(std::move(tensors));
    x.as = exchange::form::infer;
  } else {
    x.work = at.start(body);
    const bool events = header_of(x.request, "Accept").find("text/event-stream") != std::string::npos;
    if (at.streams) x.as = events ? exchange::form::events : exchange::form::lines;
  }
}

MANTA_DECL void http_exchanges::start(evhttp_request* request, route& at, bool infer, std::string_view body) {
  figures& its = at.its;
  const auto refused = [&](reply answer) {
    ++its.answers[answer.status];
    if (answer.status == 503) answer.header.emplace_back("Retry-After", "1");
    send_reply(request, connections_.of(request), std::move(answer), end_.has_begun());
  };
  if (end_.has_begun()) return refused(failure(503, "the server is about to end"));
  exchange x{request, &at, nullptr, connections_.of(request), clock_ns()};
  try {
    start_call(x, infer, body);
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
    x.from->exchanges = this;
    ::evhttp_connection_set_closecb(::evhttp_request_get_connection(request), &http_exchanges::client_gone, x.from);
  }
  exchange& kept = open_.emplace(id, std::move(x)).first->second;
  wait_for(id, kept);
}

MANTA_DECL void http_exchanges::wait_for(std::uint64_t id, exchange& x) {
  const any_future what = x.work->waits_for();
  what.valid() ? watcher_.add(what, id) : advance(id);
}

MANTA_DECL void http_exchanges::advance(std::uint64_t id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;  // the client has gone
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
  if (open_.find(id) == open_.end()) return;  // gone while the step waited
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
MANTA_DECL void http_exchanges::send_part(std::uint64_t id, exchange& x, bool last) {
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
  ::evhttp_send_reply_chunk_with_cb(x.request, part, &http_exchanges::part_sent, x.from);
  ::evbuffer_free(part);
}

MANTA_DECL void http_exchanges::part_sent(evhttp_connection*, void* from) {
  auto& c = *static_cast<connection*>(from);
  const auto found = c.exchanges->open_.find(c.exchange);
  if (found != c.exchanges->open_.end()) c.exchanges->wait_for(found->first, found->second);
}

MANTA_DECL void http_exchanges::finish(std::uint64_t id, exchange& x, int status) {
  x.at->its.note(status, static_cast<double>(clock_ns() - x.began) * 1e-9);
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
  send_reply(done.request, connections_.of(done.request), std::move(answer), end_.has_begun());
}

/// The exchange that is no longer under way.
MANTA_DECL exchange http_exchanges::take_out(std::uint64_t id) {
  exchange x = std::move(open_.extract(id).mapped());
  --x.at->its.under_way;
  calls_under_way_ -= x.calls;
  return x;
}

/// A client that has gone, or whose connection has failed, while its request was being answered: nobody waits for that
/// any more.
MANTA_DECL void http_exchanges::client_gone(evhttp_connection*, void* from) {
  auto& c = *static_cast<connection*>(from);
  const auto at = c.exchanges->open_.find(c.exchange);
  c.exchange = 0;
  if (at == c.exchanges->open_.end()) return;
  const exchange gone = c.exchanges->take_out(at->first);
  ++gone.at->its.answers[499];
  gone.work->abandon();
}

MANTA_DECL void http_exchanges::let_go() {
  for (auto& [id, x] : open_)
    ::evhttp_connection_set_closecb(::evhttp_request_get_connection(x.request), nullptr, nullptr);
}

MANTA_DECL void http_exchanges::end_overdue() {
  const std::int64_t now = clock_ns();
  std::vector<std::uint64_t> late;
  for (const auto& [id, x] : open_) {
    if (!x.begun && (now - x.began > in_ns(options_.answer_time) || (end_.has_begun() && now > end_.until)))
      late.push_back(id);
  }
  for (const std::uint64_t id : late) {
    exchange& x = open_.find(id)->second;
    x.answer = failure(504, "the deployment has not answered in time").body;
    finish(id, x, 504);
  }
}

}  // namespace manta::serve::detail
