// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_error.hpp"
#include "manta/serve/router.hpp"
#include "manta/serve/versions.hpp"

namespace manta::serve::detail {

MANTA_DECL void versions::open(recipe how) {
  replicas_.open({.make = how.make, .kind = how.kind});
  present_ = std::move(how);
}

MANTA_DECL void versions::update(recipe how) {
  updates_.run({.make = how.make, .kind = how.kind});
  present_ = std::move(how);
}

MANTA_DECL bool versions::canary_has_turn(int version) {
  const int now = dispatcher_.version();
  if (version != 0 && version != now && (version != now + 1 || !canary_))
    throw http_error(404, canary_ ? base::text("the model \"{}\" has no version {}; there are {} and its canary {}",
                                               dispatcher_.told().name, version, now, now + 1)
                                  : base::text("the model \"{}\" has no version {}; there is {}",
                                               dispatcher_.told().name, version, now));
  if (!canary_ || dispatcher_.is_draining()) return false;
  return version == 0 ? canary_->turns.next() == 1 : version == now + 1;
}

MANTA_DECL void versions::refuse_others() {
  throw error(
      "the arguments have other types than those that it was deployed with; "
      "serve::update<F>(deployment, ..) takes another function, class or constructor");
}

inline weighted_turns turns_for(double weight) {
  if (!(weight >= 0 && weight <= 1))
    throw error(base::text("a canary's weight is {}; it has to be from 0 to 1", weight));
  return weighted_turns({1 - weight, weight});
}

MANTA_DECL void versions::start_canary(double weight, recipe how) {
  options o = dispatcher_.told();
  const int replicas = dispatcher_.replicas().count(true) + dispatcher_.replicas().count(false);
  o.replicas = std::max(1, static_cast<int>(std::ceil(weight * replicas - 1e-9)));
  canary next{spawn<router>({.rank = manta::rank(), .concurrency = 1 << 20}, o, std::string()), turns_for(weight),
              std::move(how)};
  for (const auto& [rank, in_any_case] : replicas_.places().busy())
    async<&router::keep_away>(next.at, rank, in_any_case).get();
  sentence(next.how.open(next.at));
  end_canary();
  canary_ = std::move(next);
}

MANTA_DECL void versions::weigh(double weight) { present_canary().turns = turns_for(weight); }

MANTA_DECL void versions::reconfigure(const settings& s) {
  replicas_.reconfigure(s);
  if (!canary_) return;
  const actor<router> its = canary_->at;
  try {
    sentence(async<&router::reconfigure>(its, s));
  } catch (const error& e) {
    throw error(std::string("its canary refuses them, and the present version has them: ") + e.what());
  }
  if (canary_ && canary_->at == its) canary_->given = s;
}

MANTA_DECL void versions::promote() {
  const canary c = present_canary();
  auto its = async<&router::ready_replicas>(c.at).get();
  updates_.run({.make = c.how.make, .kind = c.how.kind, .given = c.given}, std::move(its));
  present_ = c.how;
}

MANTA_DECL void versions::rollback() {
  present_canary();
  end_canary();
}

MANTA_DECL void versions::end_canary() {
  if (!canary_) return;
  const actor<router> its = canary_->at;
  canary_.reset();
  async<&router::drain>(its).get();
  dispatcher_.add_counts(async<&router::status>(its).get());
}

MANTA_DECL void versions::drain_canary() const {
  if (canary_) async<&router::drain>(actor<router>(canary_->at)).get();
}

MANTA_DECL void versions::check_canary() const {
  if (canary_) async<&router::check>(actor<router>(canary_->at)).get();
}

MANTA_DECL void versions::keep_canary_away(int rank, bool in_any_case) const {
  if (canary_) async<&router::keep_away>(actor<router>(canary_->at), rank, in_any_case).get();
}

MANTA_DECL void versions::add_canary_to(status& s) const {
  if (!canary_) return;
  const double weight = canary_->turns.share(1);
  s.add_canary(async<&router::status>(actor<router>(canary_->at)).get(), weight);
}

inline versions::canary& versions::present_canary() {
  if (!canary_) throw error("it has no canary; update({.weight = ..}, ..) starts one");
  return *canary_;
}

}  // namespace manta::serve::detail
