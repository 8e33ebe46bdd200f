// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Arrays whose pages move under them: to node memory, to a disk and back as
// they are read, with the bytes and the addresses staying what they were.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "manta/store/ledger.hpp"

namespace store = manta::store;
using store::large;
using store::ledger;
using store::region;

namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

/// An array whose bytes only its seed gives.
struct sample {
  explicit sample(std::size_t bytes, std::uint32_t s) : seed(s), numbers(bytes / 4) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = at(i);
  }
  std::uint32_t at(std::size_t i) const { return seed * 2654435761U + static_cast<std::uint32_t>(i); }
  bool is_whole(const std::byte* array) const {
    const auto* const data = reinterpret_cast<const std::uint32_t*>(array);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (data[i] != at(i)) return false;
    }
    return true;
  }
  bool is_whole() const { return is_whole(bytes()); }
  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(numbers.data()); }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(numbers.data()); }
  std::size_t size() const { return 4 * numbers.size(); }

  std::uint32_t seed;
  std::vector<std::uint32_t> numbers;
};

/// Physical memory of this process that is not the file system's, in bytes.
std::size_t resident() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  REQUIRE(status != nullptr);
  char line[256];
  std::size_t kib = 0, part = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "RssAnon: %zu", &part) == 1 || std::sscanf(line, "RssShmem: %zu", &part) == 1) kib += part;
  }
  std::fclose(status);
  return 1024 * kib;
}

/// As another process takes it.
store::node_file* look_at(const large& e) {
  auto memory = manta::base::file::of_process(getpid(), e.shared->memory().get(), -1, O_RDWR);
  REQUIRE(memory.identity() == e.shared->identity());
  return store::node_file::of_rank(0, std::move(memory), e.shared->identity(), e.shared->room());
}

}  // namespace

TEST_CASE("what is more than the budget moves to a disk, longest unused first, and is still there") {
  ledger book;
  book.set_limits(3 * megabyte, "/tmp");
  std::vector<std::unique_ptr<sample>> values;
  std::vector<large*> entries;
  for (std::uint32_t i = 0; i < 10; ++i) {
    values.push_back(std::make_unique<sample>(megabyte + 4 * i, i));
    entries.push_back(&book.enter(values[i]->bytes(), values[i]->size(), 0));
    CHECK(book.memory().charged() <= 3 * megabyte);
    CHECK(book.excess().empty());
  }
  for (std::uint32_t i = 0; i < 10; ++i)
    CHECK(entries[i]->on_disk() == (i < 8));  // the later are a little over a megabyte
  CHECK(book.disk().bytes() >= 8 * megabyte);
  for (const auto& v : values) CHECK(v->is_whole());
  book.use(*entries[0]);  // is one of the youngest now, its pages may be in memory
  CHECK(entries[0]->charged == values[0]->size());
  CHECK(entries[8]->on_disk());
  CHECK_FALSE(entries[9]->on_disk());
  CHECK(book.memory().charged() <= 3 * megabyte);
  for (const auto& v : values) CHECK(v->is_whole());
  for (large* e : entries) book.remove(*e);
  CHECK(book.disk().bytes() == 0);
  CHECK(book.memory().charged() == 0);
  CHECK(book.values().size() == 0);
}

TEST_CASE("moving to a disk gives the memory back, and pages that were read go again") {
  ledger book;
  book.set_limits(8 * megabyte, "/tmp");
  constexpr std::size_t each = 32 * megabyte;
  sample first(each, 1), second(each, 2);
  const std::size_t before = resident();
  large& a = book.enter(first.bytes(), first.size(), 0);
  CHECK(a.on_disk());
  CHECK(resident() + each / 2 < before);
  large& b = book.enter(second.bytes(), second.size(), 0);
  CHECK(resident() + each < before);
  CHECK(first.is_whole());
  CHECK(second.is_whole());
  book.use(a);
  book.use(b);
  CHECK(book.memory().charged() == 0);  // each is larger than the budget
  book.remove(a);
  book.remove(b);
}

