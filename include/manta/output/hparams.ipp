// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of hparams.hpp. The messages are those of tensorboard/plugins/hparams/{plugin_data,api}.proto, and
// google/protobuf/struct.proto for values.
#pragma once

#include <algorithm>

#include "manta/output/hparams.hpp"
#include "manta/output/tensorboard.hpp"

namespace manta::output::hparams {

namespace detail {
using event_file::append_double;
using event_file::append_text;

/// A google.protobuf.Value.
inline std::string value_of(const cell& c) {
  std::string out;
  if (c.is_text()) {
    append_text(out, '\x1a', c.text());  // Value.string_value = 3
  } else if (c.is_bool()) {
    out = {'\x20', static_cast<char>(c.number() != 0)};  // Value.bool_value = 4
  } else {
    append_double(out, '\x11', c.number());  // Value.number_value = 2
  }
  return out;
}

/// A summary whose metadata hold HParamsPluginData with this member; its version, 0, is left out.
inline std::string plugin_event(double wall_time, std::string_view tag, char member, std::string_view content) {
  std::string data, plugin, metadata, value;
  append_text(data, member, content);
  append_text(plugin, '\x0a', "hparams");  // PluginData.plugin_name = 1
  append_text(plugin, '\x12', data);       // PluginData.content = 2
  append_text(metadata, '\x0a', plugin);   // SummaryMetadata.plugin_data = 1
  append_text(value, '\x0a', tag);         // Summary.Value.tag = 1
  append_text(value, '\x4a', metadata);    // Summary.Value.metadata = 9
  return event_file::summary_event(wall_time, 0, value);
}

/// An HParamInfo.
inline std::string info_of(const parameter& p) {
  enum : char { text = 1, truth = 2, number = 3 };
  const auto all = [&](auto is) { return std::all_of(p.options.begin(), p.options.end(), is); };
  const bool is_truth = !p.options.empty() && all([](const cell& c) { return c.is_bool(); });
  const bool is_number = all([](const cell& c) { return !c.is_bool() && !c.is_text(); });
  std::string info, domain;
  append_text(info, '\x0a', p.name);  // HParamInfo.name = 1
  info += '\x20';                     // HParamInfo.type = 4
  info += is_truth ? truth : is_number ? number : text;
  if (p.options.empty() && p.low <= p.high) {
    append_double(domain, '\x09', p.low);   // Interval.min_value = 1
    append_double(domain, '\x11', p.high);  // Interval.max_value = 2
    append_text(info, '\x32', domain);      // HParamInfo.domain_interval = 6
  } else if (!p.options.empty()) {
    for (const cell& c : p.options) {
      std::string words;
      if (!is_truth && !is_number && !c.is_text()) c.append_json(words);
      append_text(domain, '\x0a', value_of(words.empty() ? c : cell(words)));  // ListValue.values = 1
    }
    append_text(info, '\x2a', domain);  // HParamInfo.domain_discrete = 5
  }
  return info;
}
}  // namespace detail

MANTA_DECL std::string experiment_event(double wall_time, const std::vector<parameter>& parameters,
                                        const std::vector<std::string>& metrics) {
  using namespace detail;
  std::string experiment;
  append_double(experiment, '\x19', wall_time);  // Experiment.time_created_secs = 3
  for (const parameter& p : parameters) append_text(experiment, '\x22', info_of(p));  // Experiment.hparam_infos = 4
  for (const std::string& m : metrics) {
    std::string name, info;
    append_text(name, '\x12', m);           // MetricName.tag = 2
    append_text(info, '\x0a', name);        // MetricInfo.name = 1
    append_text(experiment, '\x2a', info);  // Experiment.metric_infos = 5
  }
  return plugin_event(wall_time, "_hparams_/experiment", '\x12', experiment);  // HParamsPluginData.experiment = 2
}

MANTA_DECL std::string begin_event(double wall_time, row values) {
  using namespace detail;
  std::string start;
  for (const field& f : values) {
    std::string entry;
    append_text(entry, '\x0a', f.name);             // an entry's key = 1
    append_text(entry, '\x12', value_of(f.value));  // and its value = 2
    append_text(start, '\x0a', entry);              // SessionStartInfo.hparams = 1
  }
  append_double(start, '\x29', wall_time);  // SessionStartInfo.start_time_secs = 5
  return plugin_event(wall_time, "_hparams_/session_start_info", '\x1a',
                      start);  // HParamsPluginData.session_start_info = 3
}

MANTA_DECL std::string end_event(double wall_time, bool is_success) {
  using namespace detail;
  std::string end = {'\x08', is_success ? '\x01' : '\x02'};                   // SessionEndInfo.status = 1
  append_double(end, '\x11', wall_time);                                      // SessionEndInfo.end_time_secs = 2
  return plugin_event(wall_time, "_hparams_/session_end_info", '\x22', end);  // HParamsPluginData.session_end_info = 4
}

}  // namespace manta::output::hparams
