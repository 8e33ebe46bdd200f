// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta::run and what holds around a run: exit codes, settings, ids, and the
// mistakes that are errors. The test's main function has initialised MPI, so
// manta::run is met here as by a program with an MPI of its own; the rest is
// in tests/programs.
#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::sum_over_ranks;
using manta::testing::thrown;
using manta::testing::world_rank;
using manta::testing::world_size;

namespace {

int add(int a, int b) { return a + b; }
int fail(const std::string& text) { throw std::runtime_error(text); }
/// Of its own, in a task.
int run_inside() {
  int count = 0;
  char* none = nullptr;
  return manta::run(count, &none, [] {});
}
std::string big(int n) { return std::string(static_cast<std::size_t>(n), 'b'); }

std::vector<std::uint64_t> me() { return {manta::this_task::id(), manta::this_task::seed()}; }
/// Its own id and seed, and those of its first child.
std::vector<std::uint64_t> me_and_child() {
  std::vector<std::uint64_t> all = me();
  const auto child = manta::async<me>().get();
  all.insert(all.end(), child.begin(), child.end());
  return all;
}
std::vector<std::uint64_t> me_and_child_at_second_attempt() {
  const auto all = me_and_child();
  if (manta::this_task::attempt() == 0) throw std::runtime_error("the first attempt fails");
  return all;
}

long sum_to(int n) {
  std::vector<manta::future<int>> fs;
  for (int i = 1; i <= n; ++i) fs.push_back(manta::async<add>(i, 0));
  long sum = 0;
  for (const int x : manta::get(fs)) sum += x;
  return sum;
}

/// A command line that may be changed, as main gets it.
class command_line {
 public:
  explicit command_line(std::vector<std::string> words) : words_(std::move(words)) {
    words_.insert(words_.begin(), "program");
    for (std::string& w : words_) pointers_.push_back(w.data());
    pointers_.push_back(nullptr);
  }
  int count() const { return static_cast<int>(words_.size()); }
  char** words() { return pointers_.data(); }
  /// What a loop to the terminating null sees.
  std::vector<std::string> left() const {
    std::vector<std::string> result;
    for (char* const* p = pointers_.data() + 1; *p != nullptr; ++p) result.emplace_back(*p);
    return result;
  }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

/// Environment variables for the length of a test; also takes away what a command line leaves behind.
class environment {
 public:
  environment() { clear(); }
  environment(const char* name, const char* value) : environment() { set(name, value); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() { clear(); }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

 private:
  static void clear() {
    for (const char* name : {"MANTA_SEED", "MANTA_CPUS", "MANTA_RESOURCES", "MANTA_RANK0_TASKS",
                             "MANTA_PROGRESS_THREAD", "MANTA_STACK_KIB"}) {
      ::unsetenv(name);
    }
  }
};

/// What is written to stderr while it stands.
class captured_stderr {
 public:
  captured_stderr() : file_(std::tmpfile()), saved_(::dup(STDERR_FILENO)) {
    std::fflush(stderr);
    ::dup2(::fileno(file_), STDERR_FILENO);
  }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;
  ~captured_stderr() {
    stop();
    std::fclose(file_);
  }
  std::string text() {
    stop();
    std::string result;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) result += static_cast<char>(c);
    return result;
  }
  /// How many lines with this text all ranks wrote together. Collective.
  long lines_anywhere(const std::string& part) {
    std::istringstream lines(text());
    long mine = 0;
    for (std::string line; std::getline(lines, line);) mine += contains(line, part) ? 1 : 0;
    return sum_over_ranks(mine);
  }