TEST_CASE("without a disk the excess is named, and the largest are known") {
  ledger book;
  book.set_limits(megabyte, "none");
  sample small(megabyte / 2, 1), big(megabyte, 2), tiny(megabyte / 4, 3);
  large& s = book.enter(small.bytes(), small.size(), 1);
  CHECK(book.excess().empty());
  large& b = book.enter(big.bytes(), big.size(), 2);
  large& t = book.enter(tiny.bytes(), tiny.size(), 3);
  CHECK(book.excess().find("MANTA_SPILL_FOLDER") != std::string::npos);
  std::vector<std::uint32_t> order;
  book.values().largest(2, [&](const large& e) { order.push_back(e.function); });
  CHECK(order == std::vector<std::uint32_t>{2, 1});
  order.clear();
  book.values().largest(9, [&](const large& e) { order.push_back(e.function); });
  CHECK(order == std::vector<std::uint32_t>{2, 1, 3});
  book.remove(b);
  CHECK(book.excess().empty());
  book.remove(s);
  book.remove(t);

  ledger nowhere;
  nowhere.set_limits(megabyte, "/does/not/exist");
  large& e = nowhere.enter(big.bytes(), big.size(), 0);
  CHECK(nowhere.excess().empty());
  large& f = nowhere.enter(small.bytes(), small.size(), 0);
  CHECK(nowhere.excess().find("/does/not/exist: No such file or directory") != std::string::npos);
  CHECK(big.is_whole());
  nowhere.remove(e);
  nowhere.remove(f);
}

TEST_CASE("shared arrays are mapped by others, stay where they are, and writers do not see each other") {
  ledger owner, other;
  owner.set_limits(64 * megabyte, "/tmp");
  other.set_limits(64 * megabyte, "/tmp");
  for (const std::size_t bytes : {store::shared_bytes, store::shared_bytes + 4, megabyte + 4092, 40 * megabyte}) {
    sample value(bytes, 7);
    large& mine = owner.enter(value.bytes(), value.size(), 0);
    REQUIRE(owner.share(mine));
    CHECK(mine.object.place == region::place::node);
    CHECK(value.is_whole());
    CHECK(owner.memory().charged() == value.size());

    large* const theirs = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    REQUIRE(theirs != nullptr);
    CHECK(value.is_whole(theirs->array()));
    CHECK(other.memory().charged() == 0);

    std::vector<std::uint32_t> copy(value.numbers.size());  // as a decoded value's, at another place in its page or not
    other.fill(*theirs, reinterpret_cast<std::byte*>(copy.data()));
    CHECK(copy == value.numbers);
    CHECK(other.memory().charged() == (theirs->object.place == region::place::node ? 0 : value.size()));

    value.numbers[bytes / 8] = 42;  // as after a move out of the store: nobody else sees it
    CHECK(copy[bytes / 8] == value.at(bytes / 8));
    value.numbers[bytes / 8] = value.at(bytes / 8);

    owner.remove(mine);
    CHECK(value.is_whole(theirs->array()));
    other.take_over(*theirs);
    CHECK(other.memory().charged() >= value.size());
    other.remove(*theirs);
    CHECK(other.memory().charged() == 0);
  }
}

TEST_CASE("what is shared moves to a disk without its readers noticing") {
  ledger owner, other;
  owner.set_limits(64 * megabyte, "/tmp");
  other.set_limits(64 * megabyte, "/tmp");
  sample value(4 * megabyte, 3), next(63 * megabyte, 4);
  large& mine = owner.enter(value.bytes(), value.size(), 0);
  REQUIRE(owner.share(mine));
  large* const theirs = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
  REQUIRE(theirs != nullptr);
  large& more = owner.enter(next.bytes(), next.size(), 0);
  CHECK(mine.on_disk());
  CHECK_FALSE(mine.is_shared());
  CHECK_FALSE(owner.share(mine));
  CHECK(value.is_whole());
  CHECK(value.is_whole(theirs->array()));
  other.take_over(*theirs);
  sample last(63 * megabyte, 5);
  large& pushes = other.enter(last.bytes(), last.size(), 0);
  CHECK(theirs->on_disk());
  CHECK(value.is_whole(theirs->array()));
  owner.remove(mine);
  owner.remove(more);
  other.remove(pushes);
  other.remove(*theirs);
}

namespace {

/// Keeps the file of an array open besides, to see what it holds.
struct watched {
  explicit watched(const large& e) : file(dup(e.shared->memory().get())) {}
  std::size_t bytes() const {
    struct stat about;
    REQUIRE(fstat(file.get(), &about) == 0);
    return static_cast<std::size_t>(about.st_blocks) * 512;
  }
  manta::base::file file;
};

}  // namespace

