// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What can be called by async and what can be passed: each row of the
// parameter table, each kind of callable, each kind of result.
#include <doctest/doctest.h>

#include <array>
#include <cereal/types/array.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/polymorphic.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;

int add_outside(int a, int b) { return a + b; }  // external linkage, global namespace

namespace {

int add(int a, int b) { return a + b; }
int forty_two() { return 42; }
int minus_one_noexcept(int x) noexcept { return x - 1; }
double half(const double& x) { return x / 2; }
std::string shout(const std::string& text) { return text + "!"; }
std::size_t length(std::string text) { return text.size(); }
long whoami() { return 1; }  // nested_test.cpp has a function of the same name that returns 2

template <typename T>
T twice(T x) {
  return x + x;
}

struct tools {
  static int negate(int x) { return -x; }
};

struct scale {
  double factor = 1;
  double operator()(double x) const { return factor * x; }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(factor);
  }
};

struct fails {
  int code = 0;
  int operator()() const { throw std::runtime_error(std::to_string(code)); }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(code);
  }
};

struct particle {
  std::string name;
  std::vector<double> position;
  std::optional<int> charge;
  bool operator==(const particle&) const = default;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(name, position, charge);
  }
};

particle move_by(const particle& p, double dx) {
  particle moved = p;
  for (double& x : moved.position) x += dx;
  return moved;
}

std::map<std::string, std::vector<int>> invert(const std::vector<std::pair<int, std::string>>& entries) {
  std::map<std::string, std::vector<int>> result;
  for (const auto& [number, name] : entries) result[name].push_back(number);
  return result;
}

std::vector<int> iota_to(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

long sum_vector(const std::vector<int>& v) { return std::accumulate(v.begin(), v.end(), 0L); }
long sum_vector_by_value(std::vector<int> v) { return std::accumulate(v.begin(), v.end(), 0L); }
long sum_span(std::span<const int> v) { return std::accumulate(v.begin(), v.end(), 0L); }
std::size_t count_span(std::span<const char> v) { return v.size(); }

using owned = std::unique_ptr<std::vector<int>>;
owned own(int count) { return std::make_unique<std::vector<int>>(static_cast<std::size_t>(count), 3); }
long sum_owned(owned v) { return std::accumulate(v->begin(), v->end(), 0L); }
long sum_all_owned(std::vector<owned> all) {
  long sum = 0;
  for (owned& v : all) sum += sum_owned(std::move(v));
  return sum;
}
double sum_doubles(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
std::string join(const std::vector<std::string>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::string());
}

struct tag {};
tag make_tag(int) { return {}; }
int take_tag(const tag&, tag) { return 3; }
std::unique_ptr<int> boxed(int x) { return std::make_unique<int>(x); }
std::pair<std::unique_ptr<int>, int> boxed_and_not(int x) { return {boxed(x), x + 1}; }
int unboxed(const std::unique_ptr<int>& p) { return p ? *p : -1; }
int taken_out(std::unique_ptr<int> p) { return p ? *p : -1; }

/// Large, and there can be only one.
struct cargo {
  std::vector<double> load;
  cargo() = default;
  explicit cargo(double x) : load(50'000, x) {}
  cargo(cargo&&) = default;
  cargo& operator=(cargo&&) = default;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(load);
  }
};
cargo loaded(double x) { return cargo(x); }

int get_inside(manta::future<int> f) { return f.get() + 1; }
manta::future<int> pass_on(manta::future<int> f) { return f; }
bool is_ready(const manta::future<int>& f) { return f.ready(); }

void note_arrival(manta::actor<manta::testing::tally> t) { manta::async<&manta::testing::tally::arrive>(t).get(); }
void nothing() {}

std::vector<std::vector<std::string>> grid(int rows, int columns) {
  std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      cells[static_cast<std::size_t>(r)].push_back(std::to_string(r) + "," + std::to_string(c));
  }
  return cells;
}

std::string tail(const std::vector<std::vector<std::string>>& cells) { return cells.back().back(); }

int count_and_fail(manta::actor<manta::testing::tally> t) {
  manta::async<&manta::testing::tally::arrive>(t).get();
  throw std::runtime_error("always");
}

