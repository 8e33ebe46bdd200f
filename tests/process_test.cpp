// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Helper programs: messages of any size come back; a program that crashes or hangs is an error with its last words.
#include <doctest/doctest.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "manta/error.hpp"
#include "manta/process.hpp"
#include "manta/program.hpp"
#include "support/text.hpp"

using namespace std::chrono_literals;
using manta::testing::thrown;

namespace {

/// A program that answers each message by itself, and does what a few words say.
manta::process echo() {
  return manta::process({manta::python_program(), "-c", R"(
import os, sys, time
def read(n):
    data = b''
    while len(data) < n:
        part = os.read(3, n - len(data))
        if not part: sys.exit(0)
        data += part
    return data
while True:
    text = read(int.from_bytes(read(8), 'little'))
    if text == b'crash': print('the end is near', flush=True); os._exit(3)
    if text == b'hang': print('falling asleep', flush=True); time.sleep(100)
    if text == b'raise': raise ValueError('a wrong number')
    answer = len(text).to_bytes(8, 'little') + text
    while answer: answer = answer[os.write(4, answer):]
)"});
}

}  // namespace

TEST_CASE("a helper program answers messages of any size, in order") {
  manta::process p = echo();
  for (std::size_t size : {0UL, 1UL, 1000UL, 3000000UL}) {
    const std::string text(size, 'x');
    p.send(text);
    CHECK(p.receive() == text);
  }
  p.send("one");
  p.send("two");
  CHECK(p.receive() == "one");
  CHECK(p.receive() == "two");
  manta::process moved = std::move(p);
  moved.send("three");
  CHECK(moved.receive() == "three");
}

TEST_CASE("a helper program that ends is an error with its exit code and its last words") {
  manta::process p = echo();
  p.send("crash");
  const std::string text = thrown<manta::error>([&] { p.receive(); });
  CHECK(text.find("exit code 3") != std::string::npos);
  CHECK(text.find("the end is near") != std::string::npos);
  CHECK(!p.running());
  CHECK(thrown<manta::error>([&] { p.send("more"); }).find("has ended") != std::string::npos);

  manta::process q = echo();
  q.send("raise");
  CHECK(thrown<manta::error>([&] { q.receive(); }).find("ValueError: a wrong number") != std::string::npos);
}

TEST_CASE("a helper program that says nothing is ended, with an error") {
  manta::process p = echo();
  p.send("hang");
  const std::string text = thrown<manta::error>([&] { p.receive(1500ms); });
  CHECK(text.find("within its time") != std::string::npos);
  CHECK(text.find("falling asleep") != std::string::npos);
  CHECK(!p.running());
}

TEST_CASE("a program that does not exist is an error") {
  CHECK(thrown<manta::error>([] {
          manta::process p({"/no/such/program"});
        }).find("cannot start the program /no/such/program") != std::string::npos);
}

TEST_CASE("a program runs to its end, with input and output, in a folder and an environment of its own") {
  const auto sorted = manta::run_program({"sort", "-n"}, {.input = "10\n9\n"});
  CHECK(sorted);
  CHECK(sorted.output == "9\n10\n");
  CHECK(sorted.seconds > 0);
  CHECK(sorted.memory_bytes > 0);
  const auto seen =
      manta::run_program({"sh", "-c", "pwd; echo $COLOUR"}, {.folder = "/usr", .environment = {"COLOUR=blue"}});
  CHECK(seen.output == "/usr\nblue\n");
  const auto variables = manta::program_environment();  // what the program gets
  CHECK(std::ranges::count(variables, "PATH=" + std::string(std::getenv("PATH"))) == 1);
  CHECK(std::ranges::none_of(variables, [](const std::string& each) { return each.starts_with("OMPI_COMM_WORLD_"); }));

  const auto large = manta::run_program({"cat"}, {.input = std::string(3'000'000, 'x'), .most_output = 1'000'000});
  CHECK(large.output == std::string(1'000'000, 'x'));
  CHECK(manta::run_program({"true"}, {.input = std::string(1'000'000, 'x')}));  // does not read it
}

TEST_CASE("how a program has ended is a status, a signal and a sentence") {
  const auto failed = manta::run_program({"sh", "-c", "echo no mesh; exit 3"});
  CHECK(failed.status == 3);
  CHECK(failed.text().find("sh ended with status 3 after ") == 0);
  CHECK(failed.text().find("it printed last: no mesh") != std::string::npos);
  const auto killed = manta::run_program({"sh", "-c", "kill -SEGV $$"});
  CHECK(killed.signal == SIGSEGV);
  CHECK(killed.status == 128 + SIGSEGV);
  CHECK(killed.text().find("SIGSEGV") != std::string::npos);
  CHECK(thrown<manta::error>([] { (void)manta::run_program({"no-such-program"}); }).find("cannot start the program") !=
        std::string::npos);
  CHECK(thrown<manta::error>([] { (void)manta::run_program({}); }).find("has to name a program") != std::string::npos);
}

TEST_CASE("a program whose time is over ends with all that it has started, and so does what outlives it") {
  const auto before = std::chrono::steady_clock::now();
  const auto late = manta::run_program({"sh", "-c", "sleep 100 & sleep 100"}, {.timeout = 200ms});
  CHECK(late.timed_out);
  CHECK(late.status == 128 + SIGTERM);
  const auto left = manta::run_program({"sh", "-c", "sleep 100 & echo $!"});
  CHECK(left);
  CHECK(std::chrono::steady_clock::now() - before < 50s);
  for (int i = 0; i < 1000 && ::kill(std::stoi(left.output), 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  CHECK(::kill(std::stoi(left.output), 0) != 0);
}

TEST_CASE("a program does not take itself for a rank of this job") {
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  ::setenv("PMIX_RANK", "3", 1);
  ::setenv("SLURM_PROCID", "3", 1);
  const auto seen = manta::run_program({"sh", "-c", "echo $OMPI_COMM_WORLD_RANK$PMIX_RANK$SLURM_PROCID"});
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) ::unsetenv(name);
  CHECK(seen.output == "\n");
}
