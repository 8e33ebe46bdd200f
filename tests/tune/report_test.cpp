// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The report of an experiment, read back from a browser: its numbers are those of the CSV file.
#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <sstream>

#include "manta/output/append_file.hpp"
#include "manta/tune/asha.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/tpe.hpp"
#include "support/browser.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;

namespace {

const tune::space where = {{"lr", tune::loguniform(1e-6, 1)},
                           {"opt", tune::choice({"sgd", "a \"quoted\", <b>name</b>"})},
                           {"momentum", tune::uniform(0.8, 0.99).when("opt", "sgd")},
                           {"layers", tune::integers(1, 6)}};

/// Forty trials one after the other on two of three ranks; every seventh fails after a value better than all.
void run_all(tune::study& s) {
  double now = 0;
  for (const int rank : {0, 1, 2}) s.opened(rank, now);
  while (const auto j = s.next(now)) {
    const tune::trial_number t = j->trial;
    s.placed(t, static_cast<int>(t % 2), now);
    const double offset = std::abs(std::log10(j->parameters["lr"]) + 3) + std::abs(j->parameters["layers"] - 3);
    const bool fails = t % 7 == 3;
    for (int i = 1;; ++i) {
      now += 1;
      if (fails && i == 2) {
        s.failed(t, "no memory, <i>really</i>", now);
        break;
      }
      if (s.report(t, {{"accuracy", fails ? 2 : 1 - offset / 20 - 0.5 / i}, {"size", 1e9 * offset}}, now, 0, i).what !=
          tune::verdict::kind::go_on)
        break;
    }
  }
  s.finish(now);
}

using table = std::vector<std::vector<std::string>>;
/// Cells without quotes and commas in them but those that CSV needs.
table csv_of(const std::string& text) {
  table rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> row(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"' && quoted && line[i + 1] == '"') row.back() += line[i++];
      else if (line[i] == '"') quoted = !quoted;
      else if (line[i] == ',' && !quoted) row.emplace_back();
      else row.back() += line[i];
    }
    rows.push_back(row);
  }
  return rows;
}
std::string plain(std::string text) {
  for (const auto& [from, to] :
       {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""), std::pair("&amp;", "&")}) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
      text.replace(at, std::string(from).size(), to);
  }
  return text;
}
/// The last table of the page: its titles, then the exact values of its cells, which are their titles in HTML.
table trials_in(const std::string& dom) {
  const std::string last = dom.substr(dom.rfind("<thead>"));
  table rows(1);
  const std::regex title("<th[^>]*>([^<]*)</th>"), row("<tr>.*?</tr>"), cell("<td([^>]*)>");
  for (std::sregex_iterator i(last.begin(), last.end(), title), end; i != end; ++i) rows[0].push_back((*i)[1]);
  const std::string body = last.substr(last.find("<tbody>"));
  for (std::sregex_iterator i(body.begin(), body.end(), row), end; i != end; ++i) {
    const std::string text = i->str();
    rows.emplace_back();
    for (std::sregex_iterator k(text.begin(), text.end(), cell); k != end; ++k) {
      std::smatch m;
      const std::string attributes = (*k)[1];
      rows.back().push_back(std::regex_search(attributes, m, std::regex("title=\"([^\"]*)\"")) ? plain(m[1]) : "");
    }
  }
  return rows;
}
std::string fact(const std::string& dom, const std::string& name) {
  std::smatch m;
  const bool is_there = std::regex_search(dom, m, std::regex("<dt>" + name + "</dt><dd>([^<]*)</dd>"));
  return is_there ? m[1].str() : "(not there)";
}

}  // namespace

