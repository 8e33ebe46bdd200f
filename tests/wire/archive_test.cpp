// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values as bytes: everything that can be written comes back equal, by each of
// the ways in which a value may travel; what cannot be read is an error; what
// cannot be written is known at compile time.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cereal/types/memory.hpp>

#include "manta/wire/function_table.hpp"
#include "manta/wire/traits.hpp"

using manta::serialization_error;
using manta::base::list;
using manta::wire::buffer;
using manta::wire::is_array;
using manta::wire::is_plain;
using manta::wire::is_serializable;
using manta::wire::over_limit;
using manta::wire::reader;
using manta::wire::segment;
using manta::wire::segment_bytes;
using manta::wire::sink;
using manta::wire::source;

namespace {

struct point {
  int x = 0;
  double y = 0;
  std::string name;
  bool operator==(const point&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(x, cereal::make_nvp("the y", y), name);
  }
};

/// Two functions, and a const member of the standard library in between.
struct mesh {
  std::vector<std::vector<double>> cells;
  std::map<std::string, point> marks;
  bool operator==(const mesh&) const = default;
  template <class Archive>
  void save(Archive& archive) const {
    archive(marks, cells);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(marks, cells);
  }
};

/// Its default constructor is for cereal alone.
class closed {
 public:
  explicit closed(int v) : value_(v) {}
  int value() const { return value_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_);
  }

 private:
  friend class cereal::access;
  closed() = default;
  int value_ = 0;
};

/// Reads more than it writes.
struct greedy {
  static inline int alive = 0;
  int value = 1;
  greedy() { ++alive; }
  greedy(const greedy&) = delete;
  greedy& operator=(const greedy&) = delete;
  ~greedy() { --alive; }
  template <class Archive>
  void save(Archive& archive) const {
    archive(value);
  }
  template <class Archive>
  void load(Archive& archive) {
    long more = 0;
    archive(value, more);
  }
};

struct opaque {
  int secret = 0;
  opaque() = default;
  opaque(const opaque&) = default;
};

enum class colour : std::uint8_t { red, green, blue };
enum old_style { first = 7, second = 9 };

struct by_value {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};

template <class T>
buffer encode(const T& value, list<segment>* segments = nullptr) {
  buffer bytes;
  sink out(bytes, segments);
  manta::wire::encode(value, out);
  return bytes;
}
template <class T>
void read(T& value, source& in) {
  reader archive(in);
  archive(value);
}

/// There and back; with its large arrays apart it has as many bytes.
template <class T, class Equal = by_value>
bool survives(const T& value, Equal equal = {}) {
  const buffer whole = encode(value);
  T first{};
  source in(whole.data(), whole.size());
  read(first, in);
  if (!equal(first, value) || in.position() != whole.data() + whole.size()) return false;

  manta::wire::encoded apart;
  apart.bytes = encode(value, &apart.segments);
  return apart.total_bytes() == whole.size();
}

template <class T>
bool each_prefix_is_refused(const T& value) {
  const buffer bytes = encode(value);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::vector<std::byte> part(bytes.data(), bytes.data() + n);  // its own block, for the address sanitizer
    try {
      T again{};
      source in(part.data(), part.size());
      read(again, in);
      return false;
    } catch (const serialization_error&) {
    }
  }
  return true;
}

std::vector<double> numbers(std::size_t n, double start = 0) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = start + static_cast<double>(i);
  return v;
}

}  // namespace

// ---- what can be sent is known at compile time ---------------------------------------------------

static_assert(is_serializable<int>() && is_serializable<long double>() && is_serializable<char>());
static_assert(is_serializable<colour>() && is_serializable<old_style>());
static_assert(is_serializable<std::string>() && is_serializable<std::vector<std::string>>());
static_assert(is_serializable<std::vector<bool>>() && is_serializable<std::vector<std::vector<std::vector<int>>>>());
static_assert(is_serializable<std::map<std::string, std::vector<point>>>());
static_assert(is_serializable<std::unordered_map<std::string, std::optional<point>>>());
static_assert(is_serializable<std::tuple<int, std::pair<std::string, point>, std::array<double, 3>>>());
static_assert(is_serializable<std::shared_ptr<point>>() && is_serializable<std::unique_ptr<std::vector<int>>>());
static_assert(is_serializable<std::complex<double>>() && is_serializable<std::set<int, std::greater<>>>());
static_assert(is_serializable<point>() && is_serializable<mesh>() && is_serializable<closed>());

