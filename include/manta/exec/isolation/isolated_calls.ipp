// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/base/zygote.hpp"
#include "manta/exec/isolation/crash_words.hpp"
#include "manta/exec/isolation/isolated_actor.hpp"
#include "manta/exec/isolation/isolated_calls.hpp"

namespace manta::exec {

/// One call, from the question to the answer.
class isolated_calls::one {
 public:
  one(const isolated_calls& all, invocation& call, running_task& task)
      : all_(all), below_(all.below_), call_(call), task_(task), actor_(static_cast<isolated_actor*>(call.self)) {}

  void run(function_id function);  ///< As isolated_calls::run().

 private:
  static constexpr std::int64_t grace_ns = 1'000'000'000;  // between the wish that it ends and its end

  /// Writes what the child has to know. Notes the sizes of the inputs.
  void write(child_letter& question, function_id function);
  /// Waits until the child answers or has ended. Ends it if it is silent for too long, or does not stop when it should.
  void await_answer();
  /// Ends a child in which the function has not called manta for too long.
  void end_if_silent(std::int64_t now);
  /// Ends a child whose function has said how long it may take, and takes longer.
  void end_if_due(std::int64_t now);
  /// Tells the child that its function should end, and ends it a second later.
  void end_if_told(std::int64_t now);
  /// Why the function should end; null if it may go on.
  const char* reason_to_stop(std::int64_t now) const;
  /// Receives the answer and reads the result. False if the child has ended; throws if the result cannot be read.
  bool receive_answer();
  /// Reads what the call gives, or the actor that it has made.
  void read_result();
  /// Throws what the function has thrown in the child.
  [[noreturn]] void throw_failure();

  std::string give_up();                     ///< The child has ended: says how. An actor is gone with it.
  std::string stop_child();                  ///< Ends the child, and says where it was.
  [[noreturn]] void fail(std::string what);  ///< The call fails because its process has ended.

