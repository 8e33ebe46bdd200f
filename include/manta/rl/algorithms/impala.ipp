// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/rl/algorithms/impala.hpp"
#include "manta/rl/workers/crew.hpp"

namespace manta::rl {

namespace detail {
/// The learner filters observations and estimates values itself.
class impala_crew : public crew<&rollout_worker::run> {
 public:
  using crew::crew;
};
}  // namespace detail

MANTA_DECL impala::impala(const any_environment& e, const impala_options& o)
    : algorithm("impala", e, o.seed),
      options_(o),
      learner_("impala", e, detail::told_by(o, detail::remembers_nothing),
               nn::rmsprop({.rate = o.rate, .epsilon = 1e-5})) {
  detail::require_sense(o);
  detail::require_one(".updates", o.updates);
  detail::require_one(".batch", o.batch, " step");
  detail::require_one(".epochs", o.epochs);
  if (o.lag < 0) throw error(base::text("manta: rl: .lag is {}; 0 is the least", o.lag));
  crew_ = start_crew();
  crew_->publish(version_, learner_.weights());
}
MANTA_DECL impala::~impala() = default;

inline std::unique_ptr<detail::impala_crew> impala::start_crew() const {
  return std::make_unique<detail::impala_crew>(
      environment_, seed_,
      detail::impala_crew::settings{
          .environments = options_.environments, .workers = options_.workers, .lag = options_.lag},
      options_.model, options_.collection);
}

inline rollout impala::order() const {
  return {.steps = options_.fragment, .discount = options_.discount, .with_values = false};
}

inline std::vector<fragment> impala::gather(figures& all) {
  std::vector<fragment> parts;
  for (Eigen::Index steps = 0; steps < options_.batch;) {
    auto [duty, version, f] = crew_->next(order());
    const double lag = static_cast<double>(version_ - version);
    all.lags += lag;
    all.max_lag = std::max(all.max_lag, lag);
    ++all.fragments;
    steps += f.observations.cols();
    parts.push_back(std::move(f));
  }
  crew_->keep_busy(order());  // they act while the learner learns
  return parts;
}

inline void impala::value(const fragment& t, const nn::matrix<float>& outputs, const nn::matrix<float>& values,
                          const nn::matrix<float>& after, valued& v, figures& all) {
  const auto length = static_cast<std::size_t>(options_.fragment), size = t.rewards.size();
  const policy& p = learner_.its_policy();
  const double scale = learner_.next_rollout().reward_scale;
  std::vector<float> log_ratios(size), finals(size), of_one(length + 1);
  std::vector<double> rewards(size);
  for (std::vector<float>* numbers : {&v.log_probabilities, &v.targets, &v.advantages}) numbers->resize(size);
  auto cut = static_cast<Eigen::Index>(size / length);
  for (std::size_t k = 0; k < size; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    rewards[k] = t.rewards[k] * scale;
    if (t.truncated[k]) finals[k] = after(0, cut++);
    const float now =
        learner_.its_distribution().log_probability(outputs.col(i).data(), p.spread().data(), t.actions.col(i).data());
    v.log_probabilities[k] = now;
    if (options_.v_trace) log_ratios[k] = now - t.log_probabilities[k];
    all.rho += std::min(options_.rho, std::exp(static_cast<double>(log_ratios[k])));
  }
  all.steps += size;
  for (std::size_t from = 0; from < size; from += length) {
    const auto part = [&](auto& of_all) { return std::span(of_all).subspan(from, length); };
    std::copy_n(values.data() + from, length, of_one.begin());
    of_one[length] = after(0, static_cast<Eigen::Index>(from / length));
    v_trace({part(rewards), of_one, part(t.terminated), part(t.truncated), part(finals), part(log_ratios)},
            {options_.discount, options_.lambda, options_.rho, options_.c}, part(v.targets), part(v.advantages));
  }
}

inline std::vector<float> impala::clipped(const fragment& t, const nn::matrix<float>& outputs, const valued& v,
                                          figures& all) {
  std::vector<float> advantages = v.advantages;
  const float range = static_cast<float>(options_.clip);
  for (std::size_t k = 0; k < advantages.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const float ratio =
        std::exp(learner_.its_distribution().log_probability(
                     outputs.col(i).data(), learner_.its_policy().spread().data(), t.actions.col(i).data()) -
                 v.log_probabilities[k]);
    const bool is_beyond = advantages[k] > 0 ? ratio > 1 + range : ratio < 1 - range;
    advantages[k] *= is_beyond ? 0.f : ratio;
    all.clipped += is_beyond;
  }
  return advantages;
}

inline void impala::learn(const fragment& t, double steps, valued& v, figures& all) {
  policy& p = learner_.its_policy();
  const distribution& d = learner_.its_distribution();
  const normaliser filter(p.filter());
  nn::matrix<float> x, kept, after;
  const bool is_first = v.targets.empty();
  if (is_first) {
    filter.apply(t.after, x);
    after = p.critic().forward(x);
  }
  filter.apply(t.observations, x);
  const nn::matrix<float>& outputs = detail::allowed_outputs(p.actor().forward(x), t.masks, kept);
  const nn::matrix<float>& values = p.critic().forward(x);
  if (is_first) value(t, outputs, values, after, v, all);
  const std::vector<float> advantages = options_.clip > 0 ? clipped(t, outputs, v, all) : v.advantages;
  all.sums.add(add_gradients(p, d, {outputs, values, t.actions, advantages, v.targets, steps},
                             {options_.value, detail::entropy_weight(options_.entropy, d, 0.01)},
                             learner_.spread_gradients()));
}

MANTA_DECL void impala::iterate(report& r) {
  crew_->guard([&] { take_steps(r); });
}

inline void impala::take_steps(report& r) {
  figures all;
  for (int i = 0; i < options_.updates; ++i) {
    auto begin = std::chrono::steady_clock::now();
    std::vector<fragment> parts = gather(all);
    r.sample_seconds += detail::since(begin);
    begin = std::chrono::steady_clock::now();
    std::size_t steps = 0;
    for (const fragment& t : parts) steps += t.rewards.size();
    std::vector<valued> its(parts.size());
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      learner_.zero_gradients();
      for (std::size_t k = 0; k < parts.size(); ++k) learn(parts[k], static_cast<double>(steps), its[k], all);
      all.norms += learner_.step(options_.clip_norm);
    }
    count_steps(steps);
    learner_.count_steps(steps);
    for (fragment& t : parts) {
      learner_.learn_moments(t.seen, t.gains);
      count_episodes(std::move(t.episodes));
    }
    crew_->publish(++version_, learner_.weights());
    r.learn_seconds += detail::since(begin);
  }
  all.sums.write(r.learner);
  r.learner["gradient_norm"] = all.norms / (options_.updates * options_.epochs);
  r.learner["rho"] = all.rho / static_cast<double>(all.steps);
  if (options_.clip > 0) r.learner["clipped"] = all.clipped / static_cast<double>(all.sums.steps);
  r.learner["lag"] = all.lags / all.fragments;
  r.learner["max_lag"] = all.max_lag;
}

MANTA_DECL std::string impala::state() {
  std::string workers = crew_->state();
  return output::pack(learner_.state(), version_, workers);
}

MANTA_DECL void impala::restore(const std::string& bytes, start_of_episodes episodes) {
  std::string learner, workers;
  std::uint64_t version = 0;
  output::unpack(bytes, learner, version, workers);
  std::unique_ptr<detail::impala_crew> crew = start_crew();
  crew->restore(workers, episodes == go_on);
  learner_.restore(learner);
  crew_ = std::move(crew);
  version_ = version;
}

}  // namespace manta::rl
