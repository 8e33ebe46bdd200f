// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Isolated tasks and actors: whatever ends their process is an exception for
// whoever asks, and the rank goes on. The oracle is the same task without
// isolation, and for how it ended, what the function did to itself.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cereal/types/vector.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "support/world.hpp"

using manta::testing::in_world;

namespace {

using namespace std::chrono_literals;

/// What the futures' failure says.
template <class T>
std::string crash_text(const manta::future<T>& f) {
  try {
    f.get();
  } catch (const manta::task_failed& e) {
    CHECK(e.details().type == "crash");
    return e.what();
  } catch (const std::exception& e) {
    return std::string("not a crash: ") + e.what();
  }
  return "no exception";
}

using manta::testing::contains;

int add(int a, int b) { return a + b; }
std::string join(const std::string& a, const std::vector<int>& numbers) {
  std::string text = a;
  for (const int x : numbers) text += "," + std::to_string(x);
  return text;
}
int process_of(int) { return static_cast<int>(::getpid()); }

[[gnu::noinline]] int read_at(const volatile int* place) { return *place + 1; }

}  // namespace

// outside of the unnamed namespace: the dynamic symbols of the program are what a backtrace names
[[gnu::noinline]] int fall_over(int where) {
  return read_at(reinterpret_cast<const int*>(static_cast<std::size_t>(where)));
}
[[gnu::noinline]] int walk_out(int status) {
  std::exit(status);
  return 0;
}
[[gnu::noinline]] int go_round(int x) {
  for (volatile bool never = false; !never;) ++x;
  return x;
}

namespace {

int end_by(std::string how, int number) {
  if (how == "segv") return fall_over(number) + 1;
  if (how == "abort") std::abort();
  if (how == "exit") return walk_out(number) + 1;
  if (how == "_exit") ::_exit(number);
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "divide") ::raise(SIGFPE);
  if (how == "close") {  // the library's own files
    for (int f = 3; f < 100; ++f) ::close(f);
  }
  if (how == "terminate") std::terminate();
  return number;
}
[[gnu::noinline]] int deeper(int n) {
  std::array<volatile char, 4096> room;
  room[static_cast<std::size_t>(n) % room.size()] = 1;
  return n == 0 ? 0 : deeper(n + 1) + room[0];
}
int endless(int x) { return go_round(x) + 1; }
int until_told(int) {
  while (!manta::this_task::stop_requested()) ::usleep(1000);
  return 7;
}
int crash_at_first(int x) {
  if (manta::this_task::attempt() < 2) std::abort();
  return x;
}
int throws(int x) { throw std::invalid_argument("not " + std::to_string(x)); }
int throws_fatal(int) { throw manta::fatal("broken"); }

struct own_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
int throws_own(int) { throw own_error("mine"); }

std::vector<double> squares(const std::vector<double>& v, double more) {
  std::vector<double> result(v);
  for (double& x : result) x = x * x + more;
  return result;
}
double sum_of(std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); }
int submits(int x) { return manta::async<add>(x, 1).get(); }
int holds(manta::future<int> f) { return f.valid() ? 1 : 0; }

struct told {
  std::uint64_t id = 0, seed = 0;
  std::string name;
  int attempt = 0, rank = 0, size = 0;
  bool operator==(const told&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(id, seed, name, attempt, rank, size);
  }
};
told tell(int) {
  return {manta::this_task::id(),
          manta::this_task::seed(),
          manta::this_task::name(),
          manta::this_task::attempt(),
          manta::rank(),
          manta::size()};
}

class account {
 public:
  explicit account(int start) : sum_(start) {}
  account() = default;
  int add(int x) { return sum_ += x; }
  int sum() const { return sum_; }
  int process() const { return static_cast<int>(::getpid()); }
  int crash(int) { return end_by("segv", 16); }
  int leave(int code) { ::_exit(code); }
  int stay(int) { return endless(0); }
  int stay_until_told(int x) { return until_told(x); }
  bool is_told() const { return manta::this_task::stop_requested(); }
  int fail(int x) { return throws(x); }
  int fatal(int x) { return throws_fatal(x); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum_);
  }

 private:
  int sum_ = 0;
};
class never_lives {
 public:
  never_lives() { std::abort(); }
  int ask(int x) { return x; }
};
class falls_at_the_end {
 public:
  ~falls_at_the_end() { std::abort(); }
  int ask(int x) { return x; }
};

}  // namespace