static_assert(!is_serializable<int*>() && !is_serializable<const char*>() && !is_serializable<int&>());
static_assert(!is_serializable<opaque>() && !is_serializable<std::thread>() &&
              !is_serializable<std::function<void()>>());
static_assert(!is_serializable<std::vector<opaque>>() && !is_serializable<std::vector<std::vector<opaque>>>());
static_assert(!is_serializable<std::vector<int*>>() && !is_serializable<std::pair<int, opaque>>());
static_assert(!is_serializable<std::map<std::string, std::vector<opaque>>>());
static_assert(!is_serializable<std::tuple<int, std::string, opaque>>());
static_assert(!is_serializable<std::optional<opaque>>() && !is_serializable<std::unordered_map<int, opaque>>());
static_assert(!is_serializable<std::list<int>>(), "cereal/types/list.hpp is not included");

static_assert(is_plain<int> && is_plain<bool> && is_plain<double> && is_plain<colour> && is_plain<old_style>);
static_assert(!is_plain<std::string> && !is_plain<point> && !is_plain<int*>);
static_assert(is_array<std::vector<double>> && is_array<std::string>);
static_assert(!is_array<std::vector<bool>> && !is_array<std::vector<point>>);
static_assert(!is_array<std::vector<std::vector<double>>> && !is_array<mesh>);

TEST_CASE("an array or smart pointer of what cannot be sent cannot be sent either") {
  // not by static_assert, so that one gap does not hide the other tests
  CHECK_FALSE(is_serializable<std::array<opaque, 3>>());
  CHECK_FALSE(is_serializable<std::vector<std::array<opaque, 3>>>());
  CHECK_FALSE(is_serializable<std::shared_ptr<opaque>>());
  CHECK_FALSE(is_serializable<std::unique_ptr<opaque>>());
  CHECK(is_serializable<std::array<std::array<double, 3>, 3>>());
  CHECK(is_serializable<std::array<point, 2>>());
}

// ---- round trips -----------------------------------------------------------------------------------

TEST_CASE("numbers of every kind survive, the extreme ones too") {
  CHECK(survives(true));
  CHECK(survives('x'));
  CHECK(survives(std::numeric_limits<std::int8_t>::min()));
  CHECK(survives(std::numeric_limits<std::int64_t>::min()));
  CHECK(survives(std::numeric_limits<std::uint64_t>::max()));
  CHECK(survives(std::numeric_limits<double>::denorm_min()));
  CHECK(survives(-std::numeric_limits<float>::infinity()));
  CHECK(survives(1.0L / 3));
  CHECK(survives(std::numeric_limits<double>::quiet_NaN(),
                 [](double a, double b) { return std::isnan(a) && std::isnan(b); }));
  CHECK(survives(colour::blue));
  CHECK(survives(second));
}

