// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "farm.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <manta/capacity.hpp>
#include <system_error>
#include <utility>

namespace farm {

namespace {

constexpr std::size_t window_lines = 4096;
constexpr std::size_t window_bytes = std::size_t{16} << 20U;

rank_place describe_rank() {
  rank_place here;
  here.rank = manta::rank();
  here.node = manta::node();
  here.cores = own_cores();
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0) here.host = name;
  return here;
}

/// Asks each rank that runs tasks.
std::vector<rank_place> describe_ranks() {
  std::vector<manta::future<rank_place>> answers;
  const std::vector<manta::rank_resources> all = manta::capacity();
  for (const manta::rank_resources& each : all) {
    if (each.runs_tasks) answers.push_back(manta::async<describe_rank>({.rank = each.rank}));
  }
  std::vector<rank_place> ranks = manta::get(answers);
  for (rank_place& each : ranks) {
    const manta::rank_resources& has = all[static_cast<std::size_t>(each.rank)];
    each.cpus = has.cpus;
    each.gpus = has.gpus;
    each.memory = has.resources.amount("memory");
  }
  return ranks;
}

std::string options_text(const line_options& o) {
  std::string text;
  const auto add = [&](const std::string& what) { text += " " + what; };
  if (o.cpus != 1) add("cpus=" + std::to_string(o.cpus));
  if (o.ranks > 0) add("ranks=" + std::to_string(o.ranks));
  if (o.gpus > 0) add("gpus=" + std::to_string(o.gpus));
  if (o.memory > 0) add("memory=" + std::to_string(o.memory));
  if (o.retries > 0) add("retries=" + std::to_string(o.retries));
  if (o.timeout > 0) add("timeout=" + std::to_string(o.timeout));
  for (std::size_t i = 0; i < o.after.size(); ++i) text += (i == 0 ? " after=" : ",") + std::to_string(o.after[i]);
  return text.empty() ? text : "   #manta" + text;
}

}  // namespace

farm::farm(const options& chosen)
    : options_(chosen),
      folder_(chosen.folder),
      places_(describe_ranks(), chosen.jobs),
      source_(open_source(chosen.lines)) {}

farm::state& farm::state_of(int number) {
  const auto at = static_cast<std::size_t>(number);
  if (states_.size() <= at) states_.resize(std::max(at + 1, 2 * states_.size()));
  return states_[at];
}

void farm::check(const line& each) {
  const std::string here = "line " + std::to_string(each.number) + ": ";
  if (const std::string why = places_.why_never(each.options); !why.empty()) throw mistake(here + why);
  for (const int other : each.options.after) {
    if (state_of(other) == state::no_line)
      throw mistake(here + "after=" + std::to_string(other) + ": there is no command in line " + std::to_string(other));
  }
}

void farm::check_lines() {
  const std::unique_ptr<source> all = open_source(options_.lines);
  line each;
  while (all->next(each) != supply::end) {
    check(each);
    state_of(each.number) = state::waits;
    ++counts_.lines;
  }
}

bool farm::is_done(const line& each) const {
  const auto at = earlier_.find(each.key);
  if (at == earlier_.end() || at->second == outcome::interrupted) return false;
  return at->second == outcome::ok || !options_.resumes_failed;
}

void farm::print_plan() {
  line each;
  std::uint64_t number = 0;
  while (source_->next(each) == supply::line) {
    if (is_done(each)) continue;
    ++number;
    std::printf("%d: %s%s\n", each.number, each.command.c_str(), options_text(each.options).c_str());
  }
  std::fflush(stdout);
  std::fprintf(stderr, "manta-farm: %llu lines would run, %llu have a result; %d node(s) with %d core(s) for lines\n",
               static_cast<unsigned long long>(number), static_cast<unsigned long long>(counts_.lines - number),
               places_.nodes(), places_.all_cores());
}

int farm::run() {
  const bool has_results = folder_.exists();
  if (has_results && !options_.resumes && !options_.is_fresh && !options_.is_dry)
    throw mistake(options_.folder +
                  " has the results of an earlier run: --resume runs what is missing, --resume-failed "
                  "also what has failed, --fresh removes them; or name another folder by --results");
  if (is_read_twice(options_.lines)) check_lines();
  if (!options_.is_dry) folder_.open();
  if (options_.is_fresh && !options_.is_dry) folder_.clear();
  if (has_results && options_.resumes) earlier_ = ended_lines(folder_.journal());
  if (options_.is_dry) return print_plan(), 0;
  progress_ = std::make_unique<manta::progress<>>("lines", counts_.lines);
  if (!is_read_twice(options_.lines)) counts_.lines = 0;
  events_.watch_stops();
  while (true) {
    is_leaving_ = is_leaving_ || manta::this_task::stop_requested();
    if (!is_leaving_) read_lines();
    if (!is_leaving_) start_lines();
    if (is_over() || (is_leaving_ && running_.empty())) break;
    wait();
  }
  progress_.reset();
  return finish();
}

