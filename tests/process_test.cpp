// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Helper programs: messages of any size come back; a program that crashes or hangs is an error with its last words.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "manta/error.hpp"
#include "manta/process.hpp"
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
