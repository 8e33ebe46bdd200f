// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Failures: what arrives where somebody looks, what happens to the tasks that
// depend on them, and how a run ends when its driver fails or leaves early.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <stdexcept>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::sum_over_ranks;

namespace {

/// An exception of the program's own that keeps its type and its parts.
class diverged : public std::exception {
 public:
  diverged() = default;
  diverged(int step, std::string variable) : step_(step), variable_(std::move(variable)) { compose(); }
  const char* what() const noexcept override { return text_.c_str(); }
  int step() const { return step_; }
  const std::string& variable() const { return variable_; }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(step_, variable_);
    compose();
  }

 private:
  void compose() { text_ = variable_ + " diverged at step " + std::to_string(step_); }
  int step_ = 0;
  std::string variable_;
  std::string text_;
};

/// Serialisable, but made from its text only.
struct without_default : std::runtime_error {
  explicit without_default(const std::string& text, int line = 0) : std::runtime_error(text), line_(line) {}
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(line_);
  }

 private:
  int line_;
};
void throw_without_default() { throw without_default("line 3", 3); }

/// Serialises its own member and forgets the text of its base.
struct forgetful : std::runtime_error {
  forgetful() : std::runtime_error("") {}
  forgetful(const std::string& text, int c) : std::runtime_error(text), code(c) {}
  template <typename Archive>
  void save(Archive& archive) const {
    archive(code);
  }
  template <typename Archive>
  void load(Archive& archive) {
    archive(code);
    if (code == 13) throw std::invalid_argument("13 brings bad luck");
  }
  int code = 0;
};
int forget(int code) { throw forgetful("no convergence", code); }
int forget_with_cause() {
  try {
    throw std::runtime_error("the matrix is singular");
  } catch (...) {
    std::throw_with_nested(forgetful("block 7", 7));
  }
}
int fail_with_causes() {
  try {
    try {
      throw std::range_error("a pivot is zero");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("the matrix is singular"));
    }
  } catch (...) {
    std::throw_with_nested(std::logic_error("solving block 7"));
  }
}

/// The same, but never registered: arrives as task_failed.
struct not_registered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Too small not to travel inside messages.
struct fragile {
  enum failure { none, in_save, in_load };
  failure fails = none;
  template <typename Archive>
  void save(Archive& archive) const {
    archive(fails);
    if (fails == in_save) throw std::runtime_error("it cannot be saved");
  }
  template <typename Archive>
  void load(Archive& archive) {
    archive(fails);
    if (fails == in_load) throw std::runtime_error("it cannot be loaded");
  }
};
fragile make_fragile(fragile::failure fails) { return {fails}; }
/// Its load() has read a future when it throws.
struct half_read {
  manta::future<int> inside;
  template <typename Archive>
  void save(Archive& archive) const {
    archive(inside);
  }
  template <typename Archive>
  void load(Archive& archive) {
    archive(inside);
    throw std::runtime_error("it cannot be read to its end");
  }
};
bool take_fragile(const fragile& x) { return x.fails == fragile::none; }

int same(int x) { return x; }
int take_half(const half_read& x) { return x.inside.get(); }
half_read make_half(int x) { return {manta::async<same>(x)}; }
int add(int a, int b) { return a + b; }
int fail(const std::string& text) { throw std::runtime_error(text); }
int fail_out_of_range() { return std::vector<int>(3).at(10); }
int fail_not_registered() { throw not_registered("mine alone"); }
int throw_42() { throw 42; }
struct without_text : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
int throw_without_text() { throw without_text(); }
int throw_nullptr() { throw nullptr; }
int throw_null_text() { throw static_cast<const char*>(nullptr); }
int diverge(int step) { throw diverged(step, "pressure"); }
int inner(int x) { throw std::runtime_error("boom at level three, x = " + std::to_string(x)); }
int middle(int x) { return manta::async<inner>(x + 1).get(); }
int outer(int x) { return manta::async<middle>(x + 1).get(); }
int diverge_inside(int depth) { return depth == 0 ? diverge(7) : manta::async<diverge_inside>(depth - 1).get(); }
int catch_it(const std::string& text) {
  try {
    return manta::async<fail>(text).get();
  } catch (const manta::task_failed& e) {
    return contains(e.what(), text) ? 1 : 0;
  }
}
int try_given(manta::future<int> f) {
  try {
    return f.get();
  } catch (const manta::error&) {
    return -1;
  }
}
int sum(const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0); }

