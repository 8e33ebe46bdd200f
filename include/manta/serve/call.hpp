// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A call that answers a request: what it waits for, and how its result becomes an answer. The server sees futures and
// texts alone; the templates here know the types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "manta/cancel.hpp"
#include "manta/future.hpp"
#include "manta/serve/answers.hpp"
#include "manta/serve/http_reply.hpp"
#include "manta/serve/json.hpp"
#include "manta/serve/request.hpp"
#include "manta/stream.hpp"

namespace manta::serve::detail {

/// How an answer is written: as a whole, or as values that come one after the other, each in a line of JSON or in an
/// event of text/event-stream.
enum class answer_form { whole, lines, events };

/// Appends one of several values.
MANTA_DECL void append_value(std::string& to, std::string_view json, answer_form form);

class call {
 public:
  virtual ~call() = default;
  /// What has to end before the next step; names nothing if the step need not wait.
  virtual any_future waits_for() = 0;
  /// Adds to the answer; false if that completes it. Throws what the call threw.
  virtual bool step(reply& answer, answer_form form) = 0;
  /// What may end while a step still waits: then `look` throws if that step does not come any more. Names nothing if
  /// the steps themselves say all.
  virtual any_future breaks() { return {}; }
  virtual void look() {}
  /// Nobody waits for the answer any more.
  virtual void abandon() {}
  /// The time after which the answer is made without what has not come, in nanoseconds; 0: that of the server.
  [[nodiscard]] virtual std::int64_t patience() const { return 0; }
  /// That time is over. False if there is no answer then.
  virtual bool answer_at_once(reply&) { return false; }
};

/// An answer that is there already.
class done_call final : public call {
 public:
  explicit done_call(reply answer) : answer_(std::move(answer)) {}
  any_future waits_for() override { return {}; }
  bool step(reply& answer, answer_form) override {
    answer = std::move(answer_);
    return false;
  }

 private:
  reply answer_;
};

template <class T>
void write_answer(reply& answer, const T& value) {
  if constexpr (std::is_same_v<T, response>) {
    answer.status = value.status;
    answer.type = value.type;
    answer.header = value.header;
    answer.body = value.body;
  } else {
    answer.body += to_json(value);
  }
}

template <class T>
class unary_call final : public call {
 public:
  explicit unary_call(future<T> result) : result_(std::move(result)) {}
  any_future waits_for() override { return result_; }
  bool step(reply& answer, answer_form) override {
    if constexpr (std::is_void_v<T>) {
      result_.get();
      answer.body += "null";
    } else {
      write_answer(answer, result_.get());
    }
    return false;
  }
  void abandon() override { cancel(result_); }

 private:
  future<T> result_;
};

/// Values of a coroutine that is a task.
template <class T>
class stream_call final : public call {
 public:
  explicit stream_call(stream<T> values) : values_(std::move(values)) {}
  any_future waits_for() override { return values_.upcoming(); }
  bool step(reply& answer, answer_form form) override {
    std::optional<future<T>> next = values_.next();
    if (!next) return false;
    append_value(answer.body, to_json(next->get()), form);
    return true;
  }

 private:
  stream<T> values_;
};

/// Values of a deployed generator, each of which is here already or a message away.
template <class T>
class answers_call final : public call {
 public:
  explicit answers_call(answers<T> values) : values_(std::move(values)) {}
  any_future waits_for() override { return values_.upcoming(); }
  bool step(reply& answer, answer_form form) override {
    values_.advance();
    for (const T& value : values_.take()) append_value(answer.body, to_json(value), form);
    return values_.has_more();
  }
  any_future breaks() override { return values_.request(); }
  void look() override { values_.look(); }
  void abandon() override { values_.cancel(); }

 private:
  answers<T> values_;
};

/// The call for what a route's function gives: a future, a stream or a value.
template <class R>
std::unique_ptr<call> call_for(R&& result) {
  using V = std::remove_cvref_t<R>;
  if constexpr (manta::detail::is_future<V>) {
    return std::make_unique<unary_call<typename V::value_type>>(std::forward<R>(result));
  } else if constexpr (requires { typename V::stream_value; }) {
    return std::make_unique<answers_call<typename V::stream_value>>(std::forward<R>(result));
  } else if constexpr (requires { result.upcoming(); }) {
    return std::make_unique<stream_call<typename V::value_type>>(std::forward<R>(result));
  } else {
    reply answer;
    write_answer(answer, result);
    return std::make_unique<done_call>(std::move(answer));
  }
}

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/call.ipp"
#endif
