// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Report pages, read back from a browser.
#include <doctest/doctest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "manta/output.hpp"
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
