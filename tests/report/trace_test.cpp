// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Records of a trace, and the file that is made of them. tests/trace_test.cpp reads files of runs back.
#include <doctest/doctest.h>

#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "manta/report/trace_file.hpp"
#include "manta/report/trace_records.hpp"
#include "support/text.hpp"

using manta::report::run_trace;
using manta::report::trace_of_rank;
using manta::report::trace_record;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;

namespace {

trace_record task(std::uint64_t id, std::uint64_t begin, std::uint64_t extent, std::uint32_t function = 0) {
  trace_record r;
  r.begin = begin;
  r.end_at(begin + extent);
  r.id = id;
  r.function = function;
  r.ends = true;
  return r;
}

std::uint64_t tasks_in(const manta::base::vector<trace_record>& all) {
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const trace_record& r) { return sum + r.tasks(); });
}
std::uint64_t busy_in(const manta::base::vector<trace_record>& all) {
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const trace_record& r) { return sum + r.busy(); });
}

/// A run of one rank with these records.
run_trace run_of(manta::base::vector<trace_record> records) {
  run_trace run;
  run.program = "test";
  run.functions = {"first", "second(\"quoted\")"};
  run.end = 1'000'000'000;
  trace_of_rank& r = run.ranks.emplace_back();
  r.host = "n1";
  r.own = std::move(records);
  r.records = r.own;
  return run;
}

}  // namespace

TEST_CASE("short neighbours become one record, and sums are kept") {
  manta::base::vector<trace_record> all;
  for (std::uint64_t i = 0; i < 1000; ++i) all.push_back(task(i + 1, 20 * i, 10, i % 2 == 0 ? 0 : 1));
  all.resize(manta::report::merge_short(all, 100));
  CHECK(all.size() < 220);
  CHECK(tasks_in(all) == 1000);
  CHECK(busy_in(all) == 10'000);
  CHECK((all.front().kind == trace_record::burst));
  CHECK(all.front().function == trace_record::several);
  CHECK(all.back().end() == 20 * 999 + 10);
}

TEST_CASE("long tasks stay as they are, and long gaps stay empty") {
  manta::base::vector<trace_record> all = {task(1, 0, 10), task(2, 10, 5000), task(3, 5010, 10), task(4, 9000, 10)};
  all.resize(manta::report::merge_short(all, 100));
  REQUIRE(all.size() == 4);
  CHECK((all[1].kind == trace_record::task));
  CHECK(all[1].id == 2);
}

TEST_CASE("a task that waits counts when it ends, whatever its stretches are merged with") {
  manta::base::vector<trace_record> all = {task(1, 0, 10), task(2, 10, 10), task(1, 20, 10)};
  all[0].ends = false;
  all.resize(manta::report::merge_short(all, 100));
  REQUIRE(all.size() == 1);
  CHECK(all[0].tasks() == 2);
  CHECK(all[0].busy() == 30);
}

TEST_CASE("waits are merged apart from tasks") {
  manta::base::vector<trace_record> all;
  for (std::uint64_t i = 0; i < 100; ++i) {
    all.push_back(task(i + 1, 20 * i, 10));
    trace_record wait = task(0, 20 * i + 10, 10, 6);
    wait.kind = trace_record::state;
    wait.ends = false;
    all.push_back(wait);
  }
  all.resize(manta::report::merge_short(all, 1'000'000));
  REQUIRE(all.size() == 2);
  CHECK(all[0].tasks() == 100);
  CHECK((all[1].kind == trace_record::state));
  CHECK(all[1].busy() == 1000);
  CHECK(all[1].tasks() == 0);
}

TEST_CASE("a file has its limit, with all tasks in it, and says what was merged") {
  const folder f;
  manta::base::vector<trace_record> records;
  for (std::uint64_t i = 0; i < 50'000; ++i) records.push_back(task(i + 1, 10'000 * i, 5'000));
  run_trace run = run_of(records);
  const auto totals = manta::report::write_trace(f.path + "/t.json", run, 2 << 20);
  CHECK(totals.tasks == 50'000);
  CHECK(totals.bytes <= 2 << 20);
  CHECK(totals.bytes == std::filesystem::file_size(f.path + "/t.json"));
  CHECK(totals.slices < 15'000);
  CHECK(!contains(text_of(f.path + "/t.json"), "\"merged_below_us\":0,"));
}

TEST_CASE("an arrow whose ends are merged is left out, and one that goes back is made short or left out") {
  const folder f;
  run_trace run = run_of({task(1, 1000, 5000), task(2, 7000, 5000), task(3, 20'000, 3000)});
  run.ranks[0].arrows = {{1, 2}, {9, 2}, {3, 1}};
  const auto totals = manta::report::write_trace(f.path + "/t.json", run, 1 << 20);
  CHECK(totals.arrows == 1);
  CHECK(totals.arrows_left_out == 2);
  CHECK(totals.arrows_backwards == 1);
}

TEST_CASE("a rank that begins before the run of rank 0 keeps its order") {
  const folder f;
  run_trace run = run_of({task(1, 1000, 5000), task(2, 6000, 5000)});
  run.begin = 3000;
  manta::report::write_trace(f.path + "/t.json", run, 1 << 20);
  const std::string text = text_of(f.path + "/t.json");
  CHECK(contains(text, "\"ts\":0.000,\"dur\":4.999"));
  CHECK(contains(text, "\"ts\":5.000,\"dur\":4.999"));
}

TEST_CASE("names are quoted, and a folder that is not there is an error that names the file") {
  const folder f;
  run_trace run = run_of({task(1, 0, 10, 1)});
  manta::report::write_trace(f.path + "/t.json", run, 1 << 20);
  CHECK(contains(text_of(f.path + "/t.json"), "second(\\\"quoted\\\")"));
  const auto elsewhere = [&] { manta::report::write_trace(f.path + "/no/t.json", run, 1 << 20); };
  CHECK(contains(manta::testing::thrown<std::exception>(elsewhere), "/no/t.json"));
  CHECK(!std::filesystem::exists(f.path + "/t.json.new"));
}