struct point {
  double x = 0, y = 0, z = 0;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(x, y, z);
  }
};
point at(double x) { return {x, 2 * x, 3 * x}; }
char letter(int i) { return static_cast<char>('a' + i % 26); }
short half_of(int i) { return static_cast<short>(i / 2); }
double wide(int i) { return i / 8.0; }

/// Inputs of each size that a number can have, and some that are no numbers in between.
std::string spelled(const std::vector<char>& letters, double x, const std::vector<point>& points, int n,
                    const std::vector<double>& numbers, const std::vector<short>& halves, const std::string& word,
                    const std::vector<int>& more) {
  std::string text(letters.begin(), letters.end());
  text += " " + std::to_string(x) + " " + std::to_string(n) + " " + word;
  for (const point& p : points) text += " " + std::to_string(p.x + p.y + p.z);
  for (const double d : numbers) text += " " + std::to_string(d);
  for (const short i : halves) text += " " + std::to_string(i);
  for (const int i : more) text += " " + std::to_string(i);
  return text;
}

struct shape {
  virtual ~shape() = default;
  virtual double area() const = 0;
};
struct square : shape {
  explicit square(double length = 0) : side(length) {}
  double area() const override { return side * side; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(side);
  }
  double side;
};
double area_of(const std::shared_ptr<shape>& s) { return s->area(); }
std::unique_ptr<shape> make_square(double side) { return std::make_unique<square>(side); }

}  // namespace

CEREAL_REGISTER_TYPE(square)
CEREAL_REGISTER_POLYMORPHIC_RELATION(shape, square)

TEST_CASE("a function runs as a task and its result comes back") {
  in_world([] {
    CHECK(manta::async<forty_two>().get() == 42);
    CHECK(manta::async<add>(1, 2).get() == 3);
    CHECK(manta::async<add_outside>(3, 4).get() == 7);
    CHECK(manta::async<&add>(5, 6).get() == 11);
    CHECK(manta::async<minus_one_noexcept>(5).get() == 4);
    CHECK(manta::async<twice<int>>(21).get() == 42);
    CHECK(manta::async<twice<std::string>>("ab").get() == "abab");
    CHECK(manta::async<tools::negate>(8).get() == -8);
    CHECK(manta::async<whoami>().get() == 1);
  });
}

TEST_CASE("captureless lambdas and serialisable function objects run as tasks") {
  in_world([] {
    CHECK(manta::async([](int x) { return x * x; }, 9).get() == 81);
    CHECK(manta::async([](int x) { return x + x; }, 9).get() == 18);  // same signature, other body
    CHECK(manta::async([] { return std::string("no arguments"); }).get() == "no arguments");
    CHECK(manta::async([](int x) noexcept { return x; }, 3).get() == 3);
    CHECK(manta::async(scale{2.5}, 4.0).get() == 10.0);
    const scale three{3};
    CHECK(manta::async(three, manta::async<half>(4.0)).get() == 6.0);
    CHECK(manta::async(
              {.name = "named"}, [](int x) { return x; }, 5)
              .get() == 5);
    CHECK(manta::async({.name = "named"}, scale{2}, 5).get() == 10.0);
  });
}

TEST_CASE("the names of lambdas can be told apart, in errors and in tasks; a function object has that of its type") {
  in_world([] {
    const auto name = [] { return std::string(manta::this_task::name()); };
    const std::string a = manta::async([] { return std::string(manta::this_task::name()); }).get();
    const std::string b = manta::async([] { return std::string(manta::this_task::name()); }).get();
    CHECK(contains(a, "lambda"));
    CHECK(a != b);
    CHECK(manta::async(name).get() != b);
    const std::string c = manta::async<[] { return std::string(manta::this_task::name()); }>().get();
    CHECK(contains(c, "lambda"));
    CHECK(c != b);
    const std::string first =
        thrown<manta::task_failed>([] { manta::async([]() -> int { throw std::runtime_error("one"); }).get(); });
    const std::string second =
        thrown<manta::task_failed>([] { manta::async([]() -> int { throw std::runtime_error("one"); }).get(); });
    CHECK(first != second);
    CHECK(contains(thrown<manta::task_failed>([] { manta::async(fails{3}).get(); }), "::fails'"));
  });
}