 private:
  void stop() {
    if (saved_ < 0) return;
    std::fflush(stderr);
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    saved_ = -1;
  }
  std::FILE* file_;
  int saved_;
};

template <class Driver>
int run(const manta::runtime_options& options, Driver&& driver) {
  command_line none({});
  return manta::run(none.count(), none.words(), options, std::forward<Driver>(driver));
}
template <class Driver>
int run(Driver&& driver) {
  return run(manta::runtime_options{}, std::forward<Driver>(driver));
}

/// The run fails on every rank with 1 and one line, anywhere, that has all these parts.
void check_mistake(command_line& arguments, const manta::runtime_options& options,
                   const std::vector<std::string>& parts) {
  bool ran = false;
  captured_stderr errors;
  const int code = manta::run(arguments.count(), arguments.words(), options, [&] { ran = true; });
  CHECK(errors.lines_anywhere("manta: ") == 1);
  for (const std::string& part : parts) CHECK_MESSAGE(errors.lines_anywhere(part) == 1, part << " is missing");
  CHECK(code == 1);
  CHECK_FALSE(ran);
}
void check_mistake(const std::vector<std::string>& parts) {
  command_line none({});
  check_mistake(none, {}, parts);
}

/// this_task::seed() of the driver of a first run with this seed.
std::uint64_t driver_seed(std::uint64_t seed) {
  using manta::testing::mix;
  return mix(seed ^ mix(mix(seed ^ mix(1))));
}

}  // namespace

// ---- exit codes ---------------------------------------------------------------------------------------------

TEST_CASE("every rank returns the driver's int") {
  for (const int code : {0, 1, 7, 255}) {
    CHECK(run([&] { return code; }) == code);
  }
  CHECK(run([] { return sum_to(10) == 55 ? 42 : 1; }) == 42);
}

TEST_CASE("every rank returns 0 when the driver returns nothing") {
  CHECK(run([] {}) == 0);
  CHECK(run([] { sum_to(100); }) == 0);
}

TEST_CASE("only rank 0 runs the driver") {
  long runs = 0;
  run([&] { ++runs; });
  CHECK(sum_over_ranks(runs) == 1);
  CHECK(runs == (world_rank() == 0 ? 1 : 0));
}

TEST_CASE("a driver that throws gives 1 on every rank and its text once") {
  captured_stderr errors;
  const int code = run([] {
    sum_to(10);
    throw std::runtime_error("the lid is open");
  });
  CHECK(code == 1);
  CHECK(errors.lines_anywhere("the lid is open") == 1);
  CHECK(errors.lines_anywhere("manta: ") == 1);
  CHECK((world_rank() != 0 || contains(errors.text(), "the lid is open")));
}

TEST_CASE("a driver that throws something else gives 1 on every rank and one message") {
  captured_stderr errors;
  CHECK(run([]() -> int { throw 42; }) == 1);
  CHECK(errors.lines_anywhere("not a std::exception") == 1);
}

TEST_CASE("a task's error that leaves the driver is told once, with the task and the rank") {
  captured_stderr errors;
  CHECK(run([] { return manta::async<fail>(std::string("no water")).get(); }) == 1);
  CHECK(errors.lines_anywhere("no water") == 1);
  CHECK(errors.lines_anywhere("fail") == 1);
  CHECK(errors.lines_anywhere("nobody looked at") == 0);
}

TEST_CASE("who gives up waiting for a queue leaves no failure behind") {
  captured_stderr errors;
  CHECK(run([] {
          manta::queue<int> q(1);
          CHECK_THROWS_AS(q.pop_for(std::chrono::milliseconds(1)), manta::queue_empty);
          q.push(1);
          CHECK_THROWS_AS(q.push_for(2, std::chrono::milliseconds(1)), manta::queue_full);
          CHECK(q.pop() == 1);
        }) == 0);
  CHECK(errors.lines_anywhere("nobody looked at") == 0);
}

TEST_CASE("a failure that nobody looked at is told once at the end, and the exit code is the driver's") {
  captured_stderr errors;
  CHECK(run([] { manta::async<fail>(std::string("unseen")); }) == 0);
  CHECK(errors.lines_anywhere("nobody looked at") == 1);
  CHECK(errors.lines_anywhere("unseen") == 1);
}

TEST_CASE("one run after another in the same program") {
  for (int i = 0; i < 5; ++i) {
    CHECK(run([i] { return i; }) == i);
    captured_stderr errors;
    CHECK(run([]() -> int { throw std::runtime_error("now and then"); }) == 1);
  }
}

// ---- settings -----------------------------------------------------------------------------------------------

TEST_CASE("the environment overrides code, and the command line overrides both") {
  const environment clean;
  std::uint64_t seed = 0;
  const auto driver = [&] { seed = manta::this_task::seed(); };
  const auto expect = [&](std::uint64_t expected) { CHECK(seed == (world_rank() == 0 ? driver_seed(expected) : 0)); };
  run(driver);
  expect(0);
  run({.seed = 1}, driver);
  expect(1);
  environment::set("MANTA_SEED", "2");
  run({.seed = 1}, driver);
  expect(2);
  command_line arguments({"--manta-seed=3"});
  manta::run(arguments.count(), arguments.words(), {.seed = 1}, driver);
  expect(3);
}

TEST_CASE("a variable that is no setting is named with the nearest one, and the help has all settings") {
  ::setenv("MANTA_WATCHDG", "600", 1);
  CHECK(
      manta::detail::unknown_settings() ==
      "manta: MANTA_WATCHDG is set, and there is no such setting; did you mean MANTA_WATCHDOG? --manta-help lists all\n");
  ::unsetenv("MANTA_WATCHDG");
  CHECK(manta::detail::unknown_settings().empty());
  const std::string help = manta::detail::settings_help();
  for (const char* const name : manta::detail::setting_names) {
    CHECK_MESSAGE(help.find(std::string("--manta-") + name + "=") != std::string::npos, name);
  }
}

TEST_CASE("settings of manta's are taken out of the command line, all others stay in order") {
  const environment clean;
  command_line arguments(
      {"input.txt", "--manta-seed=5", "--verbose", "--manta-cpus=3", "-n", "--manta-rank0-tasks=1", "7"});
  std::vector<std::string> seen;
  int count = arguments.count();
  const int code = manta::run(count, arguments.words(), [&] {
    CHECK(count == 5);
    seen = arguments.left();
    CHECK(manta::this_task::seed() == driver_seed(5));
  });
  CHECK(code == 0);
  CHECK(count == 5);
  CHECK(arguments.left() == std::vector<std::string>{"input.txt", "--verbose", "-n", "7"});
  if (world_rank() == 0) CHECK(seen == arguments.left());
}

TEST_CASE("each setting can be given on the command line") {
  const environment clean;
  command_line arguments(
      {"--manta-cpus=64", "--manta-resources=gpu=2,slot=0.5", "--manta-progress-thread=0", "--manta-rank0-tasks=1"});
  const int code = manta::run(arguments.count(), arguments.words(), [] {
    CHECK(manta::async<add>({.cpus = 64, .resources = {{"gpu", 2}, {"slot", 0.5}}}, 1, 2).get() == 3);
    CHECK_THROWS_AS((manta::async<add>({.cpus = 65}, 1, 2)), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<add>({.resources = {{"gpu", 2.5}}}, 1, 2)), manta::unschedulable);
    CHECK(manta::async<add>({.rank = 0}, 3, 4).get() == 7);
  });
  CHECK(code == 0);
}