TEST_CASE("a browser shows the report of an experiment without an error, with the numbers of the CSV file") {
  const manta::testing::folder f;
  tune::study s(where, {.maximise = "accuracy",
                        .trials = 40,
                        .searcher = tune::tpe(),
                        .scheduler = tune::asha({.max = 9, .grace = 1, .eta = 3}),
                        .folder = f.path,
                        .name = "A <report>"});
  run_all(s);
  const tune::results results(s);
  if (!manta::testing::has_browser()) return;
  const std::string dom = manta::testing::shown_by_browser(f.path + "/report.html");
  CHECK(contains(dom, "<h1>A &lt;report&gt;</h1>"));
  CHECK(fact(dom, "objective") == "maximise accuracy");
  CHECK(fact(dom, "trials").starts_with("40: "));
  CHECK(contains(fact(dom, "trials"), std::to_string(results.count(tune::status::failed)) + " failed"));
  CHECK(fact(dom, "ended because") == "all trials have run");
  CHECK(fact(dom, "ranks") == "3");
  CHECK(fact(dom, "searcher") == "tpe");
  CHECK(fact(dom, "scheduler") == "asha");
  CHECK(fact(dom, "seed") == "1");
  CHECK(contains(dom, "<h2>Best: trial " + std::to_string(results.best().id) + "</h2>"));
  CHECK(contains(dom, "The ranks were idle for 66.7 % of the time."));  // two took turns, one had nothing to do
  for (const char* title :
       {"Chosen trials", "Value of every trial, and the best so far", "Learning curves", "What matters",
        "Other metrics", "Parallel coordinates", "Value over each parameter", "Two parameters", "Schedule", "Trials"}) {
    CAPTURE(title);
    CHECK(contains(dom, std::string(">") + title + "</h2>"));
  }

  const table csv = csv_of(results.to_csv()), shown = trials_in(dom);
  REQUIRE(shown.size() == 41U);
  std::map<std::string, std::size_t> column;
  for (std::size_t i = 0; i < shown[0].size(); ++i) column[shown[0][i].substr(0, shown[0][i].find(' '))] = i;
  const std::map<std::string, std::string> other_names = {{"at", "reports"},
                                                          {"config/lr", "lr"},
                                                          {"config/opt", "opt"},
                                                          {"config/momentum", "momentum"},
                                                          {"config/layers", "layers"}};
  CHECK(csv[0].size() == 15U);  // begin, end, rank and host are not on the page
  CHECK(column.size() == 11U);
  double last = 1;
  bool has_failed = false;
  for (std::size_t r = 1; r < shown.size(); ++r) {
    const std::size_t trial = std::stoul(shown[r][column["trial"]]);
    for (std::size_t i = 0; i < csv[0].size(); ++i) {
      if (const std::string& n = csv[0][i]; n == "begin" || n == "end" || n == "rank" || n == "host") continue;
      const auto other = other_names.find(csv[0][i]);
      const std::string name = other == other_names.end() ? csv[0][i] : other->second;
      const std::string &wanted = csv[trial + 1][i], &found = shown[r].at(column.at(name));
      CAPTURE(trial);
      CAPTURE(name);
      const bool is_number = name != "state" && name != "opt" && name != "why" && !wanted.empty();
      if (is_number) CHECK(std::stod(found) == std::stod(wanted));
      else CHECK(found == wanted);
    }
    const double accuracy = std::stod(shown[r][column["accuracy"]]);
    has_failed = has_failed || shown[r][column["state"]] == "failed";
    CHECK((shown[r][column["state"]] == "failed") == has_failed);  // those that failed come last
    if (!has_failed) CHECK(accuracy <= last);                      // the best comes first
    last = accuracy;
  }
}

TEST_CASE("trials that the reader clicks on stand side by side, with their configurations to copy") {
  const manta::testing::folder f;
  tune::study s(where, {.maximise = "accuracy",
                        .trials = 12,
                        .scheduler = tune::asha({.max = 9, .grace = 1, .eta = 3}),
                        .folder = f.path});
  run_all(s);
  if (!manta::testing::has_browser()) return;
  std::string page = manta::testing::text_of(f.path + "/report.html");
  page.insert(page.rfind("</body>"), R"html(<script>addEventListener("load", () => {
  for (const row of [...document.querySelectorAll("tbody tr")].slice(0, 4)) row.click();
  const t = data.sections.find(s => s.kind === "trials");
  for (const text of [cppOf, jsonOf]) el("pre", document.body, text(t, [...pinned][0]));
});</script>)html");
  manta::output::replace_file(f.path + "/clicked.html", page);
  const std::string dom = manta::testing::shown_by_browser(f.path + "/clicked.html");
  CHECK(contains(dom, ">3 trials are chosen<"));  // the first one of four has gone
  const table rows = trials_in(dom);
  CHECK_FALSE(contains(dom, ">trial " + rows[1][0] + "</a>"));
  for (std::size_t r = 2; r <= 4; ++r) CHECK(contains(dom, ">trial " + rows[r][0] + "</a>"));
  const std::string layers = std::to_string(s.trial(std::stoul(rows[2][0])).parameters.get<int>("layers"));
  CHECK(contains(plain(dom), "{\"layers\", " + layers + "}}"));
  CHECK(contains(plain(dom), "\"layers\": " + layers));
  CHECK(contains(dom, ">ended<"));
}

TEST_CASE("a report in the middle of an experiment says that it runs; one without a trial has a head all the same") {
  const manta::testing::folder f;
  tune::study s(where, {.minimise = "loss", .trials = 5, .folder = f.path, .outputs = {tune::html_report()}});
  s.flush_outputs();
  if (!manta::testing::has_browser()) return;
  const std::string empty = manta::testing::shown_by_browser(f.path + "/report.html");
  CHECK(contains(empty, "class=\"badge\">still running"));
  CHECK(fact(empty, "trials") == "0");
  CHECK(fact(empty, "ended because") == "(not there)");
  s.next(1);
  s.next(1);
  s.report(0, {{"loss", 2}}, 2);
  s.finish_outputs("the run had to end");
  const std::string left = manta::testing::shown_by_browser(f.path + "/report.html");
  CHECK(fact(left, "ended because") == "the run had to end");
  CHECK(fact(left, "trials") == "2: 2 running");
  CHECK(!contains(left, "class=\"badge\""));
}