TEST_CASE("a value that converts to the parameter type may be passed") {
  in_world([] {
    CHECK(manta::async<half>(3).get() == 1.5);
    CHECK(manta::async<half>(3.0F).get() == 1.5);
    CHECK(manta::async<shout>("hey").get() == "hey!");
    CHECK(manta::async<length>("hey").get() == 3U);
    const std::string text = "const";
    CHECK(manta::async<shout>(text).get() == "const!");
    std::string moved = "moved";
    CHECK(manta::async<shout>(std::move(moved)).get() == "moved!");
  });
}

TEST_CASE("a future of the parameter type or of one that converts to it is a dependency") {
  in_world([] {
    const auto three = manta::async<add>(1, 2);
    CHECK(manta::async<add>(three, three).get() == 6);
    CHECK(manta::async<add>(three, 10).get() == 13);
    CHECK(manta::async<half>(three).get() == 1.5);
    CHECK(manta::async<shout>(manta::async<shout>("a")).get() == "a!!");
    CHECK(manta::async<sum_vector>(manta::async<iota_to>(100)).get() == 4950);
    CHECK(manta::async<sum_vector_by_value>(manta::async<iota_to>(100)).get() == 4950);
    auto chain = manta::async<add>(0, 0);
    for (int i = 0; i < 1000; ++i) chain = manta::async<add>(chain, 1);
    CHECK(chain.get() == 1000);
  });
}

TEST_CASE("a vector of futures is one argument that depends on all of them") {
  in_world([] {
    std::vector<manta::future<int>> numbers;
    for (int i = 0; i < 100; ++i) numbers.push_back(manta::async<add>(i, 1));
    CHECK(manta::async<sum_vector>(numbers).get() == 5050);
    CHECK(manta::async<sum_vector_by_value>(numbers).get() == 5050);
    CHECK(manta::async<sum_vector>(std::vector<manta::future<int>>{}).get() == 0);
    std::vector<manta::future<std::string>> parts;
    for (int i = 0; i < 10; ++i) parts.push_back(manta::async<shout>(std::to_string(i)));
    CHECK(manta::async<join>(parts).get() == "0!1!2!3!4!5!6!7!8!9!");
    CHECK(manta::async<sum_doubles>(std::vector<double>{0.5, 0.25}).get() == 0.75);
  });
}

TEST_CASE("inputs of many sizes, ready or not, arrive in their order") {
  in_world([] {
    std::vector<char> letters;
    std::vector<point> points;
    std::vector<double> numbers;
    std::vector<short> halves;
    std::vector<int> more;
    std::vector<manta::future<char>> letters_to_come;
    std::vector<manta::future<point>> points_to_come;
    std::vector<manta::future<double>> numbers_to_come;
    std::vector<manta::future<short>> halves_to_come;
    std::vector<manta::future<int>> more_to_come;
    for (int i = 0; i < 40; ++i) {
      letters.push_back(letter(i));
      letters_to_come.push_back(manta::async<letter>(i));
      points.push_back(at(i));
      points_to_come.push_back(i % 3 == 0 ? manta::put(at(i)) : manta::async<at>(double(i)));
      numbers.push_back(wide(i));
      numbers_to_come.push_back(i % 2 == 0 ? manta::put(wide(i)) : manta::async<wide>(i));
      halves.push_back(half_of(i));
      halves_to_come.push_back(manta::async<half_of>(i));
      more.push_back(i + 1);
      more_to_come.push_back(manta::async<add>(i, 1));
    }
    const auto word = manta::async<shout>(std::string("word"));
    const auto x = manta::put(0.5);
    const auto n = manta::async<forty_two>();
    const std::string expected = spelled(letters, 0.5, points, 42, numbers, halves, "word!", more);
    const auto early = manta::async<spelled>(letters_to_come, x, points_to_come, n, numbers_to_come, halves_to_come,
                                             word, more_to_come);
    CHECK(early.get() == expected);
    const auto late = manta::async<spelled>(letters_to_come, x, points_to_come, n, numbers_to_come, halves_to_come,
                                            word, more_to_come);
    CHECK(late.get() == expected);
  });
}