TEST_CASE("node memory that nobody looks at takes the next array, and who had it mapped sees that") {
  ledger owner, other;
  owner.set_limits(64 * megabyte, "/tmp");
  other.set_limits(64 * megabyte, "/tmp");
  std::uint64_t first_file = 0;
  const std::byte* first_window = nullptr;
  for (std::uint32_t round = 0; round < 5; ++round) {
    sample value(megabyte - 4096 * round, round);
    large& mine = owner.enter(value.bytes(), value.size(), 0);
    REQUIRE(owner.share(mine));
    CHECK(owner.files().kept_bytes() == 0);
    store::node_file* memory = other.files().take_mapped(mine.shared->identity());
    CHECK((memory == nullptr) == (round == 0));
    if (memory == nullptr) memory = look_at(mine);
    large* const theirs = other.enter(memory, mine.shared_at, mine.bytes, true, 0);
    REQUIRE(theirs != nullptr);
    if (round == 0) first_file = mine.shared->identity(), first_window = memory->window();
    CHECK(mine.shared->identity() == first_file);
    CHECK(memory->window() == first_window);
    CHECK(value.is_whole(theirs->array()));
    sample copy(value.size(), 99);
    other.fill(*theirs, copy.bytes());
    CHECK(copy.numbers == value.numbers);
    if (round % 2 == 0) {
      owner.remove(mine);
      other.remove(*theirs);
    } else {
      other.remove(*theirs);
      owner.remove(mine);
    }
    CHECK(owner.files().kept_bytes() >= megabyte);
  }
}

TEST_CASE("node memory is not used again while another rank looks at it") {
  ledger owner, other;
  owner.set_limits(64 * megabyte, "/tmp");
  other.set_limits(64 * megabyte, "/tmp");
  sample value(megabyte, 1), next(megabyte, 2), last(megabyte, 3);
  large& mine = owner.enter(value.bytes(), value.size(), 0);
  REQUIRE(owner.share(mine));
  const std::uint64_t file = mine.shared->identity();
  large* const theirs = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
  owner.remove(mine);
  large& second = owner.enter(next.bytes(), next.size(), 0);
  REQUIRE(owner.share(second));
  CHECK(second.shared->identity() != file);
  CHECK(sample(megabyte, 1).is_whole(theirs->array()));
  other.remove(*theirs);
  large& third = owner.enter(last.bytes(), last.size(), 0);
  REQUIRE(owner.share(third));
  CHECK(third.shared->identity() == file);
  owner.remove(second);
  owner.remove(third);
}

TEST_CASE("a value that moves to a disk after another rank was told of its node memory is there when that looks") {
  ledger owner, other;
  owner.set_limits(32 * megabyte, "/tmp");
  other.set_limits(64 * megabyte, "/tmp");
  sample before(2 * megabyte, 1), value(2 * megabyte, 2), big(31 * megabyte, 3);
  large& first = owner.enter(before.bytes(), before.size(), 0);
  REQUIRE(owner.share(first));
  store::node_file* memory = look_at(first);
  large* const theirs = other.enter(memory, first.shared_at, first.bytes, true, 0);
  other.remove(*theirs);  // it stays mapped
  owner.remove(first);
  large& mine = owner.enter(value.bytes(), value.size(), 0);
  REQUIRE(owner.share(mine));
  const std::uint64_t file = mine.shared->identity();
  owner.show(mine);
  large& pushes = owner.enter(big.bytes(), big.size(), 0);
  CHECK(mine.on_disk());
  SUBCASE("one that has mapped it before") { memory = other.files().take_mapped(file); }
  SUBCASE("one that has not") { memory = look_at(mine); }
  REQUIRE((memory != nullptr && memory->identity() == file));
  large* const seen = other.enter(memory, mine.shared_at, mine.bytes, true, 0);
  CHECK(value.is_whole(seen->array()));
  owner.shown_no_more(mine);
  CHECK_FALSE(mine.is_shared());
  CHECK(value.is_whole(seen->array()));
  CHECK(value.is_whole());
  owner.remove(pushes);
  owner.remove(mine);
  other.remove(*seen);
}

