// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trial as the function that is tuned sees it.
//
//   void train(const tune::config& c, tune::trial& trial) {
//     model m(c["lr"]);
//     trial.keep(m);                                  // saved when needed; restored if there is a checkpoint
//     while (trial.iteration() < 100) {
//       m.train_one_epoch();
//       if (!trial.report({{"loss", m.loss()}})) return;
//     }
//   }
#pragma once

#include <functional>
#include <optional>

#include "manta/manta.hpp"
#include "manta/tune/checkpoint.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/searcher.hpp"

namespace manta::tune {

namespace detail {

/// What the driver tells a runner. A trial begins with the members behind `parameters` as well.
struct order {
  enum class kind : std::uint8_t { begin, go_on, stop, pause, quit };
  kind what = kind::go_on;
  bool save = false;            ///< go_on: make a checkpoint and tell at once
  bool change = false;          ///< begin, in the middle of a trial: end the function and begin again
  double silent_until = 0;
  trial_number id = 0;
  config parameters;
  std::vector<future<checkpoint>> from;  ///< one of each member of the gang; empty: the file, or nothing
  std::string from_file;
  std::string metric, folder;
  std::uint64_t seed = 0;
  std::uint64_t save_every = 0;
  bool save_at_end = false;
  int line = 0;                 ///< of training: files of different ones have different names
  double silence = infinity;    ///< in a process of its own: seconds until that is ended

  std::optional<checkpoint> source = {};  ///< there: what came for `from`

  template <class Archive>
  void serialize(Archive& archive) {
    archive(what, save, change, silent_until);
    if (what == kind::begin) {
      archive(id, parameters, from, from_file, metric, folder, seed, save_every, save_at_end, line, silence);
    }
  }
};

struct reported {
  std::uint64_t iteration = 0;
  double seconds = 0;
  metrics values;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, seconds, values);
  }
};

/// What a runner tells the driver.
struct notice {
  enum class kind : std::uint8_t { report, saved, ended, paused, failed, fatal };
  kind what = kind::report;
  std::vector<reported> reports;
  bool has_checkpoint = false;
  future<checkpoint> made;      ///< empty: the runner has it, to be asked for at once
  std::uint64_t made_at = 0;    ///< iteration
  std::string file;             ///< where it is on disk as well
  std::string text;             ///< of a failure

  template <class Archive>
  void serialize(Archive& archive) {
    bool is_here = made.valid();
    archive(what, reports, has_checkpoint, is_here);
    if (is_here) archive(made);
    if (has_checkpoint) archive(made_at, file);
    if (what >= kind::failed) archive(text);
  }
};

/// Thrown by report when the function goes on after it was told to end; not for catching.
struct trial_is_over {};

/// What a trial knows of the runner that it runs in.
class exchange {
 public:
  virtual ~exchange() = default;
  virtual order next_order() = 0;
  virtual void notify(notice n) = 0;
  /// Leaves the bytes here; others fetch them, be it through the notice.
  virtual void leave(checkpoint c, notice& n) = 0;
};

}  // namespace detail

class trial {
 public:
  /// `members`: of the gang that runs it, or null.
  trial(detail::exchange& driver, detail::order begin, const team* members)
      : driver_(driver), begin_(std::move(begin)), in_gang_(members != nullptr), member_(in_gang_ ? members->rank() : 0), start_(clock::now()), last_exchange_(start_) {
    silent_until_ = begin_.silent_until;
    from_ = std::exchange(begin_.source, std::nullopt);
    if (!begin_.from.empty()) fetch_source(members);
    if (!from_ && !begin_.from_file.empty()) {
      from_ = checkpoint::read(member_file(begin_.folder + "/" + begin_.from_file, member_));
    }
    if (from_) {
      iteration_ = from_->iteration;
      seconds_before_ = from_->seconds;
    }
  }
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;

  trial_number id() const { return begin_.id; }
  const config& parameters() const { return begin_.parameters; }
  /// Reports made by this trial, those before the checkpoint that it continues from included.
  std::uint64_t iteration() const { return iteration_; }
  bool restored() const { return from_.has_value(); }
  /// For random numbers: derived from the experiment's seed and the trial.
  std::uint64_t seed() const { return random(begin_.seed, begin_.id, 0x747269616cULL).bits(); }
  /// Of this trial, for files of its own; made if it is not there. Throws if the experiment has none.
  std::string folder() const {
    if (begin_.folder.empty()) throw error("manta: tune: trial::folder: the experiment has no folder; give it one");
    std::string number = std::to_string(begin_.id);
    if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
    const std::string path = begin_.folder + "/trials/" + number;
    make_folders(path);
    return path;
  }

  /// Names what has to be saved, by cereal: whenever a checkpoint is made these are, as they are at that report. If the trial
  /// continues from a checkpoint, they are set to what it holds now. To be called once, before the first report.
  template <class... T>
  void keep(T&... state) {
    saver_ = [&](checkpoint& c) { c.pack(state...); };
    keeps_locals_ = true;
    if (from_ && !from_->state.empty()) from_->unpack(state...);
    release_source();
  }

  /// Tells the experiment. False: the trial is to end now, by returning. Waits for the answer (other work of this rank may
  /// run meanwhile) unless scheduler and rules have nothing to say before a later report; then it may be sent with a
  /// later one. In a gang all members call it, and it always waits; what the first reports counts.
  bool report(const metrics& values) {
    if (over_) throw detail::trial_is_over{};
    ++iteration_;
    if (remembers()) saver_(last_);
    const auto now = clock::now();
    if (member_ == 0) pending_.push_back({iteration_, seconds_at(now), values});
    const bool must_save = begin_.save_every > 0 && iteration_ % begin_.save_every == 0;
    // not by the clocks of a gang's members, which may differ
    if (!in_gang_ && static_cast<double>(iteration_) < silent_until_ && !must_save && now - last_exchange_ < batch_time) return true;
    detail::notice n;
    if (must_save) add_checkpoint(n);
    return handle(talk(std::move(n)));
  }
  bool report(std::string_view metric, double value) { return report({{metric, value}}); }