std::atomic<long> ran{0};
int count_run(int x) {
  ++ran;
  return x;
}
void count_busy_run(int microseconds) {
  manta::testing::busy(std::chrono::microseconds(microseconds));
  ++ran;
}
void start_more(int children) {
  for (int i = 0; i < children; ++i) manta::async<count_busy_run>(100);
  ++ran;
}

struct gate {
  int opened = 0;
  void open() { ++opened; }
  int count() const { return opened; }
};
std::atomic<long> refused{0};
/// Submits tasks one after the other until one is refused, for twenty seconds at most.
void submit_until_refused(const manta::actor<gate>& begun) {
  manta::async<&gate::open>(begun).get();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  try {
    while (std::chrono::steady_clock::now() < end) manta::async<count_run>(0).get();
  } catch (const manta::cancelled& e) {
    if (contains(e.what(), "because the driver ended with an exception")) ++refused;
  }
}

std::string host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// The details of the failure behind a future.
template <typename T>
manta::failure_details details_of(const manta::future<T>& f) {
  try {
    f.get();
  } catch (const manta::task_failed& e) {
    return e.details();
  }
  FAIL("the task did not fail");
  return {};
}

}  // namespace

TEST_CASE("an exception that has no text is a failure like others") {
  in_world([] {
    CHECK(details_of(manta::async<throw_without_text>()).what == "an exception without a text");
    CHECK(contains(details_of(manta::async<throw_without_text>()).type, "without_text"));
    CHECK(details_of(manta::async<throw_nullptr>()).what == "an exception without a text");
    CHECK(details_of(manta::async<throw_null_text>()).what == "an exception without a text");
  });
  bool driver_threw = false;
  try {
    in_world([] { throw without_text(); });
  } catch (const std::exception&) {
    driver_threw = true;
  }
  CHECK(driver_threw);
}

TEST_CASE("a standard exception arrives as task_failed that says what, where and in which function") {
  in_world([] {
    const int rank = manta::testing::executor(0);
    const auto f = manta::async<fail>({.rank = rank}, "the sea is too rough");
    CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("the sea is too rough"), manta::task_failed);
    CHECK_THROWS_AS(f.get(), manta::error);
    CHECK_THROWS_AS(f.get(), std::runtime_error);
    const auto d = details_of(f);
    CHECK(d.what == "the sea is too rough");
    CHECK(contains(d.type, "runtime_error"));
    CHECK(contains(d.function, "fail"));
    CHECK(d.rank == rank);
    CHECK(d.host == host());
    CHECK(d.attempt == 0);
    CHECK(d.chain.empty());
    CHECK(details_of(manta::async<fail>({.name = "cast off"}, "x")).function == "cast off");
    CHECK(contains(details_of(manta::async<fail_out_of_range>()).type, "out_of_range"));
    const auto own = details_of(manta::async<fail_not_registered>());
    CHECK(contains(own.type, "not_registered"));
    CHECK(own.what == "mine alone");
  });
}

TEST_CASE("something that is no exception arrives as task_failed with its type") {
  in_world([] {
    const auto d = details_of(manta::async<throw_42>());
    CHECK(d.type == "int");
    CHECK(contains(d.function, "throw_42"));
  });
}

TEST_CASE("what save() and load() throw arrives as serialization_error with the type, wherever it happens") {
  in_world([] {
    CHECK(manta::async<take_fragile>(fragile{}).get());
    const std::string in_argument = manta::testing::thrown<manta::serialization_error>(
        [] { manta::async<take_fragile>(fragile{fragile::in_save}); });
    CHECK(contains(in_argument, "it cannot be saved"));
    CHECK(contains(in_argument, "fragile"));
    const auto cannot_begin = manta::async<take_fragile>({.retries = 3}, fragile{fragile::in_load});
    const std::string why = manta::testing::thrown<manta::serialization_error>([&] { (void)cannot_begin.get(); });
    CHECK(contains(why, "it cannot be loaded"));
    CHECK(contains(why, "take_fragile"));
    CHECK_FALSE(contains(why, "attempt"));  // it would fail again
    if (manta::size() == 1) return;         // results do not travel
    CHECK(contains(
        manta::testing::thrown<manta::serialization_error>([] { manta::async<make_fragile>(fragile::in_save).get(); }),
        "saved"));
    const auto made = manta::async<make_fragile>(fragile::in_load);
    for (int i = 0; i < 2; ++i)
      CHECK(contains(manta::testing::thrown<manta::serialization_error>([&] { (void)made.get(); }), "loaded"));
  });
}

