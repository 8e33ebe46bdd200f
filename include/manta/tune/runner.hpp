// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actor that runs trials on its rank, one after the other. The driver talks to
// it by calls of tell, each of which hands over an order and returns with the next
// notice, so that a report costs one round trip. The user's functions run beside
// these calls: inside a call, work, that never ends until it is told to, or, in a
// process of their own, on a thread.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "manta/tune/trainable.hpp"

namespace manta::tune::detail {

using answers = per_rank<notice>;

/// Runs trials as it is told to; its code is compiled once for all functions.
class trial_loop : protected exchange {
 public:
  trial_loop() = default;
  explicit trial_loop(team members) : members_(members) {}
  trial_loop(const trial_loop&) = delete;
  trial_loop& operator=(const trial_loop&) = delete;

  /// The rank on which it is: an answer says that it has been placed.
  int greet() { return rank(); }

 protected:
  virtual void run_body(const team* members, const config& c, trial& t) = 0;
  /// After a failure: whatever state it is in goes.
  virtual void renew_body() = 0;

  void run_trials() {
    order o = next_order();
    while (o.what != order::kind::quit) {
      bool again = false;
      notice last = run(o, again);
      if (again) continue;  // o is what it begins again as; nobody needs to be told
      const bool broken = last.what == notice::kind::fatal;
      notify(std::move(last));
      if (broken) return;
      o = next_order();
    }
    notify({});
  }

 private:
  const team* members() const { return members_ ? &*members_ : nullptr; }

  /// One trial, from its begin to its last notice.
  notice run(order& o, bool& again) {
    notice n;
    try {
      trial t(*this, o, members());
      const config parameters = t.parameters();
      std::string text;
      bool failed = false, broken = false;
      try {
        run_body(members(), parameters, t);
        if (!runner_access::is_over(t) && this_task::stop_requested()) runner_access::interrupt(t);
      } catch (const trial_is_over&) {
      } catch (const fatal& e) {
        broken = true;
        text = base::text_of(e);
      } catch (const std::exception& e) {
        failed = true;
        text = base::text_of(e);
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
      n.text = base::text_of(e);
      return n;
    }
  }

  std::optional<team> members_;
};

/// Functions run on the stack of one call.
class runner : public trial_loop {
 public:
  using trial_loop::trial_loop;

  void work() { run_trials(); }
  /// Hands over an order and waits for what comes of it; in a gang the notices of all members come back, for each has its
  /// part of a checkpoint.
  answers tell(order o) {
    out_ = promise<notice>();
    const future<notice> answer = out_.get_future();
    in_.set_value(std::move(o));
    notice n = answer.get();
    if (n.what == notice::kind::fatal) throw fatal(n.text);
    return n;
  }

 private:
  order next_order() override {
    order o = in_.get_future().get();
    in_ = promise<order>();
    return o;
  }
  void notify(notice n) override { out_.set_value(std::move(n)); }
  void leave(checkpoint c, notice& n) override { n.made = put(std::move(c)); }

  promise<order> in_;
  promise<notice> out_;
};

/// Functions run on a thread of their own in a child process of the rank: what they do to it ends no rank, and one that
/// does not report in time is ended with the process.
class isolated_runner : public trial_loop {
 public:
  ~isolated_runner() override {
    std::unique_lock lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
    if (!thread_.joinable()) return;
    if (!changed_.wait_for(lock, std::chrono::seconds(1), [&] { return has_ended_; })) std::_Exit(0);  // with what hangs in it
    lock.unlock();
    thread_.join();
  }

  answers tell(order o) {
    if (o.what == order::kind::begin) limit_ = o.silence;
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { live(); });
    order_ = std::move(o);
    changed_.notify_all();
    const auto told = [&] { return notice_.has_value(); };
    if (!(limit_ < longest)) {
      changed_.wait(lock, told);
    } else if (!changed_.wait_for(lock, std::chrono::duration<double>(limit_), told)) {
      ::pthread_kill(thread_.native_handle(), SIGABRT);  // so that one sees where it is
      std::this_thread::sleep_for(std::chrono::seconds(1));
      std::_Exit(1);
    }
    notice n = std::move(*std::exchange(notice_, std::nullopt));
    if (n.what == notice::kind::fatal) throw fatal(n.text);
    return n;
  }
  answers tell_from(order o, checkpoint source) {
    o.source = std::move(source);
    return tell(std::move(o));
  }
  checkpoint take() { return std::move(left_); }

 private:
  static constexpr double longest = 1e9;

  void live() {
    try {
      run_trials();
    } catch (const trial_is_over&) {  // by the destructor
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  order next_order() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return order_.has_value() || is_over_; });
    if (!order_) throw trial_is_over{};
    return std::move(*std::exchange(order_, std::nullopt));
  }
  void notify(notice n) override {
    const std::lock_guard lock(mutex_);
    notice_ = std::move(n);
    changed_.notify_all();
  }
  void leave(checkpoint c, notice&) override { left_ = std::move(c); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<order> order_;
  std::optional<notice> notice_;
  checkpoint left_;
  double limit_ = infinity;
  bool is_over_ = false, has_ended_ = false;
  std::thread thread_;
};

/// One that has the functions: runner or isolated_runner.
template <class Runner, class Body>
class runner_of final : public Runner {
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
  virtual future<void> work() const = 0;  ///< empty if it is done without a call
  virtual future<answers> tell(order o) const = 0;
  virtual future<checkpoint> take() const = 0;
};

template <class Runner>
class handle_on final : public runner_handle {
 public:
  static std::unique_ptr<runner_handle> make(const actor_options& o) { return std::make_unique<handle_on>(o); }
  explicit handle_on(const actor_options& o) : who_(spawn<Runner>(o)) {}
  future<int> greet() const override { return async<&base::greet>(who_); }
  future<void> work() const override {
    if constexpr (!is_isolated) return async<&base::work>(who_);
    return {};
  }
  future<answers> tell(order o) const override {
    if constexpr (is_isolated) {
      if (!o.from.empty()) {
        const future<checkpoint> from = std::exchange(o.from, {}).front();
        return async<&base::tell_from>(who_, std::move(o), from);
      }
    }
    return async<&base::tell>(who_, std::move(o));
  }
  future<checkpoint> take() const override {
    if constexpr (is_isolated) return async<&base::take>(who_);
    return {};
  }

 private:
  static constexpr bool is_isolated = std::is_base_of_v<isolated_runner, Runner>;
  using base = std::conditional_t<is_isolated, isolated_runner, runner>;
  actor<Runner> who_;
};

}  // namespace manta::tune::detail
