// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Many rows as one request.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <tuple>
#include <vector>

#include "manta/serve.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
using namespace std::chrono_literals;
namespace serve = manta::serve;

namespace {

int twice_after(int x, int ms) {
  if (ms > 0) ::usleep(static_cast<useconds_t>(1000 * ms));
  if (x < 0) throw std::runtime_error("no negative ones");
  return 2 * x;
}
/// Says how many requests came together.
std::vector<int> together(const std::vector<int>& batch) {
  return std::vector<int>(batch.size(), static_cast<int>(batch.size()));
}
std::vector<std::tuple<int, int>> rows(int count, int ms) {
  std::vector<std::tuple<int, int>> all;
  for (int i = 0; i < count; ++i) all.emplace_back(i, ms);
  return all;
}

}  // namespace

TEST_CASE("many rows are one request: answered in their order, counted once, refused and failing as a whole") {
  in_world([] {
    auto d = serve::deploy<twice_after>({.name = "rows", .replicas = 2, .max_queue = 3});
    const auto answers = d.many(rows(3000, 0)).get().rows;
    REQUIRE(answers.size() == 3000);
    for (int i = 0; i < 3000; ++i) CHECK(answers[static_cast<std::size_t>(i)] == 2 * i);
    CHECK(d.status().served == 1);
    auto bad = rows(40, 0);
    std::get<0>(bad[30]) = -1;
    CHECK(contains(thrown<serve::request_failed>([&] { (void)d.many(bad).get(); }), "no negative ones"));
    CHECK(d.many({}).get().rows.empty());
    CHECK(d.status().failed == 1);
    auto b = serve::deploy<serve::batched<&together>>({.name = "batches", .max_batch = 32});
    const std::vector<int> sizes = b.many(std::vector<std::tuple<int>>(70)).get().rows;
    CHECK(sizes.size() == 70);
    for (const int size : sizes) CHECK(size <= 32);
    CHECK(sizes.front() == 32);
  });
}

TEST_CASE("each row has the time of a call") {
  in_world([] {
    auto d = serve::deploy<twice_after>({.name = "timed", .timeout = 400ms});
    CHECK(d.many(rows(12, 60)).get().rows.size() == 12);
    CHECK(d.status().overdue == 0);
  });
}

TEST_CASE("slices follow the time that a replica takes for a row, not the time that a slice waits for a processor") {
  serve::options o{.name = "sizes"};
  serve::dispatcher d(o);
  serve::detail::slice_sizes quick(d);
  CHECK(quick.next() == 1);
  for (int i = 0; i < 10; ++i) quick.took(quick.next(), quick.next() * 1us);
  CHECK(quick.next() == 4096);
  quick.took(4096, 3s);  // another program had the processor
  CHECK(quick.next() == 4096);
  for (int i = 0; i < 60; ++i) quick.took(quick.next(), quick.next() * 5ms);  // rows have become slow
  CHECK(quick.next() == 2);
  serve::detail::slice_sizes slow(d);
  slow.took(1, 200ms);
  CHECK(slow.next() == 1);
  o.timeout = 1s;
  serve::dispatcher timed(o);
  serve::detail::slice_sizes single(timed);
  single.took(1, 1us);
  CHECK(single.next() == 1);
}
