// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a node's payload can be, when it is decoded, and what becomes of it;
// failures as they are made, sent, described and thrown again.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "manta/store/value.hpp"
#include "support/text.hpp"

using manta::failure_details;
using manta::graph::form;
using manta::graph::node;
using manta::graph::state;
using manta::store::failure;
using manta::testing::contains;
using manta::wire::buffer;
using manta::wire::source;
using manta::wire::type_index;

namespace store = manta::store;
using failure_kind = decltype(failure::kind);

namespace {

/// Counts its instances, and how often it was written and read.
struct counted {
  static inline int alive = 0, writes = 0, reads = 0;
  std::string text;
  counted() { ++alive; }
  explicit counted(std::string t) : text(std::move(t)) { ++alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  template <class Archive>
  void save(Archive& archive) const {
    ++writes;
    archive(text);
  }
  template <class Archive>
  void load(Archive& archive) {
    ++reads;
    archive(text);
    if (text == "bad") throw std::runtime_error("cannot be loaded");
  }
};

/// Says that it holds references, as futures and handles do.
struct referring {
  static inline int alive = 0;
  int value = 0;
  referring() { ++alive; }
  referring(const referring&) = delete;
  referring& operator=(const referring&) = delete;
  ~referring() { --alive; }
  void save(manta::wire::writer& archive) const {
    archive.note_reference();
    archive(value);
  }
  void load(manta::wire::reader& archive) { archive(value); }
};

struct stubborn {
  std::vector<std::vector<int>> rows{50, std::vector<int>(1000)};
  template <class Archive>
  void save(Archive& archive) const {
    archive(rows);
    throw std::runtime_error("cannot be saved");
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(rows);
  }
};
struct large_referring {
  std::vector<std::vector<int>> rows{50, std::vector<int>(1000)};
  void save(manta::wire::writer& archive) const {
    archive(rows);
    archive.note_reference();
  }
  void load(manta::wire::reader& archive) { archive(rows); }
};

/// An exception that travels as itself.
struct travelled {
  int code = 0;
};

const std::uint32_t travelled_entry = manta::wire::add_entry(
    store::exception_entry{typeid(travelled).name(),
                           [](std::string& bytes) {
                             try {
                               throw;
                             } catch (const travelled& e) {
                               bytes = std::to_string(e.code);
                               return true;
                             } catch (...) {
                               return false;
                             }
                           },
                           [](const std::string& bytes, const std::string&) { throw travelled{std::stoi(bytes)}; }});

template <class T>
buffer encode(const T& value) {
  buffer bytes;
  manta::wire::sink out(bytes);
  manta::wire::encode(value, out);
  return bytes;
}

template <class T>
void set_encoded(node& n, const T& value, bool references = false) {
  const buffer bytes = encode(value);
  n.type = type_index<T>::value;
  store::set_blob(n, bytes.data(), bytes.size(), references);
  n.state = state::ready;
}

/// The failure made from what `thrower` throws.
template <class Thrower>
failure caught(Thrower thrower) {
  try {
    thrower();
  } catch (...) {
    return store::current_failure();
  }
  return {};
}

failure example(failure_kind kind) {
  failure f;
  f.kind = kind;
  f.message = "the reason in one sentence";
  f.details = failure_details{"no convergence", "std::runtime_error", "solve", "node17", 3, 0, {}};
  return f;
}

}  // namespace

// ---- payloads ----------------------------------------------------------------------------------------------

TEST_CASE("up to 24 plain bytes lie in the node itself") {
  node n;
  const double pair[3] = {1.5, 2.5, 3.5};
  store::set_plain(n, pair, sizeof pair);
  CHECK(n.form == form::plain);
  CHECK(store::decode(n) == n.bytes);
  CHECK(std::memcmp(store::decode(n), pair, sizeof pair) == 0);
  store::clear(n);
  CHECK(n.form == form::none);
  store::set_plain(n, nullptr, 0);
  CHECK(n.form == form::plain);
  store::clear(n);
}

TEST_CASE("a decoded value is owned by its node") {
  node n;
  n.type = type_index<counted>::value;
  auto* value = new counted("mine");
  store::set_box(n, value);
  CHECK(n.form == form::box);
  CHECK(store::decode(n) == value);
  CHECK(counted::alive == 1);
  store::clear(n);
  CHECK(counted::alive == 0);
  CHECK(n.form == form::none);
}

TEST_CASE("encoded bytes are decoded when somebody asks, and once") {
  node n;
  counted::reads = 0;
  set_encoded(n, counted("later"));
  CHECK(n.form == form::blob);
  CHECK(counted::reads == 0);
  CHECK(counted::alive == 0);
  const void* first = store::decode(n);
  CHECK(static_cast<const counted*>(first)->text == "later");
  CHECK(n.form == form::box);
  CHECK(store::decode(n) == first);
  CHECK(counted::reads == 1);
  CHECK(counted::alive == 1);
  store::clear(n);
  CHECK(counted::alive == 0);
}

TEST_CASE("encoded bytes are copied: the source may go") {
  node n;
  n.type = type_index<std::string>::value;
  {
    buffer bytes = encode(std::string("kept"));
    store::set_blob(n, bytes.data(), bytes.size(), false);
    std::memset(bytes.data(), 0, bytes.size());
  }
  CHECK(*static_cast<const std::string*>(store::decode(n)) == "kept");
  store::clear(n);
  store::set_blob(n, nullptr, 0, false);
  CHECK(n.blob.bytes == 0);
  store::clear(n);
}

TEST_CASE("a load that throws leaves the bytes, to be met again and to be cleared") {
  node n;
  set_encoded(n, counted("bad"));
  for (int time = 0; time < 2; ++time) {
    CHECK_THROWS_WITH_AS(store::decode(n), "cannot be loaded", std::runtime_error);
    CHECK(n.form == form::blob);
    CHECK(counted::alive == 0);
  }
  store::clear(n);
  CHECK(n.form == form::none);
}

TEST_CASE("bytes that are cleared unseen are not decoded, unless references are inside") {
  node n;
  counted::reads = 0;
  set_encoded(n, counted("never"));
  store::clear(n);
  CHECK(counted::reads == 0);

  set_encoded(n, counted("drop what it refers to"), true);
  CHECK(n.has(node::references));
  store::clear(n);
  CHECK(counted::reads == 1);
  CHECK(counted::alive == 0);
  CHECK_FALSE(n.has(node::references));

  set_encoded(n, counted("bad"), true);  // its load() throws
  store::clear(n);
  CHECK(n.form == form::none);
  CHECK(counted::alive == 0);
}

TEST_CASE("what a value takes is counted where its containers say, and spilled and made again as a whole") {
  store::ledger book;
  book.set_limits(300'000, "/tmp");
  const auto make = [&](node& n, std::size_t count) {
    auto* const value = new std::map<int, std::vector<std::string>>;
    for (std::size_t i = 0; i < count; ++i) (*value)[static_cast<int>(i)] = {"short", std::string(100, 'x')};
    n.type = type_index<std::map<int, std::vector<std::string>>>::value;
    store::set_box(n, value);
    n.state = state::ready;
    store::enter(n, book, 0);
  };
  const auto is_right = [](node& n, std::size_t count) {
    const auto& value = *static_cast<const std::map<int, std::vector<std::string>>*>(store::decode(n));
    bool right = value.size() == count;
    for (const auto& [i, strings] : value) right = right && strings.size() == 2 && strings[1] == std::string(100, 'x');
    return right;
  };
  node small, a, b, c;
  make(small, 5);
  CHECK(store::large_of(small) == nullptr);
  make(a, 1000);
  REQUIRE(store::large_of(a) != nullptr);
  CHECK(store::known_bytes(a) >
        1000 * (sizeof(std::pair<const int, std::vector<std::string>>) + 2 * sizeof(std::string) + 100));
  CHECK(store::known_bytes(a) < 1000 * 400);
  make(b, 1000);
  CHECK(a.form == form::pages);  // used longest ago
  CHECK(b.form == form::box);
  CHECK(book.memory().charged() == store::known_bytes(b));
  manta::wire::encoded from_disk, from_memory;
  store::encode(a, from_disk);
  CHECK(is_right(a, 1000));
  CHECK(b.form == form::pages);
  store::encode(a, from_memory);
  REQUIRE(from_disk.bytes.size() == from_memory.bytes.size());
  CHECK(std::memcmp(from_disk.bytes.data(), from_memory.bytes.data(), from_disk.bytes.size()) == 0);
  {
    node* const both[] = {&a, &b};
    const store::looking here(both, 2);
    const void* const first = store::decode(a);
    CHECK(is_right(b, 1000));
    make(c, 1000);
    CHECK(c.form == form::pages);  // the others may not move
    CHECK(store::decode(a) == first);
    CHECK(book.memory().charged() > book.memory().share());
  }
  CHECK(book.memory().charged() <= book.memory().share());
  CHECK(is_right(b, 1000));
  store::give(b);
  CHECK(is_right(c, 1000));
  CHECK(b.form == form::box);
  CHECK(store::let_go(b));
  CHECK(store::large_of(b) == nullptr);
  for (node* n : {&small, &a, &b, &c}) store::clear(*n);
  CHECK(book.values().size() == 0);
  CHECK(book.memory().charged() == 0);
  CHECK(book.disk().bytes() == 0);
}

TEST_CASE("what cannot be encoded stays in memory") {
  store::ledger book;
  book.set_limits(100'000, "/tmp");
  node fails, refers, next;
  fails.type = type_index<stubborn>::value;
  store::set_box(fails, new stubborn);
  store::enter(fails, book, 0);
  CHECK(fails.form == form::box);
  CHECK(store::large_of(fails)->fixed);
  refers.type = type_index<large_referring>::value;
  store::set_box(refers, new large_referring);
  store::enter(refers, book, 0);
  CHECK(refers.form == form::box);
  CHECK(book.memory().charged() > book.memory().share());
  CHECK(contains(book.excess(), "have futures inside"));
  store::clear(fails);
  store::clear(refers);
  CHECK(book.memory().charged() == 0);
}

TEST_CASE("a value is here when it has ended and does not lie elsewhere") {
  node n;
  CHECK_FALSE(store::is_here(n));
  n.form = form::remote;
  n.state = state::ready;
  CHECK_FALSE(store::is_here(n));
  store::set_plain(n, nullptr, 0);
  CHECK(store::is_here(n));
  n.state = state::failed;
  CHECK(store::is_here(n));
}

TEST_CASE("a failure is shared by the nodes that have it") {
  const store::failure_ptr why = store::share(example(failure_kind::task));
  {
    node a, b;
    store::set_failure(a, why);
    store::set_failure(b, store::failure_of(a));
    CHECK(store::failure_of(b).get() == why.get());
    CHECK(why->owners == 3);
    store::clear(a);
    CHECK(a.form == form::none);
    CHECK(store::failure_of(b)->details.function == "solve");
    store::clear(b);
  }
  CHECK(why->owners == 1);
}

// ---- encoding within a limit -----------------------------------------------------------------------------------

TEST_CASE("a value of exactly the limit is encoded, one byte less is refused and leaves nothing") {
  node n;
  n.type = type_index<std::string>::value;
  store::set_box(n, new std::string(100, 's'));
  const std::size_t length = encode(std::string(100, 's')).size();
  bool references = true;
  buffer out("before", 6);
  CHECK(store::encode_within(n, out, length, references));
  CHECK(out.size() == 6 + length);
  CHECK_FALSE(references);
  out.shrink(6);
  CHECK_FALSE(store::encode_within(n, out, length - 1, references));
  CHECK(out.size() == 6);
  CHECK(std::memcmp(out.data(), "before", 6) == 0);
  store::clear(n);
}

TEST_CASE("encoded bytes are passed on as they are, without a look at the value") {
  node n;
  set_encoded(n, counted("as it is"));
  const std::size_t length = n.blob.bytes;
  counted::reads = counted::writes = 0;
  bool references = false;
  buffer out;
  CHECK(store::encode_within(n, out, length, references));
  CHECK(out.size() == length);
  CHECK(std::memcmp(out.data(), n.blob.data, length) == 0);
  CHECK_FALSE(store::encode_within(n, out, length - 1, references));
  CHECK(out.size() == length);
  CHECK(counted::reads == 0);
  CHECK(counted::writes == 0);
  store::clear(n);
}

TEST_CASE("encoding says whether references are inside") {
  node n;
  n.type = type_index<referring>::value;
  store::set_box(n, new referring);
  bool references = false;
  buffer out;
  CHECK(store::encode_within(n, out, 100, references));
  CHECK(references);
  store::clear(n);
  CHECK(referring::alive == 0);
}

// ---- failures ------------------------------------------------------------------------------------------------

TEST_CASE("a failure is made from whatever was thrown") {
  const failure a = caught([] { throw std::out_of_range("index 7 of 3"); });
  CHECK(a.kind == failure_kind::task);
  CHECK(a.details.what == "index 7 of 3");
  CHECK(a.details.type == "std::out_of_range");
  CHECK(a.exception_type.empty());

  CHECK(caught([] { throw std::string("a string"); }).details.what == "a string");
  CHECK(caught([] { throw "a literal"; }).details.what == "a literal");
  const failure number = caught([] { throw 42; });
  CHECK(number.details.type == "int");
  CHECK(contains(number.details.what, "not a std::exception"));

  CHECK(caught([] { throw manta::serialization_error("s"); }).kind == failure_kind::serialization);
  CHECK(caught([] { throw manta::deadlock("d"); }).kind == failure_kind::deadlock);
  CHECK(caught([] { throw manta::task_failed("inner"); }).kind == failure_kind::task);
}

TEST_CASE("a failure is thrown as what it is, with what it says") {
  const auto thrown = [](failure_kind kind) { store::raise(example(kind)); };
  CHECK_THROWS_AS(thrown(failure_kind::task), manta::task_failed);
  CHECK_THROWS_AS(thrown(failure_kind::cancelled), manta::cancelled);
  CHECK_THROWS_AS(thrown(failure_kind::actor), manta::actor_died);
  CHECK_THROWS_AS(thrown(failure_kind::serialization), manta::serialization_error);
  CHECK_THROWS_AS(thrown(failure_kind::deadlock), manta::deadlock);
  CHECK_THROWS_AS(thrown(failure_kind::unschedulable), manta::unschedulable);
  for (const failure_kind kind : {failure_kind::task, failure_kind::cancelled, failure_kind::actor,
                                  failure_kind::serialization, failure_kind::deadlock, failure_kind::unschedulable}) {
    const failure f = example(kind);
    CHECK_THROWS_WITH(store::raise(f), store::describe(f).c_str());
  }
}

TEST_CASE("a failed task's error has the parts of its message") {
  failure f = example(failure_kind::task);
  f.details.chain = {"evaluate", "summarise"};
  try {
    store::raise(f);
  } catch (const manta::task_failed& e) {
    CHECK(e.details().what == "no convergence");
    CHECK(e.details().function == "solve");
    CHECK(e.details().rank == 3);
    CHECK(e.details().host == "node17");
    CHECK(e.details().chain == std::vector<std::string>{"evaluate", "summarise"});
  }
}

TEST_CASE("the description says what, where, which attempt and who was hit") {
  failure f = example(failure_kind::task);
  CHECK(store::describe(f) == "manta: task 'solve' failed on rank 3 (node17) with std::runtime_error: no convergence");
  f.details.attempt = 2;
  CHECK(contains(store::describe(f), "at attempt 2"));
  f.details.chain = {"evaluate"};
  CHECK(contains(store::describe(f), "; not run because of it: 'evaluate'"));
  f.details.chain = {"evaluate", "summarise"};
  CHECK(contains(store::describe(f), "; not run because of it: 'evaluate', 'summarise'"));

  failure dead = example(failure_kind::actor);
  CHECK(store::describe(dead) == "manta: the reason in one sentence");
  dead.details.chain = {"step"};
  CHECK(store::describe(dead) == "manta: the reason in one sentence; not run because of it: 'step'");
}

TEST_CASE("a registered exception is thrown as itself, also after it was sent") {
  const failure f = caught([] { throw travelled{17}; });
  CHECK(f.exception_type == typeid(travelled).name());
  const buffer bytes = store::encode(f);
  const store::failure_ptr arrived = store::decode_failure(bytes.data(), bytes.size());
  try {
    store::raise(*arrived);
  } catch (const travelled& e) {
    CHECK(e.code == 17);
  }
}

TEST_CASE("a failure arrives as it was sent, and cut bytes are refused") {
  failure f = example(failure_kind::deadlock);
  f.details.attempt = 4;
  f.details.chain = {"a", "b"};
  const buffer bytes = store::encode(f);
  const store::failure_ptr again = store::decode_failure(bytes.data(), bytes.size());
  CHECK(again->kind == f.kind);
  CHECK(again->message == f.message);
  CHECK(again->details.attempt == 4);
  CHECK(again->details.chain == f.details.chain);
  CHECK(store::describe(*again) == store::describe(f));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    CHECK_THROWS_AS(store::decode_failure(bytes.data(), n), manta::serialization_error);
  }
}
