// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/isolation/: what goes between a rank and its child is the same on the other side; a child that crashes, hangs or
// throws is a failure of the call in words, and the next call finds a child that works.
#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

#include "../../support/test_functions.hpp"
#include "../../support/text.hpp"
#include "manta/base/zygote.hpp"
#include "manta/exec/isolation/child_messages.ipp"
#include "manta/exec/isolation/child_side.ipp"
#include "manta/exec/isolation/crash_words.ipp"
#include "manta/exec/isolation/isolated_actor.ipp"
#include "manta/exec/isolation/isolated_calls.ipp"
#include "manta/wire/archive.hpp"

using namespace manta::exec;
using namespace test_functions;
namespace store = manta::store;
namespace wire = manta::wire;
using manta::graph::form;
using manta::graph::node;
using manta::testing::contains;

namespace {

using numbers = std::vector<double>;

/// Cannot be read where `fails` is set.
struct thing {
  std::uint32_t value = 0;
  bool fails = false;
  std::string text;  // makes it more than plain bytes
  template <class Archive>
  void save(Archive& to) const {
    to(value, fails, text);
  }
  template <class Archive>
  void load(Archive& from) {
    from(value, fails, text);
    if (fails) throw std::runtime_error("cannot be read");
  }
};

template <class T>
void give_object(invocation& call, T&& value) {
  using V = std::remove_cvref_t<T>;
  call.form = form::box;
  call.type = wire::type_index<V>::value;
  call.box = new V(std::forward<T>(value));
}

/// The sum of all numbers in the inputs, which are lists, and of the argument.
const std::uint32_t sum = function("sum", [](invocation& call) {
  double all = static_cast<double>(argument_of(call));
  for (std::uint32_t i = 0; i < call.input_count; ++i) {
    if (call.inputs[i]->type != wire::type_index<numbers>::value) continue;
    const auto& list = *static_cast<const numbers*>(store::decode(*call.inputs[i]));
    all = std::accumulate(list.begin(), list.end(), all);
  }
  give(call, static_cast<std::uint64_t>(all));
});
const std::uint32_t make_list =
    function("make_list", [](invocation& call) { give_object(call, numbers(argument_of(call), 1.0)); });
const std::uint32_t which_process =
    function("which_process", [](invocation& call) { give(call, static_cast<std::uint64_t>(::getpid())); });
const std::uint32_t crash = function("crash", [](invocation& call) { ::raise(static_cast<int>(argument_of(call))); });
const std::uint32_t leave = function("leave", [](invocation& call) { ::_exit(static_cast<int>(argument_of(call))); });
const std::uint32_t hang = function("hang", [](invocation&) {
  for (;;) ::usleep(1000);
});

struct counter {
  std::uint64_t sum;
};
extern const actor_class isolated_counter;
const actor_class counter_class{[](void* object) { delete static_cast<counter*>(object); },
                                [](const void* object, wire::sink& out) { out.write(object, sizeof(counter)); },
                                [](wire::source& in) -> void* { return new counter(in.get<counter>()); },
                                &isolated_counter};
const actor_class isolated_counter{&destroy_isolated, &save_isolated,
                                   [](wire::source& in) { return load_isolated(&counter_class, in); }};
const std::uint32_t construct = function("counter", [](invocation& call) {
  call.actor = new counter{argument_of(call)};
  call.actor_type = &counter_class;
});
const std::uint32_t count =
    function("count", [](invocation& call) { give(call, static_cast<counter*>(call.self)->sum += argument_of(call)); });

/// The rank's side, without a helper.
struct rank {
  biased_lock lock;
  membership members{1};
  failure_writer in_words{0, members};
  run_phase phase;
  departure end;
  helper thread{lock, {}};
  watchdog watch;
  std::uint64_t seed = 42;
  int looks = 0;
  isolated_calls calls{{0, 1, 0, seed},
                       {lock, in_words, phase, end, thread, watch},
                       {this, [](void* self, running_task&) { ++static_cast<rank*>(self)->looks; }}};
  std::string failure;

