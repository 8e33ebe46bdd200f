// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Event files: bytes as they have to be, and as a reader of somebody else's sees them.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "manta/output/crc32c.hpp"
#include "manta/tune/output/tensorboard.hpp"
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
  CHECK(hex(tune::event_file::scalars_event(1.5, 300, {{"a", 0.5}})) == "09000000000000f83f10ac022a0a0a080a0161150000003f");
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
  const std::string source = __FILE__;
  const std::string reader = source.substr(0, source.rfind('/')) + "/programs/events.py";
  const auto read = [&] {
    return std::system(("python3 " + reader + " " + file + " > " + f.path + "/read.txt 2> " + f.path + "/errors.txt").c_str());
  };
  REQUIRE(read() == 0);
  CHECK((manta::testing::text_of(f.path + "/read.txt") == expected));
  const std::string bytes = manta::testing::text_of(file);
  for (const std::size_t at : {std::size_t{3}, std::size_t{5000}, bytes.size() - 1}) {  // a length, a payload, a checksum
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    CHECK(read() != 0);
    CHECK(manta::testing::contains(manta::testing::text_of(f.path + "/errors.txt"), "wrong checksum"));
  }
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() - 5);
  CHECK(read() != 0);
}
