// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The promises of exec/rank/stack.hpp: what a task takes for its own survives a wait,
// whoever runs meanwhile; stacks are reused, bounded by memory alone, and report
// their overflow. A toy engine of one queue stands in for the executor. These
// tests are the warrant for switching by __builtin_setjmp, so they belong into
// every compiler and -O level of CI.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/exec/rank/overflow.hpp"
#include "manta/exec/rank/stack.hpp"
#include "manta/exec/rank/stack_trace.hpp"

namespace {

using manta::exec::context;
using manta::exec::inline_frame;
using manta::exec::stack_pool;

/// One rank without MPI: a queue of tasks, a list of stacks to resume, first in first out.
class toy {
 public:
  struct event {
    bool set = false;
    std::vector<context*> waiters;
  };

  stack_pool& pool() { return pool_; }
  void submit(std::function<void()> task) { tasks_.push_back(std::move(task)); }

  void wait(event& awaited) {
    while (!awaited.set) {
      awaited.waiters.push_back(&pool_.current());
      pool_.park();
    }
  }
  void set(event& awaited) {
    awaited.set = true;
    for (context* waiter : awaited.waiters) ready_.push_back(waiter);
    awaited.waiters.clear();
  }
  /// Runs what is queued, and all that follows from it; the driver waits meanwhile.
  void run() {
    event idle;
    when_idle_ = &idle;
    wait(idle);
  }

 private:
  static void serve(void* self) {
    for (;;) static_cast<toy*>(self)->step();
  }
  void step() {
    if (!ready_.empty()) {
      context* next = ready_.front();
      ready_.pop_front();
      pool_.release_and_switch(*next);
    } else if (!tasks_.empty()) {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
      pool_.fresh_state();
    } else {
      REQUIRE(when_idle_ != nullptr);
      set(*std::exchange(when_idle_, nullptr));
    }
  }

