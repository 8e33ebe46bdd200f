// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "manta/output/page.hpp"
#include "manta/rl/algorithms/log.hpp"
#include "manta/rl/base/multi_report.hpp"

namespace manta::rl {

MANTA_DECL log::log(const std::string& folder, const log_options& o) : folder_(folder), options_(o) {
  if (o.progress) bar_.emplace(o.title, o.steps);
  if (folder.empty()) return;
  const auto mode = o.append ? output::mode::append : output::mode::fresh;
  if (o.append) read_earlier_rows();
  csv_.emplace(folder + "/progress.csv", mode, "steps");
  lines_.emplace(folder + "/result.jsonl", mode, "steps");
  events_.emplace(folder, mode);
}

MANTA_DECL log::~log() {
  try {
    write_files(false);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

inline void log::note(const report& r) {
  if (bar_) {
    if (r.steps > bar_->done()) bar_->advance(r.steps - bar_->done());
    if (r.mean_return > no_return) bar_->set("return", r.mean_return);
    bar_->set("episodes", static_cast<double>(r.episodes));
  }
  last_ = r;
}

MANTA_DECL void log::operator()(const report& r) {
  note(r);
  row values{{"iteration", r.iteration}, {"episodes", r.episodes}};
  if (r.mean_return > no_return)
    values.insert(values.end(), {{"mean_return", r.mean_return},
                                 {"min_return", r.min_return},
                                 {"max_return", r.max_return},
                                 {"mean_length", r.mean_length}});
  values.insert(values.end(),
                {{"seconds", r.seconds}, {"sample_seconds", r.sample_seconds}, {"learn_seconds", r.learn_seconds}});
  values.insert(values.end(), r.figures.begin(), r.figures.end());
  values.insert(values.end(), r.learner.begin(), r.learner.end());
  write(values);
}

MANTA_DECL void log::operator()(const multi_report& r) {
  report all;
  all.iteration = r.iteration;
  all.steps = r.steps;
  all.episodes = r.episodes;
  all.seconds = r.seconds;
  note(all);
  row values{{"iteration", r.iteration},           {"episodes", r.episodes},
             {"mean_length", r.mean_length},       {"seconds", r.seconds},
             {"sample_seconds", r.sample_seconds}, {"learn_seconds", r.learn_seconds}};
  values.insert(values.end(), r.figures.begin(), r.figures.end());
  for (const auto& [name, its] : r.policies) {
    const auto add = [&, &of = name](const std::string& what, double value) {
      values.emplace_back(of + '/' + what, value);
    };
    add("steps", static_cast<double>(its.steps));
    if (its.mean_return > no_return) {
      add("mean_return", its.mean_return);
      add("mean_length", its.mean_length);
    }
    for (const auto& [what, value] : its.learner) add(what, value);
  }
  write(values);
}

MANTA_DECL void log::write_match(const std::string& name, double score, int won, int drawn, int lost) {
  const std::string begin = "match/" + name + '/';
  write({{begin + "score", score}, {begin + "won", won}, {begin + "drawn", drawn}, {begin + "lost", lost}});
}

MANTA_DECL void log::evaluation(const report& r) {
  write({{"evaluation_return", r.mean_return},
         {"evaluation_min_return", r.min_return},
         {"evaluation_max_return", r.max_return},
         {"evaluation_length", r.mean_length},
         {"evaluation_episodes", r.episodes}});
}

MANTA_DECL void log::episode(std::vector<std::string> frames) { frames_ = std::move(frames); }

inline void log::curve::add(double x, double y) {
  constexpr std::size_t most = 2000;
  if (seen++ % every != 0) return;
  points.emplace_back(x, y);
  if (points.size() < most) return;
  for (std::size_t i = 0; 2 * i < points.size(); ++i) points[i] = points[2 * i];
  points.resize((points.size() + 1) / 2);
  every *= 2;
}

inline void log::write(const row& values) {
  if (folder_.empty()) return;
  const auto steps = static_cast<std::int64_t>(last_.steps);
  std::vector<output::field> fields;
  for (const auto& [name, value] : values) {
    curves_[name].add(static_cast<double>(steps), value.number());
    fields.push_back({name, value});
  }
  csv_->write(steps, fields);
  lines_->write(steps, fields);
  events_->write(steps, fields);
  if (std::chrono::steady_clock::now() >= next_write_) write_files(true);
}

inline void log::read_earlier_rows() {
  std::istringstream file(output::read_file(folder_ + "/progress.csv"));
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    double steps = 0;
    std::size_t column = 0;
    const bool is_header = names.empty();
    for (std::string cell; std::getline(cells, cell, ','); ++column) {
      if (!cell.empty() && cell.back() == '\r') cell.pop_back();
      if (is_header) {
        names.push_back(cell);
      } else if (column == 0) {
        steps = std::strtod(cell.c_str(), nullptr);
      } else if (!cell.empty() && column < names.size()) {
        curves_[names[column]].add(steps, std::strtod(cell.c_str(), nullptr));
      }
    }
  }
}

inline void log::add_groups(output::page& p, std::map<std::string, curve>& curves) {
  constexpr std::string_view match = "match/";
  std::map<std::string, std::vector<output::page::series>> policies, matches;
  std::vector<output::page::series> scores;  // from 0 to 1: beside counts of games nobody would see them
  for (auto at = curves.begin(); at != curves.end();) {
    const std::size_t last = at->first.rfind('/');
    if (last == std::string::npos) {
      ++at;
      continue;
    }
    const std::string begin = at->first.substr(0, last), end = at->first.substr(last + 1);
    if (begin.starts_with(match) && end == "score") {
      scores.push_back({begin.substr(match.size()), std::move(at->second.points)});
    } else if (begin.starts_with(match)) {
      matches[begin.substr(match.size())].push_back({end, std::move(at->second.points)});
    } else {
      policies[end].push_back({begin, std::move(at->second.points)});
    }
    at = curves.erase(at);
  }
  for (const char* what : {"mean_return", "mean_length", "steps"}) {
    if (auto found = policies.extract(what)) p.curves(found.key(), "steps", "", found.mapped());
  }
  if (!scores.empty()) p.curves("Score of matches", "steps", "", scores);
  for (const auto& [name, lines] : matches) p.curves("Match " + name, "steps", "", lines);
  for (const auto& [what, lines] : policies) p.curves(what, "steps", "", lines);
}

inline void log::write_files(bool running) {
  if (folder_.empty()) return;
  csv_->flush();
  lines_->flush();
  events_->flush();
  output::page page(options_.title);
  page.running(running);
  std::vector<output::field> facts{
      {"steps", last_.steps}, {"episodes", last_.episodes}, {"iterations", last_.iteration}};
  if (last_.mean_return > no_return) facts.push_back({"mean return of 100 episodes", last_.mean_return});
  const auto evaluated = curves_.find("evaluation_return");
  if (evaluated != curves_.end()) facts.push_back({"last evaluation", evaluated->second.points.back().second});
  if (last_.seconds > 0) facts.push_back({"seconds of the last iteration", last_.seconds});
  page.facts("", facts);
  // Curves that belong together share a picture; each other one has its own.
  std::map<std::string, curve> left = curves_;
  for (const auto& name : {"iteration", "episodes", "evaluation_episodes"}) left.erase(name);
  const auto together = [&](const char* title, std::vector<std::pair<const char*, const char*>> lines) {
    std::vector<output::page::series> all;
    for (const auto& [name, label] : lines) {
      if (auto found = left.extract(name)) all.push_back({label, std::move(found.mapped().points)});
    }
    if (!all.empty()) page.curves(title, "steps", "", all);
  };
  together("Return", {{"mean_return", "mean"},
                      {"min_return", "least"},
                      {"max_return", "largest"},
                      {"evaluation_return", "evaluation"}});
  add_groups(page, left);
  if (!frames_.empty()) page.frames("An episode", frames_);
  together("Length of episodes", {{"mean_length", "mean"}, {"evaluation_length", "evaluation"}});
  together("Evaluations", {{"evaluation_min_return", "least"}, {"evaluation_max_return", "largest"}});
  together("Seconds of an iteration",
           {{"seconds", "all"}, {"sample_seconds", "acting"}, {"learn_seconds", "learning"}});
  while (!left.empty()) {
    const std::string name = left.begin()->first;
    together(name.c_str(), {{name.c_str(), name.c_str()}});
  }
  page.write(folder_ + "/report.html");
  // A page of a long training takes a while to write.
  next_write_ = std::chrono::steady_clock::now() + std::chrono::seconds(3);
}

}  // namespace manta::rl