TEST_CASE("each setting can be given by the environment") {
  const environment clean;
  environment::set("MANTA_CPUS", "64");
  environment::set("MANTA_RESOURCES", "gpu=2,slot=0.5");
  environment::set("MANTA_PROGRESS_THREAD", "off");
  environment::set("MANTA_RANK0_TASKS", "yes");
  const int code = run({.resources = {{"other", 1}}, .cpus = 2}, [] {
    CHECK(manta::async<add>({.cpus = 64, .resources = {{"gpu", 2}, {"slot", 0.5}}}, 1, 2).get() == 3);
    CHECK_THROWS_AS((manta::async<add>({.resources = {{"other", 1}}}, 1, 2)), manta::unschedulable);
    CHECK(manta::async<add>({.rank = 0}, 3, 4).get() == 7);
  });
  CHECK(code == 0);
}

TEST_CASE("an option of manta's that does not exist, or has no value, is an error that names it") {
  const environment clean;
  for (const std::string word : {"--manta-speed=11", "--manta-seed", "--manta-", "--manta-cpu=3"}) {
    CAPTURE(word);
    command_line arguments({"first", word, "last"});
    check_mistake(arguments, {}, {word, "seed"});
  }
  command_line others({"--mantaseed=1", "--verbose", "-manta-seed=1"});
  CHECK(manta::run(others.count(), others.words(), [] {}) == 0);
  CHECK(others.left().size() == 3);
}

TEST_CASE("a setting that cannot be read is one error that names it, on all ranks") {
  struct mistake {
    const char *name, *value;
  };
  for (const mistake& m :
       {mistake{"MANTA_SEED", "abc"}, mistake{"MANTA_CPUS", "two"}, mistake{"MANTA_RANK0_TASKS", "2"},
        mistake{"MANTA_PROGRESS_THREAD", "maybe"}, mistake{"MANTA_RESOURCES", "gpu"},
        mistake{"MANTA_RESOURCES", "gpu=-1"}, mistake{"MANTA_RESOURCES", "gpu=1,=2"},
        mistake{"MANTA_RESOURCES", "gpu=2x"}, mistake{"MANTA_RESOURCES", "gpu="}}) {
    const environment wrong(m.name, m.value);
    INFO(std::string(m.name) << "=" << std::string(m.value));
    check_mistake({m.name});
    CHECK(run([] { return 5; }) == 1);
  }
  CHECK(run([] { return 5; }) == 5);
}