  /// Has the trial been told to end? report says the same.
  bool should_end() const { return over_; }

 private:
  friend struct runner_access;
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds batch_time{50};

  double seconds_at(clock::time_point now) const {
    return seconds_before_ + std::chrono::duration<double>(now - start_).count();
  }
  static std::string member_file(const std::string& file, int member) {
    return member == 0 ? file : file + "." + std::to_string(member);
  }
  /// This member's part of the checkpoint. If a part was lost with its rank, no member has one: there is the file, or it
  /// begins anew.
  void fetch_source(const team* members) {
    try {
      from_ = begin_.from[std::min(static_cast<std::size_t>(member_), begin_.from.size() - 1)].get();
    } catch (const manta::error&) {
    }
    int there = from_.has_value() ? 1 : 0;
    if (members != nullptr) MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, members->comm());
    if (there == 0) from_.reset();
  }
  void release_source() {
    begin_.from.clear();
    if (from_) from_->state = {};
  }

  detail::order talk(detail::notice n) {
    n.reports = std::exchange(pending_, {});
    driver_.notify(std::move(n));
    detail::order o = driver_.next_order();
    const bool goes_on = o.what == detail::order::kind::go_on || o.what == detail::order::kind::begin;
    if (goes_on && this_task::stop_requested()) {  // the run has to end, or nobody waits for this trial any more
      over_ = pauses_ = true;
      make_checkpoint();
      throw detail::trial_is_over{};
    }
    last_exchange_ = clock::now();
    return o;
  }
  bool handle(detail::order o) {
    for (;;) {
      silent_until_ = o.silent_until;
      if (o.what == detail::order::kind::go_on) {
        if (!o.save) return true;
        detail::notice n;
        n.what = detail::notice::kind::saved;
        add_checkpoint(n);
        o = talk(std::move(n));
        continue;
      }
      over_ = true;
      pauses_ = o.what == detail::order::kind::pause;
      if (pauses_) make_checkpoint();
      if (o.what == detail::order::kind::begin) next_ = std::move(o);
      if (o.what == detail::order::kind::stop && begin_.save_at_end) make_checkpoint();
      return false;
    }
  }

  /// What a function keeps is gone when it has returned: so its state at each report may be the one to be saved at the end.
  bool remembers() const { return begin_.save_at_end && keeps_locals_; }
  void make_checkpoint() {
    checkpoint c;
    c.iteration = iteration_;
    c.seconds = seconds_at(clock::now());
    if (remembers()) {
      c.state = last_.state;
    } else if (saver_) {
      saver_(c);
    }
    if (!begin_.folder.empty()) {
      const std::string folder = "checkpoints";
      make_folders(begin_.folder + "/" + folder);
      file_ = folder + "/" + std::to_string(begin_.id) + "-" + std::to_string(begin_.line) + "-" + std::to_string(iteration_);
      c.write(member_file(begin_.folder + "/" + file_, member_));
    }
    made_ = std::move(c);
  }
  void add_checkpoint(detail::notice& n) {
    if (!made_ || made_->iteration != iteration_) make_checkpoint();
    n.has_checkpoint = true;
    n.made_at = made_->iteration;
    n.file = std::move(file_);
    driver_.leave(std::move(*made_), n);
    made_.reset();
  }
  /// The last thing that is told of it.
  detail::notice farewell() {
    detail::notice n;
    n.what = pauses_ ? detail::notice::kind::paused : detail::notice::kind::ended;
    if (!over_ && begin_.save_at_end) make_checkpoint();
    if (made_) add_checkpoint(n);
    n.reports = std::exchange(pending_, {});
    return n;
  }

  detail::exchange& driver_;
  detail::order begin_;
  bool in_gang_;
  int member_;
  clock::time_point start_, last_exchange_;
  double seconds_before_ = 0, silent_until_ = 0;
  std::uint64_t iteration_ = 0;
  std::optional<checkpoint> from_;
  std::function<void(checkpoint&)> saver_;
  bool keeps_locals_ = false;
  checkpoint last_;  // what it kept at the last report, if it remembers
  std::vector<detail::reported> pending_;
  bool over_ = false, pauses_ = false;
  std::optional<detail::order> next_;  ///< to begin again as
  std::optional<checkpoint> made_;
  std::string file_;
};

/// For runner.hpp.
struct runner_access {
  static detail::notice farewell(trial& t) { return t.farewell(); }
  static std::optional<detail::order> next(trial& t) { return std::exchange(t.next_, std::nullopt); }
  static bool is_over(const trial& t) { return t.over_; }
  /// The function has returned before its time: it goes on from its last checkpoint another time.
  static void interrupt(trial& t) { t.over_ = t.pauses_ = true; }
  static std::vector<detail::reported> pending(trial& t) { return std::exchange(t.pending_, {}); }
  static const std::string& metric(const trial& t) { return t.begin_.metric; }
  /// As keep, for state that is made when it is saved.
  static void set_saver(trial& t, std::function<void(checkpoint&)> saver) { t.saver_ = std::move(saver); }
  static const checkpoint* source(const trial& t) { return t.from_ && !t.from_->state.empty() ? &*t.from_ : nullptr; }
  static void release_source(trial& t) { t.release_source(); }
};

}  // namespace manta::tune
