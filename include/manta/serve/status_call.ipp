// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of status_call.hpp.
#pragma once

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
      reports_.push_back({at.deployment_name.empty() ? at.options.name : at.deployment_name});
      asked_.push_back(async<&router::status>(at.deployment));
    }
    reports_[i].paths.push_back(at.path);
  }
}

MANTA_DECL any_future status_call::waits_for() {
  return next_ < asked_.size() ? any_future(asked_[next_]) : any_future();
}

MANTA_DECL bool status_call::step(reply& answer, answer_form) {
  if (next_ < asked_.size()) {
    try {
      reports_[next_].its = asked_[next_].get();
    } catch (const std::exception& e) {
      reports_[next_].problem = base::text_of(e);
    }
    if (++next_ < asked_.size()) return true;
  }
  answer = write_(reports_);
  return false;
}

MANTA_DECL bool status_call::answer_at_once(reply& answer) {
  for (; next_ < asked_.size(); ++next_) {
    if (!asked_[next_].ready()) {
      reports_[next_].problem = "no answer within a second: its rank computes";
      cancel(asked_[next_]);
      continue;
    }
    try {
      reports_[next_].its = asked_[next_].get();
    } catch (const std::exception& e) {
      reports_[next_].problem = base::text_of(e);
    }
  }
  answer = write_(reports_);
  return true;
}

}  // namespace manta::serve::detail
