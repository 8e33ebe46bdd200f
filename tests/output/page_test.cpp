// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Report pages, read back from a browser.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "manta/output.hpp"
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
  return p;
}
}  // namespace

TEST_CASE("the data of a page are one block of JSON that no text can end") {
  const std::string html = example().html(), mark = "id=\"data\">";
  const std::size_t begin = html.find(mark) + mark.size(), end = html.find("</script>", begin);
  const auto data = nlohmann::json::parse(html.substr(begin, end - begin));
  CHECK(data["title"] == "a </script> title");
  CHECK(data["running"] == false);
  CHECK(data["sections"].size() == 5U);
  CHECK(data["sections"][1]["text"] == "<b>not bold</b> & \xc3\xbf");
  CHECK(data["sections"][2]["lines"][0]["points"] == nlohmann::json::parse("[[1,0.5],[2,null],[3,1e6]]"));
  CHECK(data["sections"][3]["rows"][0][1] == 0.1);
  CHECK(!contains(html, "http://"));
  CHECK(!contains(html, "https://"));
}

TEST_CASE("a browser shows the page without an error, and its numbers as people write them") {
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) {
    MESSAGE("left out: there is no chromium here");
    return;
  }
  const manta::testing::folder f;
  example().write(f.path + "/pages/report.html");
  const std::string call = "timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir=" + f.path +
                           "/profile --enable-logging=stderr --dump-dom file://$(realpath " + f.path +
                           "/pages/report.html) > " + f.path + "/dom.html 2> " + f.path + "/log.txt";
  REQUIRE(std::system(call.c_str()) == 0);
  CHECK(!contains(text_of(f.path + "/log.txt"), "CONSOLE"));
  const std::string dom = text_of(f.path + "/dom.html");
  for (const char* part : {"<h1>a &lt;/script&gt; title</h1>", "&lt;b&gt;not bold&lt;/b&gt;", ">0.125</dd>", ">0.1</td>",
                           ">\xe2\x88\x92" "2.5\xc3\x97" "10\xe2\x81\xbb\xe2\x81\xb9</td>", ">7</td>", "<canvas"}) {
    CAPTURE(part);
    CHECK(contains(dom, part));
  }
}