  rank() {
    lock.enter();
    manta::base::zygote::of_process().start(
        [](int socket, manta::base::child_page& page) { child_side(socket, page).serve(); }, true);
  }
  ~rank() { lock.leave(); }

  /// Runs the function in a child. False, with the failure's text, if it has failed.
  bool run(invocation& call, std::uint32_t function, running_task& task) {
    failure.clear();
    try {
      calls.run(call, function, task);
      return true;
    } catch (const isolated_failure& e) {
      failure = store::describe(*e.why);
    } catch (const std::exception& e) {
      failure = e.what();
    }
    return false;
  }
};

/// A task of some number, as the rank runs it.
struct isolated_task {
  isolated_task(rank& r, std::uint64_t number, std::vector<node*> given = {})
      : argument(number),
        inputs(std::move(given)),
        call(r.lock, reinterpret_cast<const std::byte*>(&argument), sizeof argument, inputs.data(),
             static_cast<std::uint32_t>(inputs.size())) {
    wanted.isolate = true;
  }
  ~isolated_task() {
    if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
  }
  std::uint64_t number() const {
    std::uint64_t result = 0;
    std::memcpy(&result, call.plain, sizeof result);
    return result;
  }
  std::uint64_t argument;
  std::vector<node*> inputs;
  manta::graph::request wanted;
  invocation call;
  running_task task{17, add, 0, &wanted};
};

template <class T>
struct value_node : node {
  explicit value_node(T value) {
    type = wire::type_index<T>::value;
    state = manta::graph::state::ready;
    store::set_box(*this, new T(std::move(value)));
  }
  ~value_node() { store::clear(*this); }
};

}  // namespace

