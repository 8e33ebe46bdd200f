// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "manta/output/page.hpp"
#include "manta/train/fit_log.hpp"

namespace manta::train::detail {

MANTA_DECL fit_log::fit_log(const std::string& folder, const history& all)
    : folder_(folder),
      all_(all),
      csv_(folder + "/progress.csv", output::mode::fresh, "epoch"),
      lines_(folder + "/result.jsonl", output::mode::fresh, "epoch"),
      events_(folder, output::mode::fresh) {
  for (const epoch_result& e : all_.epochs) write_row(e);
}

MANTA_DECL fit_log::~fit_log() {
  try {
    if (is_running_) write_page(false);
  } catch (const error&) {  // such as a full disk: what ends the training says more
  }
}

inline double samples_a_second(const summary& s) {
  return s.seconds > 0 ? static_cast<double>(s.samples) / s.seconds : 0;
}

/// Values with their names, which outputs refer to.
using named_cells = std::vector<std::pair<std::string, output::cell>>;
inline std::vector<output::field> fields_of(const named_cells& cells) {
  std::vector<output::field> fields;
  for (const auto& [name, value] : cells) fields.push_back({name, value});
  return fields;
}

inline void fit_log::write_row(const epoch_result& e) {
  const auto epoch = static_cast<std::int64_t>(e.training.epoch);
  named_cells cells{{"loss", e.training.loss}};
  for (const auto& [name, value] : e.training.metrics) cells.emplace_back(name, value);
  if (e.validation.samples > 0) {
    cells.emplace_back("validation_loss", e.validation.loss);
    for (const auto& [name, value] : e.validation.metrics) cells.emplace_back("validation_" + name, value);
  }
  cells.emplace_back("rate", e.training.rate);
  cells.emplace_back("gradient_norm", e.training.gradient_norm);
  cells.emplace_back("seconds", e.training.seconds);
  cells.emplace_back("reading_seconds", e.training.phases.reading);
  cells.emplace_back("passes_seconds", e.training.phases.passes);
  cells.emplace_back("exchange_seconds", e.training.phases.exchange);
  cells.emplace_back("update_seconds", e.training.phases.update);
  cells.emplace_back("validation_seconds", e.validation.seconds);
  cells.emplace_back("samples_per_second", samples_a_second(e.training));
  cells.emplace_back("is_best", e.is_best ? 1 : 0);
  cells.emplace_back("deaths", e.training.deaths);
  const std::vector<output::field> row = fields_of(cells);
  csv_.write(epoch, row);
  lines_.write(epoch, row);
  events_.write(epoch, row);
}

MANTA_DECL void fit_log::add(bool running) {
  write_row(all_.epochs.back());
  csv_.flush();
  lines_.flush();
  events_.flush();
  write_page(running);
  is_running_ = running;
}

/// The values of all epochs that `of` gives.
template <class Of>
std::vector<std::pair<double, double>> points_of(const history& all, Of of) {
  std::vector<std::pair<double, double>> points;
  for (const epoch_result& e : all.epochs) {
    if (const auto value = of(e)) points.emplace_back(static_cast<double>(e.training.epoch), *value);
  }
  return points;
}

inline std::optional<double> value_in(const summary& s, const std::string& name) {
  if (s.samples == 0) return std::nullopt;
  if (name == "loss") return s.loss;
  const auto found = s.metrics.find(name);
  return found == s.metrics.end() ? std::nullopt : std::optional(found->second);
}

inline void fit_log::write_page(bool running) const {
  output::page page("training");
  page.running(running);
  const epoch_result& last = all_.epochs.back();
  named_cells facts{{"epochs", last.training.epoch}, {"steps", last.training.step}};
  for (auto e = all_.epochs.rbegin(); e != all_.epochs.rend(); ++e) {
    if (!e->is_best) continue;
    facts.emplace_back("best epoch", e->training.epoch);
    facts.emplace_back("its loss", e->watched().loss);
    for (const auto& [name, value] : e->watched().metrics) facts.emplace_back("its " + name, value);
    break;
  }
  if (!all_.ended.empty()) facts.emplace_back("ended", all_.ended);
  page.facts("", fields_of(facts));
  std::set<std::string> names{"loss"};
  for (const auto& [name, value] : last.training.metrics) names.insert(name);
  for (const auto& [name, value] : last.validation.metrics) names.insert(name);
  for (const std::string& name : names) {
    std::vector<output::page::series> lines;
    auto training = points_of(all_, [&](const epoch_result& e) { return value_in(e.training, name); });
    auto validation = points_of(all_, [&](const epoch_result& e) { return value_in(e.validation, name); });
    if (!training.empty()) lines.push_back({"training", std::move(training)});
    if (!validation.empty()) lines.push_back({"validation", std::move(validation)});
    page.curves(name, "epoch", "", lines);
  }
  const auto points = [&](auto of) {
    return points_of(all_, [&](const epoch_result& e) { return std::optional(of(e)); });
  };
  const auto curve = [&](const char* title, auto of) { page.curves(title, "epoch", "", {{title, points(of)}}); };
  curve("rate", [](const epoch_result& e) { return e.training.rate; });
  curve("norm of the gradients", [](const epoch_result& e) { return e.training.gradient_norm; });
  curve("samples per second", [](const epoch_result& e) { return samples_a_second(e.training); });
  page.curves("seconds of an epoch", "epoch", "",
              {{"reading", points([](const epoch_result& e) { return e.training.phases.reading; })},
               {"passes", points([](const epoch_result& e) { return e.training.phases.passes; })},
               {"exchange", points([](const epoch_result& e) { return e.training.phases.exchange; })},
               {"update", points([](const epoch_result& e) { return e.training.phases.update; })},
               {"validation", points([](const epoch_result& e) { return e.validation.seconds; })}});
  page.write(folder_ + "/report.html");
}

}  // namespace manta::train::detail
