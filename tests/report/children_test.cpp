// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "manta/report/children.hpp"

#include <doctest/doctest.h>

#include "manta/report/run_page.hpp"
#include "manta/report/run_state.hpp"
#include "manta/report/statistics_json.hpp"
#include "manta/report/summary.hpp"
#include "support/recorded_run.hpp"

using manta::report::fan_out_place;
using manta::report::fan_out_texts;
using manta::report::fan_out_tree;
using manta::report::submitted_tasks;

namespace {

const manta::base::vector<submitted_tasks> study = {{"refine", "smooth", 5000},
                                                    {"", "simulate", 1884},
                                                    {"simulate", "refine", 640},
                                                    {"refine", "refine", 12},
                                                    {"", "sum", 1}};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string drawn(const manta::base::vector<fan_out_place>& tree) {
  std::string text;
  for (const fan_out_place& each : tree) {
    text += std::string(static_cast<std::size_t>(each.depth), '.') + (each.function.empty() ? "driver" : each.function);
    text += " " + std::to_string(each.count) + (each.is_elsewhere ? " *" : "") + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the tree begins at the driver, and ends where functions submit themselves") {
  CHECK(drawn(fan_out_tree(study, 100)) ==
        "driver 0\n.simulate 1884\n..refine 640\n...smooth 5000\n...refine 12 *\n.sum 1\n");
  CHECK(fan_out_tree(study, 3).size() == 3);
  CHECK(fan_out_tree({}, 3).empty());
}

TEST_CASE("functions that the driver does not lead to have trees of their own") {
  CHECK(drawn(fan_out_tree({{"a", "b", 2}, {"b", "a", 1}}, 100)) == "a 0\n.b 2\n..a 1 *\n");
}

TEST_CASE("a line for each function that submits others") {
  CHECK(fan_out_texts(study, 9) == std::vector<std::string>{"the driver: 1 884 simulate, 1 sum", "simulate: 640 refine",
                                                            "refine: 5 000 smooth, 12 refine"});
  CHECK(fan_out_texts(study, 2).size() == 2);
  manta::base::vector<submitted_tasks> many;
  for (int i = 0; i < 9; ++i) many.push_back({"", "f" + std::to_string(i), 1});
  CHECK(fan_out_texts(many, 9) == std::vector<std::string>{"the driver: 1 f0, 1 f1, 1 f2, 1 f3 and 5 other functions"});
}

TEST_CASE("what several ranks have submitted is added, most tasks first") {
  const auto sums = manta::report::summed({{"", "f", 2}, {"", "g", 4}, {"", "f", 3}});
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].function == "f");
  CHECK(sums[0].count == 5);
}

TEST_CASE("table, page, JSON and state say who submits what") {
  manta::statistics s = manta::testing::study();
  s.children = {{-1, 0, 1884, 0}, {0, 1, 640, 0}};
  const std::string by = "simulate(setup const&): 640 refine(mesh const&)";
  CHECK(contains(manta::report::summary_table(s), by));
  CHECK(contains(manta::report::run_page(s), "Who submits what"));
  CHECK(contains(manta::report::to_json(s), R"x("children":[{"from":"","to":"simulate(setup const&)","count":1884})x"));
  manta::report::run_state state;
  state.ranks.resize(2);
  state.ranks[0].submitted = {{"", "simulate", 3}};
  state.ranks[1].submitted = {{"simulate", "refine", 2}};
  CHECK(contains(manta::report::state_text(state), "the driver: 3 simulate"));
  CHECK(contains(manta::report::state_json(state), R"("submitted":[{"by":"simulate","function":"refine","count":2}])"));
}
