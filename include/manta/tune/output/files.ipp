// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "manta/tune/output/files.hpp"

namespace manta::tune {

MANTA_DECL std::vector<output::field> detail::row_of(const metrics& m, double seconds) {
  std::vector<output::field> row;
  row.reserve(m.size() + 1);
  if (seconds >= 0) row.push_back({"seconds", std::floor(seconds * 1e6) / 1e6});
  for (const auto& [name, x] : m) row.push_back({name, x});
  return row;
}

namespace detail {
inline void write_config(const output_context& context, const trial_record& t, const char* name) {
  const std::string folder = trial_folder(context, t.id);
  output::make_folders(folder);
  output::append_file file(folder + name);
  file.buffer() = t.parameters.text() + "\n";
  file.flush();
}
}  // namespace detail

MANTA_DECL void json_lines::add(const trial_record& t) { detail::write_config(files_.context(), t, "/config.json"); }
MANTA_DECL void csv::add(const trial_record& t) { detail::write_config(files_.context(), t, "/params.json"); }

MANTA_DECL void json_lines::report(const trial_record& t, const metrics& m, double seconds) {
  output::json_lines& file = files_.of(t.id, [](const std::string& folder) {
    return output::json_lines(folder + "/result.jsonl", output::mode::fresh, "iteration");
  });
  file.write(static_cast<std::int64_t>(t.iteration), detail::row_of(m, seconds));
}

MANTA_DECL void csv::report(const trial_record& t, const metrics& m, double seconds) {
  output::csv& file = files_.of(t.id, [](const std::string& folder) {
    return output::csv(folder + "/progress.csv", output::mode::fresh, "iteration");
  });
  file.write(static_cast<std::int64_t>(t.iteration), detail::row_of(m, seconds));
}

MANTA_DECL void decision_log::begin(const output_context& c) {
  file_ = output::json_lines(c.folder + "/decisions.jsonl");
}

MANTA_DECL void decision_log::decision(const trial_record& t, std::string_view what, std::string_view why) {
  file_.write({{"trial", t.id}, {"at", t.at}, {"decision", what}, {"why", why}});
}

}  // namespace manta::tune