TEST_CASE("a load() that throws when it has read a future gives that back once, however often the value is read") {
  in_world([] {
    if (manta::size() == 1) return;
    const half_read x = make_half(5);
    for (int i = 0; i < 2; ++i) {
      const auto taken = manta::async<take_half>({.rank = 1}, x);
      CHECK(contains(manta::testing::thrown<manta::serialization_error>([&] { (void)taken.get(); }), "to its end"));
    }
    const auto put = manta::put(x);
    for (int r = 1; r < static_cast<int>(manta::size()); ++r) {
      const auto looked = manta::async<take_half>({.rank = r}, put);
      CHECK(contains(manta::testing::thrown<manta::serialization_error>([&] { (void)looked.get(); }), "to its end"));
    }
    const auto made = manta::async<make_half>({.rank = 1}, 6);
    for (int i = 0; i < 2; ++i)
      CHECK(contains(manta::testing::thrown<manta::serialization_error>([&] { (void)made.get(); }), "to its end"));
    CHECK(x.inside.get() == 5);
  });
}

TEST_CASE("an exception type given to rethrow_as arrives as itself") {
  manta::rethrow_as<diverged>();
  in_world([] {
    try {
      manta::async<diverge>(12).get();
      CHECK_MESSAGE(false, "the task did not fail");
    } catch (const diverged& e) {
      CHECK(e.step() == 12);
      CHECK(e.variable() == "pressure");
      CHECK(std::string(e.what()) == "pressure diverged at step 12");
    }
    CHECK_THROWS_AS(manta::async<same>(manta::async<diverge>(1)).get(), diverged);  // through a dependent
    CHECK_THROWS_AS(manta::async<diverge_inside>(3).get(), diverged);               // through three waits
    CHECK_THROWS_AS(manta::get(std::vector<manta::future<int>>{manta::async<same>(1), manta::async<diverge>(2)}),
                    diverged);
    CHECK_THROWS_AS(manta::async<fail>("still").get(), manta::task_failed);
    manta::rethrow_as<without_default>();
    CHECK_THROWS_WITH_AS(manta::async<throw_without_default>().get(), "line 3", without_default);
  });
}

TEST_CASE("a registered exception arrives with its text, even if its serialize() leaves that out") {
  manta::rethrow_as<forgetful>();
  in_world([] {
    try {
      manta::async<forget>(5).get();
      CHECK_MESSAGE(false, "the task did not fail");
    } catch (const forgetful& e) {
      CHECK(e.code == 5);
      CHECK(std::string(e.what()) == "no convergence");
    }
    const auto through_two = [] { return manta::async<forget>(6).get(); };
    CHECK_THROWS_WITH_AS(manta::async(through_two).get(), "no convergence", forgetful);
    CHECK_THROWS_WITH_AS(manta::async<forget_with_cause>().get(),
                         "block 7; caused by std::runtime_error: the matrix is singular", forgetful);
  });
}

TEST_CASE("a registered exception that cannot be read says which it is, why, and what its text was") {
  in_world([] {
    const std::string why =
        manta::testing::thrown<manta::serialization_error>([] { (void)manta::async<forget>(13).get(); });
    for (const char* part : {"forgetful", "13 brings bad luck", "no convergence"}) CHECK(contains(why, part));
  });
}

TEST_CASE("the causes that std::throw_with_nested has kept are in the text, and the type is the thrown one") {
  in_world([] {
    try {
      (void)manta::async<fail_with_causes>().get();
      CHECK_MESSAGE(false, "the task did not fail");
    } catch (const manta::task_failed& e) {
      CHECK(e.details().type == "std::logic_error");
      CHECK(
          e.details().what ==
          "solving block 7; caused by std::runtime_error: the matrix is singular; caused by std::range_error: a pivot "
          "is zero");
    }
  });
}