TEST_CASE("strings survive with zeros inside, empty and large") {
  CHECK(survives(std::string()));
  CHECK(survives(std::string("a\0b", 3)));
  CHECK(survives(std::string(1'000'000, 'm')));
  CHECK(survives(std::wstring(L"wide")));
  CHECK(survives(std::vector<std::string>{"", "one", std::string(20'000, '2')}));
}

TEST_CASE("every container that manta includes survives, full and empty") {
  CHECK(survives(std::vector<int>{}));
  CHECK(survives(std::vector<int>{1, 2, 3}));
  CHECK(survives(std::vector<bool>{true, false, true, true}));
  CHECK(survives(std::vector<bool>(100'000, true)));
  CHECK(survives(std::array<double, 3>{1, 2, 3}));
  CHECK(survives(std::array<std::string, 2>{"a", "b"}));
  CHECK(survives(std::map<std::string, int>{{"a", 1}, {"b", 2}}));
  CHECK(survives(std::multimap<int, std::string>{{1, "a"}, {1, "b"}}, [](const auto& a, const auto& b) {
    return std::is_permutation(a.begin(), a.end(), b.begin(), b.end());  // cereal turns equal keys round
  }));
  CHECK(survives(std::unordered_map<std::string, double>{{"x", 1.5}, {"y", 2.5}}));
  CHECK(survives(std::unordered_multimap<int, int>{{1, 2}, {1, 3}}));
  CHECK(survives(std::set<std::string>{"b", "a"}));
  CHECK(survives(std::multiset<int>{3, 3, 1}));
  CHECK(survives(std::map<int, std::map<int, int>>{}));
}

TEST_CASE("tuples, pairs, optionals and complex numbers survive") {
  CHECK(survives(std::tuple<int, std::string, std::vector<double>>{1, "two", {3.0}}));
  CHECK(survives(std::tuple<>{}));
  CHECK(survives(std::pair<std::string, std::pair<int, colour>>{"p", {2, colour::green}}));
  CHECK(survives(std::optional<std::string>{}));
  CHECK(survives(std::optional<std::string>{"there"}));
  CHECK(survives(std::optional<std::vector<std::optional<int>>>{{1, std::nullopt, 3}}));
  CHECK(survives(std::complex<double>{1.5, -2.5}));
  CHECK(survives(std::vector<std::complex<float>>(10'000, {1, 2})));
}

TEST_CASE("smart pointers survive with what they point to, null too, and sharing within one value is kept") {
  const auto equal = [](const auto& a, const auto& b) { return (!a && !b) || (a && b && *a == *b); };
  CHECK(survives(std::make_unique<point>(point{1, 2, "p"}), equal));
  CHECK(survives(std::unique_ptr<int>(), equal));
  CHECK(survives(std::make_shared<std::vector<int>>(10'000, 3), equal));
  CHECK(survives(std::shared_ptr<point>(), equal));

  const auto shared = std::make_shared<point>(point{7, 8, "shared"});
  const buffer bytes = encode(std::vector<std::shared_ptr<point>>{shared, shared, std::make_shared<point>()});
  for (int time = 0; time < 2; ++time) {  // each archive starts afresh
    std::vector<std::shared_ptr<point>> again;
    source in(bytes.data(), bytes.size());
    read(again, in);
    REQUIRE(again.size() == 3);
    CHECK(*again[0] == *shared);
    CHECK(again[0] == again[1]);
    CHECK(again[0] != again[2]);
  }
}

TEST_CASE("classes with serialize, and with save and load, survive at any depth") {
  const point p{1, 2.5, "p"};
  CHECK(survives(p));
  CHECK(survives(std::vector<point>{p, {}, {2, 0, std::string(30'000, 'n')}}));
  CHECK(survives(mesh{{numbers(10), {}, numbers(5000)}, {{"origin", p}}}));
  CHECK(survives(std::map<std::string, std::vector<mesh>>{{"a", {mesh{{numbers(3)}, {}}, {}}}, {"b", {}}}));
}

TEST_CASE("random nested vectors survive") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  bool ok = true;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<std::vector<float>>> value(draw() % 5);
    for (auto& v : value) {
      v.resize(draw() % 5);
      for (auto& inner : v)
        inner.assign(draw() % 2 == 0 ? draw() % 10 : 4090 + draw() % 12, static_cast<float>(draw() % 1000));
    }
    ok = ok && survives(value);
  }
  CHECK(ok);
}

TEST_CASE("writing the same value twice gives the same bytes") {
  const mesh m{{numbers(10), numbers(20)}, {{"a", {1, 2, "x"}}, {"b", {}}}};
  const buffer a = encode(m);
  const buffer b = encode(m);
  REQUIRE(a.size() == b.size());
  CHECK(std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// ---- segments --------------------------------------------------------------------------------------

TEST_CASE("an array travels apart from exactly segment_bytes on, from where it lies") {
  const std::size_t most = segment_bytes / sizeof(double);
  for (const std::size_t n : {most - 1, most, most + 1}) {
    const std::vector<double> value = numbers(n);
    list<segment> segments;
    const buffer bytes = encode(value, &segments);
    if (n < most) {
      CHECK(segments.empty());
      CHECK(bytes.size() == 8 + n * sizeof(double));
    } else {
      REQUIRE(segments.size() == 1);
      CHECK(segments[0].data == value.data());
      CHECK(segments[0].bytes == n * sizeof(double));
      CHECK(bytes.size() == 8);
    }
  }
}

TEST_CASE("the large arrays inside a value are listed in the order in which they are read") {
  const mesh m{{numbers(3000), numbers(3), numbers(4000), numbers(2048)}, {}};
  list<segment> segments;
  encode(m, &segments);
  REQUIRE(segments.size() == 3);
  CHECK(segments[0].data == m.cells[0].data());
  CHECK(segments[1].data == m.cells[2].data());
  CHECK(segments[2].data == m.cells[3].data());
  manta::wire::encoded e;
  e.segments.swap(segments);
  e.bytes = buffer("12345", 5);
  CHECK(e.total_bytes() == 5 + (3000 + 4000 + 2048) * sizeof(double));
}

TEST_CASE("a source with places lists where the arrays go, and what is written there is the value") {
  const std::vector<double> value = numbers(5000, 0.5);
  list<segment> segments, places;
  const buffer bytes = encode(value, &segments);
  std::vector<double> again;
  source in(bytes.data(), bytes.size(), &places);
  read(again, in);
  REQUIRE(places.size() == 1);
  REQUIRE(again.size() == value.size());
  CHECK(places[0].data == again.data());
  CHECK(places[0].bytes == value.size() * sizeof(double));
  std::memcpy(places[0].data, segments[0].data, places[0].bytes);  // what the transport does
  CHECK(again == value);

  std::string text;
  places.clear();
  segments.clear();
  const std::string sent(segment_bytes, 't');
  const buffer string_bytes = encode(sent, &segments);
  source string_in(string_bytes.data(), string_bytes.size(), &places);
  read(text, string_in);
  REQUIRE(places.size() == 1);
  CHECK(places[0].data == text.data());
  std::memcpy(places[0].data, segments[0].data, places[0].bytes);
  CHECK(text == sent);
}

TEST_CASE("a source with places reads small arrays itself") {
  const std::vector<double> value = numbers(100);
  const buffer bytes = encode(value);
  list<segment> places;
  std::vector<double> again;
  source in(bytes.data(), bytes.size(), &places);
  read(again, in);
  CHECK(places.empty());
  CHECK(again == value);
}

// ---- limits and errors ---------------------------------------------------------------------------

TEST_CASE("a limit lets a value through that is exactly as long and stops one that is a byte longer") {
  const point p{1, 2, "name"};
  const std::size_t length = encode(p).size();
  buffer out("before", 6);
  {
    sink exact(out, nullptr, length);
    CHECK_NOTHROW(manta::wire::encode(p, exact));
    CHECK(out.size() == 6 + length);
  }
  out.shrink(6);
  sink shorter(out, nullptr, length - 1);
  CHECK_THROWS_AS(manta::wire::encode(p, shorter), over_limit);
  CHECK(out.size() < 6 + length);
}

TEST_CASE("a limit stops a large array before it is copied") {
  buffer out;
  sink limited(out, nullptr, 100);
  CHECK_THROWS_AS(manta::wire::encode(numbers(10'000'000), limited), over_limit);
  CHECK(out.size() <= 100);
}

TEST_CASE("bytes that end too early are a serialization_error wherever they end") {
  CHECK(each_prefix_is_refused(1234567));
  CHECK(each_prefix_is_refused(std::string("some text")));
  CHECK(each_prefix_is_refused(std::vector<double>{1, 2, 3}));
  CHECK(each_prefix_is_refused(std::vector<std::string>{"a", "bc", "def"}));
  CHECK(each_prefix_is_refused(std::map<std::string, point>{{"a", {1, 2, "b"}}, {"c", {}}}));
  CHECK(each_prefix_is_refused(
      std::tuple<bool, std::optional<int>, std::shared_ptr<int>>{true, 3, std::make_shared<int>(4)}));
  CHECK(each_prefix_is_refused(mesh{{numbers(4), {}}, {{"m", {1, 1, "1"}}}}));
  int value = 0;
  source none(nullptr, 0);
  CHECK_THROWS_WITH_AS(read(value, none), doctest::Contains("ended before"), serialization_error);
}

// ---- buffer ---------------------------------------------------------------------------------------------

TEST_CASE("a buffer grows, keeps its bytes and gives them away when moved") {
  buffer b;
  CHECK(b.empty());
  b.append(nullptr, 0);
  CHECK(b.empty());
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 37), static_cast<char>('a' + i % 26));
    b.append(piece.data(), piece.size());
    expected += piece;
  }
  REQUIRE(b.size() == expected.size());
  CHECK(std::memcmp(b.data(), expected.data(), expected.size()) == 0);
  buffer taken(std::move(b));
  CHECK(b.empty());  // NOLINT(bugprone-use-after-move): promised
  CHECK(taken.size() == expected.size());
  b = std::move(taken);
  CHECK(b.size() == expected.size());
  b.shrink(3);
  b.append("!", 1);
  CHECK(std::string(reinterpret_cast<const char*>(b.data()), b.size()) == expected.substr(0, 3) + "!");
  b.clear();
  CHECK(b.empty());
}

// ---- the table -------------------------------------------------------------------------------------------

TEST_CASE("types have an index each, under which they can be written, read and destroyed unseen") {
  using manta::wire::type_at;
  using manta::wire::type_index;
  const std::uint32_t indices[] = {type_index<int>::value,    type_index<void>::value,
                                   type_index<point>::value,  type_index<mesh>::value,
                                   type_index<colour>::value, type_index<std::vector<double>>::value,
                                   type_index<closed>::value};
  CHECK(std::set<std::uint32_t>(std::begin(indices), std::end(indices)).size() == std::size(indices));

  CHECK(type_at(type_index<int>::value).plain_bytes == sizeof(int));
  CHECK(type_at(type_index<colour>::value).plain_bytes == 1);
  CHECK(type_at(type_index<void>::value).plain_bytes == 0);
  CHECK((type_at(type_index<void>::value).read == nullptr));
  CHECK((type_at(type_index<std::vector<double>>::value).array != nullptr));
  CHECK((type_at(type_index<point>::value).array == nullptr));
  CHECK(manta::wire::demangle(type_at(type_index<mesh>::value).mangled).find("mesh") != std::string::npos);

  const auto& entry = type_at(type_index<point>::value);
  const point p{3, 4, "five"};
  buffer bytes;
  sink out(bytes);
  entry.write(&p, out);
  source in(bytes.data(), bytes.size());
  void* again = entry.read(in);
  CHECK(*static_cast<point*>(again) == p);
  entry.destroy(again);
}

TEST_CASE("a type whose default constructor only cereal may call can be read") {
  const auto& entry = manta::wire::type_at(manta::wire::type_index<closed>::value);
  const closed c(9);
  buffer bytes;
  sink out(bytes);
  entry.write(&c, out);
  source in(bytes.data(), bytes.size());
  void* again = entry.read(in);
  CHECK(static_cast<closed*>(again)->value() == 9);
  entry.destroy(again);
}

TEST_CASE("a load that throws leaves no half-read value behind") {
  const auto& entry = manta::wire::type_at(manta::wire::type_index<greedy>::value);
  buffer bytes;
  {
    const greedy g;
    sink out(bytes);
    entry.write(&g, out);
  }
  REQUIRE(greedy::alive == 0);
  source in(bytes.data(), bytes.size());
  CHECK_THROWS_AS(entry.read(in), serialization_error);
  CHECK(greedy::alive == 0);
}

TEST_CASE("functions are found by index, and the listing names everything in order") {
  using manta::wire::function_entry;
  using name = decltype(std::declval<function_entry>().name());
  const std::uint32_t one =
      manta::wire::add_entry(function_entry{"3one", [] { return name("one"); }, nullptr, false, false});
  const std::uint32_t two =
      manta::wire::add_entry(function_entry{"3two", [] { return name("two"); }, nullptr, false, false});
  CHECK(two == one + 1);
  CHECK(manta::wire::function_at(one).name() == "one");
  CHECK(manta::wire::function_at(two).name() == "two");
  const std::string listing = manta::wire::table_listing();
  CHECK(listing.find("f 3one\nf 3two\n") != std::string::npos);
  CHECK(listing.find(std::string("\nt ") + typeid(mesh).name() + '\n') != std::string::npos);
  CHECK(listing == manta::wire::table_listing());
}

TEST_CASE("type_name and demangle say what the source says") {
  CHECK(manta::wire::type_name<int>() == "int");
  CHECK(manta::wire::type_name<std::vector<int>>().substr(0, 16) == "std::vector<int>");
  CHECK(manta::wire::type_name<point>().find("point") != std::string_view::npos);
  CHECK(manta::wire::demangle(typeid(std::vector<int>).name()).substr(0, 15) == "std::vector<int");
  CHECK(manta::wire::demangle("not a mangled name") == "not a mangled name");
}
