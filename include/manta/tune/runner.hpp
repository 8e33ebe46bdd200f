// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actor that runs trials on its rank, one after the other. One of its calls,
// work, never ends until it is told to: on its stack the user's functions run. The
// driver talks to it by calls of exchange, each of which hands over an order and
// returns with the next notice, so that a report costs one round trip.
#pragma once

#include "manta/tune/trainable.hpp"

namespace manta::tune::detail {

using answers = per_rank<notice>;

/// All of a runner but the functions that it runs: its methods are compiled once.
class runner {
 public:
  runner() = default;
  explicit runner(team members) : members_(members) {}
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  virtual ~runner() = default;

  /// The rank on which it is: an answer says that it has been placed.
  int greet() { return rank(); }

  void work() {
    order o = talk_.wait_for_order();
    while (o.what != order::kind::quit) {
      bool again = false;
      notice last = run(o, again);
      if (again) continue;  // o is what it begins again as; nobody needs to be told
      const bool broken = last.what == notice::kind::fatal;
      talk_.tell(std::move(last));
      if (broken) return;
      o = talk_.wait_for_order();
    }
    talk_.tell({});
  }

  /// Hands over an order and waits for what comes of it; in a gang the notices of all members come back, for each has its
  /// part of a checkpoint.
  answers tell(order o) {
    notice n = talk_.answer_to(std::move(o));
    if (n.what == notice::kind::fatal) throw fatal(n.text);
    return n;
  }

 protected:
  virtual void run_body(const team* members, const config& c, trial& t) = 0;
  /// After a failure: whatever state it is in goes.
  virtual void renew_body() = 0;

 private:
  const team* members() const { return members_ ? &*members_ : nullptr; }

  /// One trial, from its begin to its last notice.
  notice run(order& o, bool& again) {
    notice n;
    try {
      trial t(talk_, o, members());
      const config parameters = t.parameters();
      std::string text;
      bool failed = false, broken = false;
      try {
        run_body(members(), parameters, t);
        if (!runner_access::is_over(t) && this_task::stop_requested()) runner_access::interrupt(t);
      } catch (const trial_is_over&) {
      } catch (const fatal& e) {
        broken = true;
        text = e.what();
      } catch (const std::exception& e) {
        failed = true;
        text = e.what();
      } catch (...) {
        failed = true;
        text = "threw something that is not a std::exception";
      }
      if (broken || (failed && !runner_access::is_over(t))) {
        renew_body();
        n.reports = runner_access::pending(t);
        n.what = broken ? notice::kind::fatal : notice::kind::failed;
        n.text = text;
        return n;
      }
      if (auto next = runner_access::next(t)) {
        o = std::move(*next);
        again = true;
        return n;
      }
      return runner_access::farewell(t);
    } catch (const std::exception& e) {  // reading or writing a checkpoint
      n.what = notice::kind::failed;
      n.text = e.what();
      return n;
    }
  }

  exchange talk_;
  std::optional<team> members_;
};

template <class Body>
class runner_of final : public runner {
 private:
  void run_body(const team* members, const config& c, trial& t) override { body_.run(members, c, t); }
  void renew_body() override { body_ = Body(); }
  Body body_;
};
/// On each rank of a gang.
template <class Body>
class gang_runner_of final : public runner {
 public:
  explicit gang_runner_of(team members) : runner(members) {}

 private:
  void run_body(const team* members, const config& c, trial& t) override { body_.run(members, c, t); }
  void renew_body() override { body_ = Body(); }
  Body body_;
};

/// A runner as the driver holds it, whatever it runs: so the driver is compiled once and not for each function.
class runner_handle {
 public:
  virtual ~runner_handle() = default;
  virtual future<int> greet() const = 0;
  virtual future<void> work() const = 0;
  virtual future<answers> tell(order o) const = 0;
};

template <class Runner>
class handle_on final : public runner_handle {
 public:
  static std::unique_ptr<runner_handle> make(const actor_options& o) { return std::make_unique<handle_on>(o); }
  explicit handle_on(const actor_options& o) : who_(spawn<Runner>(o)) {}
  future<int> greet() const override { return async<&runner::greet>(who_); }
  future<void> work() const override { return async<&runner::work>(who_); }
  future<answers> tell(order o) const override { return async<&runner::tell>(who_, std::move(o)); }

 private:
  actor<Runner> who_;
};

}  // namespace manta::tune::detail