TEST_CASE("tasks that depend on a failed one do not run and fail with the same cause") {
  ran = 0;
  in_world([] {
    const auto failed = manta::async<fail>("root cause");
    const auto second = manta::async<count_run>({.name = "second"}, failed);
    const auto third = manta::async<count_run>({.name = "third"}, second);
    const auto beside = manta::async<add>({.name = "beside"}, 1, failed);
    CHECK_THROWS_WITH_AS(third.get(), doctest::Contains("root cause"), manta::task_failed);
    const auto d = details_of(third);
    CHECK(d.what == "root cause");
    CHECK(contains(d.function, "fail"));
    CHECK(d.chain == std::vector<std::string>{"second", "third"});
    CHECK(details_of(beside).chain == std::vector<std::string>{"beside"});
    CHECK(details_of(failed).chain.empty());
    const auto late = manta::async<count_run>({.name = "late"}, third);  // submitted when the failure is known
    CHECK(details_of(late).what == "root cause");
    const std::vector<manta::future<int>> mixed{manta::async<same>(1), failed, manta::async<same>(2)};
    CHECK(details_of(manta::async<sum>(mixed)).what == "root cause");
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("a long chain behind a failure fails whole") {
  in_world([] {
    auto f = manta::async<fail>("first link");
    for (int i = 0; i < 2000; ++i) f = manta::async<same>(f);
    CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("first link"), manta::task_failed);
  });
}

TEST_CASE("an exception three levels down arrives with its text") {
  in_world([] {
    CHECK_THROWS_WITH_AS(manta::async<outer>(1).get(), doctest::Contains("boom at level three, x = 3"),
                         manta::task_failed);
    CHECK(manta::async<catch_it>("caught inside").get() == 1);  // and can be caught on the way
    CHECK(manta::async<try_given>(manta::async<fail>("handled")).get() == -1);
    CHECK(catch_it("caught by the driver") == 1);
  });
}

TEST_CASE("a range with failed futures throws the first failure and keeps the others' values") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 50; ++i) fs.push_back(i == 13 ? manta::async<fail>("thirteen") : manta::async<same>(i));
    CHECK_THROWS_WITH_AS(manta::get(fs), doctest::Contains("thirteen"), manta::task_failed);
    CHECK(fs[14].get() == 14);
  });
}

TEST_CASE("a failure that nobody looks at does not end the run") {
  in_world([] {
    for (int i = 0; i < 5; ++i) manta::async<fail>("nobody looks at this, and that is all right: part of a test");
    CHECK(manta::async<same>(1).get() == 1);
  });
}

TEST_CASE("what the driver throws arrives on rank 0 as it is and on the others as driver_failed") {
  manta::runtime rt(MPI_COMM_WORLD);
  const auto run = [&rt] { manta::testing::checked_run(rt, [] { throw diverged(3, "driver"); }); };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), diverged);
  } else {
    CHECK_THROWS_WITH_AS(run(), doctest::Contains("driver diverged at step 3"), manta::driver_failed);
  }
  const int after = manta::testing::checked_run(rt, [] { return manta::async<same>(9).get(); });
  CHECK(after == 9);  // the runtime is as good as before
  const auto run_42 = [&rt] { manta::testing::checked_run(rt, [] { throw 42; }); };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run_42(), int);
  } else {
    CHECK_THROWS_AS(run_42(), manta::driver_failed);
  }
}

TEST_CASE("a task's failure that the driver lets through fails the run") {
  const auto run = [] { in_world([] { manta::async<fail>("uncaught by the driver").get(); }); };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_WITH_AS(run(), doctest::Contains("uncaught by the driver"), manta::task_failed);
  } else {
    CHECK_THROWS_WITH_AS(run(), doctest::Contains("uncaught by the driver"), manta::driver_failed);
  }
}

TEST_CASE("tasks that still run or wait when the driver ends are completed before run returns") {
  ran = 0;
  in_world([] {
    for (int i = 0; i < 500; ++i) manta::async<count_busy_run>(100);
    for (int i = 0; i < 20; ++i) manta::async<start_more>(10);
    auto f = manta::async<count_run>(0);
    for (int i = 0; i < 99; ++i) f = manta::async<count_run>(f);
  });
  CHECK(sum_over_ranks(ran) == 500 + 20 * 11 + 100);
}

TEST_CASE("a task that runs when the driver throws submits no more tasks") {
  refused = 0;
  const auto run = [] {
    in_world([] {
      const auto begun = manta::spawn<gate>();
      manta::async<submit_until_refused>(begun);
      while (manta::async<&gate::count>(begun).get() == 0) {
      }
      throw std::logic_error("the driver leaves early");
    });
  };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), std::logic_error);
  } else {
    CHECK_THROWS_AS(run(), manta::driver_failed);
  }
  CHECK(sum_over_ranks(refused) == 1);
}

TEST_CASE("a driver that throws drops the tasks that have not started") {
  ran = 0;
  constexpr int tasks = 20'000;
  const auto run = [] {
    in_world([] {
      std::vector<manta::future<void>> kept;
      for (int i = 0; i < tasks; ++i) {
        if (i % 2 == 0) kept.push_back(manta::async<count_busy_run>(100));
        else manta::async<count_busy_run>(100);
      }
      throw std::logic_error("the driver leaves early");
    });
  };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), std::logic_error);
  } else {
    CHECK_THROWS_WITH_AS(run(), doctest::Contains("leaves early"), manta::driver_failed);
  }
  CHECK(sum_over_ranks(ran) < tasks);
}
