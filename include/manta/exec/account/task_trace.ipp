// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/clock.hpp"
#include "manta/exec/account/task_trace.hpp"
#include "manta/exec/rank/node_views.hpp"

namespace manta::exec {

MANTA_DECL void task_trace::enable() {
  records_ = std::make_unique_for_overwrite<record[]>(most_records);
  makers_ = std::make_unique<maker[]>(most_makers);
  arrows_.reserve(most_arrows);
  samples_.reserve(most_samples);
}

MANTA_DECL void task_trace::begin_run() {
  if (records_ == nullptr) return;
  is_on_ = true;
  const auto ticks_of = [](double ns) { return static_cast<std::uint64_t>(ns / base::nanoseconds_per_tick()); };
  count_ = last_task_ = last_state_ = 0;
  limit_ = least_ = ticks_of(500);
  has_merged_ = false;
  arrows_.clear();
  arrow_rounds_ = 0;
  std::fill_n(makers_.get(), most_makers, maker{});
  samples_.clear();
  next_sample_ = 0;
  sample_pause_ = ticks_of(2e6);
  std::ranges::fill(last_values_, 0);
  names_.clear();
  name_bytes_ = 0;
}

// --- time

inline void task_trace::keep_used_names() {
  std::vector<std::string> used;
  std::vector<std::uint32_t> numbers(names_.size() + 1, 0);
  name_bytes_ = 0;
  for (record& r : records()) {
    if (r.kind != record::task || r.count == 0) continue;
    std::uint32_t& number = numbers[r.count];
    if (number == 0) {
      name_bytes_ += names_[r.count - 1].size() + bytes_of_a_name;
      used.push_back(std::move(names_[r.count - 1]));
      number = static_cast<std::uint32_t>(used.size());
    }
    r.count = number;
  }
  names_ = std::move(used);
}

inline void task_trace::make_room() {
  count_ = report::merge_until(records(), most_records / 2, limit_);
  has_merged_ = true;
  keep_used_names();
  find_last();
}

inline void task_trace::find_last() {
  last_task_ = last_state_ = 0;
  for (std::size_t i = count_; i > 0 && (last_task_ == 0 || last_state_ == 0); --i) {
    std::size_t& last = records_[i - 1].kind == record::state ? last_state_ : last_task_;
    if (last == 0) last = i;
  }
}

inline task_trace::record& task_trace::add() {
  if (count_ == most_records) make_room();
  records_[count_] = record{};
  return records_[count_++];
}

inline std::uint32_t task_trace::name_of(const running_task& task) {
  const graph::request* const named = task.actor != nullptr ? task.actor : task.request;
  if (named == nullptr || named->name.empty()) return 0;
  const std::string_view name = named->name;
  if (!names_.empty() && names_.back() == name) return static_cast<std::uint32_t>(names_.size());
  if (name_bytes_ + name.size() > most_name_bytes) return 0;
  name_bytes_ += name.size() + bytes_of_a_name;
  names_.emplace_back(name);
  return static_cast<std::uint32_t>(names_.size());
}

MANTA_DECL void task_trace::note_run(const running_task& task, std::uint64_t begin, std::uint64_t end) {
  if (last_task_ != 0) {
    record& last = records_[last_task_ - 1];
    if (last.kind == record::task && last.id == task.id && !last.ends && last.end() == begin) {
      last.end_at(end);
      return;
    }
  }
  record& made = add();
  made.begin = begin;
  made.end_at(end);
  made.attempt = std::min<std::uint32_t>(task.attempt, 255) & 255U;
  made.is_call = task.actor != nullptr;
  made.is_member = task.call != nullptr && task.call->team != nullptr;
  made.id = task.id;
  made.function = task.function.number();
  made.count = name_of(task);
  last_task_ = count_;
}

MANTA_DECL void task_trace::note_end(const running_task& task, std::uint64_t now) {
  const auto is_last = [&] {
    const record& last = records_[last_task_ - 1];
    return last.kind == record::task && last.id == task.id && !last.ends;
  };
  if (last_task_ == 0 || !is_last()) note_run(task, now, now);
  record& last = records_[last_task_ - 1];
  last.ends = true;
  last.failed = task.has_failed;
}

MANTA_DECL void task_trace::note_tasks(function_id function, std::uint32_t count, std::uint64_t busy,
                                       std::uint64_t begin, std::uint64_t end) {
  record& made = add();
  made.kind = record::burst;
  made.begin = begin;
  made.end_at(end);
  made.id = busy;
  made.function = function.number();
  made.count = count;
  last_task_ = count_;
}

MANTA_DECL void task_trace::note_state(std::uint32_t number, std::uint64_t begin, std::uint64_t end) {
  record next;
  next.kind = record::state;
  next.begin = begin;
  next.end_at(end);
  next.function = number;
  if (last_state_ != 0) {
    record& last = records_[last_state_ - 1];
    // Between tasks of some nanoseconds the driver has its turn each time: that is one stretch.
    if (last.function == number && next.extent < least_ && begin < last.end() + least_)
      return report::merge(last, next);
  }
  add() = next;
  last_state_ = count_;
}

// --- arrows

inline std::uint64_t task_trace::maker_of(const graph::node& n) const {
  if (n.function == graph::no_index || is_stand_in(n)) return 0;
  const maker& m = makers_[n.index % most_makers];
  return m.index == n.index && m.function == n.function ? m.id : 0;
}

MANTA_DECL void task_trace::note_use(const graph::node& n, std::uint64_t by) {
  const std::uint64_t from = is_on() ? maker_of(n) : 0;
  if (from != 0) add_arrow({from, by});
}

inline void task_trace::add_arrow(const report::trace_arrow& arrow) {
  if (!report::stays(arrow, arrow_rounds_)) return;
  while (arrows_.size() >= most_arrows) {
    arrows_.resize(report::thin_arrows(arrows_, ++arrow_rounds_));
    if (!report::stays(arrow, arrow_rounds_)) return;
  }
  arrows_.push_back(arrow);
}

MANTA_DECL void task_trace::note_maker(const graph::node& n, std::uint64_t id, graph::node* const* inputs,
                                       std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const std::uint64_t from = maker_of(*inputs[i]); from != 0) add_arrow({from, id});
  }
  makers_[n.index % most_makers] = {n.index, n.function, id};
}

// --- quantities

MANTA_DECL void task_trace::note_sample(report::trace_sample::quantity what, std::uint64_t value, std::uint64_t now) {
  if (std::exchange(last_values_[what], value) == value) return;
  if (samples_.size() >= most_samples) {  // every second one is left out
    std::size_t left = 0;
    for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[left++] = samples_[i];
    samples_.resize(left);
    sample_pause_ *= 2;
  }
  samples_.push_back({now, value, what});
}

// --- what is known

MANTA_DECL void task_trace::shorten(std::size_t records, std::size_t arrows) {
  if (count_ > records) {
    count_ = report::merge_until(this->records(), records, limit_);
    has_merged_ = true;
    keep_used_names();
    find_last();
  }
  while (arrows_.size() > arrows) arrows_.resize(report::thin_arrows(arrows_, ++arrow_rounds_));
}

}  // namespace manta::exec
