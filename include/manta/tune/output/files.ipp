// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of files.hpp.
#pragma once

#include "manta/tune/output/files.hpp"

namespace manta::tune {

MANTA_DECL void json_lines::add(const trial_record& t) {
  const std::string folder = trial_folder(files_.context(), t.id);
  output::make_folders(folder);
  for (const char* name : {"/config.json", "/params.json"}) {
    output::append_file file(folder + name);
    file.buffer() = t.parameters.text() + "\n";
    file.flush();
  }
}

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