TEST_CASE("a function runs in another process, with its argument and inputs, and its result comes back") {
  rank r;
  value_node<numbers> small(numbers{1, 2, 3}), large(numbers(100'000, 1.0));
  value_node<thing> other({7, false, "x"});
  isolated_task t(r, 5, {&small, &large, &other});
  REQUIRE(r.run(t.call, sum, t.task));
  CHECK(t.number() == 100'011);
  isolated_task list(r, 200'000);
  REQUIRE(r.run(list.call, make_list, list.task));
  REQUIRE(list.call.form == form::box);
  CHECK(*static_cast<numbers*>(list.call.box) == numbers(200'000, 1.0));
  isolated_task process(r, 0), again(r, 0);
  REQUIRE(r.run(process.call, which_process, process.task));
  REQUIRE(r.run(again.call, which_process, again.task));
  CHECK(process.number() != static_cast<std::uint64_t>(::getpid()));
  CHECK(process.number() == again.number());
}

TEST_CASE("an exception in the child is the call's failure, and the child goes on") {
  rank r;
  isolated_task process(r, 0), bad(r, 0), again(r, 0);
  REQUIRE(r.run(process.call, which_process, process.task));
  CHECK_FALSE(r.run(bad.call, fail, bad.task));
  CHECK(contains(r.failure, "out of tea"));
  REQUIRE(r.run(again.call, which_process, again.task));
  CHECK(process.number() == again.number());
}

TEST_CASE("an input that cannot be read fails its task alone, also if arrays were still to come") {
  rank r;
  value_node<thing> bad({1, true, "x"});
  value_node<numbers> large(numbers(100'000, 1.0));
  isolated_task t(r, 0, {&bad, &large});
  CHECK_FALSE(r.run(t.call, sum, t.task));
  CHECK(contains(r.failure, "cannot be read"));
  isolated_task next(r, 0, {&large});
  REQUIRE(r.run(next.call, sum, next.task));
  CHECK(next.number() == 100'000);
}

TEST_CASE("a child that crashes or leaves is a failure that says how, and the next call has another") {
  rank r;
  isolated_task by_signal(r, SIGSEGV), by_exit(r, 3), killed(r, SIGKILL), next(r, 0);
  CHECK_FALSE(r.run(by_signal.call, crash, by_signal.task));
  CHECK(contains(r.failure, "its process ended with a segmentation fault (SIGSEGV)"));
  CHECK(contains(r.failure, "; it had 8 bytes of arguments"));
  CHECK_FALSE(r.run(by_exit.call, leave, by_exit.task));
  CHECK(contains(r.failure, "its process ended with exit(3)"));
  CHECK_FALSE(r.run(killed.call, crash, killed.task));
  CHECK(contains(r.failure, "SIGKILL, which the system sends where memory runs out"));
  CHECK(r.run(next.call, which_process, next.task));
}

TEST_CASE("a function that does not stop when it should is ended, and the failure says why") {
  rank r;
  isolated_task cancelled(r, 0), silent(r, 0);
  cancelled.task.stop = true;
  CHECK_FALSE(r.run(cancelled.call, hang, cancelled.task));
  CHECK(contains(r.failure, "it still ran 1 s after it was cancelled, and its process was ended"));
  CHECK(r.looks > 10);  // nobody else looks after the rank
  r.watch.set_limit(20'000'000);
  CHECK_FALSE(r.run(silent.call, hang, silent.task));
  CHECK(contains(r.failure, "it had not called manta for 0.02 s (MANTA_WATCHDOG), and its process was ended"));
}

TEST_CASE("an actor lives in its child, is saved and made anew from what was saved, and is gone with its process") {
  rank r;
  isolated_task made(r, 5);
  made.wanted.actor = true;
  REQUIRE(r.run(made.call, construct, made.task));
  CHECK(made.call.actor_type == &isolated_counter);
  auto* actor = static_cast<isolated_actor*>(made.call.actor);
  const auto call = [&](std::uint32_t function, std::uint64_t number) {
    isolated_task t(r, number);
    t.task.actor = &made.wanted;
    t.task.request = nullptr;
    t.call.self = actor;
    return r.run(t.call, function, t.task) ? t.number() : 0;
  };
  CHECK(call(count, 2) == 7);
  wire::buffer saved;
  wire::sink out(saved);
  save_isolated(actor, out);
  CHECK(call(count, 1) == 8);
  destroy_isolated(actor);
  wire::source in(saved.data(), saved.size());
  actor = static_cast<isolated_actor*>(load_isolated(&counter_class, in));
  CHECK(call(count, 3) == 10);
  CHECK(call(crash, SIGABRT) == 0);
  CHECK(contains(r.failure, "abort (SIGABRT)"));
  CHECK(actor->process == nullptr);
  CHECK(call(count, 1) == 0);
  CHECK(contains(r.failure, "the process of this actor has ended before"));
  CHECK_THROWS_WITH(save_isolated(actor, out), doctest::Contains("ended when the actor was saved"));
  destroy_isolated(actor);
}

TEST_CASE("a process's end in words") {
  const auto by_signal = [](int number) { return number; };  // as waitpid gives it
  const auto by_exit = [](int status) { return status << 8; };
  CHECK(describe_status(by_exit(4), 0, "") == "exit(4)");
  CHECK(describe_status(by_signal(SIGSEGV), SIGSEGV, "a fault at 0x10") == "a fault at 0x10");
  CHECK(contains(describe_status(by_signal(SIGKILL), 0, ""), "memory runs out"));
  CHECK(describe_status(-1, SIGSEGV, "a fault at 0x10") == "a fault at 0x10");
  CHECK(contains(describe_status(-1, 0, ""), "something unknown"));
  manta::base::list<std::uint64_t> inputs;
  CHECK(describe_sizes(8, inputs) == "; it had 8 bytes of arguments");
  for (std::uint64_t i = 1; i <= 9; ++i) inputs.push_back(i);
  CHECK(describe_sizes(8, inputs) ==
        "; it had 8 bytes of arguments, and inputs of 1, 2, 3, 4, 5, 6, 7, 8, ... (9 in all) bytes");
}