TEST_CASE("a setting that is wrong on one rank is one error on all ranks") {
  struct mistake {
    const char *name, *value;
  };
  for (const mistake& m :
       {mistake{"MANTA_SEED", "abc"}, mistake{"MANTA_CPUS", "two"}, mistake{"MANTA_RESOURCES", "gpu"}}) {
    const environment clean;
    if (world_rank() == world_size() - 1) environment::set(m.name, m.value);
    check_mistake({m.name});
  }
}

TEST_CASE("amounts that are wrong in code are an error") {
  const environment clean;
  command_line none({});
  check_mistake(none, {.resources = {{"gpu", -1}}}, {"gpu"});
}

TEST_CASE("a number of cpus or a seed that makes no sense is an error") {
  struct mistake {
    const char *name, *value;
  };
  for (const mistake& m : {mistake{"MANTA_CPUS", "-1"}, mistake{"MANTA_CPUS", "1.5"}, mistake{"MANTA_CPUS", "nan"},
                           mistake{"MANTA_SEED", "-1"}, mistake{"MANTA_SEED", "0.5"}}) {
    const environment wrong(m.name, m.value);
    INFO(std::string(m.name) << "=" << std::string(m.value));
    check_mistake({m.name});
  }
}

TEST_CASE("a seed has 64 bits, in code and in the environment") {
  const environment clean;
  for (const std::uint64_t seed : {9007199254740993ULL, 0xfedcba9876543210ULL, ~0ULL}) {
    std::uint64_t seen = driver_seed(seed);
    run({.seed = seed}, [&] { seen = manta::this_task::seed(); });
    CHECK_MESSAGE(seen == driver_seed(seed), "in code: " << seed);
    seen = driver_seed(seed);
    const environment given("MANTA_SEED", std::to_string(seed).c_str());
    run([&] { seen = manta::this_task::seed(); });
    CHECK_MESSAGE(seen == driver_seed(seed), "in the environment: " << seed);
  }
}

// ---- where am I ---------------------------------------------------------------------------------------------

TEST_CASE("rank, size and node are those of the run, in the driver and in tasks") {
  in_world([] {
    CHECK(manta::rank() == 0);
    CHECK(manta::size() == world_size());
    CHECK(manta::node() == 0);  // the tests run on one machine
    for (const int rank : manta::testing::executors()) {
      const auto f = manta::async({.rank = rank}, [] {
        return std::vector<int>{manta::rank(), manta::size(), manta::node(), world_rank()};
      });
      CHECK(f.get() == std::vector<int>{rank, world_size(), 0, rank});
    }
  });
}

TEST_CASE("ids and seeds are the same for any number of ranks") {
  const environment clean;
  using ids = std::vector<std::uint64_t>;
  in_world([] {
    CHECK(me() == ids{0x5e41ab087439611eULL, 0xe28195ddd9ee4956ULL});
    CHECK(manta::async<me_and_child>().get() ==
          ids{0xf8c5b62c83f707e8ULL, 0xccbb2b27898fb7f0ULL, 0x4ee5a628d2bcda15ULL, 0x19a06a772d70170fULL});
    CHECK(manta::async<me>().get() == ids{0x6d339d1740130eddULL, 0x2ce7f0d397203f80ULL});
  });
  in_world({.seed = 42}, [] {
    CHECK(me() == ids{0x7eb3b394ac9efc29ULL, 0xfb0b55fda4e5be2eULL});
    const auto first = manta::async<me_and_child>();
    CHECK(manta::async<me>({.name = "options do not matter", .retries = 1}).get() ==
          ids{0x2e8b6f8178ae687ULL, 0x31aee7d689f0c640ULL});
    CHECK(first.get() ==
          ids{0x9181fd2f7c34bf42ULL, 0xf7239396e61c65fbULL, 0x0cf7f8308ad467b4ULL, 0xf59d00f884eb725eULL});
  });
}

TEST_CASE("a retry has the ids and seeds of the first attempt") {
  const environment clean;
  in_world([] {
    CHECK(manta::async<me_and_child_at_second_attempt>({.retries = 1}).get() ==
          std::vector<std::uint64_t>{0xf8c5b62c83f707e8ULL, 0xccbb2b27898fb7f0ULL, 0x4ee5a628d2bcda15ULL,
                                     0x19a06a772d70170fULL});
  });
}

