// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// map, reduce and for_each against the serial algorithms of the standard library.
#include <doctest/doctest.h>

#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <list>
#include <map>

#include "support/world.hpp"

using manta::testing::in_world;
using manta::testing::tally;

namespace {

long square(int x) { return static_cast<long>(x) * x; }
long plus(long a, long b) { return a + b; }
std::string concatenate(const std::string& a, const std::string& b) { return a + b; }
std::string word(int i) { return "<" + std::to_string(i) + ">"; }
long fail_at_seven(int x) {
  if (x == 7) throw std::runtime_error("seven");
  return x;
}
std::vector<double> add_vectors(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}
long plus_unless_negative(long a, long b) {
  if (b < 0) throw std::runtime_error("a negative summand");
  return a + b;
}

std::atomic<long> visits{0};
std::atomic<long> visited_sum{0};
void visit(int x) {
  ++visits;
  visited_sum += x;
}
void visit_but_seven(int x) {
  if (x == 7) throw std::runtime_error("seven is not visited");
}

/// for_each may give nothing (it has waited) or something to wait for; the tests want the end either way.
template <auto F, typename Range>
void for_each_and_wait(Range&& range) {
  if constexpr (std::is_void_v<decltype(manta::for_each<F>(range))>) {
    manta::for_each<F>(range);
  } else {
    auto result = manta::for_each<F>(range);
    if constexpr (requires { result.get(); }) {
      result.get();
    } else {
      manta::get(result);
    }
  }
}

std::vector<int> first_numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// map and reduce are not the driver's privilege.
long sum_of_squares(int n) { return manta::reduce<plus>(manta::map<square>(first_numbers(n))).get(); }

}  // namespace

TEST_CASE("map gives the future of each element's result, in order") {
  in_world([] {
    for (const int n : {0, 1, 2, 10, 1000}) {
      const auto futures = manta::map<square>(first_numbers(n));
      REQUIRE(futures.size() == static_cast<std::size_t>(n));
      const auto values = manta::get(futures);
      bool same = true;
      for (int i = 0; i < n; ++i) same = same && values[static_cast<std::size_t>(i)] == square(i);
      CHECK(same);
    }
    const std::list<int> listed{3, 1, 2};
    CHECK(manta::get(manta::map<square>(listed)) == std::vector<long>{9, 1, 4});
  });
}

TEST_CASE("a failing element of a map fails alone") {
  in_world([] {
    const auto futures = manta::map<fail_at_seven>(first_numbers(10));
    for (int i = 0; i < 10; ++i) {
      const auto& f = futures[static_cast<std::size_t>(i)];
      if (i == 7) {
        CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("seven"), manta::task_failed);
      } else {
        CHECK(f.get() == i);
      }
    }
  });
}

TEST_CASE("reduce of one, two and a thousand futures gives the serial result") {
  in_world([] {
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000}) {
      long expected = 0;
      for (int i = 0; i < n; ++i) expected += square(i);
      CHECK(manta::reduce<plus>(manta::map<square>(first_numbers(n))).get() == expected);
    }
  });
}

