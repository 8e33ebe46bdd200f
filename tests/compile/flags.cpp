// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What programs need however they are compiled, -ffast-math included: there,
// compilers take for granted that no number is a NaN or infinite.
#include "program.hpp"

#include <limits>

namespace {

double divided(const tune::config& c) {
  const double x = c["x"];
  const volatile double zero = 0;
  return x < 0.7 ? x : x < 0.85 ? zero / zero : 1 / zero;
}

template <class Body>
bool throws(Body&& body) {
  try {
    body();
  } catch (const manta::error&) {
    return true;
  }
  return false;
}

void try_numbers() {
  const volatile double zero = 0;
  const double nan = zero / zero, infinite = 1 / zero;
  const auto found = tune::run<divided>({{"x", tune::uniform(0, 1)}}, {.minimise = "loss", .trials = 24, .seed = 1});
  expect(found.best_value() < 0.7, "the best of trials that give NaN and infinity");
  const auto maximum = tune::run<divided>({{"x", tune::uniform(0, 1)}}, {.maximise = "score", .trials = 24, .seed = 1});
  expect(maximum.best_value() < 0.7, "the largest of trials that give NaN and infinity");
  expect(throws([&] { manta::async<square>({.gpus = nan}, 1); }), "NaN devices are refused");
  expect(throws([&] { manta::async<square>({.resources = {{"slot", nan}}}, 1); }), "a NaN amount is refused");
  expect(throws([&] { tune::uniform(nan, 1); }), "a NaN bound is refused");
  expect(throws([&] { tune::uniform(0, infinite); }), "an infinite bound is refused");
  expect(tune::value(nan).text().find("nan\"") != std::string::npos && tune::value(infinite).text() == "\"inf\"",
         "their texts");
  manta::promise<int> p;
  expect(!p.get_future().wait_for(std::chrono::duration<double>(1e-3)), "a wait that ends");
  const auto soon = manta::async<square>(3);
  expect(soon.wait_for(std::chrono::duration<double>(infinite)), "a wait without end");
}

}  // namespace

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    try_everything();
    try_numbers();
    return failures == 0 ? 0 : 1;
  });
}
