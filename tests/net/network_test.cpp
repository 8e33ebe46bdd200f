// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// net/network.hpp on any number of ranks. The oracle is arithmetic: contents
// derive from (sender, number), so a receiver knows what must come. Each wait
// has a deadline after which the rank says what it had and aborts the job.
#include "manta/net/network.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../support/campaign.hpp"

namespace {

using manta::net::network;
using std::byte;
using std::size_t;
using std::uint64_t;
using std::uint8_t;

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// The same on every rank, printed once; MANTA_TEST_SEED repeats a run.
uint64_t shared_seed() {
  static const uint64_t seed = [] {
    uint64_t value = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    if (const char* given = std::getenv("MANTA_TEST_SEED")) value = std::strtoull(given, nullptr, 10);
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("MANTA_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

// The watchdog: step() in every loop that waits.
class deadline {
 public:
  deadline(const network& net, const char* doing) : net_(net), doing_(doing) {}
  void step() {
    if (net_.oversubscribed()) sched_yield();
    if (std::chrono::steady_clock::now() < end_) return;
    const auto& c = net_.counters();
    std::fprintf(stderr,
                 "rank %d of %d: 80 s over while %s; sent %llu, received %llu messages, %zu bytes queued, %zu blocks\n",
                 net_.rank(), net_.size(), doing_, static_cast<unsigned long long>(c.messages_sent),
                 static_cast<unsigned long long>(c.messages_received), net_.queued_bytes(), net_.bulk_outstanding());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }

 private:
  const network& net_;
  const char* doing_;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(80);
};

template <class Done, class OnMessage>
void drive(network& net, const char* doing, Done done, OnMessage on_message) {
  deadline limit(net, doing);
  while (!done() || !net.idle()) {
    net.poll(on_message);
    net.poll_bulk([](uint64_t) { FAIL("no large block was expected"); });
    net.pump(true);
    limit.step();
  }
}

byte pattern(uint64_t key, size_t i) { return static_cast<byte>((mix(key + (i >> 3U)) >> ((i & 7U) * 8)) & 0xffU); }

void fill(byte* at, size_t bytes, uint64_t key) {
  for (size_t i = 0; i < bytes; ++i) at[i] = pattern(key, i);
}

bool matches(const byte* at, size_t bytes, uint64_t key) {
  for (size_t i = 0; i < bytes; ++i) {
    if (at[i] != pattern(key, i)) return false;
  }
  return true;
}

// Sizes around every boundary, and in between; the kind is part of the content.
size_t size_of_message(uint64_t key) {
  static constexpr std::array<size_t, 16> edges{0,    1,    7,    8,    40,   3947, 3948, 3949,
                                                3955, 3956, 3957, 3964, 3968, 7912, 7913, 200'000};
  const uint64_t r = mix(key);
  if (r % 64 == 0) return edges[(r >> 8U) % edges.size()];
  if (r % 64 == 1) return (r >> 8U) % 20'000;
  return (r >> 8U) % 200;
}

uint64_t key_of(uint64_t seed, int from, int to, uint64_t number) {
  return mix(seed ^ mix(static_cast<uint64_t>(from) << 20U ^ static_cast<uint64_t>(to))) + number * 1'000'003;
}

// Checks one stream a source: number, kind, size and content of each message.
struct streams {
  streams(const network& net, uint64_t seed) : net_(net), seed_(seed), next(static_cast<size_t>(net.size())) {}
  void operator()(int from, uint8_t kind, const byte* data, size_t bytes) {
    const uint64_t key = key_of(seed_, from, net_.rank(), next[static_cast<size_t>(from)]++);
    aligned = aligned && reinterpret_cast<std::uintptr_t>(data) % 8 == 0;
    right = right && kind == static_cast<uint8_t>(key & 0xffU) && bytes == size_of_message(key) &&
            matches(data, bytes, key);
    ++count;
  }
  const network& net_;
  uint64_t seed_;
  std::vector<uint64_t> next;
  uint64_t count = 0;
  bool right = true;
  bool aligned = true;
};

void append(network& net, int to, uint64_t key, size_t spare = 0) {
  const size_t bytes = size_of_message(key);
  byte* place = net.begin(to, static_cast<uint8_t>(key & 0xffU), bytes + spare);
  REQUIRE(reinterpret_cast<std::uintptr_t>(place) % 8 == 0);
  fill(place, bytes, key);
  net.commit(to, bytes);
}

void everybody_to_everybody(network& net, uint64_t seed, uint64_t messages) {
  streams seen(net, seed);
  const auto size = static_cast<uint64_t>(net.size());
  std::vector<uint64_t> sent(size);
  deadline limit(net, "sending to everybody");
  for (uint64_t i = 0; i < messages * size;) {
    // Runs of random length to random destinations, until each has had its number.
    const uint64_t r = mix(seed + i + static_cast<uint64_t>(net.rank()) * 77);
    size_t to = r % size;
    while (sent[to] == messages) to = (to + 1) % size;
    for (uint64_t run = 1 + (r >> 32U) % 50; run > 0 && sent[to] < messages; --run, ++i) {
      const uint64_t key = key_of(seed, net.rank(), static_cast<int>(to), sent[to]++);
      append(net, static_cast<int>(to), key, r % 3 == 0 ? r % 5000 : 0);
    }
    if (r % 4 == 0) net.poll(seen);
    if (r % 4 != 3) net.pump(r % 5 == 0);
    // A bounded producer, as the layer above is: it helps until there is room again.
    while (net.queued_bytes() > 2'000'000) {
      net.poll(seen);
      net.pump(true);
      limit.step();
    }
  }
  drive(
      net, "receiving from everybody", [&] { return seen.count == messages * size; }, std::ref(seen));
  CHECK(seen.right);
  CHECK(seen.aligned);
  for (const uint64_t each : seen.next) CHECK(each == messages);
  CHECK(net.queued_bytes() == 0);
  CHECK(net.counters().messages_sent == messages * size);
  CHECK(net.counters().messages_received == messages * size);
}

}  // namespace

TEST_CASE("an unused network ends, and knows its ranks and nodes") {
  network net({MPI_COMM_WORLD});
  CHECK(net.size() == world_size());
  CHECK(net.idle());
  CHECK_FALSE(net.poll([](int, uint8_t, const byte*, size_t) {}));
  net.pump(true);
  CHECK(net.node() == net.node_of(net.rank()));
  CHECK(net.node_of(0) == 0);
  CHECK(net.topology().cores() >= 1);
  CHECK(net.topology().ranks_on_node() <= net.size());
  CHECK(net.bulk_tags() >= 32768);
}

TEST_CASE("messages of all sizes arrive whole and in the order of each source") {
  network net({MPI_COMM_WORLD});
  everybody_to_everybody(net, shared_seed(), 3000);
}

TEST_CASE("two networks on one communicator do not meet") {
  network a({MPI_COMM_WORLD});
  network b({MPI_COMM_WORLD});
  everybody_to_everybody(b, shared_seed() + 1, 300);
  everybody_to_everybody(a, shared_seed() + 2, 300);
}

TEST_CASE("a network lives on a part of the world") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);  // ranks reversed
  {
    network net({half});
    CHECK(net.size() == (world_size() + 1 - rank % 2) / 2);
    everybody_to_everybody(net, shared_seed() + 3, 500);
  }
  MPI_Comm_free(&half);
}

TEST_CASE("an uncommitted message is forgotten, and the space reserved may exceed what is used") {
  network net({MPI_COMM_WORLD});
  const int next = (net.rank() + 1) % net.size();
  int count = 0;
  uint64_t sum = 0;
  net.begin(next, 1, 100'000);
  net.begin(next, 2, 8);
  net.pump(true);
  CHECK(net.queued_bytes() == 0);
  for (uint64_t i = 1; i <= 1000; ++i) {
    net.begin(next, 3, i % 7 * 1000);
    std::memcpy(net.begin(next, 4, 8 + i % 11 * 1000), &i, 8);
    net.commit(next, 8);
  }
  CHECK(net.queued_bytes(next) == 16'000);
  CHECK(net.queued_bytes() == 16'000);
  drive(
      net, "receiving", [&] { return count == 1000; },
      [&](int, uint8_t kind, const byte* data, size_t bytes) {
        CHECK(kind == 4);
        REQUIRE(bytes == 8);
        uint64_t value = 0;
        std::memcpy(&value, data, 8);
        sum += value;
        ++count;
      });
  CHECK(sum == 500'500);
}

TEST_CASE("a callback may append, to others and to its own rank, and each poll ends") {
  network net({MPI_COMM_WORLD});
  // A token of each rank goes 1000 hops round the ring, and one 1000 times to itself.
  const int next = (net.rank() + 1) % net.size();
  const auto send = [&](int to, uint8_t kind, uint64_t hops) {
    std::memcpy(net.begin(to, kind, 8), &hops, 8);
    net.commit(to, 8);
  };
  send(next, 1, 1000);
  send(net.rank(), 2, 1000);
  int ended = 0;
  int in_this_poll = 0;
  deadline limit(net, "passing tokens");
  while (ended < 2 || !net.idle()) {
    in_this_poll = 0;
    net.poll([&](int, uint8_t kind, const byte* data, size_t) {
      if (kind == 2) ++in_this_poll;
      uint64_t hops = 0;
      std::memcpy(&hops, data, 8);
      if (hops == 0) {
        ++ended;
      } else {
        send(kind == 1 ? next : net.rank(), kind, hops - 1);
      }
    });
    CHECK(in_this_poll <= 1);
    net.pump(true);
    limit.step();
  }
  CHECK(net.counters().messages_received == 2002);
}

TEST_CASE("many ranks to one slow receiver: what is on its way stays bounded") {
  network net({MPI_COMM_WORLD});
  constexpr uint64_t each = 200'000;
  constexpr size_t bound = 64 * 1024;
  const auto others = static_cast<uint64_t>(net.size() - 1);
  deadline limit(net, "flooding rank 0");
  if (net.rank() != 0) {
    size_t highest = 0;
    for (uint64_t i = 0; i < each; ++i) {
      std::memcpy(net.begin(0, 1, 8), &i, 8);
      net.commit(0, 8);
      if (i % 64 == 0) net.pump(false);
      while (net.queued_bytes(0) > bound) {
        net.pump(false);
        limit.step();
      }
      highest = std::max(highest, net.queued_bytes(0));
    }
    CHECK(highest <= bound + 64 * 16);
    drive(
        net, "ending the flood", [] { return true; }, [](int, uint8_t, const byte*, size_t) { FAIL("nobody writes"); });
  } else {
    std::vector<uint64_t> next(static_cast<size_t>(net.size()));
    uint64_t count = 0;
    bool in_order = true;
    volatile uint64_t work = 0;
    while (count < each * others) {
      net.poll([&](int from, uint8_t, const byte* data, size_t) {
        uint64_t value = 0;
        std::memcpy(&value, data, 8);
        in_order = in_order && value == next[static_cast<size_t>(from)]++;
        ++count;
        for (int i = 0; i < 20; ++i) work = work + 1;
      });
      limit.step();
    }
    CHECK(in_order);
    CHECK(count == each * others);
  }
}

TEST_CASE("senders stop while a receiver is silent") {
  if (world_size() == 1) {
    MESSAGE("needs 2 ranks, has 1");
    return;
  }
  network net({MPI_COMM_WORLD});
  constexpr int messages = 2000;
  constexpr size_t bytes = 2000;  // 4 MB, far more than may be on its way
  int received = 0;
  if (net.rank() == 1) {
    const std::vector<byte> data(bytes);
    for (int i = 0; i < messages; ++i) {
      std::memcpy(net.begin(0, 1, bytes), data.data(), bytes);
      net.commit(0, bytes);
    }
    for (int i = 0; i < 20'000; ++i) net.pump(true);
    CHECK(net.queued_bytes(0) > messages * bytes - 300'000);
    CHECK(net.counters().batches_sent * manta::net::batch_bytes < 300'000);
  }
  MPI_Barrier(MPI_COMM_WORLD);  // only now does rank 0 poll
  drive(
      net, "receiving", [&] { return net.rank() != 0 || received == messages; },
      [&](int, uint8_t, const byte*, size_t) { ++received; });
}

namespace {

struct block {
  std::shared_ptr<std::vector<byte>> out;
  std::vector<byte> in;
  uint64_t key_in = 0;
  bool there = false;
};

// Every rank sends a block of each size to every rank, itself included, all at once.
void exchange_blocks(network& net, const std::vector<size_t>& sizes) {
  const auto ranks = static_cast<size_t>(net.size());
  std::vector<block> blocks(ranks * sizes.size());
  const auto me = static_cast<uint64_t>(net.rank());
  int unsent = static_cast<int>(blocks.size());
  for (size_t s = 0; s < sizes.size(); ++s) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      block& each = blocks[s * ranks + rank];
      each.out = std::make_shared<std::vector<byte>>(sizes[s]);
      fill(each.out->data(), sizes[s], mix(me * 1000 + rank) + s);
      each.in.resize(sizes[s]);
      each.key_in = mix(rank * 1000 + me) + s;
      const int tag = static_cast<int>(s * 7 + 1);
      // Some receives are asked for before their sends and some after.
      if (s % 2 == 0) net.receive_bulk(static_cast<int>(rank), tag, each.in.data(), sizes[s], s * ranks + rank);
      net.send_bulk(static_cast<int>(rank), tag, each.out->data(), sizes[s],
                    {[](void* shared) { --*static_cast<int*>(shared); }, &unsent});
      if (s % 2 == 1) net.receive_bulk(static_cast<int>(rank), tag, each.in.data(), sizes[s], s * ranks + rank);
    }
  }
  CHECK(net.bulk_outstanding() == 2 * blocks.size());
  CHECK_FALSE(net.idle());
  size_t arrived = 0;
  deadline limit(net, "exchanging blocks");
  while (arrived < blocks.size() || !net.idle()) {
    net.poll([](int, uint8_t, const byte*, size_t) { FAIL("no message was expected"); });
    net.poll_bulk([&](uint64_t token) {
      block& each = blocks[token];
      CHECK_FALSE(each.there);
      each.there = true;
      CHECK(matches(each.in.data(), each.in.size(), each.key_in));
      ++arrived;
    });
    net.pump(true);
    limit.step();
  }
  CHECK(unsent == 0);
  CHECK(net.counters().bulks_received == blocks.size());
}

}  // namespace

TEST_CASE("large blocks go both ways at once, from empty to 5 MB") {
  network net({MPI_COMM_WORLD});
  exchange_blocks(net, {0, 1, 5'000'000});
}

TEST_CASE("many blocks are under way at a time") {
  network net({MPI_COMM_WORLD});
  std::vector<size_t> sizes;
  for (size_t i = 0; i < 30; ++i) sizes.push_back(i * i * i);
  exchange_blocks(net, sizes);
}

TEST_CASE("blocks larger than a piece are cut and joined") {
  network net({MPI_COMM_WORLD, network::any_number, 1000});
  exchange_blocks(net, {0, 999, 1000, 1001, 2000, 100'000, 3});
}

TEST_CASE("messages and blocks share the way without harm") {
  network net({MPI_COMM_WORLD});
  const int next = (net.rank() + 1) % net.size();
  const int previous = (net.rank() + net.size() - 1) % net.size();
  constexpr int rounds = 50;
  constexpr size_t bytes = 100'000;
  // The usual protocol: ask for a block by a message that carries the tag; the handler answers with the block.
  const auto data = std::make_shared<std::vector<byte>>(bytes, byte{7});
  std::vector<byte> place(bytes);
  int round = 0;
  int served = 0;
  const auto ask = [&] {
    const int tag = round;
    std::memset(place.data(), 0, bytes);
    net.receive_bulk(previous, tag, place.data(), bytes, static_cast<uint64_t>(round));
    std::memcpy(net.begin(previous, 9, sizeof tag), &tag, sizeof tag);
    net.commit(previous, sizeof tag);
  };
  ask();
  deadline limit(net, "asking for blocks");
  while (round < rounds || served < rounds || !net.idle()) {
    net.poll([&](int from, uint8_t, const byte* message, size_t) {
      CHECK(from == next);
      int tag = 0;
      std::memcpy(&tag, message, sizeof tag);
      net.send_bulk(next, tag, data->data(), bytes, {});
      ++served;
    });
    net.poll_bulk([&](uint64_t token) {
      CHECK(token == static_cast<uint64_t>(round));
      CHECK(place == *data);
      if (++round < rounds) ask();
    });
    net.pump(true);
    limit.step();
  }
}

TEST_CASE("a rank that sleeps is woken by what another one sends") {
  constexpr std::int64_t an_hour = 3'600'000'000'000;  // one that is not woken sleeps beyond the test's time limit
  network net({MPI_COMM_WORLD, network::any_number});
  if (net.size() == 1) {
    CHECK_FALSE(net.is_woken_by_all());
    net.sleep(1'000'000);
    return;
  }
  REQUIRE(net.is_woken_by_all());
  constexpr int rounds = 5;
  const int last_hop = rounds * net.size();
  const auto pass_on = [&](int hop) {  // to one that has been asleep for long
    usleep(20'000);
    std::memcpy(net.begin(hop % net.size(), 1, sizeof hop), &hop, sizeof hop);
    net.commit(hop % net.size(), sizeof hop);
    do net.pump(true);
    while (!net.idle());
  };
  if (net.rank() == 0) pass_on(1);
  const int first = net.rank() == 0 ? net.size() : net.rank();
  for (int expected = first; expected <= last_hop; expected += net.size()) {
    int hop = 0;
    const auto take = [&](int, uint8_t, const byte* data, size_t) { std::memcpy(&hop, data, sizeof hop); };
    while (!net.poll(take)) net.sleep(an_hour);
    CHECK(hop == expected);
    if (hop < last_hop) pass_on(hop + 1);
  }
}

TEST_CASE("ranks of other nodes do not ring") {
  network net({MPI_COMM_WORLD, 1});
  CHECK_FALSE(net.is_woken_by_all());
  net.sleep(1'000'000);
}

TEST_CASE("a block of another size than expected is reported") {
  network net({MPI_COMM_SELF});
  const auto data = std::make_shared<int>(5);
  std::array<byte, 8> place{};
  net.send_bulk(0, 1, data.get(), sizeof(int), {});
  net.receive_bulk(0, 1, place.data(), place.size(), 1);
  CHECK_THROWS_WITH_AS(net.poll_bulk([](uint64_t) {}), doctest::Contains("should have 8 bytes, but 4 came"),
                       manta::error);
}

TEST_CASE(
    "gangs of the same ranks share a communicator; one that was long ago is freed, so no number of gangs is too many") {
  using manta::net::teams;
  teams made(MPI_COMM_WORLD);
  manta::base::list<std::uint32_t> all, alone;
  for (int r = 0; r < world_size(); ++r) all.push_back(static_cast<std::uint32_t>(r));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  alone.push_back(static_cast<std::uint32_t>(rank));
  uint64_t id = 1;
  const MPI_Comm first = made.get(all, id);
  made.get(alone, ++id);
  for (int i = 0; i < 100; ++i) CHECK(made.get(all, ++id) == first);
  const size_t different = world_size() == 1 ? 1 : 2;
  CHECK(made.kept() == different);
  CHECK(made.get(all, id += teams::kept_for) == first);
  CHECK(made.kept() == 1);
  const int gangs = manta::testing::rounds(2'000, 70'000);  // MPI has 65 532 communicators
  for (int i = 0; i < gangs; ++i) {
    const MPI_Comm comm = made.get(all, id += teams::kept_for + 1);
    REQUIRE(made.kept() == 1);
    if (i % 100 != 0) continue;
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    REQUIRE(sum == world_size() * (world_size() - 1) / 2);
  }
}

TEST_CASE("a failing MPI call throws with its name, the rank and MPI's text") {
  const network net({MPI_COMM_WORLD});
  int value = 0;
  try {
    manta::net::check(MPI_Send(&value, 1, MPI_INT, net.size() + 5, 0, net.comm()), "MPI_Send");
    FAIL("no exception");
  } catch (const manta::mpi_error& e) {
    CHECK(e.code() != MPI_SUCCESS);
    CHECK(std::string(e.what()).find("MPI_Send failed on world rank") != std::string::npos);
    CHECK(std::string(e.what()).find("MPI_ERR_RANK") != std::string::npos);
    CHECK(std::string(e.what()).find("network_test.cpp:") != std::string::npos);
  }
}
