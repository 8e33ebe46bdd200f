// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/tune/study_log.hpp"

namespace manta::tune::detail {

MANTA_DECL void study_log::open(const std::string& path, const std::function<void(const journal::event&)>& replay) {
  journal_.open(path, replay);
}

MANTA_DECL void study_log::flush() { journal_.flush(); }

MANTA_DECL void study_log::begin_line(trial_number t) {
  line_.clear();
  number("t", static_cast<std::int64_t>(t));
}

MANTA_DECL void study_log::number(std::string_view name, std::int64_t x) {
  line_ += ",\"";
  line_ += name;
  line_ += "\":";
  append_number(line_, x);
}

MANTA_DECL void study_log::number(std::string_view name, double x) {
  line_ += ",\"";
  line_ += name;
  line_ += "\":";
  append_number(line_, x);
}

MANTA_DECL void study_log::begin(const std::string& members, double wall) {
  line_ = members;
  number("wall", wall);
  journal_.append("begin", 0, line_);
  journal_.flush();
}

MANTA_DECL void study_log::start(double now, double wall) {
  line_.clear();
  number("wall", wall);
  journal_.append("start", now, line_);
}

MANTA_DECL void study_log::limit(double now, std::size_t trials) {
  line_.clear();
  number("trials", static_cast<std::int64_t>(trials));
  journal_.append("limit", now, line_);
}

MANTA_DECL void study_log::next(trial_number t, const config& parameters, const origin& from, double now) {
  begin_line(t);
  if (from.is_first) number("first", std::int64_t{1});
  if (from.is_instead) number("instead", std::int64_t{1});
  if (from.asks > 1) number("asks", static_cast<std::int64_t>(from.asks));
  line_ += ",\"p\":";
  append_parameters(line_, parameters);
  journal_.append("next", now, line_);
  is_none_ = false;
}

MANTA_DECL void study_log::none(double now, bool stops) {
  // The scheduler may have closed brackets when it was asked, so a continuation asks it as well.
  if (!std::exchange(is_none_, true) && !stops) journal_.append("none", now, "");
}

MANTA_DECL void study_log::report(trial_number t, const metrics& m, std::uint64_t iteration, double seconds,
                                  double now) {
  begin_line(t);
  number("i", static_cast<std::int64_t>(iteration));
  number("r", seconds);
  line_ += ",\"m\":";
  append_metrics(line_, m);
  journal_.append("report", now, line_);
  is_none_ = false;
}

MANTA_DECL void study_log::fail(trial_number t, cause c, const std::string& why, double now) {
  begin_line(t);
  line_ += ",\"cause\":\"";
  line_ += name_of(c);
  line_ += "\",\"why\":";
  append_exact_text(line_, why);
  journal_.append("fail", now, line_);
  is_none_ = false;
}

MANTA_DECL void study_log::file(std::string_view kind, trial_number t, std::uint64_t iteration, const std::string& file,
                                double now) {
  begin_line(t);
  number("i", static_cast<std::int64_t>(iteration));
  line_ += ",\"f\":";
  value::append_quoted(line_, file);
  journal_.append(kind, now, line_);
  is_none_ = false;
}

MANTA_DECL void study_log::trial(std::string_view kind, trial_number t, double now) {
  begin_line(t);
  journal_.append(kind, now, line_);
  is_none_ = false;
}

MANTA_DECL void study_log::place(trial_number t, int rank, double now) {
  begin_line(t);
  number("rank", static_cast<std::int64_t>(rank));
  journal_.append("place", now, line_);
}

MANTA_DECL void study_log::open_rank(int rank, const std::string& host, double now) {
  line_.clear();
  number("rank", static_cast<std::int64_t>(rank));
  append_exact_text(line_ += ",\"host\":", host);
  journal_.append("open", now, line_);
}

MANTA_DECL void study_log::close_rank(int rank, double now) {
  line_.clear();
  number("rank", static_cast<std::int64_t>(rank));
  journal_.append("close", now, line_);
}

MANTA_DECL void study_log::note(std::string_view kind, trial_number t, const std::string& name, const std::string& text,
                                double now) {
  begin_line(t);
  append_exact_text(line_ += ",\"n\":", name);
  append_exact_text(line_ += ",\"x\":", text);
  journal_.append(kind, now, line_);
}

MANTA_DECL void study_log::tick(double now) { journal_.append("tick", now, ""); }

MANTA_DECL void study_log::finish(double now, const std::string& why) {
  line_ = ",\"why\":";
  append_exact_text(line_, why);
  journal_.append("finish", now, line_);
}

}  // namespace manta::tune::detail
