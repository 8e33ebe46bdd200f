// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The command line of examples/fashion_mnist.cpp: `--name value` pairs, each
// checked, each mistake one usage_error that names the option and the value.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace fashion_mnist {

/// The command line cannot be understood.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::string data = "/usr/share/datasets/fashion-mnist";  ///< where Debian's dataset-fashion-mnist puts it
  std::size_t epochs = 6;
  std::size_t train = 60'000;  ///< use the first so many training images
  std::size_t batch = 64;
  double rate = 0.0005;        ///< step size in the first epoch; falls linearly to a tenth in the last
  std::size_t workers = 0;     ///< 0: one for each rank that executes tasks
  std::size_t shards = 0;      ///< 0: as many as workers
  int staleness = 16;          ///< updates by which a worker may be ahead of the slowest
  double min_accuracy = 0.85;  ///< exit code 1 below it
  std::uint64_t seed = 1;
};

namespace detail {

template <class Number>
void parse_number(std::string_view name, std::string_view text, Number least, Number most, Number& to) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
    throw usage_error(std::string(name) + " needs a number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  to = value;
}

}  // namespace detail

/// Reads the options; those that start with --manta are for manta and left alone.
inline options parse_options(int argc, char** argv) {
  using detail::parse_number;
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name.starts_with("--manta")) continue;
    if (i + 1 == argc) throw usage_error(std::string(name) + " is unknown or lacks a value");
    const std::string_view value = argv[++i];
    if (name == "--data") o.data = value;
    else if (name == "--epochs") parse_number<std::size_t>(name, value, 1, 10'000, o.epochs);
    else if (name == "--train") parse_number<std::size_t>(name, value, 1, 60'000, o.train);
    else if (name == "--batch") parse_number<std::size_t>(name, value, 1, 60'000, o.batch);
    else if (name == "--rate") parse_number(name, value, 0.0, 1.0, o.rate);
    else if (name == "--workers") parse_number<std::size_t>(name, value, 1, 10'000, o.workers);
    else if (name == "--shards") parse_number<std::size_t>(name, value, 1, 10'000, o.shards);
    else if (name == "--staleness") parse_number(name, value, 0, 1'000'000, o.staleness);
    else if (name == "--min-accuracy") parse_number(name, value, 0.0, 1.0, o.min_accuracy);
    else if (name == "--seed") parse_number<std::uint64_t>(name, value, 0, UINT64_MAX, o.seed);
    else
      throw usage_error(std::string(name) +
                        " is unknown; there are --data --epochs --train --batch --rate --workers "
                        "--shards --staleness --min-accuracy --seed");
  }
  return o;
}

}  // namespace fashion_mnist
