// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// net/channel.hpp without MPI: batches leave full or sealed, in order, a few at
// a time, now and then by a synchronous send; what is under way keeps its
// buffer, also when the receiver has died.
#include "manta/net/channel.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace net = manta::net;

namespace {

struct send {
  std::vector<std::byte> bytes;
  int to;
  bool synchronous;
  bool complete = false;
};

/// A port whose sends are complete when the test says so.
struct fake_port {
  using request = std::size_t;  // in `sends`
  static inline std::vector<send> sends;

  fake_port() { sends.clear(); }
  void start(request& r, const std::byte* data, std::size_t bytes, int to, bool synchronous) const {
    r = sends.size();
    sends.push_back({std::vector<std::byte>(data, data + bytes), to, synchronous});
  }
  static bool complete(request& r) { return sends[r].complete; }
  static void wait(request& r) noexcept { sends[r].complete = true; }
  static bool test(request& r) noexcept { return sends[r].complete; }
};

struct sender {
  fake_port port;
  net::batch_pool<std::size_t> pool;
  net::channel<fake_port> out;

  void append(const std::string& text) {
    if (!out.fits(text.size())) {
      if (out.has_open()) out.seal(pool);
      out.open(pool.take());
    }
    std::memcpy(out.begin(7), text.data(), text.size());
    out.commit(text.size());
  }
  void seal() {
    if (out.has_open()) out.seal(pool);
  }
  /// Completes what was sent, the oldest first. Returns the bytes that the channel has given back.
  std::size_t finish() {
    std::size_t done = 0;
    for (send& s : fake_port::sends) s.complete = true;
    while (out.in_flight() > 0) CHECK(out.complete_one(pool, done));
    return done;
  }
};

/// The payloads of a batch.
std::vector<std::string> payloads(const send& s) {
  std::vector<std::string> found;
  for (std::size_t at = net::batch_header_bytes; at < s.bytes.size();) {
    net::frame_header header{};
    std::memcpy(&header, s.bytes.data() + at, sizeof header);
    CHECK(header.kind == 7);
    found.emplace_back(reinterpret_cast<const char*>(s.bytes.data() + at + sizeof header), header.bytes);
    at += net::frame_bytes(header.bytes);
  }
  return found;
}

}  // namespace

TEST_CASE("what is appended travels in one batch, in its order, and only when it is sealed") {
  sender s;
  for (const char* const text : {"one", "", "three"}) s.append(text);
  CHECK(s.out.queued_bytes() != 0);
  CHECK(s.out.send(s.port, 5) == 0);
  s.seal();
  CHECK(s.out.send(s.port, 5) == 1);
  REQUIRE(fake_port::sends.size() == 1);
  CHECK(fake_port::sends[0].to == 5);
  CHECK_FALSE(fake_port::sends[0].synchronous);
  CHECK(payloads(fake_port::sends[0]) == std::vector<std::string>{"one", "", "three"});
}

TEST_CASE("a few sends are under way at a time, and the oldest is completed first") {
  sender s;
  const int batches = net::channel<fake_port>::max_in_flight + 4;
  for (int i = 0; i < batches; ++i) {
    s.append(std::to_string(i));
    s.seal();
  }
  CHECK(s.out.send(s.port, 1) == net::channel<fake_port>::max_in_flight);
  CHECK(s.out.send(s.port, 1) == 0);
  std::size_t done = 0;
  fake_port::sends[1].complete = true;
  CHECK_FALSE(s.out.complete_one(s.pool, done));  // the oldest is not complete
  CHECK_FALSE(s.out.test());
  fake_port::sends[0].complete = true;
  CHECK(s.out.complete_one(s.pool, done));
  CHECK(s.out.complete_one(s.pool, done));
  CHECK(s.out.send(s.port, 1) == 2);
  for (int i = 0; i < 18; ++i) CHECK(payloads(fake_port::sends[static_cast<std::size_t>(i)])[0] == std::to_string(i));
  s.out.wait();
  CHECK(s.out.test());
}

TEST_CASE("at least one send of 64 KiB is synchronous, so that little piles up at the receiver") {
  sender s;
  const std::string text(1000, 'x');
  std::size_t unmatched = 0;
  int synchronous = 0;
  for (int i = 0; i < 400; ++i) {
    s.append(text);
    s.out.send(s.port, 1);
    s.finish();
  }
  s.seal();
  s.out.send(s.port, 1);
  for (const send& each : fake_port::sends) {
    unmatched = each.synchronous ? 0 : unmatched + each.bytes.size();
    synchronous += each.synchronous;
    CHECK(unmatched <= net::channel<fake_port>::synchronise_every);
  }
  CHECK(synchronous >= 5);
  CHECK(synchronous <= 8);
}

TEST_CASE("what is under way to a rank that dies keeps its buffer, and the rest is forgotten") {
  sender s;
  for (const char* const text : {"under way", "sealed", "open"}) {
    s.append(text);
    if (std::strcmp(text, "open") != 0) s.seal();
    if (std::strcmp(text, "under way") == 0) s.out.send(s.port, 1);
  }
  const std::size_t queued = s.out.queued_bytes();
  CHECK(s.out.abandon(s.pool) == queued);
  CHECK(s.out.is_abandoned());
  CHECK(s.out.queued_bytes() == 0);
  CHECK(s.out.in_flight() == 0);
  CHECK_FALSE(s.out.busy());
  CHECK(s.out.send(s.port, 1) == 0);
  s.append("later");
  CHECK(s.out.discard(s.pool) != 0);
  CHECK(s.out.queued_bytes() == 0);
}

TEST_CASE("an empty batch is not sent") {
  sender s;
  s.out.open(s.pool.take());
  s.seal();
  CHECK_FALSE(s.out.busy());
  CHECK(s.out.send(s.port, 1) == 0);
}

TEST_CASE("random appends, seals and completions: everything arrives once, in order, and all bytes are given back") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("channel: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  sender s;
  std::vector<std::string> appended;
  std::size_t done = 0, taken = 0;
  for (int i = 0; i < 3'000; ++i) {
    switch (draw() % 4) {
      case 0:
      case 1:
        appended.push_back(std::to_string(i) + std::string(draw() % 600, 'y'));
        taken += net::frame_bytes(appended.back().size());
        s.append(appended.back());
        break;
      case 2:
        if (draw() % 4 == 0) s.seal();
        s.out.send(s.port, 1);
        break;
      default:
        for (send& each : fake_port::sends) each.complete = each.complete || draw() % 2 == 0;
        while (s.out.in_flight() > 0 && s.out.complete_one(s.pool, done)) {
        }
    }
    CHECK(s.out.queued_bytes() == taken - done);
  }
  s.seal();
  while (s.out.busy()) {
    s.out.send(s.port, 1);
    done += s.finish();
  }
  CHECK(done == taken);
  std::vector<std::string> arrived;
  std::uint32_t number = 0;
  for (const send& each : fake_port::sends) {
    std::uint32_t sequence = 0;
    std::memcpy(&sequence, each.bytes.data(), sizeof sequence);
    CHECK(sequence == number++);
    for (std::string& text : payloads(each)) arrived.push_back(text);
  }
  CHECK(arrived == appended);
}
