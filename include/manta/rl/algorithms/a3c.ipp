// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

#include "manta/base/text.hpp"
#include "manta/rl/algorithms/a3c.hpp"
#include "manta/rl/workers/crew.hpp"

namespace manta::rl {

namespace detail {

/// What a worker of A3C sends.
struct a3c_gradient {
  std::vector<float> numbers;  ///< numbers of all parameters, in the order of policy::weights
  loss_sums sums;
  std::vector<moments> seen, gains;
  std::vector<episode> episodes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(numbers, sums, seen, gains, episodes);
  }
};

class a3c_worker : public rollout_worker {
 public:
  using rollout_worker::rollout_worker;

  a3c_gradient gradient(const policy::weights& w, const rollout& how, const loss_weights& loss) {
    fragment f = run(w, how);
    a3c_gradient g;
    std::vector<float> spread(policy_.spread().size());
    policy_.actor().zero_gradients();
    policy_.critic().zero_gradients();
    g.sums = add_gradients(policy_, *distribution_, f, loss, spread);
    for (const std::span<const float> part :
         {std::span<const float>(policy_.actor().gradients()), std::span<const float>(policy_.critic().gradients()),
          std::span<const float>(spread)})
      g.numbers.insert(g.numbers.end(), part.begin(), part.end());
    g.seen = std::move(f.seen);
    g.gains = std::move(f.gains);
    g.episodes = std::move(f.episodes);
    return g;
  }
};

class a3c_crew : public crew<&a3c_worker::gradient> {
 public:
  using crew::crew;
};

}  // namespace detail

MANTA_DECL a3c::a3c(const any_environment& e, const a3c_options& o)
    : algorithm("a3c", e, o.seed),
      options_(o),
      learner_("a3c", e, detail::told_by(o, detail::remembers), nn::rmsprop({.rate = o.rate, .epsilon = 1e-5})) {
  detail::require_sense(o);
  detail::require_one(".updates", o.updates);
  if (o.max_staleness < 0)
    throw error(base::text("manta: rl: .max_staleness is {}; 0 allows any, 1 is the least", o.max_staleness));
  detail::require_one(".in_flight", o.in_flight, " call");
  crew_ = start_crew();
  crew_->publish(version_, learner_.weights());
}
MANTA_DECL a3c::~a3c() = default;

/// With c calls under way, gradients are c - 1 versions old where the workers are equally fast.
inline std::unique_ptr<detail::a3c_crew> a3c::start_crew() const {
  int in_flight = options_.workers > 1 ? options_.in_flight : 1;
  if (options_.max_staleness > 0) {
    in_flight = std::clamp((options_.max_staleness + 1) / options_.workers, 1, in_flight);
  }
  return std::make_unique<detail::a3c_crew>(
      environment_, seed_,
      detail::a3c_crew::settings{
          .environments = options_.environments, .workers = options_.workers, .in_flight = in_flight},
      options_.model, options_.collection);
}

inline double a3c::apply(const std::vector<float>& from) {
  auto at = from.begin();
  for (const std::span<float> part : learner_.gradients()) {
    std::copy(at, at + std::ssize(part), part.begin());
    at += std::ssize(part);
  }
  return learner_.step(options_.clip_norm);
}

MANTA_DECL void a3c::iterate(report& r) {
  crew_->guard([&] { take_steps(r); });
}

inline void a3c::take_steps(report& r) {
  loss_sums sums;
  const loss_weights weights{options_.value,
                             detail::entropy_weight(options_.entropy, learner_.its_distribution(), 0.001)};
  double norms = 0, staleness = 0, stalest = 0, dropped = 0;
  for (int done = 0; done < options_.updates;) {
    auto begin = std::chrono::steady_clock::now();
    auto [duty, version, g] = crew_->next(learner_.next_rollout(), weights);
    r.sample_seconds += detail::since(begin);
    begin = std::chrono::steady_clock::now();
    const double stale = static_cast<double>(version_ - version);
    staleness += stale;
    stalest = std::max(stalest, stale);
    count_steps(g.sums.steps);
    learner_.count_steps(g.sums.steps);
    count_episodes(std::move(g.episodes));
    if (options_.max_staleness > 0 && stale > options_.max_staleness) {
      ++dropped;
    } else {
      norms += apply(g.numbers);
      sums.add(g.sums);
      ++version_;
      ++done;
    }
    learner_.learn_moments(g.seen, g.gains);  // after the gradient, which was computed by the scales before
    crew_->publish(version_, learner_.weights());
    r.learn_seconds += detail::since(begin);
  }
  sums.write(r.learner);
  r.learner["gradient_norm"] = norms / options_.updates;
  r.learner["staleness"] = staleness / (options_.updates + dropped);
  r.learner["max_staleness"] = stalest;
  r.learner["dropped"] = dropped;
}

MANTA_DECL std::string a3c::state() {
  std::string workers = crew_->state();
  return output::pack(learner_.state(), version_, workers);
}

MANTA_DECL void a3c::restore(const std::string& bytes, start_of_episodes episodes) {
  std::string learner, workers;
  std::uint64_t version = 0;
  output::unpack(bytes, learner, version, workers);
  std::unique_ptr<detail::a3c_crew> crew = start_crew();
  crew->restore(workers, episodes == go_on);
  learner_.restore(learner);
  crew_ = std::move(crew);
  version_ = version;
}

}  // namespace manta::rl
