// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Report pages, read back from a browser.
#include <doctest/doctest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "manta/output.hpp"
#include "manta/output/compare.hpp"
#include "support/browser.hpp"
#include "support/text.hpp"

namespace output = manta::output;
using manta::testing::contains;
using manta::testing::text_of;

namespace {
output::page example() {
  output::page p("a </script> title");
  p.facts("", {{"steps", 12345678}, {"return", 0.125}});
  p.text("Notes", "<b>not bold</b> & \xff");
  p.curves("Return", "steps", "return", {{"one", {{1, 0.5}, {2, std::nan("")}, {3, 1e6}}, "stopped"}, {"two", {}}});
  p.table("Rows", {"name", "figure"}, {{"first", 0.1f}, {"second", -2.5e-9}, {"third", 7}});
  p.table("Empty", {"nothing"}, {});
  p.script("kinds.mine = s => { el('p', card(s.title), fmt(s.x)); };");
  p.section("mine", "Of a library's own", "\"x\":1e-4");
  return p;
}
}  // namespace

TEST_CASE("the data of a page are one block of JSON that no text can end") {
  const std::string html = example().html(), mark = "id=\"data\">";
  const std::size_t begin = html.find(mark) + mark.size(), end = html.find("</script>", begin);
  const auto data = nlohmann::json::parse(html.substr(begin, end - begin));
  CHECK(data["title"] == "a </script> title");
  CHECK(data["running"] == false);
  CHECK(data["sections"].size() == 6U);
  CHECK(data["sections"][1]["text"] == "<b>not bold</b> & \xc3\xbf");
  CHECK(data["sections"][2]["lines"][0]["points"] == nlohmann::json::parse("[[1,0.5],[2,null],[3,1e6]]"));
  CHECK(data["sections"][3]["rows"][0][1] == 0.1);
  CHECK(!contains(html, "http://"));
  CHECK(!contains(html, "https://"));
}

TEST_CASE("a page compares the columns of several runs, but for those that are one number") {
  const manta::testing::folder f;
  for (const char* name : {"one", "two"}) {
    const bool is_first = std::string(name) == "one";
    output::csv table(f.path + "/" + name + "/progress.csv", output::mode::fresh, "epoch");
    for (int epoch = 1; epoch <= 3; ++epoch) {
      if (is_first) table.write(epoch, {{"loss", 1.0 / epoch}, {"rate", 0.5}, {"note", "text"}});
      if (!is_first) table.write(epoch, {{"loss", 2.0 / epoch}, {"rate", 0.5}, {"accuracy", 0.1 * epoch}});
    }
    table.flush();
  }
  output::compare_runs({f.path + "/one", f.path + "/two"}, f.path + "/page.html");
  const std::string html = text_of(f.path + "/page.html"), mark = "id=\"data\">";
  const std::size_t begin = html.find(mark) + mark.size(), end = html.find("</script>", begin);
  const auto sections = nlohmann::json::parse(html.substr(begin, end - begin))["sections"];
  REQUIRE(sections.size() == 2U);
  CHECK(sections[0]["title"] == "loss");
  CHECK(sections[0]["lines"].size() == 2U);
  CHECK(sections[0]["lines"][1]["name"] == f.path + "/two");
  CHECK(sections[0]["lines"][1]["points"] == nlohmann::json::parse("[[1,2.0],[2,1.0],[3,0.6666666666666666]]"));
  CHECK(sections[1]["title"] == "accuracy");
  CHECK(sections[1]["lines"].size() == 1U);
  CHECK(contains(manta::testing::thrown<manta::error>([&] { output::compare_runs({f.path + "/none"}, f.path + "/p"); }),
                 "/none/progress.csv is not there: name folders that a training has logged to"));
  CHECK(contains(manta::testing::thrown<manta::error>([&] { output::compare_runs({}, f.path + "/p"); }),
                 "no folders are given"));
}

TEST_CASE("runs that differ in their seeds are one line, the median, with the least and the largest of them") {
  const manta::testing::folder f;
  const auto log = [&](const char* name, const std::vector<std::pair<int, double>>& returns) {
    output::csv table(f.path + "/" + name + "/progress.csv", output::mode::fresh, "steps");
    for (const auto& [steps, value] : returns) table.write(steps, {{"return", value}});
    table.flush();
    return f.path + "/" + name;
  };
  const std::vector<std::string> ppo = {log("ppo-1", {{10, 1.}, {20, 2.}, {30, 3.}}),
                                        log("ppo-2", {{10, 4.}, {30, 8.}, {40, 9.}}),
                                        log("ppo-3", {{10, 5.}, {20, 5.}, {30, 5.}})};
  output::compare_seeds({{"ppo", ppo}, {"a2c", {log("a2c-1", {{10, 0.}, {50, 1.}})}}}, f.path + "/seeds.html");
  const std::string html = text_of(f.path + "/seeds.html"), mark = "id=\"data\">";
  const std::size_t begin = html.find(mark) + mark.size(), end = html.find("</script>", begin);
  const auto sections = nlohmann::json::parse(html.substr(begin, end - begin))["sections"];
  REQUIRE(sections.size() == 1U);
  CHECK(sections[0]["title"] == "return");
  const auto& lines = sections[0]["lines"];
  REQUIRE(lines.size() == 2U);
  CHECK(lines[0]["name"] == "ppo");
  CHECK(lines[0]["points"] == nlohmann::json::parse("[[10,4],[20,5],[30,5]]"));
  CHECK(lines[0]["band"] == nlohmann::json::parse("[[1,5],[2,6],[3,8]]"));
  CHECK(lines[1]["points"] == nlohmann::json::parse("[[10,0],[50,1]]"));
  CHECK(!lines[1].contains("band"));  // one seed has no spread
  CHECK(contains(manta::testing::thrown<manta::error>([&] {
                   output::compare_seeds({{"ppo", {}}}, f.path + "/p");
                 }),
                 "compare_seeds: \"ppo\" has no folders"));
  CHECK(contains(manta::testing::thrown<manta::error>([&] { output::compare_seeds({}, f.path + "/p"); }),
                 "compare_seeds: no runs are given"));
}

TEST_CASE("a browser shows the page without an error, and its numbers as people write them") {
  if (!manta::testing::has_browser()) return;
  const manta::testing::folder f;
  example().write(f.path + "/pages/report.html");
  const std::string dom = manta::testing::shown_by_browser(f.path + "/pages/report.html");
  for (const char* part :
       {"<h1>a &lt;/script&gt; title</h1>", "&lt;b&gt;not bold&lt;/b&gt;", ">0.125</dd>", ">0.1</td>",
        ">\xe2\x88\x92"
        "2.5\xc3\x97"
        "10\xe2\x81\xbb\xe2\x81\xb9</td>",
        ">7</td>", ">10\xe2\x81\xbb\xe2\x81\xb4</p>", "<canvas"}) {
    CAPTURE(part);
    CHECK(contains(dom, part));
  }
  CHECK(!contains(dom, "class=\"badge\""));
}

TEST_CASE("a page of something that runs says so, and when it was written") {
  output::page p = example();
  p.running(true);
  const manta::testing::folder f;
  p.write(f.path + "/report.html");
  if (!manta::testing::has_browser()) return;
  CHECK(contains(manta::testing::shown_by_browser(f.path + "/report.html"), ">still running \xc2\xb7 written "));
}
