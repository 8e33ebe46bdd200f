// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>

#include "manta/base/text.hpp"
#include "manta/tune/repeated_runner.hpp"

namespace manta::tune::detail {

MANTA_DECL repeated_runner::repeated_runner(const body_name& what, std::uint64_t repeats, bool isolated)
    : repeats_(repeats), isolated_(isolated) {
  for (std::uint64_t i = 0; i < repeats; ++i) {
    line& l = lines_.emplace_back();
    if (isolated) l.loop = std::make_unique<line_on_thread>(what);
    else l.loop = std::make_unique<line_on_stack>(what);
  }
}

MANTA_DECL answers repeated_runner::tell_from(order o, std::vector<checkpoint> source) {
  last_exchange_ = clock::now();
  silent_until_ = std::exchange(o.silent_until, 0);  // the lines do nothing unasked
  notice n;
  try {
    if (o.what == order::kind::begin) n = begin(std::move(o), std::move(source));
    else if (o.what == order::kind::quit) n = quit();
    else n = follow(o);
    while (goes_on(n)) n = follow({});
  } catch (const std::exception& e) {  // reading or writing a checkpoint
    end(running(true));
    n = {};
    n.what = notice::kind::failed;
    n.text = base::text_of(e);
  }
  if (n.what == notice::kind::fatal) throw fatal(n.text);
  n.reports = std::exchange(pending_, {});
  n.remarks = std::exchange(remarks_, {});
  return n;
}

MANTA_DECL checkpoint repeated_runner::take() {
  checkpoint first = std::move(left_.front());
  left_.erase(left_.begin());
  return first;
}

MANTA_DECL notice repeated_runner::begin(order o, std::vector<checkpoint> source) {
  source = source_of(o, std::move(source));
  o.from.clear();
  o.from_file.clear();
  o.repeats = static_cast<int>(lines_.size());
  begun_ = std::move(o);
  iteration_ = source.empty() ? 0 : source.back().iteration;
  if (source.empty()) repeats_.begin(begun_.clock);
  else repeats_.begin(begun_.clock, source.back().state);

  numbers over, on;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    lines_[k].has_part = false;
    lines_[k].part = {};
    if (!repeats_.has_ended(k)) on.push_back(k);
    else if (lines_[k].runs) over.push_back(k);
    if (repeats_.has_ended(k)) lines_[k].part = std::move(source[k]);
  }
  end(over);
  for (const std::size_t k : on) lines_[k].runs = true;
  return round(on, [&](std::size_t k) {
    order each = begun_;
    each.repeat = static_cast<int>(k);
    if (!source.empty()) each.source = std::move(source[k]);
    return each;
  });
}

MANTA_DECL std::vector<checkpoint> repeated_runner::source_of(const order& o, std::vector<checkpoint> fetched) const {
  const std::size_t parts = lines_.size() + 1;
  try {
    for (const future<checkpoint>& part : o.from) fetched.push_back(part.get());
  } catch (const manta::error&) {  // it was lost with its rank
    fetched.clear();
  }
  for (std::size_t i = 0; i < parts && !o.from_file.empty() && fetched.size() < parts; ++i)
    fetched.push_back(checkpoint::read(checkpoint::part_of(o.folder + "/" + o.from_file, static_cast<int>(i))));
  return fetched;
}

MANTA_DECL notice repeated_runner::follow(const order& o) {
  const bool moves = o.what == order::kind::go_on && !o.save;
  return round(running(!moves), [&](std::size_t) { return o; });
}

MANTA_DECL notice repeated_runner::quit() {
  numbers all(lines_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  hear(all, [](std::size_t) { return quit_order(); });
  return {};
}

MANTA_DECL repeated_runner::numbers repeated_runner::running(bool with_waiting) const {
  numbers all;
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    if (lines_[k].runs && (with_waiting || !repeats_.waits(k))) all.push_back(k);
  }
  return all;
}

template <class OrderOf>
std::vector<notice> repeated_runner::hear(const numbers& to, OrderOf order_of) {
  std::vector<notice> heard;
  for (const std::size_t k : to) {
    lines_[k].loop->hand(order_of(k));
    if (isolated_) heard.push_back(lines_[k].loop->hear());  // threads take turns
  }
  for (const std::size_t k : to) {
    if (!isolated_) heard.push_back(lines_[k].loop->hear());
  }
  return heard;
}

