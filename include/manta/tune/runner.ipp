// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include "manta/tune/runner.hpp"

namespace manta::tune::detail {

MANTA_DECL trial_loop::trial_loop(body_name what, std::optional<team> members)
    : what_(std::move(what)), body_(make_body(what_)), members_(members) {}

MANTA_DECL whereabouts trial_loop::greet() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
  return {rank(), name};
}

MANTA_DECL order quit_order() {
  order o;
  o.what = order::kind::quit;
  return o;
}

MANTA_DECL void trial_loop::run_trials() {
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

MANTA_DECL notice trial_loop::run(order& o, bool& again) {
  notice n;
  try {
    training line(*this, o, members());
    const config parameters = line.begun_with().parameters;
    std::string text;
    bool failed = false, broken = false;
    try {
      trial t(line);
      body_->run(members(), parameters, t);
      if (!line.is_over() && this_task::stop_requested()) line.interrupt();
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
    if (broken || (failed && !line.is_over())) {
      body_ = make_body(what_);  // whatever state the old one is in goes
      n.reports = line.take_pending();
      n.remarks = line.take_remarks();
      n.what = broken ? notice::kind::fatal : notice::kind::failed;
      n.text = text;
      return n;
    }
    if (auto next = line.take_next()) {
      o = std::move(*next);
      again = true;
      return n;
    }
    return line.farewell();
  } catch (const std::exception& e) {  // reading or writing a checkpoint
    n.what = notice::kind::failed;
    n.text = base::text_of(e);
    return n;
  }
}

MANTA_DECL answers ask(trial_loop& line, order o) {
  line.hand(std::move(o));
  notice n = line.hear();
  if (n.what == notice::kind::fatal) throw fatal(n.text);
  return n;
}

MANTA_DECL void line_on_stack::hand(order o) {
  out_ = promise<notice>();
  is_asked_ = true;
  answer_ = out_.get_future();
  in_.set_value(std::move(o));
}

MANTA_DECL notice line_on_stack::hear() { return std::exchange(answer_, {}).get(); }

MANTA_DECL order line_on_stack::next_order() {
  if (quits_) return quit_order();
  order o = in_.get_future().get();
  in_ = promise<order>();
  quits_ = o.what == order::kind::quit;
  return o;
}

MANTA_DECL void line_on_stack::notify(notice n) {
  if (std::exchange(is_asked_, false)) out_.set_value(std::move(n));
}

MANTA_DECL line_on_thread::~line_on_thread() {
  std::unique_lock lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
  if (!thread_.joinable()) return;
  if (!changed_.wait_for(lock, std::chrono::seconds(1), [&] { return has_ended_; }))
    std::_Exit(0);  // with what hangs in it
  lock.unlock();
  thread_.join();
}

MANTA_DECL void line_on_thread::hand(order o) {
  if (o.what == order::kind::begin) limit_ = o.silence;
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { live(); });
  order_ = std::move(o);
  changed_.notify_all();
}

MANTA_DECL notice line_on_thread::hear() {
  std::unique_lock lock(mutex_);
  const auto told = [&] { return notice_.has_value(); };
  if (!(limit_ < longest)) {
    changed_.wait(lock, told);
  } else if (!changed_.wait_for(lock, std::chrono::duration<double>(limit_), told)) {
    ::pthread_kill(thread_.native_handle(), SIGABRT);  // so that one sees where it is
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::_Exit(1);
  }
  return std::move(*std::exchange(notice_, std::nullopt));
}

MANTA_DECL answers isolated_runner::tell_from(order o, std::vector<checkpoint> source) {
  o.source = std::move(source.front());
  return tell(std::move(o));
}

MANTA_DECL void line_on_thread::live() {
  try {
    run_trials();
  } catch (const trial_is_over&) {  // by the destructor
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

MANTA_DECL order line_on_thread::next_order() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return order_.has_value() || is_over_; });
  if (!order_) throw trial_is_over{};
  return std::move(*std::exchange(order_, std::nullopt));
}

MANTA_DECL void line_on_thread::notify(notice n) {
  const std::lock_guard lock(mutex_);
  notice_ = std::move(n);
  changed_.notify_all();
}

}  // namespace manta::tune::detail
