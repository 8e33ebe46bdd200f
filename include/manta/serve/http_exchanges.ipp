// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/serve/http_exchanges.hpp"
#include "manta/serve/overloaded.hpp"

namespace manta::serve::detail {

// --- beginnings

/// Starts a call; what that throws is the answer. A text that does not fit is the client's mistake.
template <class Start>
void http_exchanges::try_to_start(exchange& x, Start&& start_call) {
  if (tools_.end.has_begun()) return answer_at_once(x, failure(503, "the server is about to end"));
  if (open_.size() >= static_cast<std::size_t>(tools_.options.max_requests))
    return answer_at_once(x, failure(503, "too many requests are under way"));
  try {
    start_call();
  } catch (const json_error& e) {
    return answer_at_once(x, failure(400, e.what()));
  } catch (...) {
    x.problem = http_failures::whole_text();
    return answer_at_once(x, tools_.failures.answer());
  }
  x.from->drop_body();
  open(std::move(x));
}

MANTA_DECL void http_exchanges::start(exchange x, const incoming& in) {
  const endpoint& at = *x.at->at;
  try_to_start(x, [&] {
    x.work = at.start(in);
    if (!at.streams) return;
    const bool events = in.message.field("Accept").find("text/event-stream") != std::string_view::npos;
    x.form = events ? answer_form::events : answer_form::lines;
    x.answer.type = events ? "text/event-stream" : "application/x-ndjson";
  });
}

MANTA_DECL void http_exchanges::start_inference(exchange x, const incoming& in, int version) {
  const endpoint& at = *x.at->at;
  try_to_start(x, [&] {
    if (!at.infer)
      throw json_error(base::text("the values of \"{}\" are no tensors: POST JSON to {}", at.options.name, at.path));
    const std::string length(in.message.field("Inference-Header-Content-Length"));
    if (length.size() > 18 || length.find_first_not_of("0123456789") != std::string::npos) {
      throw json_error(base::text("Inference-Header-Content-Length: expected a number, not \"{}\"", shown(length)));
    }
    const std::size_t json_bytes = length.empty() ? std::string_view::npos : std::stoull(length);
    x.work = at.infer(read_infer_request(in.message.body(), json_bytes), at.options.name, version);
  });
}

MANTA_DECL void http_exchanges::start_page(exchange x, std::unique_ptr<call> work) {
  x.work = std::move(work);
  open(std::move(x));
}

inline void http_exchanges::open(exchange x) {
  const std::uint64_t id = next_id_++;
  if (x.at != nullptr) ++x.at->its.under_way;
  x.from->exchange = id;
  exchange& kept = open_.emplace(id, std::move(x)).first->second;
  next_deadline_ = std::min(next_deadline_, deadline(kept));
  if (const any_future breaks = kept.work->breaks(); breaks.valid()) watcher_.add(breaks, id | of_a_break);
  wait_for(id, kept);
}

inline void http_exchanges::wait_for(std::uint64_t id, exchange& x) {
  const any_future what = x.work->waits_for();
  what.valid() ? watcher_.add(what, id) : advance(id);
}

// --- steps

/// Ends the exchange if its next step does not come any more.
inline void http_exchanges::look(std::uint64_t id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  try {
    found->second.work->look();
  } catch (...) {
    fail(found->second);
    finish(id);
  }
}

MANTA_DECL void http_exchanges::advance(std::uint64_t id) {
  if ((id & of_a_break) != 0) return look(id & ~of_a_break);
  const auto found = open_.find(id);
  if (found == open_.end()) return;  // the client has gone
  exchange& x = found->second;
  bool more = false;
  try {
    more = x.work->step(x.answer, x.form);
  } catch (...) {
    if (open_.find(id) == open_.end()) return;
    fail(x);
    return finish(id);
  }
  if (open_.find(id) == open_.end()) return;  // gone while the step waited
  if (x.form != answer_form::whole) return send_values(id, x, !more);
  more ? wait_for(id, x) : finish(id);
}

/// Notes what has been thrown: the answer, or, if a part of that has left, its last value.
inline void http_exchanges::fail(exchange& x) {
  x.problem = http_failures::whole_text();
  reply failed = tools_.failures.answer();
  if (!x.has_begun) {
    x.form = answer_form::whole;
    x.answer = std::move(failed);
  } else if (x.form == answer_form::events) {
    x.answer.body += base::text("event: error\ndata: {}\n\n", failed.body);
  } else {
    x.answer.body += failed.body + "\n";
  }
}

/// The next step follows when these have left, so that a slow client holds no memory but one part.
inline void http_exchanges::send_values(std::uint64_t id, exchange& x, bool is_last) {
  if (is_last) {
    if (x.form == answer_form::events) x.answer.body += "event: end\ndata:\n\n";
    return finish(id);
  }
  if (x.answer.body.empty()) return wait_for(id, x);
  http_connection& c = *x.from;
  if (!std::exchange(x.has_begun, true)) {
    x.answer.header.emplace_back("Cache-Control", "no-cache");
    x.answer.header.emplace_back("X-Accel-Buffering", "no");  // proxies hand parts on at once
    add_fields(x, x.answer);
    c.begin_parts(x.answer, tools_.end.has_begun());
  }
  x.sent += x.answer.body.size();
  const std::string part = std::exchange(x.answer.body, {});
  if (!c.send_part(part)) return;
  const auto found = open_.find(id);
  if (found != open_.end()) wait_for(id, found->second);
}

MANTA_DECL void http_exchanges::part_left(std::uint64_t id) {
  const auto found = open_.find(id);
  if (found != open_.end()) wait_for(id, found->second);
}

// --- ends

inline void http_exchanges::finish(std::uint64_t id) {
  const auto found = open_.find(id);
  exchange done = std::move(found->second);
  open_.erase(found);
  if (done.at != nullptr) --done.at->its.under_way;
  if (!done.problem.empty()) done.work->abandon();  // such as further rows of tensors
  if (!done.has_begun) return answer_at_once(done, std::move(done.answer));
  http_connection& c = *done.from;
  done.sent += done.answer.body.size();
  note(done, done.answer.status);
  if (!done.answer.body.empty()) c.send_part(done.answer.body);
  if (c.where() == connection_phase::working) c.end_parts();
}

MANTA_DECL void http_exchanges::answer_at_once(exchange& x, reply answer) {
  if (const std::string why = why_not_sent(answer); !why.empty()) answer = failure(500, why);
  if (answer.status == 503) {
    const auto is_retry = [](const auto& field) { return same_word(field.first, "Retry-After"); };
    if (std::none_of(answer.header.begin(), answer.header.end(), is_retry))
      answer.header.emplace_back("Retry-After", "1");
  }
  constexpr std::string_view error = R"({"error":)";
  if (!x.id.empty() && (answer.status >= 500 || x.id_is_clients) && answer.body.starts_with(error)) {
    answer.body.pop_back();
    answer.body += base::text(R"(,"request_id":"{}"})", x.id);
  }
  compress(x, answer);
  add_fields(x, answer);
  x.sent = answer.file >= 0 ? answer.file_size : answer.body.size();
  note(x, answer.status);
  x.from->answer(std::move(answer), tools_.end.has_begun());
}

inline void http_exchanges::add_fields(const exchange& x, reply& answer) const {
  if (!x.id.empty()) answer.header.emplace_back("X-Request-Id", x.id);
  if (x.origin.empty() || tools_.options.cors.empty()) return;
  answer.header.emplace_back("Vary", "Origin");
  if (!tools_.guard.may_read(x.origin)) return;
  answer.header.emplace_back("Access-Control-Allow-Origin", x.origin);
  answer.header.emplace_back("Access-Control-Expose-Headers", "X-Request-Id, Inference-Header-Content-Length");
}

/// Answers of some length that are texts, where the client reads such ones.
inline void http_exchanges::compress(const exchange& x, reply& answer) const {
  constexpr std::size_t short_answer = 1024;
  if (!tools_.options.compression || !x.may_compress || answer.file >= 0 || answer.body.size() < short_answer) return;
  if (!answer.type.starts_with("application/json") && !answer.type.starts_with("text/")) return;
  answer.body = tools_.options.compression->compressed(answer.body);
  answer.header.emplace_back("Content-Encoding", "gzip");
  answer.header.emplace_back("Vary", "Accept-Encoding");
}

/// The target of a request for the log, whose readers must not learn the token.
inline std::string without_token(std::string_view target) {
  std::string text(target);
  constexpr std::string_view name = "token=";
  for (std::size_t at = text.find('?'); (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    if (text[at - 1] != '?' && text[at - 1] != '&') continue;
    const std::size_t begin = at + name.size();
    text.replace(begin, std::min(text.find('&', begin), text.size()) - begin, "...");
  }
  return text;
}

/// Counts the answer, and writes it into the log.
inline void http_exchanges::note(const exchange& x, int status) {
  const double took = static_cast<double>(clock_ns() - x.began) * 1e-9;
  if (x.at != nullptr && x.work != nullptr && status != 499) {
    x.at->its.note(status, took);
  } else if (x.at != nullptr) {
    ++x.at->its.answers[status];  // refused, or nobody was there any more
  } else {
    ++other_answers_[status];
  }
  if (!tools_.log.is_open()) return;
  const http_message& m = x.from->message();
  const std::string target = without_token(m.target());
  tools_.log.write({x.from->peer(), m.method(), target, x.id, m.field("User-Agent"), status, x.sent, took, x.problem});
}

MANTA_DECL void http_exchanges::client_left(std::uint64_t id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const exchange gone = std::move(found->second);
  open_.erase(found);
  if (gone.at != nullptr) --gone.at->its.under_way;
  note(gone, 499);
  gone.work->abandon();
}

// --- time

/// When the answer has to be there.
inline std::int64_t http_exchanges::deadline(const exchange& x) const {
  if (x.has_begun) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t own = x.work->patience();
  const std::int64_t end = x.began + (own != 0 ? own : in_ns(tools_.options.answer_time));
  return tools_.end.has_begun() ? std::min(end, tools_.end.until) : end;
}

MANTA_DECL void http_exchanges::end_overdue(std::int64_t now) {
  if (now <= next_deadline_) return;
  std::vector<std::uint64_t> late;
  next_deadline_ = std::numeric_limits<std::int64_t>::max();
  for (const auto& [id, x] : open_) {
    const std::int64_t its = deadline(x);
    now > its ? late.push_back(id) : void(next_deadline_ = std::min(next_deadline_, its));
  }
  for (const std::uint64_t id : late) {
    exchange& x = open_.find(id)->second;
    x.form = answer_form::whole;
    if (!x.work->answer_at_once(x.answer)) {
      x.problem = "the deployment has not answered in time";
      x.answer = failure(504, x.problem);
    }
    finish(id);
  }
}

}  // namespace manta::serve::detail