TEST_CASE("a future parameter is a reference that the task does not wait for") {
  in_world([] {
    auto gate = manta::spawn<manta::testing::gate>();
    auto late = manta::async<manta::testing::held<int>>(gate, 5);
    CHECK_FALSE(manta::async<is_ready>(late).get());  // it ran although the value is not there
    auto handed_on = manta::async<pass_on>(late).get();
    auto inside = manta::async<get_inside>(late);
    CHECK_FALSE(inside.ready());
    manta::async<&manta::testing::gate::open>(gate).get();
    CHECK(inside.get() == 6);
    CHECK(handed_on.get() == 5);
  });
}

TEST_CASE("a value of a move-only type goes to tasks that take it by value, wherever it lies and whoever holds it") {
  in_world([] {
    for (const int count : {2, 500, 100'000}) {
      for (int rank = -1; rank < manta::size(); ++rank) {
        if (rank == 0 && manta::size() > 1) continue;
        CHECK(manta::async<sum_owned>({.rank = rank}, manta::async<own>({.rank = rank}, count)).get() == 3L * count);
        const auto held = manta::async<own>({.rank = rank}, count);
        const auto first = manta::async<sum_owned>({.rank = rank}, held), second = manta::async<sum_owned>(held);
        CHECK(first.get() == 3L * count);
        CHECK(second.get() == 3L * count);
        CHECK(manta::async<sum_all_owned>(std::vector{held, held}).get() == 6L * count);
        CHECK(held.get()->size() == static_cast<std::size_t>(count));
      }
    }
  });
}

TEST_CASE("a span parameter views a vector given as a value or as a future") {
  in_world([] {
    CHECK(manta::async<sum_span>(std::vector<int>{1, 2, 3}).get() == 6);
    const std::vector<int> values = iota_to(1000);
    CHECK(manta::async<sum_span>(values).get() == 499500);
    CHECK(manta::async<sum_span>(manta::async<iota_to>(1000)).get() == 499500);
    CHECK(manta::async<sum_span>(manta::put(values)).get() == 499500);
    CHECK(manta::async<sum_span>(std::vector<int>{}).get() == 0);
    CHECK(manta::async<sum_span>(std::array<int, 3>{1, 2, 3}).get() == 6);
    CHECK(manta::async<sum_span>(manta::put(std::array<int, 3>{1, 2, 3})).get() == 6);
    CHECK(manta::async<count_span>(manta::async<shout>("ten letter")).get() == 11);
    CHECK(manta::async<count_span>(std::string(5000, 'x')).get() == 5000);
    CHECK(manta::async<sum_span>(manta::async<iota_to>(200'000)).get() == 19'999'900'000L);
  });
}

TEST_CASE("an actor handle is an argument like any other") {
  in_world([] {
    auto tally = manta::spawn<manta::testing::tally>();
    std::vector<manta::future<void>> notes;
    for (int i = 0; i < 20; ++i) notes.push_back(manta::async<note_arrival>(tally));
    manta::get(notes);
    CHECK(manta::async<&manta::testing::tally::count>(tally).get() == 20);
  });
}

TEST_CASE("a void function gives a future without a value that can be waited for") {
  in_world([] {
    manta::future<void> done = manta::async<nothing>();
    done.get();
    CHECK(done.ready());
    manta::async([] {}).get();
  });
}

TEST_CASE("structs without members are values") {
  in_world([] {
    const auto made = manta::async<make_tag>(2);
    CHECK(manta::async<take_tag>(made, tag{}).get() == 3);
    (void)manta::put(tag{}).get();
  });
}

TEST_CASE("a move-only result arrives and can be taken or passed on") {
  in_world([] {
    std::unique_ptr<int> taken = manta::async<boxed>(7).get();
    REQUIRE(taken != nullptr);
    CHECK(*taken == 7);
    const auto kept = manta::async<boxed>(8);
    CHECK(*kept.get() == 8);
    CHECK(manta::async<unboxed>(kept).get() == 8);
    CHECK(manta::async<unboxed>(std::make_unique<int>(9)).get() == 9);
    const auto [first, second] = manta::unpack(manta::async<boxed_and_not>(3));
    CHECK(*first.get() == 3);
    CHECK(second.get() == 4);
  });
}

TEST_CASE("values of a range that is not given away stay with their futures, move-only ones too") {
  in_world([] {
    std::vector<manta::future<std::unique_ptr<int>>> futures = {manta::async<boxed>(7), manta::async<boxed>(8)};
    const auto values = manta::get(futures), once_more = manta::get(futures);
    CHECK(*values[0] == 7);
    CHECK(*once_more[0] == 7);
    CHECK(*futures[1].get() == 8);
    CHECK(*manta::get(std::move(futures))[0] == 7);
  });
}

TEST_CASE("a large move-only result is moved out of the last handle, wherever it was made") {
  in_world([] {
    for (const int rank : manta::testing::executors()) {
      auto f = manta::async<loaded>({.rank = rank}, 2.5);
      const cargo taken = std::move(f).get();
      CHECK(taken.load == std::vector<double>(50'000, 2.5));
      CHECK(manta::async<loaded>({.rank = rank}, 3.5).get().load.back() == 3.5);
    }
  });
}

TEST_CASE("a task may move a value out of a future that was given to it as an rvalue") {
  in_world([] {
    CHECK(manta::async<taken_out>(manta::async<boxed>(3)).get() == 3);
    auto f = manta::async<boxed>(4);
    CHECK(manta::async<taken_out>(std::move(f)).get() == 4);
    CHECK(!f.valid());
    CHECK_THROWS_AS(manta::async<taken_out>(std::move(f)), manta::error);
  });
}

TEST_CASE("structs, maps, pairs and nested containers are values") {
  in_world([] {
    const particle p{"electron", {1, 2, 3}, -1};
    CHECK(manta::async<move_by>(p, 0.5).get() == move_by(p, 0.5));
    CHECK(manta::async<move_by>(manta::async<move_by>(p, 0.5), -0.5).get() == p);
    const std::vector<std::pair<int, std::string>> entries{{1, "a"}, {2, "b"}, {3, "a"}};
    CHECK(manta::async<invert>(entries).get() == invert(entries));
    CHECK(manta::async<grid>(30, 40).get() == grid(30, 40));
    CHECK(manta::async<tail>(manta::async<grid>(30, 40)).get() == "29,39");
  });
}

TEST_CASE("arguments and results of every size between nothing and a megabyte arrive whole") {
  in_world([] {
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 255U, 256U, 1000U, 4000U, 4095U, 4096U, 4097U, 8192U, 65535U,
                                    65536U, 65537U, 262'144U, 1'048'576U}) {
      const std::string text(bytes, 'x');
      CHECK(manta::async<shout>(text).get() == text + "!");
      CHECK(manta::async<length>(manta::async<shout>(text)).get() == bytes + 1);
    }
    for (const int n : {0, 1, 100, 1000, 10'000, 16'384, 100'000, 300'000})
      CHECK(manta::async<iota_to>(n).get() == iota_to(n));
    const std::vector<std::string> chunks(300, std::string(5000, 'y'));
    CHECK(manta::async<join>(chunks).get() == join(chunks));
  });
}

TEST_CASE("a task that throws is not run again unless retries are asked for") {
  in_world([] {
    auto runs = manta::spawn<manta::testing::tally>();
    CHECK_THROWS_AS(manta::async<count_and_fail>(runs).get(), manta::task_failed);
    CHECK(manta::async<&manta::testing::tally::count>(runs).get() == 1);
    CHECK_THROWS_AS((manta::async<count_and_fail>({.retries = 2}, runs).get()), manta::task_failed);
    CHECK(manta::async<&manta::testing::tally::count>(runs).get() == 4);
  });
}

TEST_CASE("ten thousand small tasks give the results of a serial loop") {
  in_world([] {
    std::vector<manta::future<int>> futures;
    for (int i = 0; i < 10'000; ++i) futures.push_back(manta::async<add>(i, i % 7));
    const auto values = manta::get(futures);
    REQUIRE(values.size() == futures.size());
    bool same = true;
    for (int i = 0; i < 10'000; ++i) same = same && values[static_cast<std::size_t>(i)] == i + i % 7;
    CHECK(same);
  });
}

TEST_CASE("a pointer to an abstract class carries what cereal has been told of") {
  in_world([] {
    CHECK(manta::async<area_of>(std::make_shared<square>(3)).get() == 9);
    CHECK(manta::async<make_square>(2.0).get()->area() == 4);
  });
}