template <class OrderOf>
notice repeated_runner::round(const numbers& to, OrderOf order_of) {
  std::vector<notice> heard = hear(to, order_of);
  notice all;
  bool has_failed = false, has_paused = false, has_saved = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const notice::kind what = take_notice(to[i], heard[i], all);
    has_failed = has_failed || what >= notice::kind::failed;
    has_paused = has_paused || what == notice::kind::paused;
    has_saved = has_saved && what == notice::kind::saved;
  }
  const numbers on = running(true);
  if (has_failed) {
    end(on);
    return all;
  }
  if (has_paused && !on.empty()) {  // the run has to end, which the others have not noticed
    order pause;
    pause.what = order::kind::pause;
    for (const std::size_t k : on) take_notice(k, hear({k}, [&](std::size_t) { return pause; }).front(), all);
    if (all.what >= notice::kind::failed) return all;
  }
  if (auto r = has_saved || has_paused ? std::nullopt : repeats_.take()) {
    iteration_ = r->iteration;
    pending_.push_back(std::move(*r));
  }
  all.what = !running(true).empty() ? (has_saved ? notice::kind::saved : notice::kind::report)
             : has_paused           ? notice::kind::paused
                                    : notice::kind::ended;
  add_checkpoint(all);
  return all;
}

MANTA_DECL notice::kind repeated_runner::take_notice(std::size_t k, notice& said, notice& all) {
  line& l = lines_[k];
  std::move(said.remarks.begin(), said.remarks.end(), std::back_inserter(remarks_));
  all.keeps_nothing = all.keeps_nothing || said.keeps_nothing;
  if (said.has_checkpoint) {
    l.part = l.loop->take();
    l.has_part = true;
  }
  for (reported& r : said.reports) repeats_.report(k, std::move(r));
  l.runs = said.what == notice::kind::report || said.what == notice::kind::saved;
  if (said.what == notice::kind::ended) repeats_.end(k);
  if (said.what >= notice::kind::failed && said.what > all.what) {
    all.what = said.what;
    all.text = base::text("repeat {}: {}", k, said.text);
  }
  return said.what;
}

MANTA_DECL void repeated_runner::end(const numbers& which) {
  order stop;
  stop.what = order::kind::stop;
  hear(which, [&](std::size_t) { return stop; });
  for (const std::size_t k : which) lines_[k].runs = false;
}

MANTA_DECL bool repeated_runner::goes_on(const notice& n) const {
  constexpr std::chrono::milliseconds batch_time{50};
  return n.what == notice::kind::report && !n.has_checkpoint && !n.keeps_nothing && !running(true).empty() &&
         static_cast<double>(iteration_) < silent_until_ && clock::now() - last_exchange_ < batch_time;
}

MANTA_DECL void repeated_runner::add_checkpoint(notice& n) {
  const bool any = std::any_of(lines_.begin(), lines_.end(), [](const line& l) { return l.has_part; });
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    if (!any || (!lines_[k].has_part && !repeats_.has_ended(k))) return;  // some have come farther than others
  }
  std::vector<checkpoint> parts;
  checkpoint common;
  common.iteration = iteration_;
  common.state = repeats_.written();
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    line& l = lines_[k];
    l.has_part = false;
    common.seconds = std::max(common.seconds, l.part.seconds);
    if (repeats_.has_ended(k)) parts.push_back(l.part);  // a later checkpoint has it too
    else parts.push_back(std::exchange(l.part, {}));
  }
  parts.push_back(std::move(common));
  n.has_checkpoint = true;
  n.made_at = iteration_;
  n.parts = static_cast<int>(parts.size());
  if (!begun_.folder.empty()) {
    n.file = training::new_file(begun_, iteration_);
    for (std::size_t i = 0; i < parts.size(); ++i)
      parts[i].write(checkpoint::part_of(begun_.folder + "/" + n.file, static_cast<int>(i)));
  }
  if (isolated_) left_ = std::move(parts);
  else
    for (checkpoint& part : parts) n.made.push_back(put(std::move(part)));
}

}  // namespace manta::tune::detail
