// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <manta/progress.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/world.hpp"

using manta::detail::progress_display;
using manta::testing::in_world;

namespace {

int twice(int x) { return 2 * x; }

/// What was written to a file meanwhile.
template <class Body>
std::string written(Body&& body) {
  std::FILE* out = std::tmpfile();
  body(out);
  std::rewind(out);
  std::string text(10000, ' ');
  text.resize(std::fread(text.data(), 1, text.size(), out));
  std::fclose(out);
  return text;
}

}  // namespace

TEST_CASE("a line has the title, the count, the times and the values") {
  written([](std::FILE* out) {
    progress_display display("epoch 3", 40, manta::progress_style::off, out);
    display.advance(10);
    display.set("loss", "0.5");
    display.set("loss", "0.31");
    CHECK(display.line(30, 200, false) == "epoch 3: 10 of 40 (25 %), 30 s, 1:30 min left, loss 0.31");
    const std::string bar = display.line(30, 78, true);
    CHECK(bar.find("epoch 3: [##") == 0);
    CHECK(bar.size() <= 78);
    CHECK(display.line(30, 20, true).size() == 20);
    display.advance(30);
    CHECK(display.line(7300, 200, false) == "epoch 3: 40 of 40 (100 %), 2:01 h, loss 0.31");
    progress_display again("epochs", 100, manta::progress_style::off, out);
    again.skip(90);
    CHECK(again.line(3, 200, false) == "epochs: 90 of 100 (90 %), 3 s");
    again.advance(5);
    CHECK(again.line(10, 200, false) == "epochs: 95 of 100 (95 %), 10 s, 10 s left");
    const progress_display endless("frames", 0, manta::progress_style::off, out);
    CHECK(endless.line(2, 200, true) == "frames: 0, 2 s");
  });
}

TEST_CASE("a log gets the last line of the outermost display alone, a terminal its bar") {
  const std::string log = written([](std::FILE* out) {
    progress_display outer("epochs", 2, manta::progress_style::lines, out);
    for (int i = 0; i < 2; ++i) {
      progress_display inner("batches", 100, manta::progress_style::lines, out);
      inner.advance(100);
      outer.advance(1);
    }
  });
  CHECK(log == "epochs: 2 of 2 (100 %), 0 s\n");
  const std::string terminal = written([](std::FILE* out) {
    progress_display display("epochs", 2, manta::progress_style::bar, out);
    display.advance(2);
  });
  CHECK(terminal.find("\r\x1b[K"
                      "epochs: [##############################] 2 of 2 (100 %), 0 s") == 0);
  CHECK(terminal.back() == '\n');
  CHECK(written([](std::FILE* out) {
          progress_display("epochs", 2, manta::progress_style::off, out).advance(1);
        }).empty());
}

TEST_CASE("a wrapped range gives what the range gives") {
  ::setenv("MANTA_PROGRESS", "off", 1);
  in_world([] {
    std::vector<manta::future<int>> futures;
    for (int i = 0; i < 20; ++i) futures.push_back(manta::async<twice>(i));
    int sum = 0;
    for (auto& f : manta::progress("tasks", manta::as_completed(futures))) sum += f.get();
    CHECK(sum == 380);

    std::vector<int> numbers{1, 2, 3};
    for (int& n : manta::progress("numbers", numbers)) n *= 2;
    CHECK(numbers == std::vector<int>{2, 4, 6});
    for (const int n : manta::progress("a temporary", std::vector<int>{7})) CHECK(n == 7);

    manta::progress bar("epoch 3", 5);
    bar.advance();
    bar.advance(2);
    bar.set("loss", 0.31);
    CHECK(bar.done() == 3);
  });
}
