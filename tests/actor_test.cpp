// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors: state, order of calls, handles that travel, names, and the ways in
// which an actor ends.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <optional>

#include "support/world.hpp"

using manta::testing::count_to;
using manta::testing::gate;
using manta::testing::held;
using manta::testing::in_world;
using manta::testing::poll_until;
using manta::testing::tally;

std::vector<int> ask_in_other_file();  // support/same_names.cpp

namespace {

/// support/same_names.cpp has a class of the same name.
class anonymous {
 public:
  int file() { return 1; }
  int file_const() const { return 1; }
};

struct first_base {
  int first() const { return first_; }
  int first_ = 1;
};
struct second_base {
  int second() const { return second_; }
  void set_second(int value) { second_ = value; }
  int second_ = 2;
};
struct virtual_base {
  virtual ~virtual_base() = default;
  int third() const { return third_; }
  int third_ = 3;
};
struct derived : first_base, second_base, virtual virtual_base {
  int sum() const { return first_ + second_ + third_; }
};

class of_values {
 public:
  explicit of_values(const std::vector<int>& values) : sum_(values.at(0) + values.at(1)) {}
  int sum() const { return sum_; }

 private:
  int sum_;
};
class of_futures {
 public:
  of_futures(std::vector<manta::future<int>> values, manta::future<int> more)
      : values_(std::move(values)), more_(std::move(more)) {}
  int sum() const { return values_[0].get() + values_[1].get() + more_.get(); }

