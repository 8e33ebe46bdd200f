// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The hidden actor behind a stream: it owns the coroutine, and each call of it makes one value.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "manta/async.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/generator.hpp"

namespace manta::detail {

/// The exception of a call after the coroutine has ended. Only stream::next sees it.
struct stream_end : error {
  using error::error;
};

/// Throws: a coroutine that was run again after the death of its rank has ended after `now` values.
[[noreturn]] MANTA_DECL void refuse_end(std::uint64_t now, std::uint64_t before);

/// The hidden actor, as the calls see it. producer_of holds the objects that the coroutine's parameters refer to.
template <class T>
class producer {
 public:
  producer() = default;
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;
  virtual ~producer() = default;

  /// The value at `position`, which is the next one. A coroutine that runs again is brought there first.
  T next(std::uint64_t position) {
    if (again_ && position_ == 0) skip(position);
    if (position != position_) {
      throw error(base::text(
          "manta: a stream has one consumer, and this one is at value {} while another has gone on to {}; do not read "
          "a stream that was sent twice, or that a retried task had begun to read",
          position, position_));
    }
    ++position_;
    std::optional<T> item = body_.next();
    if (!item) throw stream_end("the stream has ended");
    return std::move(*item);
  }

 protected:
  generator<T> body_;
  bool again_ = false;  // the coroutine runs again, after the death of its first rank

 private:
  /// Runs the coroutine, which runs again, up to the consumer's position: it gave as many values before.
  void skip(std::uint64_t position) {
    for (; position_ < position; ++position_) {
      if (!body_.next()) refuse_end(position_, position);
    }
  }

  std::uint64_t position_ = 0;
};

template <class T, class Parameters, class Forms>
class producer_of;
template <class T, class... P, class... Forms>
class producer_of<T, list<P...>, list<Forms...>> : public producer<T> {
 public:
  producer_of(exec::invocation& call, bool again) : arguments_(read_arguments(call, list<P...>{}, list<Forms...>{})) {
    this->again_ = again;
  }
  ~producer_of() override { this->body_ = generator<T>(); }  // the coroutine ends before the objects it refers to

  /// Makes the coroutine, which does not run yet. Called outside the lock.
  template <class Function>
  void start(const Function& function) {
    std::apply([&](auto&... a) { this->body_ = function(a.pass()...); }, arguments_);
  }
  /// Keeps the objects that references and views of the coroutine refer to beyond the call that brought them here.
  void keep_viewed() {
    const auto keep = [&](const auto& a) {
      if constexpr (requires { a.viewed(); }) {
        if (const input* const seen = a.viewed()) viewed_.push_back(seen->keep());
      }
    };
    std::apply([&](const auto&... a) { (keep(a), ...); }, arguments_);
  }

 private:
  std::tuple<argument<P, Forms>...> arguments_;
  std::vector<handle> viewed_;
};

/// Makes the coroutine of the task that async would run if the function were no coroutine.
template <class Task>
struct coroutine_task;
template <auto F, class Parameters, class Forms, bool Gang>
struct coroutine_task<function_task<F, Parameters, Forms, Gang>> {
  using producer_type = producer_of<typename signature<decltype(F)>::result::value_type, Parameters, Forms>;
  static void start(producer_type& made) { made.start(F); }
};
template <class L, class Parameters, class Forms, bool Gang, class Named>
struct coroutine_task<lambda_task<L, Parameters, Forms, Gang, Named>> {
  using producer_type = producer_of<typename signature<L>::result::value_type, Parameters, Forms>;
  static void start(producer_type& made) {
    static constexpr L function{};  // the coroutine keeps a pointer to it
    made.start(function);
  }
};

template <class T>
inline constexpr exec::actor_class producer_class{[](void* object) { delete static_cast<producer<T>*>(object); },
                                                  nullptr, nullptr};

template <class Task>
struct task_of_stream {
  static constexpr bool gang = false, looks_only = false;
  using T = typename Task::result::value_type;
  static std::string_view name() { return Task::name(); }
};
template <class Task>
struct start_task : task_of_stream<Task> {
  using T = typename task_of_stream<Task>::T;
  static void run(exec::invocation& call) {
    const bool again = exec::engine::current()->current_task().attempt > 0;
    auto made = std::make_unique<typename coroutine_task<Task>::producer_type>(call, again);
    {
      const exec::outside user(call.lock);
      coroutine_task<Task>::start(*made);
    }
    made->keep_viewed();
    call.actor = static_cast<producer<T>*>(made.release());
    call.actor_type = &producer_class<T>;
  }
};
template <class Task>
struct next_task : task_of_stream<Task> {
  using T = typename task_of_stream<Task>::T;
  static void run(exec::invocation& call) {
    std::uint64_t position = 0;
    std::memcpy(&position, call.arguments, sizeof position);
    auto& self = *static_cast<producer<T>*>(call.self);
    run_outside<T>(call, [&] { return self.next(position); });
  }
};

/// Makes one lost value again with a coroutine of its own; the value's number follows the coroutine's arguments.
template <class Task>
struct nth_task : task_of_stream<Task> {
  using T = typename task_of_stream<Task>::T;
  static void run(exec::invocation& call) {
    std::uint64_t number = 0;
    std::memcpy(&number, call.arguments + call.argument_bytes - sizeof number, sizeof number);
    typename coroutine_task<Task>::producer_type made(call, true);
    run_outside<T>(call, [&] {
      coroutine_task<Task>::start(made);
      try {
        return made.next(number);
      } catch (const stream_end&) {
        refuse_end(number, number + 1);
      }
    });
  }
};

}  // namespace manta::detail