TEST_CASE("the second run of a runtime has other seeds than the first") {
  manta::runtime rt(MPI_COMM_WORLD);
  const std::uint64_t first = rt.run([] { return manta::this_task::seed(); });
  CHECK(first != rt.run([] { return manta::this_task::seed(); }));
}

// ---- mistakes -----------------------------------------------------------------------------------------------

TEST_CASE("outside of a run every call is an error that says so") {
  const char* const outside = "outside of a run";
  CHECK_THROWS_WITH_AS(manta::async<add>(1, 2), doctest::Contains(outside), manta::error);
  CHECK_THROWS_WITH_AS(manta::put(1), doctest::Contains(outside), manta::error);
  CHECK_THROWS_WITH_AS(manta::rank(), doctest::Contains(outside), manta::error);
  CHECK_THROWS_WITH_AS(manta::size(), doctest::Contains(outside), manta::error);
  CHECK_THROWS_WITH_AS(manta::node(), doctest::Contains(outside), manta::error);
  CHECK_THROWS_WITH_AS(manta::this_task::id(), doctest::Contains(outside), manta::error);
  CHECK_THROWS_WITH_AS(manta::this_task::seed(), doctest::Contains(outside), manta::error);
  const manta::runtime rt(MPI_COMM_WORLD);  // its existence is not enough
  CHECK_THROWS_WITH_AS(manta::async<add>(1, 2), doctest::Contains(outside), manta::error);
}