TEST_CASE("reduce takes values as well as futures") {
  in_world([] {
    CHECK(manta::reduce<plus>(std::vector<long>{7}).get() == 7);
    CHECK(manta::reduce<plus>(first_numbers(100)).get() == 4950);  // ints, for an operation on longs
    const std::list<std::string> words = {"a", "b", "c", "d", "e"};
    CHECK(manta::reduce<concatenate>(words).get() == "abcde");
    CHECK(words.front() == "a");
    CHECK(manta::reduce<add_vectors>(std::vector<std::vector<double>>(9, std::vector<double>(20'000, 2))).get() ==
          std::vector<double>(20'000, 18.0));
    CHECK_THROWS_WITH_AS(manta::reduce<plus>(std::vector<long>()), doctest::Contains("empty range"), manta::error);
  });
}

TEST_CASE("reduce keeps the order of an operation that does not commute") {
  in_world([] {
    for (const int n : {1, 2, 3, 6, 17, 1000}) {
      std::string expected;
      for (int i = 0; i < n; ++i) expected += word(i);
      CHECK(manta::reduce<concatenate>(manta::map<word>(first_numbers(n))).get() == expected);
    }
  });
}

TEST_CASE("reduce works on large values and on results of actors") {
  in_world([] {
    std::vector<manta::future<std::vector<double>>> parts;
    for (int i = 0; i < 16; ++i) parts.push_back(manta::put(std::vector<double>(20'000, i)));
    CHECK(manta::reduce<add_vectors>(parts).get() == std::vector<double>(20'000, 120.0));
    auto t = manta::spawn<tally>();
    std::vector<manta::future<int>> arrivals;
    for (int i = 0; i < 10; ++i) arrivals.push_back(manta::async<&tally::arrive>(t));
    std::vector<manta::future<long>> squares;
    for (const auto& a : arrivals) squares.push_back(manta::async<square>(a));
    CHECK(manta::reduce<plus>(squares).get() == 385);
  });
}

TEST_CASE("a failure below or inside a reduction arrives at its result") {
  in_world([] {
    CHECK_THROWS_WITH_AS(manta::reduce<plus>(manta::map<fail_at_seven>(first_numbers(20))).get(),
                         doctest::Contains("seven"), manta::task_failed);
    std::vector<manta::future<long>> summands;
    for (long i = 0; i < 8; ++i) summands.push_back(manta::put(i == 5 ? -1L : i));
    CHECK_THROWS_WITH_AS(manta::reduce<plus_unless_negative>(summands).get(), doctest::Contains("negative summand"),
                         manta::task_failed);
  });
}

TEST_CASE("map and reduce may be called by tasks") {
  in_world([] {
    std::vector<manta::future<long>> sums;
    for (int n = 1; n <= 10; ++n) sums.push_back(manta::async<sum_of_squares>(10 * n));
    for (int n = 1; n <= 10; ++n) {
      long expected = 0;
      for (int i = 0; i < 10 * n; ++i) expected += square(i);
      CHECK(sums[static_cast<std::size_t>(n) - 1].get() == expected);
    }
  });
}

TEST_CASE("for_each visits each element exactly once") {
  visits = 0;
  visited_sum = 0;
  in_world([] {
    for_each_and_wait<visit>(first_numbers(0));
    for_each_and_wait<visit>(first_numbers(1));
    for_each_and_wait<visit>(first_numbers(10'000));
  });
  CHECK(manta::testing::sum_over_ranks(visits) == 10'001);
  CHECK(manta::testing::sum_over_ranks(visited_sum) == 9'999L * 10'000 / 2);
}

TEST_CASE("for_each hands on the failure of a body and names the function") {
  in_world([] {
    CHECK_THROWS_WITH_AS(for_each_and_wait<visit_but_seven>(first_numbers(100)), doctest::Contains("visit_but_seven'"),
                         manta::task_failed);
  });
}

namespace {
long length(std::span<const int> values) { return static_cast<long>(values.size()); }
long key_and_length(std::pair<int, std::string> entry) { return entry.first + static_cast<long>(entry.second.size()); }
bool inverted(bool b) { return !b; }
long consumed(std::unique_ptr<int> n) { return *n; }
std::unique_ptr<int> box(int x) { return std::make_unique<int>(x); }
std::unique_ptr<int> merged(std::unique_ptr<int> a, std::unique_ptr<int> b) { return box(*a + *b); }
void consume(std::unique_ptr<int> n) { visit(*n); }
void visit_flag(bool b) { visit(b ? 1 : 0); }
void visit_entry(std::pair<int, std::string> entry) { visit(entry.first); }
void visit_element(const std::pair<const int, std::string>& element) { visit(element.first); }
int key_of(const std::pair<const int, std::string>& element) { return element.first; }
std::vector<std::unique_ptr<int>> boxes(int count) {
  std::vector<std::unique_ptr<int>> all;
  for (int i = 0; i < count; ++i) all.push_back(std::make_unique<int>(i));
  return all;
}
std::string concatenate_twice(std::string s) { return s + s; }
/// A view that cannot be looped over when it is const, as some of std::views.
template <class T>
class every_second {
 public:
  explicit every_second(const std::vector<T>& all) : all_(all) {}
  struct iterator {
    const std::vector<T>* all;
    std::size_t at;
    const T& operator*() const { return (*all)[at]; }
    iterator& operator++() {
      at += 2;
      return *this;
    }
    bool operator==(const iterator& other) const { return at == other.at; }
  };
  iterator begin() { return {&all_, 0}; }
  iterator end() { return {&all_, all_.size() + all_.size() % 2}; }

 private:
  const std::vector<T>& all_;
};
int increment(int x) { return x + 1; }
}  // namespace

TEST_CASE("map takes any range: views, maps, flags, arrays") {
  in_world([] {
    const std::vector<int> numbers{1, 2, 3, 4, 5, 6};
    CHECK(manta::get(manta::map<square>(every_second(numbers))) == std::vector<long>{1, 9, 25});
    CHECK(manta::get(manta::map<square>(std::span(numbers).first(2))) == std::vector<long>{1, 4});
    const std::map<int, std::string> entries{{1, "a"}, {2, "bc"}};
    CHECK(manta::get(manta::map<key_and_length>(entries)) == std::vector<long>{2, 4});
    CHECK(manta::get(manta::map<inverted>(std::vector<bool>{true, false})) == std::vector<bool>{false, true});
    const int array[] = {3, 2};
    CHECK(manta::get(manta::map<square>(array)) == std::vector<long>{9, 4});
    CHECK(manta::get(manta::map<length>(std::vector<std::vector<int>>{{}, {1, 2}})) == std::vector<long>{0, 2});
    const auto squares = manta::map<square>(numbers);
    CHECK(manta::reduce<plus>(std::span(squares)).get() == 91);
    CHECK(manta::reduce<plus>(every_second(squares)).get() == 35);
  });
}

TEST_CASE("elements are moved from a container that is given away, and only then") {
  in_world([] {
    CHECK(manta::get(manta::map<consumed>(boxes(3))) == std::vector<long>{0, 1, 2});
    CHECK(*manta::reduce<merged>(manta::map<box>(std::vector<int>{1, 2, 3, 4, 5})).get() == 15);
    std::vector<std::string> words{"one", "two"};
    manta::map<concatenate_twice>(std::span(words));
    CHECK(words == std::vector<std::string>{"one", "two"});
    CHECK(manta::get(manta::map<concatenate_twice>(std::move(words)))[1] == "twotwo");
  });
}

TEST_CASE("get of a view of futures leaves their values where they are") {
  in_world([] {
    std::vector<manta::future<std::string>> words{manta::async<word>(1), manta::async<word>(2)};
    CHECK(manta::get(std::span(words)) == std::vector<std::string>{"<1>", "<2>"});
    CHECK(manta::get(every_second(words)) == std::vector<std::string>{"<1>"});
    CHECK(manta::wait(every_second(words)).ready.size() == 1);
    for (auto& f : manta::as_completed(every_second(words))) CHECK(f.get() == "<1>");
    CHECK(words[0].get() == "<1>");
    CHECK(words[1].get() == "<2>");
  });
}

TEST_CASE("for_each takes any range, futures and move-only elements") {
  visited_sum = 0;
  in_world([] {
    const std::vector<int> numbers{1, 2, 3, 4};
    manta::for_each<visit>(every_second(numbers));
    manta::for_each<visit>(manta::map<increment>(numbers));
    manta::for_each<consume>(boxes(5), {.grain = 2});
    manta::for_each<visit_flag>(std::vector<bool>{true, true, false});
    manta::for_each<visit_entry>(std::map<int, std::string>{{4, "a"}, {5, "b"}});
    manta::for_each<visit>(std::vector<int>());
    const std::map<int, std::string> table{{4, "a"}, {5, "b"}};
    manta::for_each<visit_element>(table);
    CHECK(manta::get(manta::map<key_of>(table)) == std::vector<int>{4, 5});
  });
  CHECK(manta::testing::sum_over_ranks(visited_sum) == 4 + 14 + 10 + 2 + 9 + 9);
}
