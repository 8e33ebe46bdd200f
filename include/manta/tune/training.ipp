// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/tune/training.hpp"

namespace manta::tune::detail {

MANTA_DECL training::training(exchange& driver, order begin, const team* members)
    : driver_(driver),
      begin_(std::move(begin)),
      in_gang_(members != nullptr),
      member_(in_gang_ ? members->rank() : 0),
      start_(clock::now()),
      last_exchange_(start_) {
  silent_until_ = begin_.silent_until;
  from_ = std::exchange(begin_.source, std::nullopt);
  if (!begin_.from.empty()) fetch_source(members);
  if (!from_ && !begin_.from_file.empty()) {
    from_ = checkpoint::read(checkpoint::part_of(begin_.folder + "/" + begin_.from_file, member_));
  }
  if (from_) {
    iteration_ = from_->iteration;
    seconds_before_ = from_->seconds;
  }
}

MANTA_DECL bool training::report(const metrics& values) {
  if (over_) throw trial_is_over{};
  ++iteration_;
  if (remembers()) saver_(last_);
  const auto now = clock::now();
  if (member_ == 0) pending_.push_back({iteration_, seconds_at(now), values});
  const bool must_save = begin_.save_every > 0 && iteration_ % begin_.save_every == 0;
  // not by the clocks of a gang's members, which may differ
  if (!in_gang_ && static_cast<double>(iteration_) < silent_until_ && !must_save && now - last_exchange_ < batch_time)
    return true;
  notice n;
  if (must_save) add_checkpoint(n);
  return handle(talk(std::move(n)));
}

MANTA_DECL void training::note(remark r) {
  if (member_ == 0) remarks_.push_back(std::move(r));
}

MANTA_DECL double training::seconds_at(clock::time_point now) const {
  return seconds_before_ + std::chrono::duration<double>(now - start_).count();
}

MANTA_DECL std::string training::new_file(const order& o, std::uint64_t iteration) {
  const std::string folder = "checkpoints";
  manta::output::make_folders(o.folder + "/" + folder);
  return base::text("{}/{}-{}-{}", folder, o.id, o.line, iteration);
}

MANTA_DECL void training::fetch_source(const team* members) {
  try {
    from_ = begin_.from[std::min(static_cast<std::size_t>(member_), begin_.from.size() - 1)].get();
  } catch (const manta::error&) {
  }
  int there = from_.has_value() ? 1 : 0;
  if (members != nullptr) MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, members->comm());
  if (there == 0) from_.reset();
}

MANTA_DECL void training::keep(std::function<void(checkpoint&)> saver, bool of_locals) {
  saver_ = std::move(saver);
  keeps_locals_ = of_locals;
}

MANTA_DECL const checkpoint* training::source() const { return from_ && !from_->state.empty() ? &*from_ : nullptr; }

MANTA_DECL void training::release_source() {
  begin_.from.clear();
  if (from_) from_->state = {};
}

MANTA_DECL order training::talk(notice n) {
  n.reports = take_pending();
  n.remarks = take_remarks();
  driver_.notify(std::move(n));
  order o = driver_.next_order();
  const bool goes_on = o.what == order::kind::go_on || o.what == order::kind::begin;
  if (goes_on && this_task::stop_requested()) {  // the run has to end, or nobody waits for this trial any more
    over_ = pauses_ = true;
    make_checkpoint();
    throw trial_is_over{};
  }
  last_exchange_ = clock::now();
  return o;
}

MANTA_DECL bool training::handle(order o) {
  for (;;) {
    silent_until_ = o.silent_until;
    if (o.what == order::kind::go_on) {
      if (!o.save) return true;
      notice n;
      n.what = notice::kind::saved;
      add_checkpoint(n);
      o = talk(std::move(n));
      continue;
    }
    over_ = true;
    pauses_ = o.what == order::kind::pause;
    if (pauses_) make_checkpoint();
    if (o.what == order::kind::begin) next_ = std::move(o);
    if (o.what == order::kind::stop && begin_.save_at_end) make_checkpoint();
    return false;
  }
}

MANTA_DECL void training::make_checkpoint() {
  // An empty checkpoint would only make a trial count on that begins anew. Of a gang, the first member decides.
  if (!saver_ && member_ == 0) {
    keeps_nothing_ = true;
    return;
  }
  checkpoint c;
  c.iteration = iteration_;
  c.seconds = seconds_at(clock::now());
  if (remembers()) c.state = last_.state;
  else if (saver_) saver_(c);
  if (!begin_.folder.empty() && begin_.repeats == 1) {  // else the runner writes the parts of all runs
    file_ = new_file(begin_, iteration_);
    c.write(checkpoint::part_of(begin_.folder + "/" + file_, member_));
  }
  made_ = std::move(c);
}

MANTA_DECL void training::add_checkpoint(notice& n) {
  if (!made_ || made_->iteration != iteration_) make_checkpoint();
  n.keeps_nothing = keeps_nothing_;
  if (!made_) return;
  n.has_checkpoint = true;
  n.made_at = made_->iteration;
  n.file = std::move(file_);
  driver_.leave(std::move(*made_), n);
  made_.reset();
}

MANTA_DECL notice training::farewell() {
  notice n;
  n.what = pauses_ ? notice::kind::paused : notice::kind::ended;
  if (!over_ && begin_.save_at_end) make_checkpoint();
  if (made_) add_checkpoint(n);
  n.keeps_nothing = keeps_nothing_;
  n.reports = take_pending();
  n.remarks = take_remarks();
  return n;
}

}  // namespace manta::tune::detail
