// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What one sees while an experiment runs: in a batch log and on a terminal.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "manta/tune/output/table.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;

namespace {

using stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// All that was written to a file that is not a terminal.
std::string written(std::FILE* file) {
  std::fflush(file);
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  return text;
}

/// A terminal without a screen: what is written to it can be read.
struct terminal {
  int screen = ::posix_openpt(O_RDWR | O_NOCTTY);
  stream out{nullptr, std::fclose};
  terminal() {
    REQUIRE(screen >= 0);
    REQUIRE(::grantpt(screen) == 0);
    REQUIRE(::unlockpt(screen) == 0);
    out.reset(std::fopen(::ptsname(screen), "w"));
    REQUIRE(out != nullptr);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() { ::close(screen); }
  /// What came since the last call: up to a bell that is rung now.
  std::string shown() const {
    std::fputc('\a', out.get());
    std::fflush(out.get());
    std::string text;
    for (char c = 0; ::read(screen, &c, 1) == 1 && c != '\a';) text += c;
    return text;
  }
};

const tune::space where = {{"x", tune::integers(1, 1000)}};

/// Five trials with losses 1 to 5, a sixth and a seventh that run.
void run_some(tune::study& s) {
  for (int i = 1; i <= 5; ++i) {
    const auto j = s.next(i);
    s.report(j->trial, {{"loss", i}}, i);
    s.ended(j->trial, i);
  }
  s.report(s.next(6)->trial, {{"loss", 9}}, 6);
  s.next(6);
}
tune::experiment six(bool show = true) {
  return {.minimise = "loss",
          .trials = 8,
          .first = {{{"x", 1}}, {{"x", 2}}, {{"x", 3}}, {{"x", 4}}, {{"x", 5}}, {{"x", 6}}, {{"x", 7}}},
          .show = show,
          .name = "descent"};
}

}  // namespace

TEST_CASE("in a batch log there is a line when something has changed, at growing intervals, and one at the end") {
  tune::study s(where, six());
  const stream file(std::tmpfile(), std::fclose);
  tune::status_table table(s, file.get());
  table.update(0);
  run_some(s);
  table.update(14);  // too early
  CHECK(written(file.get()).empty());
  table.update(16);
  const std::string first =
      "descent: 16.0 s, 5 of 8, 2 running, 5 complete, 9.6 s left; best loss 1 (trial 0, {\"x\":1})\n";
  CHECK(written(file.get()) == first);
  table.update(37);  // too early, 22.5 s after the last
  table.update(39);  // nothing has changed
  CHECK(written(file.get()) == first);
  s.report(6, {{"loss", 0.5}}, 100);
  table.line("trial 5 failed: no memory");
  table.update(4000);
  table.finish();
  CHECK(written(file.get()) ==
        first +
            "descent: trial 5 failed: no memory\n"
            "descent: 1:06:40, 5 of 8, 2 running, 5 complete, 0:40:00 left; best loss 0.5 (trial 6, {\"x\":7})\n"
            "descent: 0:01:40, 5 of 8, 2 running, 5 complete, 60.0 s left; best loss 0.5 (trial 6, {\"x\":7})\n");
  s.finish(100);
  table.finish();
  CHECK(written(file.get())
            .ends_with("5 complete, 2 stopped; best loss 0.5 (trial 6, {\"x\":7}); all trials have run\n"));
}

TEST_CASE("a quiet experiment shows nothing") {
  tune::study s(where, six(false));
  const stream file(std::tmpfile(), std::fclose);
  tune::status_table table(s, file.get());
  run_some(s);
  for (double now = 0; now < 1000; now += 50) table.update(now);
  table.line("a line");
  table.finish();
  CHECK(written(file.get()).empty());
}

TEST_CASE("the table has the best trials, then those that run") {
  tune::study s(where, six());
  run_some(s);
  const tune::status_table table(s);
  CHECK(table.table(6, 4) ==
        "descent: 6.0 s, 5 of 8, 2 running, 5 complete, 3.6 s left; best loss 1 (trial 0, {\"x\":1})\n"
        "  trial state     at  last  best  x\n"
        "      0 complete   1     1     1  1\n"
        "      1 complete   1     2     2  2\n"
        "      5 running    1     9     9  6\n"
        "      6 running    0     -     -  7\n");
}

TEST_CASE("the table has a column with four digits for each parameter in which the trials differ") {
  const tune::space mixed = {{"lr", tune::loguniform(1e-5, 1)},
                             {"opt", tune::choice({"sgd", "an optimiser with a long name"})},
                             {"momentum", tune::uniform(0, 1).when("opt", "sgd")},
                             {"epochs", 10}};
  tune::study s(mixed, {.minimise = "loss",
                        .trials = 2,
                        .first = {{{"lr", 0.0123456789}, {"opt", "sgd"}, {"momentum", 0.5}},
                                  {{"lr", 0.25}, {"opt", "an optimiser with a long name"}}},
                        .name = "mixed"});
  for (int i = 0; i < 2; ++i) s.report(s.next()->trial, {{"loss", 1.0 / 3 + i}});
  const std::string text = tune::status_table(s).table(0, 4);
  CHECK(text.substr(text.find('\n') + 1) ==
        "  trial state    at    last    best       lr               opt  momentum\n"
        "      0 running   1  0.3333  0.3333  0.01235               sgd       0.5\n"
        "      1 running   1   1.333   1.333     0.25  an optimiser wit         -\n");
}

TEST_CASE("of many trials that fail alike three are named, and the others counted") {
  tune::study s(where, six());
  const stream file(std::tmpfile(), std::fclose);
  tune::status_table table(s, file.get());
  for (tune::trial_number t = 0; t < 60; ++t) table.failed(t, "no memory");
  table.failed(60, "no disk");
  CHECK(written(file.get()) ==
        "descent: trial 0 failed: no memory\ndescent: trial 1 failed: no memory\n"
        "descent: trial 2 failed: no memory; further ones are counted\ndescent: trial 60 failed: no disk\n");
  table.finish();
  CHECK(contains(written(file.get()), "descent: 60 trials failed: no memory\n"));
  CHECK(!contains(written(file.get()), "1 trials failed"));
}

TEST_CASE("on a terminal the table is drawn again over itself, and lines stay above it") {
  tune::study s(where, six());
  run_some(s);
  const terminal screen;
  tune::status_table table(s, screen.out.get());
  table.update(0);
  std::string text = screen.shown();
  const auto rows = std::count(text.begin(), text.end(), '\n');
  CHECK(rows == 2 + 7);
  CHECK(!contains(text, "\x1b["));
  table.update(0.1);
  CHECK(screen.shown().empty());
  table.update(1);
  const std::string up = "\x1b[" + std::to_string(rows) + "A\x1b[J";
  CHECK(screen.shown().starts_with(up + "descent: 1.0 s"));
  table.line("trial 5 failed: no memory");
  CHECK(screen.shown() == up + "descent: trial 5 failed: no memory\r\n");
  table.update(1.1);
  CHECK(screen.shown().starts_with("descent: 1.1 s"));
  table.finish();
  CHECK(screen.shown().starts_with(up));
}

TEST_CASE("lines end where the terminal does, between characters") {
  for (const unsigned columns : {0U, 40U, 57U}) {  // 0: not known
    CAPTURE(columns);
    const tune::space long_names = {{"a_name_\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc_that_is_long", tune::integers(1, 9)}};
    tune::study s(long_names, {.minimise = "loss", .trials = 3, .name = "descent"});
    s.report(s.next()->trial, {{"loss", 1}});
    const terminal screen;
    const ::winsize size = {24, static_cast<unsigned short>(columns), 0, 0};
    REQUIRE(::ioctl(::fileno(screen.out.get()), TIOCSWINSZ, &size) == 0);
    tune::status_table table(s, screen.out.get());
    table.update(0);
    std::istringstream shown(screen.shown());
    std::size_t longest = 0;
    for (std::string line; std::getline(shown, line, '\r');) {
      const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U && c != '\n'; };
      longest = std::max(longest, static_cast<std::size_t>(std::count_if(line.begin(), line.end(), begins)));
    }
    CHECK(longest == (columns == 0 ? 79U : columns - 1));
  }
}
