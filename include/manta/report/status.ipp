// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/report/status.hpp"

#include "manta/base/amounts.hpp"
#include "manta/base/text.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"

namespace manta::report {

MANTA_DECL void task_rate::note(double seconds, std::uint64_t ended) {
  notes_.emplace_back(seconds, ended);
  while (notes_.size() > 2 && notes_[1].first <= seconds - 60) notes_.erase(notes_.begin());
}

MANTA_DECL double task_rate::last_minute() const {
  const double seconds = notes_.back().first - notes_.front().first;
  return seconds > 0 ? static_cast<double>(notes_.back().second - notes_.front().second) / seconds : 0;
}

MANTA_DECL double task_rate::before() const {
  const auto& [seconds, ended] = notes_.front();
  return seconds > 0 ? static_cast<double>(ended) / seconds : -1;
}

MANTA_DECL double run_status::seconds_left() const {
  if (unfinished() == 0) return 0;
  const double per_second = rate > 0 ? rate : rate_before;
  return per_second > 0 ? static_cast<double>(unfinished()) / per_second : -1;
}

MANTA_DECL std::string status_text(const run_status& s) {
  std::string text = base::text("{} of {}", base::count_text(s.done), base::things_text(s.tasks(), "task", "tasks"));
  if (s.from_journal > 0) text += base::text(" ({} from the journal)", base::count_text(s.from_journal));
  if (s.running > 0) text += base::text(", {} {}", base::count_text(s.running), s.running == 1 ? "runs" : "run");
  if (s.failed > 0) text += base::text(", {} failed", base::count_text(s.failed));
  if (s.is_over) return s.why_ended.empty() ? text : base::text("{}; it had to end: {}", text, s.why_ended);
  const double left = s.seconds_left();
  if (left > 0) text += base::text("; {} left at this rate", base::length_text(left));
  if (left > 0 && s.is_too_long())
    text += base::text(", and {} until the end of the allocation", base::length_text(s.allocation_left));
  return text;
}

MANTA_DECL std::string status_json(const run_status& s) {
  output::json_builder out;
  out.begin('{').member("version", 1).member("manta", manta::version).member("program", s.program);
  out.member("job", s.job).member("start", s.start).member("ranks", s.ranks).member("began", s.began);
  out.member("seconds", s.seconds).member("is_over", s.is_over).member("why_ended", s.why_ended);
  out.member("tasks", s.tasks()).member("done", s.done).member("failed", s.failed);
  out.member("from_journal", s.from_journal).member("running", s.running);
  out.member("waiting_for_room", s.waiting_for_room).member("waiting_for_inputs", s.waiting_for_inputs);
  out.member("rate", s.rate);
  const auto number_or_null = [&](const char* name, double number) {
    if (number >= 0) out.member(name, number);
    else out.key(name).json("null");
  };
  number_or_null("rate_before", s.rate_before);
  number_or_null("seconds_left", s.seconds_left());
  number_or_null("allocation_left", s.allocation_left);
  out.member("end_margin", s.end_margin).member("is_too_long", s.is_too_long());
  out.key("longest").begin('[');
  for (const running_task& t : s.longest) {
    out.begin('{').member("function", t.function).member("name", t.name).member("rank", t.rank);
    out.member("host", t.host).member("seconds", t.seconds).member("longest_of_others", t.longest_of_others);
    out.member("other_count", t.other_count).end('}');
  }
  out.end(']').member("text", status_text(s)).end('}');
  return std::move(out.text()) + '\n';
}

}  // namespace manta::report