 private:
  std::vector<manta::future<int>> values_;
  manta::future<int> more_;
};

/// The same numbers for the same length.
std::vector<std::uint8_t> pattern(std::size_t size) {
  std::vector<std::uint8_t> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::uint8_t>(i * 7 + size);
  return all;
}
std::vector<std::uint8_t> later(std::size_t size) {
  usleep(1'000);
  return pattern(size);
}
/// Looks at what it is given.
class reader {
 public:
  bool read(int number, const std::vector<std::uint8_t>& a, std::vector<std::uint8_t> b) {
    all_right_ = all_right_ && number == calls_++ && a == pattern(a.size()) && b == pattern(b.size());
    return all_right_;
  }
  int calls() const { return calls_; }
  std::vector<std::uint8_t> make(std::size_t size) const { return pattern(size); }
  bool all_right() const { return all_right_; }

 private:
  int calls_ = 0;
  bool all_right_ = true;
};

/// Any class with public methods will do. Counts its instances per process, for the tests of how actors end.
class account {
 public:
  static inline std::atomic<int> alive{0};

  account() { ++alive; }
  explicit account(int balance, std::string owner = "nobody") : balance_(balance), owner_(std::move(owner)) {
    ++alive;
    if (balance < 0) {
      --alive;
      throw std::invalid_argument("an account cannot start with " + std::to_string(balance));
    }
  }
  account(const account&) = delete;
  account& operator=(const account&) = delete;
  ~account() { --alive; }

  int deposit(int amount) {
    if (amount < 0) throw std::invalid_argument("negative deposit " + std::to_string(amount));
    return balance_ += amount;
  }
  void close() { balance_ = 0; }
  int balance() const { return balance_; }
  std::string owner() const { return owner_; }
  int balance_noexcept() const noexcept { return balance_; }
  int add_noexcept(int amount) noexcept { return balance_ += amount; }
  int add_to_lvalue(int amount) & { return balance_ += amount; }
  int balance_of_lvalue() const& noexcept { return balance_; }
  int where() const { return static_cast<int>(manta::rank()); }

 private:
  int balance_ = 0;
  std::string owner_;
};

class diary {
 public:
  void write(int entry) { entries_.push_back(entry); }
  void write_text(const std::string& entry) { entries_.push_back(std::stoi(entry)); }
  std::vector<int> entries() const { return entries_; }

 private:
  std::vector<int> entries_;
};

/// Holds a handle on another actor and calls it from its own methods.
class clerk {
 public:
  explicit clerk(manta::actor<account> a) : account_(std::move(a)) {}
  int pay_in(int amount) { return manta::async<&account::deposit>(account_, amount).get(); }
  manta::future<int> pay_in_later(int amount) { return manta::async<&account::deposit>(account_, amount); }
  manta::actor<account> which() const { return account_; }

 private:
  manta::actor<account> account_;
};

/// Waits, and then computes for long: what comes meanwhile stands before it, and a helper takes what comes after.
class slow {
 public:
  void work(const manta::actor<gate>& may_go_on) {
    manta::testing::pass(may_go_on);
    manta::testing::busy(std::chrono::milliseconds(200));
  }
  int answer() const { return 42; }
};

/// Its destructor waits.
class lingering {
 public:
  explicit lingering(manta::actor<gate> may_end) : may_end_(std::move(may_end)) {}
  lingering(const lingering&) = delete;
  lingering& operator=(const lingering&) = delete;
  ~lingering() { manta::testing::pass(may_end_); }
  int answer() const { return 42; }

 private:
  manta::actor<gate> may_end_;
  account counted_{0};
};

struct envelope {
  std::string label;
  manta::actor<account> to;
  std::vector<manta::actor<diary>> copies;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(label, to, copies);
  }
};

int same(int x) { return x; }
int deliver(const envelope& e) {
  for (const auto& d : e.copies) manta::async<&diary::write>(d, 1).get();
  return manta::async<&account::deposit>(e.to, static_cast<int>(e.label.size())).get();
}
// Ends when its calls have: between its calls and those of other ranks there is no order.
void write_range(manta::actor<diary> d, int from, int to) {
  for (int i = from; i < to - 1; ++i) manta::async<&diary::write>(d, i);
  manta::async<&diary::write>(d, to - 1).get();
}
int deposit_all(manta::actor<account> a, int times) {
  std::vector<manta::future<int>> fs;
  for (int i = 0; i < times; ++i) fs.push_back(manta::async<&account::deposit>(a, 1));
  return manta::get(fs).back();
}
manta::actor<account> open_account(int balance) { return manta::spawn<account>(balance); }
int deposit_by_name(const std::string& name) {
  return manta::async<&account::deposit>(manta::find_actor<account>(name), 1).get();
}
int deposit_or_open(const std::string& name) {
  return manta::async<&account::deposit>(manta::spawn_or_find<account>({.name = name}, 100), 1).get();
}

int twice(int x) { return 2 * x; }
void leave_account(const std::string& name) {
  manta::spawn<account>({.name = name, .detached = true}, 5, std::string(3000, 'o'));
}
manta::actor<account> open_beside(const std::string& name, manta::actor<account> other) {
  return manta::spawn<account>({.name = name, .near = other}, manta::async<twice>(4));
}
manta::actor<account> open_near(const std::string& name, manta::future<std::vector<double>> value) {
  return manta::spawn<account>({.name = name, .near = value}, 1);
}
std::vector<double> many_numbers() { return std::vector<double>(10'000, 1.0); }

int alive_here() { return account::alive.load(); }
int alive_anywhere() {
  int sum = static_cast<int>(manta::size()) > 1 ? alive_here() : 0;
  for (const int rank : manta::testing::executors())
    sum += manta::testing::fetch(manta::async<alive_here>({.rank = rank}));
  return sum;
}

/// What has ended twice makes room for two in one place.
void check_new_ones_differ(int rank) {
  auto first = manta::spawn<account>({.rank = rank}, 1);
  auto second = manta::spawn<account>({.rank = rank}, 2);
  CHECK(manta::async<&account::balance>(first).get() == 1);
  CHECK(manta::async<&account::balance>(second).get() == 2);
}

struct patient {
  int answer() const { return 42; }
  int until_asked_to_stop(const manta::actor<gate>& begun) {
    manta::async<&gate::open>(begun).get();
    while (!manta::this_task::stop_requested()) {
    }
    return 1;
  }
};

/// Its constructor throws, or a method finds that it is broken.
class breakable {
 public:
  explicit breakable(bool at_once) {
    if (at_once) throw std::runtime_error("it cannot be made");
  }
  int number() const { return 1; }
  int breaks() { throw manta::fatal("broken"); }
};

}  // namespace

TEST_CASE("an actor keeps its state between calls") {
  in_world([] {
    auto a = manta::spawn<account>(100, "Ada");
    CHECK(manta::async<&account::deposit>(a, 10).get() == 110);
    CHECK(manta::async<&account::deposit>(a, manta::async<same>(5)).get() == 115);
    CHECK(manta::async<&account::owner>(a).get() == "Ada");
    CHECK(manta::async<&account::balance_noexcept>(a).get() == 115);
    CHECK(manta::async<&account::add_noexcept>(a, 1).get() == 116);
    CHECK(manta::async<&account::add_to_lvalue>(a, 0).get() == 116);
    CHECK(manta::async<&account::balance_of_lvalue>(a).get() == 116);
    manta::future<void> closed = manta::async<&account::close>(a);
    closed.get();
    CHECK(manta::async<&account::balance>(a).get() == 0);
    auto plain = manta::spawn<account>();
    CHECK(manta::async<&account::balance>(plain).get() == 0);
    const int place = manta::async<&account::where>(a).get();
    CHECK(place == manta::async<&account::where>(a).get());
  });
}

TEST_CASE("methods of bases are called, wherever in the object those lie") {
  in_world([] {
    const auto a = manta::spawn<derived>();
    CHECK(manta::async<&first_base::first>(a).get() == 1);
    CHECK(manta::async<&derived::second>(a).get() == 2);
    manta::async<&second_base::set_second>(a, 20);
    CHECK(manta::async<&second_base::second>(a).get() == 20);
    CHECK(manta::async<&virtual_base::third>(a).get() == 3);
    CHECK(manta::async<&derived::sum>(a).get() == 24);
  });
}

TEST_CASE("constructors take values of futures, of vectors of them, or the futures themselves") {
  in_world([] {
    const std::vector<manta::future<int>> two = {manta::async<same>(2), manta::async<same>(3)};
    CHECK(manta::async<&account::balance>(manta::spawn<account>(two[0])).get() == 2);
    CHECK(manta::async<&of_values::sum>(manta::spawn<of_values>(two)).get() == 5);
    CHECK(manta::async<&of_futures::sum>(manta::spawn<of_futures>(two, two[1])).get() == 8);
  });
}

TEST_CASE("a thousand calls through one handle run in the order made") {
  in_world([] {
    auto d = manta::spawn<diary>();
    for (int i = 0; i < 1000; ++i) manta::async<&diary::write>(d, i);
    CHECK(manta::async<&diary::entries>(d).get() == count_to(1000));
    auto e = manta::spawn<diary>();
    manta::async<write_range>(e, 0, 1000).get();  // also when a task makes them, which may end before they arrive
    poll_until("calls of a task that has ended",
               [&] { return manta::testing::fetch(manta::async<&diary::entries>(e)).size() == 1000U; });
    CHECK(manta::async<&diary::entries>(e).get() == count_to(1000));
  });
}

TEST_CASE("calls from many callers are all there, each caller's in its order") {
  in_world([] {
    auto d = manta::spawn<diary>();
    std::vector<manta::future<void>> callers;
    for (int c = 0; c < 10; ++c) callers.push_back(manta::async<write_range>(d, 1000 * c, 1000 * c + 100));
    manta::get(callers);
    poll_until("calls made by tasks that have ended",
               [&] { return manta::testing::fetch(manta::async<&diary::entries>(d)).size() == 1000U; });
    const auto entries = manta::async<&diary::entries>(d).get();
    std::vector<int> next(10, 0);
    bool ordered = true;
    for (const int e : entries) ordered = ordered && e % 1000 == next[static_cast<std::size_t>(e / 1000)]++;
    CHECK(ordered);
  });
}

TEST_CASE("arguments of any length arrive with their calls, in order, also more of them than may be under way") {
  in_world([] {
    for (const int r : manta::testing::executors()) {
      const auto log = manta::spawn<reader>({.rank = r});
      int calls = 0;
      for (const std::size_t size : {100U, 1'000U, 5'000U, 30'000U, 130'000U, 140'000U}) {
        const auto late = manta::async<later>(size);
        for (const std::size_t more : {0U, 1U, 2U})
          manta::async<&reader::read>(log, calls++, pattern(size + more), pattern(10));
        manta::async<&reader::read>(log, calls++, late, pattern(size));  // one is not there yet
      }
      std::vector<manta::future<bool>> many;
      for (int i = 0; i < 100; ++i)
        many.push_back(manta::async<&reader::read>(log, calls++, pattern(60'000), pattern(20'000)));
      const bool was_queued = manta::cancel(many[99]);
      for (int i = 0; i < 99; ++i) CHECK(many[static_cast<std::size_t>(i)].get());
      if (was_queued) {
        --calls;
        CHECK_THROWS_AS(many[99].get(), manta::cancelled);
      }
      CHECK(manta::async<&reader::calls>(log).get() == calls);
      CHECK(manta::async<&reader::all_right>(log).get());
    }
  });
}

TEST_CASE("results that a rank reads come to it with the news of their calls, and stay where they are made otherwise") {
  in_world([] {
    const int there = manta::testing::executors().back();
    const auto log = manta::spawn<reader>({.rank = there});
    const auto place = [](const manta::future<std::vector<std::uint8_t>>& f) {
      f.wait();
      const std::string text = manta::explain(f);
      return std::stoi(text.substr(text.rfind(' ')));
    };
    const auto make = [&](std::size_t size) { return manta::async<&reader::make>(log, size); };
    const auto first = make(30'000);
    CHECK(place(first) == there);
    CHECK(first.get() == pattern(30'000));
    int came = 0;
    for (int i = 0; i < 70; ++i) {
      const auto unread = make(30'000 + static_cast<std::size_t>(i));
      came += place(unread) == manta::rank() ? 1 : 0;
      if (i == 5) CHECK(unread.get() == pattern(30'005));  // it was here, and was not fetched
    }
    CHECK(came == (there == manta::rank() ? 70 : 64));
    CHECK(make(200'000).get() == pattern(200'000));  // too long to come at once, before and after it is read
    CHECK(place(make(200'000)) == there);
    make(30'000).get();
    CHECK(place(make(200'000)) == there);
    std::vector<manta::future<std::vector<std::uint8_t>>> kept;
    for (std::size_t i = 0; i < 200; ++i) kept.push_back(make(60'000 + i));
    for (std::size_t i = 0; i < 200; ++i) CHECK(kept[i].get() == pattern(60'000 + i));
  });
}

TEST_CASE("a call waits its turn behind one whose argument is not there yet") {
  in_world([] {
    auto g = manta::spawn<gate>();
    auto d = manta::spawn<diary>();
    manta::async<&diary::write>(d, 0);
    manta::async<&diary::write>(d, manta::async<held<int>>(g, 1));
    const auto third = manta::async<&diary::write>(d, 2);
    manta::async<&diary::write_text>(d, manta::async<held<std::string>>(g, "3"));
    manta::async<&diary::write>(d, 4);
    CHECK_FALSE(third.ready());
    manta::async<&gate::open>(g).get();
    CHECK(manta::async<&diary::entries>(d).get() == count_to(5));
    std::vector<int> expected;
    auto many = manta::spawn<diary>();
    for (int i = 0; i < 500; ++i) {
      if (i % 3 == 0) manta::async<&diary::write>(many, manta::async<same>(i));
      else manta::async<&diary::write>(many, i);
    }
    CHECK(manta::async<&diary::entries>(many).get() == count_to(500));
  });
}

TEST_CASE("handles travel in arguments, results and structs, and call back from there") {
  in_world([] {
    auto a = manta::spawn<account>(0);
    CHECK(manta::async<deposit_all>(a, 50).get() == 50);
    auto opened = manta::async<open_account>(7).get();  // made by a task that has ended
    CHECK(manta::async<&account::balance>(opened).get() == 7);
    const std::vector<manta::actor<diary>> copies{manta::spawn<diary>(), manta::spawn<diary>()};
    CHECK(manta::async<deliver>(envelope{"hello", a, copies}).get() == 55);
    CHECK(deliver(envelope{"you", a, copies}) == 58);
    for (const auto& d : copies) CHECK(manta::async<&diary::entries>(d).get().size() == 2U);
    CHECK(manta::async<deposit_all>(manta::async<open_account>(1), 3).get() == 4);  // a handle in a future
  });
}

TEST_CASE("actors call actors and wait for them") {
  in_world([] {
    auto a = manta::spawn<account>(0);
    std::vector<manta::actor<clerk>> clerks;
    for (int i = 0; i < 10; ++i) clerks.push_back(manta::spawn<clerk>(a));
    std::vector<manta::future<int>> fs;
    for (int round = 0; round < 20; ++round) {
      for (const auto& c : clerks) fs.push_back(manta::async<&clerk::pay_in>(c, 1));
    }
    manta::get(fs);
    CHECK(manta::async<&account::balance>(a).get() == 200);
    CHECK(manta::async<&clerk::pay_in_later>(clerks.front(), 5).get().get() == 205);
    const auto same_account = manta::async<&clerk::which>(clerks.back()).get();
    CHECK(manta::async<&account::balance>(same_account).get() == 205);
  });
}

TEST_CASE("results of calls are arguments of tasks and of other actors") {
  in_world([] {
    auto a = manta::spawn<account>(10);
    auto b = manta::spawn<account>(20);
    const auto x = manta::async<&account::deposit>(a, 1);
    const auto y = manta::async<&account::deposit>(b, x);
    const auto z = manta::async<same>(y);
    CHECK(manta::async<&account::deposit>(a, z).get() == 42);
    auto f = manta::async<same>(1);
    for (int i = 0; i < 20; ++i) f = manta::async<&account::deposit>(i % 2 == 0 ? a : b, f);
    int p = 42;
    int q = 31;
    int v = 1;
    for (int i = 0; i < 20; ++i) v = i % 2 == 0 ? p += v : q += v;
    CHECK(f.get() == v);
  });
}

TEST_CASE("a named actor is found from every rank, and a wrong name or type is an error") {
  in_world([] {
    auto a = manta::spawn<account>({.name = "bank"}, 10);
    CHECK(manta::async<&account::balance>(a).get() == 10);
    CHECK(manta::async<&account::balance>(manta::find_actor<account>("bank")).get() == 10);
    for (const int rank : manta::testing::executors()) manta::async<deposit_by_name>({.rank = rank}, "bank").get();
    CHECK(manta::async<&account::balance>(a).get() == 10 + static_cast<int>(manta::testing::executors().size()));
    CHECK_THROWS_WITH_AS(manta::find_actor<account>("no such bank"), doctest::Contains("no such bank"), manta::error);
    using reason = manta::name_error::reason;
    const auto why = [](auto what) -> std::optional<reason> {
      try {
        what();
      } catch (const manta::name_error& e) {
        return e.why();
      }
      return {};
    };
    CHECK(why([] { manta::find_actor<account>("no such bank"); }) == reason::unknown);
    CHECK(why([] { manta::find_actor<diary>("bank"); }) == reason::other_class);
    CHECK(why([] { manta::spawn<account>({.name = "bank"}, 1); }) == reason::taken);
    CHECK_THROWS_AS(manta::async<deposit_by_name>("nowhere").get(), manta::error);
  });
}

TEST_CASE("tasks on all ranks spawn actors with names where they ask for") {
  in_world([] {
    for (const int spawner : manta::testing::executors()) {
      manta::async<leave_account>({.rank = spawner}, "left").get();
      auto left = manta::find_actor<account>("left");
      CHECK(manta::async<&account::owner>(left).get() == std::string(3000, 'o'));
      CHECK_THROWS_WITH_AS(manta::async<leave_account>({.rank = spawner}, "left").get(),
                           doctest::Contains("there is an actor named \"left\" already"), manta::task_failed);
      manta::kill(left);
      CHECK_THROWS_AS(manta::find_actor<account>("left"), manta::error);
      for (const int target : manta::testing::executors()) {
        auto other = manta::spawn<account>({.rank = target}, 0);
        auto value = manta::async<many_numbers>({.rank = target});
        auto beside = manta::async<open_beside>({.rank = spawner}, "beside", other).get();
        auto near = manta::async<open_near>({.rank = spawner}, "near", value).get();
        CHECK(manta::async<&account::where>(beside).get() == target);
        CHECK(manta::async<&account::where>(near).get() == target);
        CHECK(manta::async<&account::balance>(manta::find_actor<account>("beside")).get() == 8);
        manta::kill(near);
        CHECK_THROWS_AS(manta::find_actor<account>("near"), manta::error);
        beside = {};
        poll_until("the name to be free", [] {
          try {
            manta::find_actor<account>("beside");
            return false;
          } catch (const manta::error&) {
            return true;
          }
        });
      }
    }
  });
}

TEST_CASE("spawn_or_find makes one actor however many ask for it") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 50; ++i) fs.push_back(manta::async<deposit_or_open>("shared"));
    auto keep = manta::spawn_or_find<account>({.name = "shared"}, 100);  // so that it does not end between two of them
    manta::get(fs);
    CHECK(manta::async<&account::balance>(keep).get() > 100);
    auto again = manta::spawn_or_find<account>({.name = "shared"}, 5);
    const int before = manta::async<&account::balance>(keep).get();
    CHECK(manta::async<&account::deposit>(again, 1).get() == before + 1);
  });
}

TEST_CASE("calls on a killed actor fail with actor_died wherever they are made") {
  in_world([] {
    auto a = manta::spawn<account>({.name = "victim"}, 1);
    CHECK(manta::async<&account::balance>(a).get() == 1);
    manta::kill(a);
    CHECK_THROWS_AS(manta::async<&account::balance>(a).get(), manta::actor_died);
    CHECK_THROWS_AS(manta::async<&account::deposit>(a, manta::async<same>(1)).get(), manta::actor_died);
    const auto seen_by_task =
        manta::async(
            [](manta::actor<account> victim) {
              return manta::testing::thrown<manta::actor_died>([&] { manta::async<&account::balance>(victim).get(); });
            },
            a)
            .get();
    CHECK(!seen_by_task.empty());
    poll_until("the killed actor's end", [] { return alive_anywhere() == 0; });
  });
}

TEST_CASE("the name of an actor that was killed is free at once, whoever killed it and whoever has handles") {
  in_world([] {
    std::vector<manta::actor<account>> old;
    for (int i = 0; i < 12; ++i) {
      auto a = manta::spawn<account>({.name = "king"}, i);
      CHECK(manta::async<&account::balance>(manta::find_actor<account>("king")).get() == i);
      if (i % 3 == 0) {
        manta::kill(a);
      } else {
        manta::async([](const manta::actor<account>& victim) { manta::kill(victim); }, a).get();
      }
      CHECK_THROWS_WITH_AS(manta::find_actor<account>("king"), doctest::Contains("king"), manta::error);
      if (i % 2 == 0) old.push_back(a);
    }
    auto last = manta::spawn_or_find<account>({.name = "king"}, 100);
    old.clear();  // which does not free the name of the last one
    CHECK(manta::async<&account::balance>(manta::find_actor<account>("king")).get() == 100);
  });
  in_world([] {
    manta::spawn<account>({.name = "ghost", .detached = true}, 1);
    CHECK(manta::async<&account::balance>(manta::find_actor<account>("ghost")).get() == 1);
    manta::kill(manta::find_actor<account>("ghost"));
    CHECK_THROWS_AS(manta::find_actor<account>("ghost"), manta::error);
    CHECK(manta::async<&account::balance>(manta::spawn<account>({.name = "ghost"}, 7)).get() == 7);
  });
}

TEST_CASE("an actor that is killed and given up while it computes, with calls before it, ends once") {
  in_world([] {
    const int rank = manta::testing::executors().back();
    for (int i = 0; i < 3; ++i) {
      auto g = manta::spawn<gate>();
      auto a = manta::spawn<slow>({.rank = rank});
      const auto works = manta::async<&slow::work>(a, g);
      std::vector<manta::future<int>> calls;
      for (int k = 0; k < 5; ++k) calls.push_back(manta::async<&slow::answer>(a));
      works.wait_for(std::chrono::milliseconds(20));  // the calls reach it
      manta::async<&gate::open>(g).get();
      works.wait_for(std::chrono::milliseconds(50));  // it computes
      manta::kill(a);
      a = {};
      works.get();
      for (const auto& f : calls) {
        const bool answered = manta::testing::thrown<manta::actor_died>([&] { f.get(); }).empty();
        CHECK((!answered || f.get() == 42));  // as it came first
      }
      check_new_ones_differ(rank);
    }
  });
}

TEST_CASE("an actor whose destructor waits ends once, though its last handle goes meanwhile") {
  in_world([] {
    const int rank = manta::testing::executors().back();
    auto g = manta::spawn<gate>();
    auto a = manta::spawn<lingering>({.rank = rank}, g);
    CHECK(manta::async<&lingering::answer>(a).get() == 42);
    manta::kill(a);
    CHECK_THROWS_AS(manta::async<&lingering::answer>(a).get(), manta::actor_died);
    a = {};
    manta::async<&gate::open>(g).get();
    poll_until("the destructor's end", [] { return alive_anywhere() == 0; });
    check_new_ones_differ(rank);
  });
}

TEST_CASE("a call that runs when its actor is killed is asked to stop") {
  in_world([] {
    auto a = manta::spawn<patient>({.rank = manta::size() - 1});
    auto begun = manta::spawn<gate>({.rank = 0});  // the driver waits there
    auto runs = manta::async<&patient::until_asked_to_stop>(a, begun);
    if (manta::size() > 1) {  // in a world of one the driver would wait for the call first
      manta::testing::pass(begun);
      manta::kill(a);
      CHECK(runs.get() == 1);
    } else {
      manta::kill(a);
      CHECK_THROWS_AS(runs.get(), manta::actor_died);
    }
  });
}

TEST_CASE(
    "tasks go to other ranks than one that is in a long call of an actor, also those that were sent there already") {
  in_world([] {
    if (manta::testing::executors().size() < 2) return;
    for (const bool at_once : {true, false}) {
      auto a = manta::spawn<patient>({.rank = manta::testing::executors().back()});
      auto begun = manta::spawn<gate>({.rank = 0});
      manta::async<&patient::answer>(a).get();
      auto runs = manta::async<&patient::until_asked_to_stop>(a, begun);
      if (!at_once) manta::testing::pass(begun);
      std::vector<manta::future<int>> tasks;
      for (int i = 0; i < 60; ++i) {
        tasks.push_back(i % 3 == 0   ? manta::async<twice>({.name = "named"}, i)
                        : i % 3 == 1 ? manta::async<twice>({.priority = 1, .retries = 1}, i)
                                     : manta::async<twice>(i));
      }
      for (int i = 0; i < 60; ++i)
        CHECK(manta::get_for(tasks[static_cast<std::size_t>(i)], std::chrono::seconds(60)) == 2 * i);
      manta::testing::pass(begun);
      manta::kill(a);
      CHECK(runs.get() == 1);
    }
  });
}

TEST_CASE("a call that waited for its argument when the actor was killed does not run") {
  in_world([] {
    auto g = manta::spawn<gate>();
    auto a = manta::spawn<account>(1);
    const auto late = manta::async<&account::deposit>(a, manta::async<held<int>>(g, 1));
    manta::kill(a);
    CHECK_THROWS_AS(manta::async<&account::balance>(a).get(), manta::actor_died);
    manta::async<&gate::open>(g).get();
    CHECK_THROWS_AS(late.get(), manta::actor_died);
  });
}

TEST_CASE("an actor whose constructor throws is dead and its calls say why") {
  in_world([] {
    auto a = manta::spawn<account>(-5);
    CHECK_THROWS_WITH_AS(manta::async<&account::balance>(a).get(), doctest::Contains("cannot start with -5"),
                         manta::actor_died);
    CHECK_THROWS_AS(manta::async<&account::deposit>(a, 1).get(), manta::actor_died);
    CHECK_THROWS_AS(manta::async<same>(manta::async<&account::balance>(a)).get(),
                    manta::actor_died);  // and so does what depends on them
  });
}

TEST_CASE("a method that throws fails its call and the actor lives on") {
  in_world([] {
    auto a = manta::spawn<account>(1);
    const auto before = manta::async<&account::deposit>(a, 1);
    const auto bad = manta::async<&account::deposit>(a, -7);
    const auto after = manta::async<&account::deposit>(a, 1);
    CHECK(before.get() == 2);
    CHECK_THROWS_WITH_AS(bad.get(), doctest::Contains("negative deposit -7"), manta::task_failed);
    CHECK(after.get() == 3);
    const auto skipped = manta::async<&account::deposit>(a, bad);  // its argument failed: it does not run
    CHECK_THROWS_WITH_AS(skipped.get(), doctest::Contains("negative deposit -7"), manta::task_failed);
    CHECK(manta::async<&account::balance>(a).get() == 3);
  });
}

TEST_CASE("three thousand actors live at once") {
  in_world([] {
    std::vector<manta::actor<account>> accounts;
    for (int i = 0; i < 3000; ++i) accounts.push_back(manta::spawn<account>(i));
    std::vector<manta::future<int>> fs;
    for (const auto& a : accounts) fs.push_back(manta::async<&account::deposit>(a, 1));
    const auto values = manta::get(fs);
    bool same_values = true;
    for (int i = 0; i < 3000; ++i) same_values = same_values && values[static_cast<std::size_t>(i)] == i + 1;
    CHECK(same_values);
    CHECK(alive_anywhere() == 3000);
  });
  CHECK(alive_here() == 0);
}

TEST_CASE("an actor ends with its last handle, after the calls already made") {
  in_world([] {
    manta::future<int> last;
    {
      auto a = manta::spawn<account>(0);
      auto c = manta::spawn<clerk>(a);
      for (int i = 0; i < 10; ++i) last = manta::async<&clerk::pay_in>(c, 1);
      a = manta::actor<account>();  // the clerk still has one
      CHECK(manta::async<&account::balance>(manta::async<&clerk::which>(c).get()).get() == 10);
      last = manta::async<&clerk::pay_in>(c, 1);
    }
    CHECK(last.get() == 11);
    poll_until("the end of an actor without handles", [] { return alive_anywhere() == 0; });
  });
  CHECK(alive_here() == 0);
}

TEST_CASE("actors that are still named or held when the run ends, end with it") {
  in_world([] {
    manta::spawn<account>({.name = "left behind"}, 1);
    auto held_by_nobody = manta::spawn<account>(2);
    manta::async<&account::deposit>(held_by_nobody, 1);
  });
  CHECK(alive_here() == 0);
}

TEST_CASE("a name whose actor could not be made is free again, also for those who waited for it") {
  in_world([] {
    const int too_many = 1'000'000;
    CHECK_THROWS_AS((manta::spawn<account>({.name = "Grace", .cpus = too_many}, 1)), manta::unschedulable);
    CHECK_THROWS_AS((manta::spawn_or_find<account>({.name = "Grace", .cpus = too_many}, 1)), manta::unschedulable);
    CHECK_THROWS_AS(manta::find_actor<account>("Grace"), manta::error);
    std::vector<manta::future<int>> askers;
    for (int i = 0; i < 8; ++i) askers.push_back(manta::async<deposit_or_open>("Grace"));
    auto balances = manta::get(askers);
    CHECK(*std::max_element(balances.begin(), balances.end()) >= 101);
  });
}

TEST_CASE(
    "a name is free when its actor has died, though there are handles on it, and when its handles have gone before it was made") {
  in_world([] {
    std::vector<manta::actor<breakable>> kept;
    for (int i = 0; i < 20; ++i) {
      kept.push_back(manta::spawn<breakable>({.name = "Ada"}, true));
      CHECK_THROWS_AS(manta::async<&breakable::number>(kept.back()).get(), manta::actor_died);
      kept.push_back(manta::spawn<breakable>({.name = "Ada"}, false));
      CHECK_THROWS_AS(manta::async<&breakable::breaks>(kept.back()).get(), manta::task_failed);
      CHECK_THROWS_AS(manta::async<&breakable::number>(kept.back()).get(), manta::actor_died);
    }
    for (int i = 0; i < 50; ++i) (void)manta::spawn<breakable>({.name = "Grace"}, false);
  });
}

TEST_CASE("classes of the same name in two files are two classes") {
  in_world([] {
    const auto mine = manta::spawn<anonymous>();
    CHECK(ask_in_other_file() == std::vector<int>{2, 2});
    CHECK(manta::async<&anonymous::file>(mine).get() == 1);
    CHECK(manta::async<&anonymous::file_const>(mine).get() == 1);
  });
}