TEST_CASE("an isolated task gives what the same task gives without") {
  in_world([] {
    std::vector<manta::future<int>> sums;
    for (int i = 0; i < 200; ++i) sums.push_back(manta::async<add>({.isolate = true}, i, 1));
    for (int i = 0; i < 200; ++i) CHECK(sums[static_cast<std::size_t>(i)].get() == i + 1);
    const auto word = manta::async<join>({.isolate = true}, std::string("a"), std::vector<int>{1, 2, 3});
    CHECK(word.get() == "a,1,2,3");
    const auto longer = manta::async<join>(word, std::vector<int>(1000, 5));  // the isolated one's result goes on
    CHECK(manta::async<join>({.isolate = true}, longer, std::vector<int>{6}).get() == longer.get() + ",6");
    manta::async({.isolate = true}, [] {}).get();
    CHECK(manta::async(
              {.isolate = true}, [](double x) { return x / 2; }, manta::async([](int x) { return 1.0 * x; }, 3))
              .get() == 1.5);
  });
}

TEST_CASE("it runs in another process, which is used again") {
  in_world([] {
    const int rank = manta::testing::executor(0);
    const int plain = manta::async<process_of>({.rank = rank}, 0).get();
    const int first = manta::async<process_of>({.rank = rank, .isolate = true}, 0).get();
    CHECK(first != plain);
    CHECK(manta::async<process_of>({.rank = rank, .isolate = true}, 0).get() == first);
    crash_text(manta::async<end_by>({.rank = rank, .isolate = true}, std::string("abort"), 0));
    CHECK(manta::async<process_of>({.rank = rank, .isolate = true}, 0).get() != first);
    CHECK(manta::async<process_of>({.rank = rank}, 0).get() == plain);
  });
}

TEST_CASE("a file that isolated code leaves open has all its lines, and a program that it starts is no rank") {
  in_world([] {
    const std::string path = std::tmpnam(nullptr);
    const auto leave_open = [](std::string file) {
      static std::FILE* const out = std::fopen(file.c_str(), "w");
      return std::fputs("a line\n", out) >= 0 && std::getenv("OMPI_COMM_WORLD_RANK") == nullptr;
    };
    CHECK(manta::async(manta::task_options{.isolate = true}, leave_open, path).get());
    std::ifstream in(path);
    std::string line;
    CHECK(std::getline(in, line));
    CHECK(line == "a line");
    std::remove(path.c_str());
  });
}

TEST_CASE("whatever ends its process is a task_failed that says how, and the rank goes on") {
  in_world([] {
    for (int round = 0; round < 3; ++round) {
      const auto end = [](const char* how, int number) {
        return crash_text(manta::async<end_by>({.name = "the end", .isolate = true}, std::string(how), number));
      };
      const std::string fault = end("segv", 16);
      CHECK_MESSAGE(contains(fault, "'the end'"), fault);
      CHECK_MESSAGE(contains(fault, "SIGSEGV"), fault);
      CHECK_MESSAGE(contains(fault, "bytes of arguments"), fault);
      CHECK_MESSAGE(contains(fault, "0x10"), fault);
      CHECK_MESSAGE(contains(fault, "fall_over(int)"), fault);
      if (round == 0) MESSAGE(fault);
      CHECK(contains(end("abort", 0), "SIGABRT"));
      CHECK(contains(end("divide", 0), "SIGFPE"));
      CHECK(contains(end("kill", 0), "SIGKILL"));
      CHECK(contains(end("terminate", 0), "SIGABRT"));
      const std::string left = end("exit", 3);
      CHECK_MESSAGE(contains(left, "ended with exit(3); in exit < walk_out(int)"), left);
      CHECK(contains(end("_exit", 0), "ended with exit(0)"));
      CHECK(contains(end("close", 5), "its process ended"));
      CHECK(end("none", 5) == "no exception");
    }
  });
}

