// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rows as CSV, JSON lines and event files: what is written is read back by other means.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <nlohmann/json.hpp>

#include "manta/output.hpp"
#include "support/text.hpp"

namespace output = manta::output;
using manta::testing::text_of;

TEST_CASE(
    "a CSV file has a column for each name, in the order in which they came, and empty cells for what is missing") {
  const manta::testing::folder f;
  const std::string path = f.path + "/made/here/progress.csv";
  output::csv table(path);
  table.write(1, {{"loss", 0.5}, {"state", "warm, \"really\"\nwarm"}, {"ok", true}});
  table.write(2, {{"ok", false}, {"loss", 0.25f}});
  table.flush();
  table.write(3, {{"loss", 0.1f}, {"a,b", -7}, {"steps", std::uint64_t{1} << 40U}});
  table.flush();
  CHECK(
      text_of(path) ==
      "step,loss,state,ok,\"a,b\",steps\n1,0.5,\"warm, \"\"really\"\"\nwarm\",true,,\n2,0.25,,false,,\n3,0.1,,,-7,1099511627776\n");
}

TEST_CASE(
    "a CSV file that is continued keeps its rows and columns, and a row that was cut off stays a row of its own") {
  const manta::testing::folder f;
  const std::string path = f.path + "/progress.csv";
  {
    output::csv table(path, output::mode::fresh, "epoch");
    table.write(1, {{"a \"b\"", 1}, {"c", 2.5}});
    table.flush();
  }
  {
    output::csv table(path, output::mode::append);
    table.write(2, {{"c", 3.5}, {"d", 4}});
    table.flush();
  }
  CHECK(text_of(path) == "epoch,\"a \"\"b\"\"\",c,d\n1,1,2.5,\n2,,3.5,4\n");
  std::ofstream(path, std::ios::app) << "3,";
  output::csv table(path, output::mode::append);
  table.write(4, {{"d", 5}});
  table.flush();
  CHECK(text_of(path).ends_with("\n3,\n4,,,5\n"));
  output::csv(path).write(1, {{"x", 1}});
  CHECK(text_of(path).ends_with("4,,,5\n"));  // nothing is gone before the first write
}

TEST_CASE("JSON lines are JSON whatever the bytes, and numbers come back as they were") {
  const manta::testing::folder f;
  output::json_lines lines(f.path + "/result.jsonl");
  const std::string bytes("na\xefve \xe2\x82\xac \x01 \xf0\x9f\x98\x80 \xed\xa0\x80 \0 \" \\", 26);
  lines.write(1, {{"third", 1.0 / 3},
                  {"inf", std::numeric_limits<double>::infinity()},
                  {"whole", 2.0},
                  {"n", 3},
                  {"b", true},
                  {bytes, bytes}});
  lines.write({{"alone", 1}});
  lines.flush();
  const std::string text = text_of(f.path + "/result.jsonl");
  const auto one = nlohmann::json::parse(text.substr(0, text.find('\n')));
  CHECK(one["step"] == 1);
  CHECK(one["third"].get<double>() == 1.0 / 3);
  CHECK(one["inf"] == "inf");
  CHECK(one["whole"].is_number_float());
  CHECK(one["n"].is_number_integer());
  CHECK(one["b"] == true);
  CHECK(one.contains(
      std::string("na\xc3\xafve \xe2\x82\xac \x01 \xf0\x9f\x98\x80 \xc3\xad\xc2\xa0\xc2\x80 \0 \" \\", 30)));
  CHECK(text.ends_with("{\"alone\":1}\n"));
}

TEST_CASE("an independent reader finds the scalars of an event file that was continued") {
  const manta::testing::folder f;
  output::tensorboard events(f.path + "/run");
  events.write(1, {{"loss", 0.5}, {"note", "no number"}});
  events.flush();
  output::tensorboard more(f.path + "/run", output::mode::append);
  more.write(2, {{"loss", 0.25}, {"n", 3}});
  more.flush();
  const std::string source = __FILE__;
  const std::string reader = source.substr(0, source.rfind('/')) + "/../tune/programs/events.py";
  REQUIRE(std::system(("python3 " + reader + " " + f.path + "/run/" + output::tensorboard::file_name + " > " + f.path +
                       "/read.txt")
                          .c_str()) == 0);
  CHECK(text_of(f.path + "/read.txt") == "1 loss 0.5\n2 loss 0.25\n2 n 3\n");
}

TEST_CASE("a folder that cannot be made is named, with the reason") {
  const manta::testing::folder f;
  std::ofstream(f.path + "/file") << "in the way";
  CHECK_THROWS_WITH_AS(output::csv(f.path + "/file/x/progress.csv"), doctest::Contains("cannot make the folder"),
                       manta::error);
}
