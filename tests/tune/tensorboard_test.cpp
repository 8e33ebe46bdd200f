// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Event files: bytes as they have to be, and as a reader of somebody else's sees them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "manta/output/crc32c.hpp"
#include "manta/output/hparams.hpp"
#include "manta/tune/output/tensorboard.hpp"
#include "manta/tune/study.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;

namespace {
std::string hex(std::string_view bytes) {
  std::string out;
  char two[3];
  for (const char c : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += two;
  }
  return out;
}
std::string reader() {
  const std::string source = __FILE__;
  return source.substr(0, source.rfind('/')) + "/programs/events.py";
}
/// All that an independent reader finds in the file.
std::string read_by_python(const std::string& file) {
  const manta::testing::folder f;
  REQUIRE(std::system(("python3 " + reader() + " --all " + file + " > " + f.path + "/read.txt").c_str()) == 0);
  return manta::testing::text_of(f.path + "/read.txt");
}
}  // namespace

TEST_CASE("CRC-32C has its check value") {
  CHECK(manta::output::crc32c("123456789") == 0xe3069283U);
  CHECK(tune::event_file::masked_crc("123456789") == 0xc78ab0e5U);
  CHECK(manta::output::crc32c("") == 0U);
  std::string thirty_two(32, '\0');  // RFC 3720, appendix B.4
  CHECK(manta::output::crc32c(thirty_two) == 0x8a9136aaU);
  for (int i = 0; i < 32; ++i) thirty_two[static_cast<std::size_t>(i)] = static_cast<char>(i);
  CHECK(manta::output::crc32c(thirty_two) == 0x46dd794eU);
}

TEST_CASE("events have the bytes of their protocol buffers") {
  CHECK(hex(tune::event_file::version_event(1.5)) == "09000000000000f83f1a0d627261696e2e4576656e743a32");
  CHECK(hex(tune::event_file::scalars_event(1.5, 300, {{"a", 0.5}})) ==
        "09000000000000f83f10ac022a0a0a080a0161150000003f");
  std::string record;
  tune::event_file::append_record(record, "abc");
  CHECK(hex(record).substr(0, 16) == "0300000000000000");
  CHECK(record.size() == 8U + 4 + 3 + 4);
}

TEST_CASE("an independent reader finds every scalar, and every checksum right") {
  const manta::testing::folder f;
  tune::tensorboard out;
  out.begin({.folder = f.path, .name = "test", .metric = "loss"});
  tune::trial_record t;
  t.id = 3;
  std::string expected;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    t.iteration = i;
    const double loss = 1.0 / static_cast<double>(i);
    out.report(t, {{"loss", loss}, {"accuracy", 0.5}}, 0);
    char line[80];
    std::snprintf(line, sizeof line, "%llu loss %.6g\n%llu accuracy 0.5\n", static_cast<unsigned long long>(i),
                  static_cast<double>(static_cast<float>(loss)), static_cast<unsigned long long>(i));
    expected += line;
  }
  out.end(t);
  const std::string file = f.path + "/trials/00003/events.out.tfevents.0000000000.manta";
  const auto read = [&] {
    return std::system(
        ("python3 " + reader() + " " + file + " > " + f.path + "/read.txt 2> " + f.path + "/errors.txt").c_str());
  };
  REQUIRE(read() == 0);
  CHECK((manta::testing::text_of(f.path + "/read.txt") == expected));
  const std::string bytes = manta::testing::text_of(file);
  for (const std::size_t at :
       {std::size_t{3}, std::size_t{5000}, bytes.size() - 1}) {  // a length, a payload, a checksum
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    CHECK(read() != 0);
    CHECK(manta::testing::contains(manta::testing::text_of(f.path + "/errors.txt"), "wrong checksum"));
  }
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() - 5);
  CHECK(read() != 0);
}

TEST_CASE("the plug-in HParams is told the space, each configuration, and how each trial ended") {
  const manta::testing::folder f;
  tune::tensorboard out(1.5e9);
  const tune::space where = {{"lr", tune::loguniform(1e-3, 1)},
                             {"opt", tune::choice({"sgd", "adam"})},
                             {"bias", tune::choice({true, false})},
                             {"width", tune::grid({16, 32})},
                             {"mixed", tune::choice({tune::value(1), tune::value("auto")})},
                             {"epochs", 10}};
  out.begin({.folder = f.path, .name = "test", .metric = "loss", .where = where});
  tune::trial_record t;
  t.parameters = {{"lr", 0.125}, {"opt", "adam"}, {"bias", true}, {"width", 32}, {"mixed", "auto"}, {"epochs", 10}};
  out.add(t);
  t.iteration = 1;
  out.report(t, {{"accuracy", 0.5}, {"loss", 0.25}}, 0);
  t.state = tune::status::complete;
  out.end(t);
  CHECK(
      read_by_python(f.path + "/trials/" + manta::output::tensorboard::file_name) ==
      "1500000000.0 experiment [('lr', 'number', {1: 0.001, 2: 1.0}), ('opt', 'text', ['sgd', 'adam']), ('bias', 'truth', [True, False]), "
      "('width', 'number', [16.0, 32.0]), ('mixed', 'text', ['1', 'auto']), ('epochs', 'number', [10.0]), 'loss', 'accuracy']\n");
  const std::string begin =
      "1500000000.0 begin [('lr', 0.125), ('opt', 'adam'), ('bias', True), ('width', 32.0), ('mixed', 'auto'), ('epochs', 10.0)]\n"
      "1500000000.0 1 accuracy 0.5\n1500000000.0 1 loss 0.25\n1500000000.0 end ";
  CHECK(read_by_python(f.path + "/trials/00000/" + manta::output::tensorboard::file_name) == begin + "['success']\n");
  t.id = 1;
  t.state = tune::status::failed;
  out.add(t);
  out.end(t);
  out.flush();
  CHECK(manta::testing::contains(read_by_python(f.path + "/trials/00001/" + manta::output::tensorboard::file_name),
                                 "end ['failure']"));
}

TEST_CASE("an experiment that is continued keeps the wall times of what was reported before") {
  const manta::testing::folder f;
  const tune::experiment e = {.minimise = "loss", .trials = 2, .folder = f.path, .outputs = {tune::tensorboard()}};
  const double first = manta::output::wall_time();
  {
    tune::study s({{"x", tune::uniform(0, 1)}}, e);
    s.next(10);
    s.report(0, {{"loss", 1}}, 10'000);  // as if it had run for hours
  }
  const double second = manta::output::wall_time();
  tune::study s({{"x", tune::uniform(0, 1)}}, e);
  REQUIRE(s.next(10'010)->trial == 0U);
  s.report(0, {{"loss", 0.5}}, 10'100, 2);
  CHECK(std::abs(s.trial(0).wall - second - 100) < 60);
  s.ended(0, 10'200);
  s.finish(10'200);
  std::istringstream lines(read_by_python(f.path + "/trials/00000/" + manta::output::tensorboard::file_name));
  std::vector<double> times;
  for (std::string line; std::getline(lines, line);) times.push_back(std::stod(line));
  REQUIRE(times.size() == 4U);  // begin, two reports, end
  const double wanted[] = {first + 10, first + 10'000, second + 100, second + 200};
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(std::abs(times[static_cast<std::size_t>(i)] - wanted[i]) < 60);
  }
}
