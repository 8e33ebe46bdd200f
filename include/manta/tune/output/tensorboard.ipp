// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/output/hparams.hpp"
#include "manta/tune/output/tensorboard.hpp"

namespace manta::tune {

namespace detail {
/// Refers to the value's text.
inline output::cell cell_of(const value& v) {
  if (v.is_text()) return std::string_view(v);
  if (v.is_bool()) return v.as<bool>();
  if (v.is_integer()) return v.as<std::int64_t>();
  return v.as<double>();
}

inline output::hparams::parameter hparam_of(const parameter& p, const config& example) {
  output::hparams::parameter h = {.name = p.name};
  if (p.where.type() == domain::kind::number) {
    const bool has_ends = !p.where.is_normal();
    h.low = has_ends ? p.where.low() : p.where.at(0).as<double>();
    h.high = has_ends ? p.where.high() : p.where.at(1).as<double>();
  } else if (p.where.type() == domain::kind::dependent) {
    if (const value* v = example.find(p.name); v != nullptr && !v->is_number()) h.options = {cell_of(*v)};
  } else {
    for (const value& v : p.where.options()) h.options.push_back(cell_of(v));
  }
  return h;
}
}  // namespace detail

MANTA_DECL double tensorboard::time_of(const trial_record& t) const {
  return fixed_time_ != 0 ? fixed_time_ : t.wall != 0 ? t.wall : output::wall_time();
}

MANTA_DECL output::tensorboard& tensorboard::file_of(const trial_record& t) {
  return files_.of(t.id, [](const std::string& folder) { return output::tensorboard(folder); });
}

MANTA_DECL void tensorboard::add(const trial_record& t) {
  std::vector<output::field> row;
  for (const auto& [name, v] : t.parameters) row.push_back({name, detail::cell_of(v)});
  const double time = time_of(t);
  file_of(t).write_event(output::hparams::begin_event(time, row), time);
}

MANTA_DECL void tensorboard::report(const trial_record& t, const metrics& m, double) {
  if (!is_described_) describe_experiment(t, m);
  file_of(t).write(static_cast<std::int64_t>(t.iteration), detail::row_of(m), time_of(t));
}

MANTA_DECL void tensorboard::end(const trial_record& t) {
  const double time = time_of(t);
  file_of(t).write_event(output::hparams::end_event(time, t.state != status::failed), time);
  files_.end(t);
}

MANTA_DECL void tensorboard::describe_experiment(const trial_record& t, const metrics& m) {
  is_described_ = true;
  const output_context& c = files_.context();
  if (c.where.parameters().empty()) return;  // defined by running: the plug-in looks at the trials
  std::vector<output::hparams::parameter> parameters;
  for (const parameter& p : c.where.parameters()) parameters.push_back(detail::hparam_of(p, t.parameters));
  std::vector<std::string> names = {c.metric};
  for (const auto& entry : m) {
    if (entry.first != c.metric) names.push_back(entry.first);
  }
  output::tensorboard file(c.folder + "/trials");
  const double time = time_of(t);
  file.write_event(output::hparams::experiment_event(time, parameters, names), time);
  file.flush();
}

}  // namespace manta::tune