bool farm::has_room() const {
  return !has_ended_ && ready_.size() + blocked_.size() < window_lines && window_bytes_ < window_bytes;
}

void farm::read_lines() {
  line each;
  while (has_room()) {
    try {
      const supply what = source_->next(each);
      if (what == supply::nothing_yet) return;
      has_ended_ = what == supply::end;
      if (has_ended_) return;
      if (!is_read_twice(options_.lines)) {
        check(each);
        ++counts_.lines;
      }
    } catch (const mistake& m) {  // the standard input: other lines go on
      std::fprintf(stderr, "manta-farm: %s; this line is left out\n", m.what());
      ++counts_.refused;
      continue;
    }
    accept(std::move(each));
  }
}

void farm::accept(line&& each) {
  const int number = each.number;
  state_of(number) = state::waits;
  if (is_done(each)) {
    const bool was_well = earlier_.at(each.key) == outcome::ok;
    ++counts_.earlier;
    counts_.earlier_failed += was_well ? 0 : 1;
    progress_->skip(1);
    return settle(number, was_well);
  }
  window_bytes_ += each.command.size();
  bool waits = false, is_lost = false;
  for (const int other : each.options.after) {
    if (state_of(other) == state::waits) {
      followers_[other].push_back(number);
      waits = true;
    }
    is_lost = is_lost || state_of(other) == state::failed;
  }
  (waits || is_lost ? blocked_ : ready_).emplace(number, std::move(each));
  if (is_lost) skip(number);
}

void farm::start_lines() {
  constexpr int most_looks = 64, most_overtakers = 64;
  int looks = 0;
  for (auto at = ready_.begin(); at != ready_.end() && looks < most_looks && places_.free_cores() > 0;) {
    const std::optional<place> where = places_.take(at->second.options);
    if (!where) {
      if (looks++ == 0 && overtaken_ >= most_overtakers) return;  // what becomes free is for this line
      ++at;
      continue;
    }
    overtaken_ = looks == 0 ? 0 : overtaken_ + 1;
    const auto retried = attempts_.extract(at->first);
    line what = std::move(at->second);
    at = ready_.erase(at);
    window_bytes_ -= what.command.size();
    start(std::move(what), retried.empty() ? 1 : retried.mapped(), *where);
  }
}

void farm::start(line&& what, int attempt, const place& where) {
  const line_options& o = what.options;
  line_request request;
  request.number = what.number;
  request.attempt = attempt;
  request.command = what.command;
  request.folder = folder_.path();
  if (where.is_pinned) request.cores = where.cores;
  request.cpus = o.cpus;
  request.ranks = o.ranks;
  request.timeout = o.timeout;
  request.drain = options_.drain;
  request.most_output = options_.most_output;
  request.has_own_file = options_.has_own_files;
  request.shows_output = options_.shows_output;
  const manta::task_options how = {.name = "line " + std::to_string(what.number), .gpus = o.gpus, .rank = where.rank};
  const std::uint64_t id = next_id_++;
  running& it = running_[id];
  it = {std::move(what), attempt, where, manta::async<run_line>(how, request)};
  events_.add(it.result, id);
}

void farm::wait() {
  const int input = has_room() && !is_leaving_ ? source_->descriptor() : -1;
  if (running_.empty() && input < 0) {
    stopped_by_ = "the ranks that could run the other lines have died";
    is_leaving_ = true;
    return;
  }
  if (input != watched_) events_.watch_descriptor(watched_ = input);
  std::optional<std::uint64_t> id = events_.next();
  while (id) {
    collect(*id);
    id = events_.ready() ? events_.next() : std::nullopt;
  }
}

void farm::collect(std::uint64_t id) {
  running it = std::move(running_.extract(id).mapped());
  places_.give_back(it.where, it.what.options);
  const int number = it.what.number;
  try {
    return note(std::move(it), it.result.get());
  } catch (const manta::cancelled&) {  // it has not begun, and the farm has to end
  } catch (const manta::error& e) {
    const auto rank = static_cast<std::size_t>(it.where.rank);
    if (manta::capacity()[rank].node >= 0) throw;
    std::fprintf(stderr, "manta-farm: rank %d has died; line %d starts again elsewhere (%s)\n", it.where.rank, number,
                 e.what());
    places_.lose(it.where.rank);
    attempts_[number] = it.attempt;
    window_bytes_ += it.what.command.size();
    ready_.emplace(number, std::move(it.what));
  }
}