  const isolated_calls& all_;
  const parts& below_;
  invocation& call_;
  running_task& task_;
  isolated_actor* const actor_;  // null: the call is not a method
  base::child* child_ = nullptr;
  std::size_t argument_bytes_ = 0;
  base::list<std::uint64_t> input_bytes_;
  child_message answer_;
  wire::buffer reply_;
  std::uint32_t heard_ = 0;     // the child's signs of life
  std::int64_t heard_ns_ = 0;   // when the last of them came
  const char* told_ = nullptr;  // why the function should end
  std::int64_t kill_ns_ = 0;    // when it is ended
};

MANTA_DECL void isolated_calls::run(invocation& call, function_id function, running_task& task) {
  one(*this, call, task).run(function);
}

MANTA_DECL void isolated_calls::one::run(function_id function) {
  child_letter question(child_message::run);
  write(question, function);
  if (actor_ != nullptr && actor_->process == nullptr) fail("the process of this actor has ended before");
  child_ = actor_ != nullptr ? actor_->process : base::zygote::of_process().take();
  child_->page().stop.store(false, std::memory_order_relaxed);
  child_->page().due.store(0, std::memory_order_relaxed);
  bool alive = false;
  {
    const outside user(below_.lock);
    alive = question.send([this](const void* data, std::size_t bytes) { return child_->send(data, bytes); });
  }
  if (alive) await_answer();
  if (!alive || !receive_answer()) fail(give_up());
  if (actor_ == nullptr && call_.actor == nullptr) base::zygote::of_process().put_back(child_);
  if (answer_.what == child_message::failed) throw_failure();
}

MANTA_DECL void isolated_calls::one::write(child_letter& question, function_id function) {
  argument_bytes_ = call_.argument_bytes;
  child_task t;
  t.function = function;
  t.attempt = task_.attempt;
  t.id = task_.id;
  t.seed = all_.own_.seed;
  t.rank = all_.own_.rank;
  t.size = all_.own_.size;
  t.node = all_.own_.node;
  t.is_method = task_.actor != nullptr;
  t.argument_bytes = static_cast<std::uint32_t>(argument_bytes_);
  t.inputs = call_.input_count;
  wire::put(question.body(), t);
  task_.holder()->write(question.body());
  question.body().append(call_.arguments, argument_bytes_);
  try {
    for (std::uint32_t i = 0; i < call_.input_count; ++i) {
      const child_value v = question.put_value(*call_.inputs[i]);
      input_bytes_.push_back(v.bytes + v.array);
    }
  } catch (const wire::over_limit&) {
    throw error("manta: '" + std::string(task_.name()) +
                "' is isolated and was given a future, an actor or a "
                "queue, which mean nothing in its process; pass values, or leave isolate out");
  }
}

MANTA_DECL void isolated_calls::one::await_answer() {
  heard_ns_ = base::now_ns();
  for (;;) {
    {
      const outside user(below_.lock);
      if (child_->wait(below_.helper.does_duties() ? 10 : 1)) return;
    }
    if (!below_.helper.does_duties()) all_.others_.attend(all_.others_.rank, task_);
    const std::int64_t now = base::now_ns();
    end_if_silent(now);
    end_if_due(now);
    end_if_told(now);
  }
}

MANTA_DECL void isolated_calls::one::end_if_silent(std::int64_t now) {
  if (!below_.over_tasks.is_on()) return;
  const std::uint32_t calls = child_->page().calls.load(std::memory_order_relaxed);
  if (std::exchange(heard_, calls) != calls) heard_ns_ = now;
  if (now - heard_ns_ > below_.over_tasks.limit_ns()) {
    fail(describe_silence(below_.over_tasks.limit_ns()) + stop_child());
  }
}

MANTA_DECL void isolated_calls::one::end_if_due(std::int64_t now) {
  const std::int64_t due = child_->page().due.load(std::memory_order_relaxed);
  if (due != 0 && now >= due) fail("it ran longer than it may, and its process was ended" + stop_child());
}

MANTA_DECL const char* isolated_calls::one::reason_to_stop(std::int64_t now) const {
  if (task_.stop) return "it was cancelled";
  if (task_.expired || now >= task_.holder()->due) return "its deadline was over";
  return below_.phase.is_stopping() && !below_.departure.is_leaving() ? "the driver had thrown" : nullptr;
}

MANTA_DECL void isolated_calls::one::end_if_told(std::int64_t now) {
  if (told_ != nullptr) {
    if (now < kill_ns_) return;
    fail(std::string("it still ran 1 s after ") + told_ + ", and its process was ended" + stop_child());
  }
  told_ = reason_to_stop(now);
  if (told_ != nullptr) kill_ns_ = now + grace_ns;
  // While the whole run is leaving, the function has until the end.
  if (told_ != nullptr || below_.departure.is_leaving()) child_->page().stop.store(true, std::memory_order_relaxed);
}

MANTA_DECL bool isolated_calls::one::receive_answer() {
  try {
    const outside user(below_.lock);
    if (!receive_message(*child_, answer_, reply_)) return false;
    if (answer_.what == child_message::done) read_result();
    return true;
  } catch (const wire::over_limit&) {  // it ended while it sent the result
    return false;
  } catch (...) {  // the result does not fit here
    child_->kill();
    give_up();
    throw;
  }
}

MANTA_DECL void isolated_calls::one::read_result() {
  wire::source in(reply_.data(), reply_.size());
  if (task_.holder()->actor && actor_ == nullptr) {
    call_.actor_type = in.get<const actor_class*>();
    call_.actor = new isolated_actor{child_, call_.actor_type};
    call_.actor_type = call_.actor_type->isolated;
    return;
  }
  get_result(call_, in, [this](void* into, std::size_t bytes) {
    if (!child_->receive(into, bytes)) throw wire::over_limit{};
  });
}

[[noreturn]] MANTA_DECL void isolated_calls::one::throw_failure() {
  store::failure f;
  wire::source in(reply_.data(), reply_.size());
  f.read(in);
  below_.failures.locate(f, task_.name(), task_.attempt);
  throw isolated_failure(store::share(std::move(f)));
}

MANTA_DECL std::string isolated_calls::one::give_up() {
  if (actor_ != nullptr) actor_->process = nullptr;
  return end_of_child(child_);
}

MANTA_DECL std::string isolated_calls::one::stop_child() {
  {
    const outside user(below_.lock);
    child_->kill_where_it_is();
  }
  const std::string where = describe_frames(child_->page());
  give_up();
  return where;
}

[[noreturn]] MANTA_DECL void isolated_calls::one::fail(std::string what) {
  store::failure f;
  f.details.type = "crash";
  f.details.what = std::move(what) + describe_sizes(argument_bytes_, input_bytes_);
  below_.failures.locate(f, task_.name(), task_.attempt);
  f.fatal = task_.actor != nullptr;
  throw isolated_failure(store::share(std::move(f)));
}

}  // namespace manta::exec