  stack_pool pool_{&toy::serve, this};
  std::deque<std::function<void()>> tasks_;
  std::deque<context*> ready_;
  event* when_idle_ = nullptr;
};

/// An environment variable for the length of a test.
class with_stack_kib {
 public:
  explicit with_stack_kib(const char* kib) { ::setenv("MANTA_STACK_KIB", kib, 1); }
  ~with_stack_kib() { ::unsetenv("MANTA_STACK_KIB"); }
  with_stack_kib(const with_stack_kib&) = delete;
  with_stack_kib& operator=(const with_stack_kib&) = delete;
};

std::string current_message() {
  try {
    throw;
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

/// An exception that knows how many of its kind live.
struct counted : std::runtime_error {
  static inline int alive = 0;
  explicit counted(const char* what) : std::runtime_error(what) { ++alive; }
  counted(const counted& other) : std::runtime_error(other) { ++alive; }
  ~counted() override { --alive; }
};

// 1/3 is inexact, so its last bit tells the rounding mode; volatile keeps the compiler from knowing better.
double a_third() {
  volatile double one = 1.0, three = 3.0;
  return one / three;
}

}  // namespace

#if defined(__x86_64__)
[[gnu::noinline]] int wait_deep(toy& rank, toy::event& awaited, int depth) {
  if (depth > 0) return wait_deep(rank, awaited, depth - 1) + 1;
  rank.wait(awaited);
  return 0;
}
#endif

TEST_SUITE("exec/stack") {
#if defined(__x86_64__)
  TEST_CASE("the calls on a stack that was left are known, on the thread's own and on pooled ones") {
    using manta::exec::stack_trace;
    toy rank;
    toy::event opened, root;
    std::vector<std::vector<std::string>> seen;
    rank.submit([&] { wait_deep(rank, opened, 2); });
    rank.submit([&] {
      std::vector<manta::exec::wait_place> places;
      rank.pool().for_each_parked([&](context& each) { places.push_back({&each, nullptr, true}); });
      std::thread([&] { seen = stack_trace::of_waits(places); }).join();  // from another thread, as the helper does
      rank.set(opened);
      rank.set(root);
    });
    wait_deep(rank, root, 1);
    rank.run();
    REQUIRE(seen.size() == 2);
    const auto calls = [](const std::vector<std::string>& names) {
      return std::ranges::count_if(names,
                                   [](const std::string& n) { return n.find("wait_deep(") != std::string::npos; });
    };
    CHECK(calls(seen[0]) == 2);
    CHECK(calls(seen[1]) == 3);
  }
#endif

  TEST_CASE("park runs the service loop on another stack and returns when resumed") {
    toy rank;
    CHECK(rank.pool().on_root());
    CHECK(rank.pool().current().number() == 0);
    std::vector<std::string> log;
    toy::event opened;
    rank.submit([&] {
      CHECK_FALSE(rank.pool().on_root());
      CHECK(rank.pool().parked() == 1);  // the driver
      log.push_back("a waits");
      rank.wait(opened);
      log.push_back("a goes on");
    });
    rank.submit([&] {
      CHECK(rank.pool().parked() == 2);
      std::vector<std::size_t> waiting;
      rank.pool().for_each_parked([&](context& parked) { waiting.push_back(parked.number()); });
      CHECK(waiting == std::vector<std::size_t>{0, 1});
      log.push_back("b opens");
      rank.set(opened);
    });
    rank.run();
    CHECK(log == std::vector<std::string>{"a waits", "b opens", "a goes on"});
    CHECK(rank.pool().on_root());
    CHECK(rank.pool().parked() == 0);
    CHECK(rank.pool().stacks() == 2);
    CHECK(rank.pool().idle() == 2);
  }

  TEST_CASE("locals, also those in call-saved registers, survive a thousand waits") {
    toy rank;
    double sums[3] = {};
    for (int t = 0; t < 3; ++t)
      rank.submit([&rank, &sums, t] {
        std::uint64_t a = 1, b = 2, c = 3, d = 5, e = 7, f = 11, g = 13;
        double x = 0.5;
        for (int i = 0; i < 1000; ++i) {
          toy::event turn;
          rank.submit([&] { rank.set(turn); });
          a += b;
          b += c;
          c += d;
          d += e;
          e += f;
          f += g;
          g += 1;
          x += 0.25 * static_cast<double>(t);
          rank.wait(turn);
        }
        std::uint64_t a2 = 1, b2 = 2, c2 = 3, d2 = 5, e2 = 7, f2 = 11, g2 = 13;
        for (int i = 0; i < 1000; ++i) {
          a2 += b2;
          b2 += c2;
          c2 += d2;
          d2 += e2;
          e2 += f2;
          f2 += g2;
          g2 += 1;
        }
        CHECK((a == a2 && b == b2 && c == c2 && d == d2 && e == e2 && f == f2 && g == g2));
        sums[t] = x;
      });
    rank.run();
    CHECK(sums[0] == 0.5);
    CHECK(sums[1] == 250.5);
    CHECK(sums[2] == 500.5);
  }

  TEST_CASE("an exception is thrown and caught within a task before, across and after a wait") {
    toy rank;
    toy::event opened;
    std::exception_ptr carried;
    std::string seen;
    rank.submit([&] {
      try {
        rank.wait(opened);
        if (carried) std::rethrow_exception(carried);
      } catch (const std::exception& caught) {
        seen = caught.what();
      }
    });
    rank.submit([&] {
      try {
        throw std::runtime_error("from the other task");
      } catch (...) {
        carried = std::current_exception();
      }
      rank.set(opened);
    });
    rank.run();
    CHECK(seen == "from the other task");
  }

  TEST_CASE("two tasks that wait in catch blocks and leave them in the other order keep their own exceptions") {
    toy rank;
    toy::event first, second;
    std::vector<std::string> log;
    const auto waiter = [&](const char* name, toy::event& until) {
      return [&rank, &log, &until, name] {
        try {
          try {
            throw counted(name);
          } catch (const counted& caught) {
            rank.wait(until);
            log.push_back(std::string(name) + " holds " + caught.what() + ", throw finds " + current_message());
            throw;
          }
        } catch (const std::exception& again) {
          log.push_back(std::string(name) + " rethrew " + again.what());
        }
        CHECK(std::current_exception() == nullptr);
      };
    };
    rank.submit(waiter("a", first));
    rank.submit(waiter("b", second));
    rank.submit([&] {
      CHECK(counted::alive == 2);
      rank.set(first);  // a caught first and leaves first: per thread bookkeeping would have it the other way round
    });
    rank.submit([&] {
      CHECK(counted::alive == 1);
      rank.set(second);
    });
    rank.run();
    CHECK(log == std::vector<std::string>{"a holds a, throw finds a", "a rethrew a", "b holds b, throw finds b",
                                          "b rethrew b"});
    CHECK(counted::alive == 0);
  }

  TEST_CASE("tasks that wait in a destructor during unwinding see their own number of exceptions in flight") {
    struct waits_at_end {
      toy& rank;
      toy::event& until;
      int before = 0, after = 0;
      int* counts;
      waits_at_end(toy& r, toy::event& u, int* c) : rank(r), until(u), counts(c) {}
      ~waits_at_end() {
        counts[0] = std::uncaught_exceptions();
        rank.wait(until);
        counts[1] = std::uncaught_exceptions();
      }
    };
    toy rank;
    toy::event first, second;
    int a[2] = {-1, -1}, b[2] = {-1, -1}, between = -1;
    std::vector<std::string> caught_texts;
    const auto waiter = [&](const char* name, toy::event& until, int* counts) {
      return [&, name, counts] {
        try {
          const waits_at_end guard(rank, until, counts);
          throw counted(name);
        } catch (const counted& caught) {
          caught_texts.push_back(caught.what());
        }
        CHECK(std::uncaught_exceptions() == 0);
      };
    };
    rank.submit(waiter("a", first, a));
    rank.submit(waiter("b", second, b));
    rank.submit([&] {
      between = std::uncaught_exceptions();
      rank.set(first);
      rank.set(second);
    });
    rank.run();
    CHECK(between == 0);
    CHECK((a[0] == 1 && a[1] == 1 && b[0] == 1 && b[1] == 1));
    CHECK(caught_texts == std::vector<std::string>{"a", "b"});
    CHECK(counted::alive == 0);
  }

  TEST_CASE("a task on a fresh or reused stack sees no exception of the waiter") {
    toy rank;
    for (int round = 0; round < 2; ++round) {  // the second round finds the stacks in the pool
      toy::event opened;
      rank.submit([&] {
        try {
          throw counted("mine");
        } catch (const counted&) {
          rank.wait(opened);
          CHECK(current_message() == "mine");
        }
      });
      rank.submit([&] {
        CHECK(std::current_exception() == nullptr);
        CHECK(std::uncaught_exceptions() == 0);
        rank.set(opened);
      });
      rank.run();
    }
    CHECK(counted::alive == 0);
  }

  TEST_CASE("a task run inline inside a catch sees no exception, errno 0, and may throw, catch and wait") {
    toy rank;
    toy::event opened;
    bool done = false;
    rank.submit([&] {
      try {
        throw counted("the waiter's");
      } catch (const counted&) {
        errno = ENOENT;
        {
          const inline_frame frame(rank.pool());
          CHECK(std::current_exception() == nullptr);
          CHECK(std::uncaught_exceptions() == 0);
          CHECK(errno == 0);
          try {
            throw counted("the inline task's");
          } catch (const counted&) {
            rank.wait(opened);
            CHECK(current_message() == "the inline task's");
          }
          errno = EIO;
        }
        CHECK(errno == ENOENT);
        CHECK(current_message() == "the waiter's");
      }
      done = true;
    });
    rank.submit([&] { rank.set(opened); });
    rank.run();
    CHECK(done);
    CHECK(counted::alive == 0);
  }

  TEST_CASE("a task run inline by an unwinding destructor sees no exception in flight") {
    struct runs_inline {
      toy& rank;
      int *inside, *around;
      runs_inline(toy& r, int* i, int* a) : rank(r), inside(i), around(a) {}
      ~runs_inline() {
        {
          const inline_frame frame(rank.pool());
          *inside = std::uncaught_exceptions();
        }
        *around = std::uncaught_exceptions();
      }
    };
    toy rank;
    int inside = -1, around = -1;
    rank.submit([&] {
      try {
        const runs_inline guard(rank, &inside, &around);
        throw counted("unwinding");
      } catch (const counted&) {
      }
    });
    rank.run();
    CHECK(inside == 0);
    CHECK(around == 1);
  }

  TEST_CASE("errno is a task's own across its waits, and 0 in a new one") {
    toy rank;
    toy::event first, second;
    int a = -1, b_start = -1, b = -1;
    rank.submit([&] {
      errno = ENOENT;
      rank.wait(first);
      a = errno;
    });
    rank.submit([&] {
      b_start = errno;
      errno = EAGAIN;
      rank.wait(second);
      b = errno;
    });
    rank.submit([&] {
      errno = EIO;
      rank.set(first);
      rank.set(second);
    });
    errno = EPERM;
    rank.run();
    CHECK(errno == EPERM);
    CHECK(a == ENOENT);
    CHECK(b_start == 0);
    CHECK(b == EAGAIN);
  }

  TEST_CASE("the rounding mode set by a task stays with it, and a new stack has the pool's, not its maker's") {
    toy rank;
    toy::event opened;
    const double nearest = a_third();
    double up = 0, other = 0, up_again = 0, driver = 0;
    int other_mode = -1, x87_mode = -1;
    rank.submit([&] {
      std::fesetround(FE_UPWARD);
      up = a_third();
      rank.wait(opened);  // makes the second stack while rounding upward
      up_again = a_third();
      CHECK(std::fegetround() == FE_UPWARD);
    });
    rank.submit([&] {
      other = a_third();
      other_mode = std::fegetround();
      volatile long double one = 1.0L, three = 3.0L;
      x87_mode = static_cast<int>(one / three * three <= 1.0L);
      std::fesetround(FE_DOWNWARD);
      rank.set(opened);
    });
    rank.run();
    driver = a_third();
    CHECK(up > nearest);
    CHECK(up_again == up);
    CHECK(other == nearest);
    CHECK(other_mode == FE_TONEAREST);
    CHECK(x87_mode == 1);
    CHECK(driver == nearest);
    CHECK(std::fegetround() == FE_TONEAREST);
  }

  TEST_CASE("the driver's rounding mode is neither seen by tasks nor changed by them") {
    toy rank;
    int task_mode = -1, inline_mode = -1;
    rank.submit([&] {
      task_mode = std::fegetround();
      std::fesetround(FE_TOWARDZERO);
    });
    std::fesetround(FE_UPWARD);
    rank.run();
    const int after = std::fegetround();
    {
      const inline_frame frame(rank.pool());
      inline_mode = std::fegetround();
      std::fesetround(FE_DOWNWARD);
    }
    const int after_inline = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(task_mode == FE_TONEAREST);
    CHECK(after == FE_UPWARD);
    CHECK(inline_mode == FE_TONEAREST);
    CHECK(after_inline == FE_UPWARD);
  }

  TEST_CASE("a pool made while rounding upward gives its tasks that mode") {
    std::fesetround(FE_UPWARD);
    toy rank;
    std::fesetround(FE_TONEAREST);
    int first = -1, second = -1;
    rank.submit([&] {
      first = std::fegetround();
      std::fesetround(FE_DOWNWARD);
    });
    rank.submit([&] { second = std::fegetround(); });
    rank.run();
    CHECK(first == FE_UPWARD);
    CHECK(second == FE_UPWARD);
  }

  TEST_CASE("ten thousand tasks wait at once and all come back") {
#if defined(MANTA_STACK_TSAN)
    constexpr std::size_t count = 1000;  // TSan has room for 8000 threads and fibers
#else
    constexpr std::size_t count = 10000;
#endif
    toy rank;
    toy::event opened;
    std::size_t waiting_at_most = 0, back = 0;
    for (int round = 0; round < 2; ++round) {
      opened.set = false;
      back = 0;
      for (std::size_t i = 0; i < count; ++i)
        rank.submit([&, i] {
          const std::size_t mine = i * i;
          waiting_at_most = std::max(waiting_at_most, rank.pool().parked());
          rank.wait(opened);
          if (mine == i * i) ++back;
        });
      rank.submit([&] { rank.set(opened); });
      rank.run();
      CHECK(back == count);
      CHECK(waiting_at_most == count);           // the driver and all tasks but the one that looks
      CHECK(rank.pool().stacks() == count + 1);  // the second round makes none
      CHECK(rank.pool().idle() == count + 1);
    }
  }

  TEST_CASE("the stack used last is taken first") {
    toy rank;
    toy::event opened, reopened;
    std::vector<std::size_t> finished, taken;
    for (int i = 0; i < 3; ++i)
      rank.submit([&] {
        rank.wait(opened);
        finished.push_back(rank.pool().current().number());
      });
    rank.submit([&] {
      finished.push_back(rank.pool().current().number());
      rank.set(opened);
    });
    rank.run();
    CHECK(finished == std::vector<std::size_t>{4, 1, 2, 3});  // and each gives its stack back in that order
    for (int i = 0; i < 3; ++i)
      rank.submit([&] {
        taken.push_back(rank.pool().current().number());
        rank.wait(reopened);
      });
    rank.submit([&] {
      taken.push_back(rank.pool().current().number());
      rank.set(reopened);
    });
    rank.run();
    CHECK(taken == std::vector<std::size_t>{3, 2, 1, 4});
  }

  TEST_CASE("a task that waits a hundred times for another needs two stacks") {
    toy rank;
    rank.submit([&] {
      const context* self = &rank.pool().current();
      for (int i = 0; i < 100; ++i) {
        toy::event opened;
        rank.submit([&] { rank.set(opened); });
        rank.wait(opened);
        CHECK(&rank.pool().current() == self);
      }
    });
    rank.run();
    CHECK(rank.pool().stacks() == 2);
  }

  TEST_CASE("locals aligned to 64 bytes are so at every depth of a pooled stack") {
    struct probe {
      static bool aligned(int depth) {
        alignas(64) volatile double wide[8] = {};
        volatile char odd[17] = {};
        odd[0] = static_cast<char>(depth);
        for (int i = 0; i < 8; ++i) wide[i] = depth + i;
        const bool here = reinterpret_cast<std::uintptr_t>(&wide[0]) % 64 == 0 && wide[7] == depth + 7;
        return here && (depth == 0 || aligned(depth - 1)) && odd[0] == static_cast<char>(depth);
      }
    };
    toy rank;
    int right = 0;
    for (int i = 0; i < 3; ++i)
      rank.submit([&] {
        toy::event opened;
        rank.submit([&] { rank.set(opened); });
        rank.wait(opened);
        right += probe::aligned(7) ? 1 : 0;
      });
    rank.run();
    CHECK(right == 3);
  }

  TEST_CASE("room shrinks with depth on the root and on pooled stacks, and is whole on a fresh one") {
    struct probe {
      static std::size_t deepest(const stack_pool& pool, int depth) {
        volatile char frame[1024] = {};
        frame[1023] = 1;
        const std::size_t below = depth == 0 ? pool.room() : deepest(pool, depth - 1);
        return frame[1023] == 1 ? below : 0;
      }
    };
    toy rank;
    CHECK(rank.pool().room() > (std::size_t{64} << 10));
    CHECK(rank.pool().room() - probe::deepest(rank.pool(), 100) >= 80 * 1024);
    rank.submit([&] {
      const std::size_t room = rank.pool().room();
      CHECK(room < rank.pool().stack_bytes());
      CHECK(room + (std::size_t{16} << 10) > rank.pool().stack_bytes());
      CHECK(room - probe::deepest(rank.pool(), 100) >= 80 * 1024);
    });
    rank.run();
  }

  TEST_CASE("a recursion deeper than any stack goes on on fresh stacks when room runs short") {
    const with_stack_kib small("256");
    struct chain {
      toy& rank;
      std::size_t depth(std::size_t levels) {
        if (levels == 0) return 0;
        if (rank.pool().room() > (std::size_t{64} << 10)) {
          const inline_frame frame(rank.pool());
          return 1 + depth(levels - 1);
        }
        toy::event done;
        std::size_t below = 0;
        rank.submit([&] {
          below = depth(levels - 1);
          rank.set(done);
        });
        rank.wait(done);
        return 1 + below;
      }
    };
    toy rank;
    chain nested{rank};
    std::size_t reached = 0;
    rank.submit([&] { reached = nested.depth(20000); });
    rank.run();
    CHECK(reached == 20000);
    CHECK(rank.pool().stacks() > 4);
  }

  TEST_CASE("each thread has its own pool and its own root") {
    toy rank;
    std::size_t stacks = 0, room = 0;
    bool own = false;
    std::thread([&] {
      own = stack_pool::of_this_thread() == nullptr;
      toy other;
      own = own && stack_pool::of_this_thread() == &other.pool();
      room = other.pool().room();
      toy::event opened;
      other.submit([&] { other.wait(opened); });
      other.submit([&] { other.set(opened); });
      other.run();
      stacks = other.pool().stacks();
    }).join();
    CHECK(own);
    CHECK(room > 0);
    CHECK(stacks == 2);
    CHECK(stack_pool::of_this_thread() == &rank.pool());
    CHECK(rank.pool().stacks() == 0);
  }

  TEST_CASE("parked stacks are visited, each runs on its own stack and hands back") {
    toy rank;
    stack_pool& pool = rank.pool();
    toy::event opened;
    context* inspector = nullptr;
    std::vector<std::size_t> visited;
    for (int i = 0; i < 3; ++i)
      rank.submit([&] {
        opened.waiters.push_back(&pool.current());
        pool.park();
        while (inspector != nullptr) {  // not the event: a question who waits here
          visited.push_back(pool.current().number());
          pool.park_and_switch(*inspector);
        }
      });
    rank.submit([&] {
      inspector = &pool.current();
      pool.for_each_parked([&](context& parked) {
        if (parked.number() != 0) pool.park_and_switch(parked);
      });
      inspector = nullptr;
      rank.set(opened);
    });
    rank.run();
    CHECK(visited == std::vector<std::size_t>{1, 2, 3});
  }

  TEST_CASE("a nonsensical MANTA_STACK_KIB is refused by name") {
    for (const char* text : {"many", "-1", "8m", "3"}) {
      const with_stack_kib wrong(text);
      CHECK_THROWS_WITH_AS(toy(), doctest::Contains("MANTA_STACK_KIB"), manta::error);
    }
  }

  TEST_CASE("MANTA_STACK_KIB sets the size, else the soft stack limit clipped to 1 to 8 MiB") {
    {
      const with_stack_kib wanted("512");
      toy rank;
      CHECK(rank.pool().stack_bytes() == std::size_t{512} << 10);
    }
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_STACK, &before) == 0);
    rlimit changed = before;
    const std::pair<rlim_t, std::size_t> cases[] = {{rlim_t{64} << 10, 1}, {rlim_t{2} << 20, 2}, {rlim_t{64} << 20, 8}};
    for (const auto& [limit, mib] : cases) {
      if (before.rlim_max != RLIM_INFINITY && limit > before.rlim_max) continue;
      changed.rlim_cur = limit;
      REQUIRE(::setrlimit(RLIMIT_STACK, &changed) == 0);
      const std::size_t bytes = toy().pool().stack_bytes();
      REQUIRE(::setrlimit(RLIMIT_STACK, &before) == 0);
      CHECK(bytes == mib << 20);
    }
  }

#if !defined(MANTA_STACK_ASAN) && !defined(MANTA_STACK_TSAN)
  TEST_CASE("when no further stack can be had park throws, and waiting goes on without it") {
    const with_stack_kib huge("1048576");
    toy rank;
    toy::event opened;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
    std::string message;
    rank.submit([&] {
      rlimit tight = before;
      tight.rlim_cur = rlim_t{1} << 30;  // less than is mapped already
      REQUIRE(::setrlimit(RLIMIT_AS, &tight) == 0);
      try {
        rank.pool().park();
      } catch (const manta::error& refused) {
        message = refused.what();
      }
      REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
      CHECK(rank.pool().parked() == 1);
    });
    rank.run();
    CHECK(message.find("1048576 KiB") != std::string::npos);
    CHECK(message.find("this rank has 1 such stacks") != std::string::npos);
    CHECK(message.find("ulimit -v") != std::string::npos);
  }
#endif

#if !defined(MANTA_STACK_TSAN)
  namespace {