void farm::note(running it, const line_result& result) {
  const int number = it.what.number;
  const bool is_well = result.how == outcome::ok, is_interrupted = result.how == outcome::interrupted;
  const bool runs_again = !is_well && !is_interrupted && it.attempt <= it.what.options.retries;
  if (!write(it.what, it.attempt, runs_again, result)) return;
  if (is_interrupted) return;
  if (runs_again) {
    attempts_[number] = it.attempt + 1;
    window_bytes_ += it.what.command.size();
    ready_.emplace(number, std::move(it.what));
    return;
  }
  count(number, is_well);
  settle(number, is_well);
}

bool farm::write(const line& what, int attempt, bool runs_again, const line_result& result) {
  if (!stopped_by_.empty()) return false;
  try {
    folder_.append(what, attempt, runs_again, result, places_.host(result.rank));
    return true;
  } catch (const std::system_error& e) {
    stopped_by_ = std::string("results cannot be written: ") + e.what() + "; make room, and go on with --resume";
    is_leaving_ = true;
    return false;
  }
}

void farm::count(int number, bool is_well) {
  progress_->advance();
  if (is_well) {
    ++counts_.well;
    return;
  }
  failed_.insert(number);
  progress_->set("failed", static_cast<double>(++counts_.failed));
}

void farm::skip(int number) {
  auto it = blocked_.extract(number);
  if (it.empty()) return;
  window_bytes_ -= it.mapped().command.size();
  line_result result;
  result.how = outcome::skipped;
  for (const int other : it.mapped().options.after) {
    if (result.why.empty() && state_of(other) == state::failed)
      result.why = "it was not started, since line " + std::to_string(other) + " has not ended well";
  }
  if (!write(it.mapped(), 0, false, result)) return;
  count(number, false);
  settle(number, false);
}

void farm::settle(int number, bool is_well) {
  state_of(number) = is_well ? state::well : state::failed;
  const auto waiting = followers_.extract(number);
  if (waiting.empty()) return;
  for (const int follower : waiting.mapped()) {
    if (!is_well) {
      to_skip_.push_back(follower);
      continue;
    }
    const auto at = blocked_.find(follower);
    if (at == blocked_.end()) continue;
    const auto& others = at->second.options.after;
    if (std::ranges::all_of(others, [&](int other) { return state_of(other) == state::well; }))
      ready_.insert(blocked_.extract(at));
  }
  if (is_skipping_) return;
  is_skipping_ = true;  // a chain of lines may be long: each is skipped here, not inside the one before it
  while (!to_skip_.empty()) {
    const int next = to_skip_.back();
    to_skip_.pop_back();
    skip(next);
  }
  is_skipping_ = false;
}

std::string farm::summary(bool is_unfinished) const {
  const auto lines = [](std::uint64_t number) { return std::to_string(number) + (number == 1 ? " line" : " lines"); };
  std::string text = lines(counts_.well) + " ended well";
  if (counts_.failed > 0) {
    constexpr std::size_t most_named = 5;
    text += ", " + lines(counts_.failed) + " did not (";
    std::size_t named = 0;
    for (const int number : failed_) {
      if (++named > most_named) break;
      text += (named > 1 ? ", " : "") + std::to_string(number);
    }
    text += failed_.size() > most_named ? ", ...)" : ")";
  }
  if (counts_.refused > 0) text += ", " + lines(counts_.refused) + " were wrong and left out";
  if (counts_.earlier > 0) text += ", " + lines(counts_.earlier) + " had a result before";
  if (counts_.earlier_failed > 0)
    text += " (" + std::to_string(counts_.earlier_failed) + " a bad one: --resume-failed runs them again)";
  if (is_unfinished) text += "; others are not done, and --resume goes on";
  return text + "; results are in " + folder_.path();
}

int farm::finish() {
  const bool is_unfinished = !has_ended_ || counts_.well + counts_.failed + counts_.earlier < counts_.lines;
  if (counts_.well + counts_.failed > 0 && stopped_by_.empty()) {
    try {
      folder_.write_csv();
    } catch (const std::system_error& e) {
      stopped_by_ = std::string("the table cannot be written: ") + e.what();
    }
  }
  std::fprintf(stderr, "manta-farm: %s\n", summary(is_unfinished).c_str());
  if (!stopped_by_.empty()) {
    std::fprintf(stderr, "manta-farm: %s\n", stopped_by_.c_str());
    return 1;
  }
  if (is_unfinished) return manta::requeue_status;
  return counts_.failed + counts_.refused + counts_.earlier_failed > 0 ? 1 : 0;
}

}  // namespace farm