TEST_CASE("the sizes of the inputs are told, also when it ends while a large one comes") {
  in_world([] {
    const auto large = manta::put(std::vector<double>(100'000, 1.0));
    const auto f = manta::async(
        {.isolate = true},
        [](const std::vector<double>& v, int x) { return end_by("abort", x) + static_cast<int>(v.size()); }, large, 1);
    CHECK(contains(crash_text(f), "inputs of 8000"));
  });
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a stack that runs over says so; memory that runs out is std::bad_alloc") {
  in_world([] {
    const std::string text = crash_text(manta::async(
        {.isolate = true}, [](int n) { return deeper(n); }, 1));
    CHECK_MESSAGE(contains(text, "end of the stack"), text);
    const auto memory = manta::async(
        {.isolate = true},
        [](std::size_t bytes) {
          rlimit limit{bytes, bytes};
          ::setrlimit(RLIMIT_AS, &limit);
          std::vector<char> v(2 * bytes, 'a');
          return static_cast<int>(v[0]);
        },
        std::size_t{4} << 30U);
    try {
      memory.get();
      CHECK(false);
    } catch (const manta::task_failed& e) {
      CHECK(contains(e.details().type, "bad_alloc"));
    }
  });
}
#endif

TEST_CASE("exceptions are what they are without isolation") {
  manta::rethrow_as<own_error>();
  in_world([] {
    for (int round = 0; round < 20; ++round) {
      try {
        manta::async<throws>({.rank = manta::testing::executor(static_cast<std::size_t>(round)), .isolate = true}, 4)
            .get();
        CHECK(false);
      } catch (const manta::task_failed& e) {
        CHECK(e.details().type == "std::invalid_argument");
        CHECK(e.details().what == "not 4");
        CHECK(e.details().rank == manta::testing::executor(static_cast<std::size_t>(round)));
      }
      CHECK_THROWS_WITH_AS(manta::async<throws_own>({.isolate = true}, 4).get(), "mine", own_error);
    }
  });
}

TEST_CASE("large values go in and come out, also as views and from other ranks") {
  in_world([] {
    std::vector<double> v(300'000);
    std::iota(v.begin(), v.end(), 0.0);
    const auto put = manta::put(v);
    std::vector<double> right(v);
    for (double& x : right) x = x * x + 1;
    for (std::size_t i = 0; i < manta::testing::executors().size(); ++i) {
      const int rank = manta::testing::executor(i);
      const auto made = manta::async<squares>({.rank = rank, .isolate = true}, put, 1.0);
      CHECK(made.get() == right);
      CHECK(manta::async<sum_of>({.rank = manta::testing::executor(i + 1), .isolate = true}, made).get() ==
            std::accumulate(right.begin(), right.end(), 0.0));
    }
  });
}

TEST_CASE("this_task answers as without isolation") {
  const auto ask = [](bool isolate) {
    told t;
    in_world({.seed = 12}, [&] {
      t = manta::async<tell>({.name = "teller", .rank = manta::testing::executor(0), .isolate = isolate}, 1).get();
    });
    return t;
  };
  const told plain = ask(false), isolated = ask(true);
  CHECK(plain == isolated);
  if (manta::testing::world_rank() == 0) CHECK(isolated.name == "teller");
}

TEST_CASE("it cannot submit or wait, nor be given a future, and says so") {
  in_world([] {
    CHECK_THROWS_WITH_AS(manta::async<submits>({.isolate = true}, 1).get(), doctest::Contains("isolated task"),
                         manta::task_failed);
    CHECK_THROWS_WITH_AS(manta::async<holds>({.isolate = true}, manta::async<add>(1, 2)).get(),
                         doctest::Contains("is isolated"), manta::task_failed);
    CHECK(manta::async<add>({.isolate = true}, 1, 2).get() == 3);
    CHECK_THROWS_WITH_AS(manta::async({.isolate = true}, [](manta::team) {}), doctest::Contains("not for gangs"),
                         manta::error);
  });
}

TEST_CASE("a crash is worth another attempt") {
  in_world([] {
    CHECK(manta::async<crash_at_first>({.retries = 2, .isolate = true}, 5).get() == 5);
    CHECK(contains(crash_text(manta::async<crash_at_first>({.retries = 1, .isolate = true}, 5)), "at attempt 1"));
    const auto is_crash = [](const manta::task_failed& e) { return e.details().type == "crash"; };
    CHECK(manta::async<crash_at_first>({.retries = 2, .retry_if = is_crash, .retry_after = 1ms, .isolate = true}, 5)
              .get() == 5);
  });
}

TEST_CASE("an endless one that is cancelled is ended, and one that asks is told") {
  in_world([] {
    if (manta::size() == 1) return;  // the driver goes on when it has ended
    const auto f = manta::async<endless>({.isolate = true}, 1);
    const auto g = manta::async<until_told>({.isolate = true}, 1);
    f.wait_for(20ms);
    CHECK(manta::cancel(f));
    CHECK(manta::cancel(g));
    CHECK_THROWS_AS(f.get(), manta::cancelled);
    CHECK(manta::async<add>({.isolate = true}, 1, 2).get() == 3);
  });
}

TEST_CASE("one that hangs is ended by the watchdog, one that asks now and then is not") {
  manta::runtime_options o;
  o.watchdog = 1;
  in_world(o, [] {
    const auto patient = manta::async(
        {.isolate = true},
        [](int x) {
          for (int i = 0; i < 150; ++i) {
            ::usleep(10'000);
            (void)manta::this_task::stop_requested();
          }
          return x;
        },
        3);
    const std::string text = crash_text(manta::async<endless>({.isolate = true}, 1));
    CHECK_MESSAGE(
        contains(text, "it had not called manta for 1 s (MANTA_WATCHDOG), and its process was ended; in go_round(int)"),
        text);
    CHECK(patient.get() == 3);
    CHECK(manta::async(
              {.isolate = true}, [](int x) { return x + 1; }, 3)
              .get() == 4);
  });
}

TEST_CASE("an endless one is ended after its deadline, with its attempts") {
  in_world([] {
    const std::string text = crash_text(manta::async<endless>({.retries = 3, .deadline = 300ms, .isolate = true}, 1));
    CHECK_MESSAGE(contains(text, "its deadline was over"), text);
    CHECK_MESSAGE(contains(text, "and its process was ended; in go_round(int)"), text);
    CHECK(manta::async<until_told>({.deadline = 100ms, .isolate = true}, 1).get() == 7);
    CHECK(manta::async<add>({.isolate = true}, 1, 2).get() == 3);
  });
}

TEST_CASE("a driver that throws does not wait for an endless one") {
  if (manta::testing::world_size() == 1) return;
  const auto run = [] {
    in_world([] {
      const auto f = manta::async<endless>({.isolate = true}, 1);
      f.wait_for(20ms);
      throw std::runtime_error("part of the test");
    });
  };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), std::runtime_error);
  } else {
    CHECK_THROWS_AS(run(), manta::driver_failed);
  }
}

TEST_CASE("other ranks are answered while it runs") {
  in_world([] {
    if (manta::size() < 3) return;
    const int place = manta::testing::executor(0);
    const auto value = manta::async(
        {.rank = place}, [](int x) { return std::vector<double>(50'000, x); }, 3);
    value.wait();
    const auto f = manta::async<until_told>({.rank = place, .isolate = true}, 1);
    f.wait_for(5ms);
    CHECK(manta::async<sum_of>({.rank = manta::testing::executor(1)}, value).get() == 150'000);
    CHECK_FALSE(f.ready());
    manta::cancel(f);
  });
}

TEST_CASE("an isolated actor keeps its state in a process of its own") {
  in_world([] {
    const auto a = manta::spawn<account>({.isolate = true}, 10);
    const auto b = manta::spawn<account>({.isolate = true}, 20);
    std::vector<manta::future<int>> sums;
    for (int i = 1; i <= 100; ++i) sums.push_back(manta::async<&account::add>(a, i));
    for (int i = 1; i <= 100; ++i) CHECK(sums[static_cast<std::size_t>(i) - 1].get() == 10 + i * (i + 1) / 2);
    CHECK(manta::async<&account::sum>(b).get() == 20);
    CHECK(manta::async<&account::process>(a).get() != manta::async<&account::process>(b).get());
    CHECK_THROWS_AS(manta::async<&account::fail>(a, 1).get(), manta::task_failed);
    CHECK(manta::async<&account::add>(a, manta::async<add>(1, 1)).get() == 5062);
  });
}

TEST_CASE("one that crashes fails that call and is dead") {
  in_world([] {
    const auto a = manta::spawn<account>({.isolate = true}, 10);
    CHECK(manta::async<&account::add>(a, 1).get() == 11);
    const auto crash = manta::async<&account::crash>(a, 1);
    const auto after = manta::async<&account::add>(a, 1);
    const std::string text = crash_text(crash);
    CHECK_MESSAGE(contains(text, "SIGSEGV"), text);
    CHECK_THROWS_WITH_AS(after.get(), doctest::Contains("SIGSEGV"), manta::actor_died);
    CHECK_THROWS_WITH_AS(manta::async<&account::add>(a, 1).get(), doctest::Contains("restarts"), manta::actor_died);
    const auto never = manta::spawn<never_lives>({.isolate = true});
    CHECK_THROWS_WITH_AS(manta::async<&never_lives::ask>(never, 1).get(), doctest::Contains("SIGABRT"),
                         manta::actor_died);
  });
}

TEST_CASE("with restarts it is built anew, from its checkpoint if there is one") {
  in_world([] {
    const auto a = manta::spawn<account>({.restarts = 2, .isolate = true}, 10);
    CHECK(manta::async<&account::add>(a, 1).get() == 11);
    CHECK(contains(crash_text(manta::async<&account::crash>(a, 1)), "SIGSEGV"));
    CHECK(manta::async<&account::add>(a, 2).get() == 12);
    CHECK_THROWS_AS(manta::async<&account::fatal>(a, 1).get(), manta::task_failed);
    CHECK(manta::async<&account::add>(a, 3).get() == 13);
    CHECK(contains(crash_text(manta::async<&account::leave>(a, 4)), "exit(4)"));
    CHECK_THROWS_WITH_AS(manta::async<&account::add>(a, 1).get(), doctest::Contains("restarted 2 times"),
                         manta::actor_died);

    const auto b = manta::spawn<account>({.restarts = 100, .checkpoint_every = 3, .isolate = true}, 10);
    int sum = 10;
    for (int i = 0; i < 20; ++i) {
      sum += i;
      CHECK(manta::async<&account::add>(b, i).get() == sum);
      if (i % 5 == 4) CHECK(contains(crash_text(manta::async<&account::crash>(b, 1)), "SIGSEGV"));
      CHECK(manta::async<&account::sum>(b).get() == sum);
    }
  });
}

TEST_CASE("an endless call ends with kill or with its cancellation, and a destructor may crash") {
  in_world([] {
    if (manta::size() == 1) return;
    const auto a = manta::spawn<account>({.isolate = true}, 10);
    const auto stays = manta::async<&account::stay>(a, 1);
    stays.wait_for(20ms);
    manta::kill(a);
    CHECK_THROWS_AS(stays.get(), manta::error);
    const auto b = manta::spawn<account>({.restarts = 1, .isolate = true}, 10);
    const auto endless_call = manta::async<&account::stay>(b, 1);
    endless_call.wait_for(20ms);
    CHECK(manta::cancel(endless_call));
    CHECK(manta::async<&account::add>(b, 1).get() == 11);
    const auto waits = manta::async<&account::stay_until_told>(b, 1);
    waits.wait_for(20ms);
    CHECK(manta::cancel(waits));
    CHECK_FALSE(manta::async<&account::is_told>(b).get());
    CHECK(manta::async<&account::sum>(b).get() == 11);
    const auto c = manta::spawn<falls_at_the_end>({.isolate = true});
    CHECK(manta::async<&falls_at_the_end::ask>(c, 1).get() == 1);
  });
}

TEST_CASE("an endless call is ended after its deadline") {
  in_world([] {
    const auto a = manta::spawn<account>({.isolate = true}, 10);
    CHECK(manta::async<&account::sum>(a).get() == 10);
    const std::string text = crash_text(manta::async<&account::stay>({.deadline = 300ms}, a, 1));
    CHECK_MESSAGE(contains(text, "its deadline was over"), text);
    const auto b = manta::spawn<account>({.isolate = true}, 10);
    CHECK(manta::async<&account::sum>(b).get() == 10);
    CHECK(manta::async<&account::stay_until_told>({.deadline = 300ms}, b, 1).get() == 7);
    CHECK(manta::async<&account::sum>(b).get() == 10);
  });
}

TEST_CASE("what else a process can do to itself ends as a failure too") {
  in_world([] {
    const auto a = manta::spawn<account>({.restarts = 1, .isolate = true}, 10);
    CHECK(manta::async<&account::add>(a, 1).get() == 11);
    for (std::size_t i = 0; i < manta::testing::executors().size(); ++i) {
      const int rank = manta::testing::executor(i);
      // the process that forks children, which takes them all with it
      const auto all = manta::async({.rank = rank, .isolate = true}, [] {
        ::kill(::getppid(), SIGKILL);
        ::pause();
      });
      CHECK_THROWS_AS(all.get(), manta::task_failed);
      CHECK(manta::async<add>({.rank = rank, .isolate = true}, 1, 2).get() == 3);
      // a process of its own that lives on, with all files
      const auto forks = manta::async({.rank = rank, .isolate = true}, [] {
        if (::fork() == 0) ::pause();
        std::abort();
      });
      CHECK(contains(crash_text(forks), "SIGABRT"));
      // a batch system asks all processes to end
      CHECK(manta::async(
                {.rank = rank, .isolate = true}, [](int x) { return ::raise(SIGTERM) + ::raise(SIGUSR1) + x; }, 3)
                .get() == 3);
      // one that ends well
      const auto child = [](int code) {
        if (::fork() == 0) std::exit(code);
        return code;
      };
      CHECK(manta::async({.rank = rank, .isolate = true}, child, 3).get() == 3);
      CHECK(manta::async<add>({.rank = rank, .isolate = true}, 1, 2).get() == 3);
    }
    CHECK_THROWS_AS(manta::async<&account::add>(a, 1).get(), manta::task_failed);
    CHECK(manta::async<&account::add>(a, 1).get() == 11);
  });
}

TEST_CASE("in a random mixture of tasks that crash, throw and return each future has its own end") {
  const std::uint64_t seed = manta::testing::seed("isolated mixture");
  in_world([&] {
    std::uint64_t random = seed;
    std::vector<manta::future<int>> futures;
    std::vector<int> kinds;
    for (int i = 0; i < 150; ++i) {
      random = manta::testing::mix(random);
      kinds.push_back(static_cast<int>(random % 5));
      switch (kinds.back()) {
        case 0: futures.push_back(manta::async<end_by>({.isolate = true}, std::string("segv"), 16)); break;
        case 1: futures.push_back(manta::async<throws>({.isolate = true}, i)); break;
        case 2: futures.push_back(manta::async<add>(i, 1)); break;
        default: futures.push_back(manta::async<add>({.isolate = true}, i, 1));
      }
    }
    for (int i = 0; i < 150; ++i) {
      const auto& f = futures[static_cast<std::size_t>(i)];
      switch (kinds[static_cast<std::size_t>(i)]) {
        case 0: CHECK(contains(crash_text(f), "SIGSEGV")); break;
        case 1: CHECK_THROWS_AS(f.get(), manta::task_failed); break;
        default: CHECK(f.get() == i + 1);
      }
    }
  });
}
