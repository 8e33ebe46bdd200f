// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cmath>
#include <utility>

#include "manta/async.hpp"
#include "manta/serve/router.hpp"
#include "manta/serve/status_call.hpp"

namespace manta::serve::detail {

MANTA_DECL status_call::status_call(const route_table& routes, const route* only,
                                    std::function<reply(const std::vector<deployment_report>&)> write)
    : write_(std::move(write)) {
  std::vector<actor<router>> seen;
  for (const auto& each : routes.all()) {
    const endpoint& at = *each->at;
    if (!at.deployment.valid() || (only != nullptr && each.get() != only)) continue;
    std::size_t i = 0;
    while (i < seen.size() && !(seen[i] == at.deployment)) ++i;
    if (i == seen.size()) {
      seen.push_back(at.deployment);
      reports_.push_back({at.deployment_name.empty() ? at.options.name : at.deployment_name, each.get()});
      asked_.push_back(async<&router::status>(at.deployment));
    }
    reports_[i].paths.push_back(at.path);
  }
}

MANTA_DECL any_future status_call::waits_for() {
  if (next_ < asked_.size()) return asked_[next_];
  return next_other_ < others_asked_.size() ? any_future(others_asked_[next_other_]) : any_future();
}

inline void status_call::take(std::size_t i) {
  try {
    reports_[i].its = asked_[i].get();
    reports_[i].at->last = {reports_[i].its, std::chrono::steady_clock::now()};
  } catch (const std::exception& e) {
    reports_[i].problem = base::text_of(e);
  }
}

/// It does not answer soon enough.
inline void status_call::take_last(std::size_t i) {
  deployment_report& its = reports_[i];
  const last_status& last = its.at->last;
  if (!last.its) {
    its.problem = "it has not said yet how it does: the rank of its queue is busy";
    return;
  }
  its.its = last.its;
  its.age = std::chrono::duration<double>(std::chrono::steady_clock::now() - last.when).count();
  its.problem = base::text("its figures are {} s old: the rank of its queue is busy", std::lround(its.age));
}

inline void status_call::take_other(const future<std::string>& from) {
  try {
    others_.push_back(from.get());
  } catch (const error&) {  // its rank has died
  }
}

MANTA_DECL bool status_call::step(reply& answer, answer_form) {
  if (next_ < asked_.size()) {
    take(next_++);
  } else if (next_other_ < others_asked_.size()) {
    take_other(others_asked_[next_other_++]);
  }
  if (next_ < asked_.size() || next_other_ < others_asked_.size()) return true;
  answer = write_(reports_);
  return false;
}

MANTA_DECL bool status_call::answer_at_once(reply& answer) {
  for (; next_ < asked_.size(); ++next_) {
    if (asked_[next_].ready()) {
      take(next_);
    } else {
      take_last(next_);
      cancel(asked_[next_]);
    }
  }
  for (; next_other_ < others_asked_.size(); ++next_other_) {
    const future<std::string>& other = others_asked_[next_other_];
    other.ready() ? take_other(other) : void(cancel(other));
  }
  answer = write_(reports_);
  return true;
}

}  // namespace manta::serve::detail