TEST_CASE("a future that outlived its run is an error to ask and harmless to drop") {
  captured_stderr quiet;  // the runtime says that something is still held
#ifdef MANTA_STACK_ASAN
  const __lsan::ScopedDisabler lost;  // what the handles point to is never freed
#endif
  std::unique_ptr<manta::future<int>> number;
  std::unique_ptr<manta::future<std::string>> text;
  {
    manta::runtime rt(MPI_COMM_WORLD);
    rt.run([&] {
      number = std::make_unique<manta::future<int>>(manta::async<add>(1, 2));
      text = std::make_unique<manta::future<std::string>>(manta::async<big>(100'000));
      text->wait();
    });
    if (number) CHECK_THROWS_AS(number->get(), manta::error);
  }
  if (number) {
    CHECK_THROWS_AS(number->get(), manta::error);
    const manta::future<int> copy = *number;
    CHECK(copy == *number);
  }
  CHECK(in_world([&] {  // they die while another runtime is at work
          number.reset();
          text.reset();
          return sum_to(10);
        }) == 55);
}

TEST_CASE("futures that are kept may be asked in the next run of the same runtime") {
  manta::runtime rt(MPI_COMM_WORLD);
  std::vector<manta::future<int>> numbers;
  std::vector<manta::future<std::string>> texts;
  rt.run([&] {
    numbers.push_back(manta::async<add>(1, 2));
    texts.push_back(manta::async<big>(100'000));
  });
  manta::testing::checked_run(rt, [&] {
    CHECK(numbers[0].get() == 3);
    CHECK(manta::async<add>(numbers[0], 1).get() == 4);
    CHECK(texts[0].get() == std::string(100'000, 'b'));
    numbers.clear();
    texts.clear();
  });
}

TEST_CASE("a future that is dropped between two runs is gone") {
  manta::runtime rt(MPI_COMM_WORLD);
  std::vector<manta::future<int>> numbers;
  std::vector<manta::future<std::string>> texts;
  rt.run([&] {
    numbers.push_back(manta::async<add>(1, 2));
    texts.push_back(manta::async<big>(100'000));
  });
  numbers.clear();
  texts.clear();
  manta::testing::checked_run(rt, [] { return sum_to(10); });
}

TEST_CASE("a run inside a run is an error, and the outer one goes on") {
  manta::runtime outer(MPI_COMM_WORLD);
  manta::runtime other(MPI_COMM_WORLD);
  const long sum = manta::testing::checked_run(outer, [&] {
    CHECK_THROWS_WITH_AS(outer.run([] {}), doctest::Contains("inside a run"), manta::error);
    CHECK_THROWS_WITH_AS(other.run([] {}), doctest::Contains("inside a run"), manta::error);
    return sum_to(10);
  });
  CHECK(sum == 55);
  CHECK(manta::testing::checked_run(other, [] { return sum_to(20); }) == 210);
}

TEST_CASE("manta::run inside a task says what is wrong, whatever the rank, and gives 1") {
  captured_stderr errors;
  in_world([] {
    for (int r = 0; r < manta::size(); ++r) CHECK(manta::async<run_inside>({.rank = r}).get() == 1);
    CHECK(run_inside() == 1);
  });
  CHECK(errors.lines_anywhere("manta::run was called in the middle of a run") == world_size() + 1);
}

TEST_CASE("a driver cannot return futures, and says what to return instead") {
  manta::runtime rt(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    CHECK_THROWS_WITH_AS(rt.run([] { return manta::async<add>(1, 2); }), doctest::Contains("return values"),
                         manta::error);
  } else {
    CHECK_THROWS_AS(rt.run([] { return manta::async<add>(1, 2); }), manta::driver_failed);
  }
  CHECK(rt.run([] { return sum_to(10); }) == 55);
}

// ---- threads ------------------------------------------------------------------------------------------------

TEST_CASE("without the helper everything works while ranks call the library") {
  in_world({.progress_thread = false}, [] {
    CHECK(sum_to(500) == 500 * 501 / 2);
    std::vector<manta::future<std::string>> texts;
    for (int i = 0; i < 10; ++i) texts.push_back(manta::async<big>(50'000));
    for (const auto& t : texts) CHECK(t.get().size() == 50'000);
  });
}

TEST_CASE("a thread of one's own is told that it may not call") {
  in_world([] {
    const manta::future<int> f = manta::async<add>(1, 2);
    std::string by_get, by_async, by_rank;
    std::thread([&] {
      by_get = thrown<manta::error>([&] { f.get(); });
      by_async = thrown<manta::error>([&] { manta::async<add>(1, 2); });
      by_rank = thrown<manta::error>([] { manta::rank(); });
    }).join();
    CHECK(contains(by_get, "thread of your own"));
    CHECK(contains(by_async, "thread of your own"));
    CHECK(contains(by_rank, "thread of your own"));
    CHECK(f.get() == 3);
  });
}

TEST_CASE("handles may be copied and destroyed on other threads, and nothing is left") {
  in_world([] {
    std::vector<manta::future<int>> growing;  // so that this rank's tables grow while the other thread drops
    for (int round = 0; round < 20; ++round) {
      std::vector<manta::future<int>> numbers;
      std::vector<manta::future<std::string>> texts;
      for (int i = 0; i < 50; ++i) numbers.push_back(manta::async<add>(i, round));
      for (int i = 0; i < 3; ++i) texts.push_back(manta::async<big>(20'000));
      if (round % 2 == 0) CHECK(numbers[49].get() == 49 + round);
      std::thread other([mine = std::move(numbers), also = std::move(texts)]() mutable {
        const std::vector<manta::future<int>> copies = mine;
        mine.clear();
        also.clear();
      });
      for (int i = 0; i < 1000; ++i) growing.push_back(manta::put(i));  // meanwhile
      CHECK(sum_to(20) == 210);
      other.join();
    }
  });
}

TEST_CASE("the last two handles of a value may end at the same moment on two threads") {
  in_world([] {
    for (int round = 0; round < 20; ++round) {
      std::vector<manta::future<int>> mine;
      for (int i = 0; i < 5000; ++i) mine.push_back(manta::put(i));
      std::atomic<int> ready = 0;
      std::thread other([&ready, theirs = mine]() mutable {
        for (++ready; ready != 2;) {
        }
        for (manta::future<int>& f : theirs) f = {};
      });
      for (++ready; ready != 2;) {
      }
      for (manta::future<int>& f : mine) f = {};
      other.join();
    }
  });
}

TEST_CASE("a task's own thread may end handles too") {
  in_world([] {
    const auto in_task = [](int n) {
      std::vector<manta::future<int>> numbers;
      for (int i = 0; i < n; ++i) numbers.push_back(manta::async<add>(i, 1));
      const int last = numbers.back().get();
      std::thread([mine = std::move(numbers)]() mutable { mine.clear(); }).join();
      return last;
    };
    std::vector<manta::future<int>> fs;
    for (int i = 1; i <= 20; ++i) fs.push_back(manta::async(in_task, i));
    for (int i = 1; i <= 20; ++i) CHECK(fs[static_cast<std::size_t>(i) - 1].get() == i);
  });
}