  // Runs `crash` in a child; returns what it wrote to stderr, and its end in `status`.
  std::string stderr_of_child(void (*crash)(), int& status) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::signal(SIGSEGV, SIG_DFL);  // doctest's
      ::dup2(ends[1], STDERR_FILENO);
      crash();
      ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    REQUIRE(::waitpid(child, &status, 0) == child);
    return text;
  }

  int recurse(int depth) {
    volatile char frame[4096] = {};
    frame[0] = static_cast<char>(depth);
    const int below = depth < 0 ? 0 : recurse(depth + 1);
    return below + frame[0];
  }

  const char* name_of_task() { return "task 'solve_recursive'"; }
  const char* no_task() { return nullptr; }

  void earlier_handler(int) {
    constexpr char text[] = "the earlier handler\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
    ::_exit(42);
  }

  volatile int sink = 0;

  }  // namespace

  TEST_CASE("an overflow of a pooled stack names the task and the stack, and the signal still kills") {
    int status = 0;
    const std::string text = stderr_of_child(
        [] {
          const with_stack_kib small("512");
          toy rank;
          manta::exec::install_overflow_reporter(&name_of_task);
          rank.submit([] { sink = recurse(0); });
          rank.run();
        },
        status);
    INFO(text);
    CHECK(text.find("manta: stack overflow in task 'solve_recursive' (stack 1, 512 KiB); give the rank a larger stack: "
                    "ulimit -s or MANTA_STACK_KIB\n") != std::string::npos);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
  }

  TEST_CASE("an overflow of the thread's own stack is reported too") {
    int status = 0;
    const std::string text = stderr_of_child(
        [] {
          toy rank;
          manta::exec::install_overflow_reporter(&no_task);
          sink = recurse(0);
        },
        status);
    INFO(text);
    CHECK(text.find("manta: stack overflow in the driver (stack 0, ") != std::string::npos);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
  }

  TEST_CASE("a process that cannot say where it was ends by its signal all the same") {
    int status = 0;
    const std::string text = stderr_of_child(
        [] {
          toy rank;
          manta::exec::install_overflow_reporter(&name_of_task, nullptr, [](const void*) {
            for (;;) ::pause();
          });
          rank.submit([] { std::abort(); });
          rank.run();
        },
        status);
    INFO(text);
    CHECK(text.find("manta: abort in task 'solve_recursive'\n") != std::string::npos);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  }

  TEST_CASE("a null pointer in a task is no overflow, and an earlier handler gets the signal") {
    int status = 0;
    const std::string text = stderr_of_child(
        [] {
          ::signal(SIGSEGV, &earlier_handler);
          toy rank;
          manta::exec::install_overflow_reporter(&name_of_task);
          rank.submit([] {
            int* volatile nowhere = reinterpret_cast<int*>(std::uintptr_t{64});
            sink = *nowhere;
          });
          rank.run();
        },
        status);
    INFO(text);
    CHECK(text.find("manta: segmentation fault at 0x40 in task 'solve_recursive'\nthe earlier handler\n") !=
          std::string::npos);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 42));
  }
#endif

}  // TEST_SUITE
