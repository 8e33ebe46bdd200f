// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/loop/thread_watch.hpp: a task that hangs ends its process, by a signal that names the task; a thread that stands in
// a lock while others wait is reported once. The time is the test's.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "../../support/loopback_network.hpp"
#include "../../support/test_functions.hpp"
#include "manta/exec/loop/thread_watch.hpp"
#include "manta/exec/loop/thread_watch.ipp"

using namespace manta::exec;
using namespace test_functions;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

/// A rank whose helper does nothing; its owner is the thread that has called begin().
struct rank {
  block_world world{4};
  network net{{world, 3, 4}};
  turns next;
  pace time;
  waiters waiting{net, next, time, [](void*) {}, nullptr};
  manta::base::launcher::notes page;
  current_task running{page};
  started_list started;
  biased_lock lock{[](void*) {}, nullptr};
  helper thread{lock,
                {nullptr, [](void*, std::int64_t) { usleep(100); }, [](void*) {}, [](void*) {},
                 [](void*, bool) { return false; }, [](void*, unsigned) { return std::int64_t{100'000}; }}};
  thread_watch watch{3, running, started, waiting, thread};

  rank() { running.begin_run(1); }
  void begin() {
    thread.enable();
    lock.enter();
    REQUIRE(thread.start());
  }
  void end() {
    thread.stop();
    lock.leave();
  }
};

/// What the function writes to stderr.
template <class Function>
std::string errors_in(Function&& function) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int saved = ::dup(STDERR_FILENO);
  std::fflush(nullptr);
  ::dup2(::fileno(file), STDERR_FILENO);
  function();
  std::fflush(nullptr);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  std::string text(4096, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

/// What the function writes to stderr in a child process. `status` is how the process ends.
template <class Function>
std::string errors_of(Function&& function, int& status) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    function();
    std::fflush(nullptr);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char bytes[256];
  for (ssize_t got; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, &status, 0);
  return text;
}

}  // namespace

TEST_CASE("a task that has not called for longer than the limit is named, and its process is ended") {
  int status = 0;
  const std::string text = errors_of(
      [] {
        rank r;
        r.begin();
        r.watch.set_limit(second_ns);
        running_task task(5, add);
        r.watch.watch_task(true, 0);
        for (int tenth = 1; tenth <= 400; ++tenth) {  // the driver may take its time
          r.watch.watch_task(false, tenth * second_ns / 10);
        }
        const current_task::scope runs(r.running, task);
        r.watch.watch_task(true, 40 * second_ns);
        for (int tenth = 1; tenth <= 10; ++tenth) r.watch.watch_task(false, 40 * second_ns + tenth * second_ns / 10);
        std::fprintf(stderr, "not yet\n");
        r.watch.watch_task(false, 41 * second_ns + second_ns / 10);
        ::usleep(1'000'000);
      },
      status);
  CHECK(text.find("not yet\nmanta: rank 3: 'test' has not called manta for 1 s (MANTA_WATCHDOG)") == 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("before a rank is ended the run says what it does; a task that comes back meanwhile is not ended") {
  static bool is_said = false;
  int status = 0;
  const std::string text = errors_of(
      [] {
        rank r;
        r.begin();
        r.watch.set_limit(second_ns);
        r.watch.set_last_words(
            {nullptr, [](void*) { std::fprintf(stderr, "asked\n"); }, [](void*) { return is_said; }});
        running_task task(5, add);
        const current_task::scope runs(r.running, task);
        const auto hang = [&](std::int64_t from_ns) {
          r.watch.watch_task(true, from_ns);
          for (int tenth = 1; tenth <= 11; ++tenth) r.watch.watch_task(false, from_ns + tenth * second_ns / 10);
        };
        hang(0);
        CHECK(r.watch.pause_ns() > 0);
        r.watch.watch_task(false, 2 * second_ns);  // nothing has been said
        r.watch.watch_task(true, 3 * second_ns);
        hang(10 * second_ns);
        is_said = true;
        std::fprintf(stderr, "said\n");
        r.watch.watch_task(false, 12 * second_ns);
        ::usleep(1'000'000);
      },
      status);
  CAPTURE(text);
  const std::size_t back = text.find("it is not ended"), again = text.find("asked\n", back), said = text.find("said\n");
  CHECK(text.find("asked\n") < back);
  CHECK(back < again);
  CHECK(again < said);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("without a limit nothing hangs") {
  rank r;
  running_task task(5, add);
  const current_task::scope runs(r.running, task);
  CHECK_FALSE(r.watch.over_tasks().is_on());
  for (int s = 0; s < 100; ++s) r.watch.watch_task(false, s * second_ns);
}

TEST_CASE("a thread that stands in a lock while others wait is reported once") {
  const std::string text = errors_in([] {
    rank r;
    running_task waits(4, fail), runs(5, add);
    wait_record record;
    record.remaining = 1;
    record.task = &waits;
    r.waiting.add(record);
    std::mutex mutex;
    mutex.lock();
    std::atomic<bool> stands{false};
    std::thread owner([&] {
      r.begin();
      r.started.add(waits);
      r.started.add(runs);
      const current_task::scope running(r.running, runs);
      stands = true;
      mutex.lock();  // for ever, as far as the others know
      r.end();
    });
    while (!stands || !waits_for_lock(r.thread.owner_number())) ::usleep(1000);
    r.watch.watch_lock(true, second_ns);
    r.watch.watch_lock(false, 5 * second_ns);
    std::fprintf(stderr, "not yet\n");
    r.watch.watch_lock(false, 7 * second_ns);
    r.watch.watch_lock(false, 30 * second_ns);
    mutex.unlock();
    owner.join();
  });
  CAPTURE(text);
  CHECK(text.find("not yet\nmanta: rank 3: 'test' has stood in a lock") == 0);
  CHECK(text.find("'test' waits for others") != std::string::npos);
  CHECK(text.find("has stood", text.find("has stood") + 1) == std::string::npos);
}