TEST_CASE("node memory that is not kept goes back to the system with the last who looks") {
  ledger owner, other, third;
  for (ledger* book : {&owner, &other, &third}) book->set_limits(8 * megabyte, "/tmp");
  SUBCASE("a rank that has it mapped still looks") {
    sample value(2 * megabyte, 1);  // more than is kept
    large& mine = owner.enter(value.bytes(), value.size(), 0);
    REQUIRE(owner.share(mine));
    const watched memory(mine);
    large* const a = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    large* const b = third.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    owner.remove(mine);
    other.remove(*a);
    CHECK(memory.bytes() >= 2 * megabyte);
    CHECK(sample(2 * megabyte, 1).is_whole(b->array()));
    third.remove(*b);
    CHECK(memory.bytes() <= 3 * store::page_bytes());
    CHECK(other.files().unwanted() == 1);
  }
  SUBCASE("one keeps its mapping") {
    sample value(megabyte - 8192, 1), big(7 * megabyte + 8192, 2);
    large& mine = owner.enter(value.bytes(), value.size(), 0);
    REQUIRE(owner.share(mine));
    const watched memory(mine);
    large* const a = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    other.remove(*a);
    owner.remove(mine);
    CHECK(owner.files().kept_bytes() != 0);
    CHECK(memory.bytes() >= megabyte - 8192);
    large& needed = owner.enter(big.bytes(), big.size(), 0);  // the room is needed
    CHECK(owner.files().kept_bytes() == 0);
    CHECK(memory.bytes() <= store::page_bytes());
    CHECK_FALSE(needed.on_disk());
    owner.remove(needed);
  }
  SUBCASE("it moves to a disk, where one has taken it over that only mapped it") {
    sample value(4 * megabyte, 1), big(8 * megabyte, 2);
    large& mine = owner.enter(value.bytes(), value.size(), 0);
    REQUIRE(owner.share(mine));
    const watched memory(mine);
    large* const a = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    owner.remove(mine);
    other.take_over(*a);
    large& pushes = other.enter(big.bytes(), big.size(), 0);
    CHECK(a->on_disk());
    CHECK(memory.bytes() <= store::page_bytes());
    CHECK(sample(4 * megabyte, 1).is_whole(a->array()));
    other.remove(pushes);
    other.remove(*a);
  }
  SUBCASE("its maker has died") {
    sample value(megabyte / 2, 1);
    large& mine = owner.enter(value.bytes(), value.size(), 0);
    REQUIRE(owner.share(mine));
    large* const a = other.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    large* const b = third.enter(look_at(mine), mine.shared_at, mine.bytes, true, 0);
    const std::uint64_t file = mine.shared->identity();
    third.remove(*b);
    other.rank_died(0);
    third.rank_died(0);
    other.remove(*a);
    for (ledger* book : {&other, &third}) {
      CHECK(book->files().take_mapped(file) == nullptr);
      CHECK(book->files().unwanted() == 1);
    }
    owner.remove(mine);
  }
}

TEST_CASE("above its share a rank may hold half of what others of its node leave, as long as they do") {
  std::atomic<std::uint64_t> mine{0}, theirs{2 * megabyte};
  ledger book;
  book.set_limits(4 * megabyte, "/tmp");
  book.lend(mine);
  book.borrow_from(1, theirs, 10 * megabyte);
  std::vector<std::unique_ptr<sample>> arrays;
  std::vector<large*> held;
  for (std::uint32_t i = 0; i < 8; ++i) {
    arrays.push_back(std::make_unique<sample>(megabyte, i));
    held.push_back(&book.enter(arrays.back()->bytes(), megabyte, 0));
    CHECK(mine.load() == (i + 1) * megabyte);
  }
  CHECK(book.disk().bytes() == 0);
  CHECK(book.memory().limit() == 8 * megabyte);
  CHECK(book.memory().share() == 4 * megabyte);
  CHECK(book.memory().is_short());
  theirs = 6 * megabyte;  // they have used their share since: 4 are left, half of them for this rank
  for (int i = 0; i < 16; ++i) book.pay_back();
  CHECK(book.memory().limit() == 6 * megabyte);
  CHECK(book.memory().charged() <= 6 * megabyte);
  CHECK(book.disk().bytes() >= 2 * megabyte);
  std::atomic<std::uint64_t> third{9 * megabyte};  // what others have borrowed is not lent again
  book.borrow_from(2, third, 5 * megabyte);
  for (int i = 0; i < 16; ++i) book.pay_back();
  CHECK(book.memory().limit() == 4 * megabyte);
  CHECK(book.memory().charged() <= 4 * megabyte);
  CHECK(book.disk().bytes() >= 4 * megabyte);
  book.rank_died(2);
  theirs = 20 * megabyte;  // more than their share: nothing is left
  for (int i = 0; i < 16; ++i) book.touch(*held.back());
  CHECK(book.memory().limit() == 4 * megabyte);
  CHECK(book.memory().charged() <= 4 * megabyte);
  CHECK(mine.load() == book.memory().charged());
  theirs = 0;
  book.rank_died(1);
  for (large* e : held) book.touch(*e);
  for (const auto& each : arrays) CHECK(each->is_whole());
  book.touch(*held.back());
  CHECK(book.memory().charged() <= 4 * megabyte);
  for (large* e : held) book.remove(*e);
  CHECK(mine.load() == 0);
}

TEST_CASE("an offer is taken up once, and goes with its value") {
  ledger book;
  book.set_limits(64 * megabyte, "/tmp");
  sample a(megabyte, 1), b(megabyte, 2), small(store::large_bytes, 3);
  large& first = book.enter(a.bytes(), a.size(), 0);
  large& second = book.enter(b.bytes(), b.size(), 0);
  large& third = book.enter(small.bytes(), small.size(), 0);
  for (large* e : {&first, &second, &third, &first}) book.offer(*e);
  CHECK(book.share_offered());
  CHECK(second.is_shared());
  CHECK_FALSE(first.is_shared());
  book.remove(first);
  CHECK_FALSE(book.share_offered());
  book.remove(second);
  book.remove(third);
}
