// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The page of all searches below a folder: what it says of searches that run, have ended, or were interrupted.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "manta/tune/index.hpp"
#include "manta/tune/study.hpp"
#include "support/browser.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;
using manta::testing::thrown;

namespace {

const tune::space line = {{"x", tune::integers(1, 100)}};

tune::experiment search(const std::string& path, const std::string& name) {
  return {.maximise = "height", .trials = 5, .folder = path, .name = name};
}
/// Trials with the heights x, the second of which fails.
void run(tune::study& s, std::size_t trials) {
  for (std::size_t i = 0; i < trials; ++i) {
    const auto j = s.next();
    if (!j) break;
    s.report(j->trial, {{"height", j->parameters["x"]}}, static_cast<double>(i + 1));
    if (i == 1) s.failed(j->trial, "no data", static_cast<double>(i + 1));
    else s.ended(j->trial, static_cast<double>(i + 1));
  }
}

}  // namespace

TEST_CASE("the index finds searches at any depth, and says of each how it stands") {
  const folder f;
  std::optional<tune::study> running(std::in_place, line, search(f.path + "/b/running", "second"));
  {
    tune::study ended(line, search(f.path + "/a", "<first> \"search\""));
    run(ended, 5);
    ended.finish(5);
    tune::study interrupted(line, search(f.path + "/b/c/d", "third"));
    run(interrupted, 3);
    interrupted.flush();
    interrupted.flush_outputs();
    std::filesystem::create_directories(f.path + "/empty/trials");
    manta::output::make_folders(f.path + "/e");
    std::ofstream(f.path + "/e/summary.json") << "{\"e\":\"summary\",\"s\":1}\n";  // of something else
    std::ofstream(f.path + "/summary.json") << "torn";
  }
  run(*running, 2);
  running->flush_outputs();
  const auto all = tune::index(f.path);
  REQUIRE(all.size() == 3U);
  CHECK(all[0].folder == "a");
  CHECK(all[0].name == "<first> \"search\"");
  CHECK(all[0].state() == "ended");
  CHECK(all[0].why == "all trials have run");
  CHECK(all[0].metric == "height");
  CHECK(all[0].maximised);
  CHECK(all[0].trials() == 5U);
  CHECK(all[0].complete == 4U);
  CHECK(all[0].failed == 1U);
  CHECK(all[0].wanted == 5U);
  CHECK(all[0].seconds == 5);
  CHECK(all[0].has_page);
  REQUIRE(all[0].best.has_value());
  CHECK(all[0].best_value == all[0].parameters.get<double>("x"));
  CHECK(*all[0].best != 1U);  // it has failed
  CHECK(all[1].folder == "b/c/d");
  CHECK(all[1].state() == "interrupted");
  CHECK(all[1].trials() == 3U);
  CHECK(all[2].folder == "b/running");
  CHECK(all[2].state() == "running");
  const std::string page = text_of(f.path + "/index.html");
  CHECK(contains(page, "\"running\":true"));
  CHECK(contains(page, "b/running/report.html") == std::filesystem::exists(f.path + "/b/running/report.html"));
  CHECK(contains(page, "\"a/report.html\""));
  CHECK(contains(page, "\"5 of 5\""));
  CHECK_FALSE(contains(page, "<first>"));

  run(*running, 3);
  running->finish(9);
  running.reset();
  CHECK(tune::index(f.path)[2].state() == "ended");
  CHECK(contains(text_of(f.path + "/index.html"), "\"running\":false"));
  for (const auto& each : std::filesystem::directory_iterator(f.path))
    CHECK_FALSE(contains(each.path().filename().string(), ".new"));
  CHECK(tune::searches_in(f.path + "/a").front().folder == ".");
  CHECK(contains(thrown<manta::error>([&] { tune::index(f.path + "/nowhere"); }), "there is no folder " + f.path));
  if (!manta::testing::has_browser()) return;
  const std::string dom = manta::testing::shown_by_browser(f.path + "/index.html");
  CHECK(contains(dom, "href=\"a/report.html\""));
  CHECK(contains(dom, "&lt;first&gt;"));
  CHECK(contains(dom, "3 rows"));
}

TEST_CASE("a folder without searches has a page that says so, and looking at a search does not keep it from starting") {
  const folder f;
  CHECK(tune::index(f.path).empty());
  CHECK(contains(text_of(f.path + "/index.html"), "[\"searches\",0]"));
  const std::string path = f.path + "/s";
  { tune::study(line, search(path, "s")); }
  const int file = ::open((path + "/journal.jsonl").c_str(), O_RDONLY);
  REQUIRE(::flock(file, LOCK_SH) == 0);
  std::thread looks([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ::close(file);
  });
  CHECK_NOTHROW(tune::study(line, search(path, "s")));
  looks.join();
}
