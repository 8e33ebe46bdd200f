// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of impala.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "manta/rl/algorithms/impala.hpp"
#include "manta/rl/workers/crew.hpp"

namespace manta::rl {

namespace detail {

/// What a worker of IMPALA sends: steps of some environments, one column each, all steps of the first environment, then
/// those of the next. The learner filters observations and estimates values itself.
struct trajectory {
  nn::matrix<float> observations, actions;
  detail::masks masks;  ///< as in a fragment
  /// The states after the last steps, one of each environment, then those in which episodes were truncated.
  nn::matrix<float> after;
  std::vector<float> log_probabilities;
  std::vector<double> rewards;
  std::vector<char> terminated, truncated;
  std::vector<moments> seen, gains;
  std::vector<episode> episodes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations, actions, masks, after, log_probabilities, rewards, terminated, truncated, seen, gains,
            episodes);
  }
};

class impala_worker : public rollout_worker {
 public:
  using rollout_worker::rollout_worker;

  trajectory go(const policy::weights& w, int steps, double discount) {
    begin(w);
    const auto size = static_cast<std::size_t>(environments_.size()), all = size * static_cast<std::size_t>(steps);
    trajectory t;
    t.observations.resize(environments_.observations().rows(), static_cast<Eigen::Index>(all));
    t.actions.resize(actions_.rows(), static_cast<Eigen::Index>(all));
    t.masks.resize(environments_.masks().rows(), static_cast<Eigen::Index>(all));
    t.log_probabilities.resize(all);
    t.rewards.resize(all);
    t.terminated.resize(all);
    t.truncated.resize(all);
    t.seen.assign(size, moments(static_cast<int>(t.observations.rows())));
    t.gains.assign(size, moments(1));
    nn::matrix<float> next;
    if (collection_) next.resize(t.observations.rows(), t.observations.cols());
    std::vector<std::pair<std::size_t, Eigen::VectorXf>> cut;  // the last states of truncated episodes
    for (int step = 0; step < steps; ++step) {
      act(steps_++);
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t at = i * static_cast<std::size_t>(steps) + static_cast<std::size_t>(step);
        const auto from = static_cast<Eigen::Index>(i), to = static_cast<Eigen::Index>(at);
        t.observations.col(to) = environments_.observations().col(from);
        t.actions.col(to) = actions_.col(from);
        t.masks.col(to) = environments_.masks().col(from);
        t.log_probabilities[at] = log_probabilities_[i];
        t.seen[i].add(environments_.observations().col(from).data());
      }
      environments_.step(sent_);
      if (collection_) write_next(step, steps, next);
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t at = i * static_cast<std::size_t>(steps) + static_cast<std::size_t>(step);
        t.rewards[at] = environments_.rewards()[i];
        t.terminated[at] = environments_.terminated()[i];
        t.truncated[at] = environments_.truncated()[i];
        if (t.truncated[at]) cut.emplace_back(at, environments_.last_observations().col(static_cast<Eigen::Index>(i)));
        add_gain(i, discount, t.gains[i]);
      }
    }
    for (std::size_t i = 0; collection_ && i < size; ++i) {
      const auto part = [&](auto& of_all) {
        return std::span(of_all).subspan(i * static_cast<std::size_t>(steps), static_cast<std::size_t>(steps));
      };
      const auto columns = [&](const auto& m) { return m.middleCols(static_cast<Eigen::Index>(i) * steps, steps); };
      collection_->steps_made({columns(t.observations), columns(t.actions), columns(next), part(t.rewards),
                               part(t.terminated), part(t.truncated)});
    }
    std::sort(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    t.after.resize(t.observations.rows(), static_cast<Eigen::Index>(size + cut.size()));
    t.after.leftCols(environments_.size()) = environments_.observations();
    for (std::size_t k = 0; k < cut.size(); ++k) t.after.col(static_cast<Eigen::Index>(size + k)) = cut[k].second;
    t.episodes = environments_.take_episodes();
    end();
    return t;
  }
};

class impala_crew : public crew<&impala_worker::go> {
 public:
  impala_crew(const any_environment& e, std::uint64_t seed, const learner_options& o, int lag)
      : crew(e, seed, o, {.lag = lag}) {}
};

}  // namespace detail

MANTA_DECL impala::impala(const any_environment& e, const impala_options& o)
    : policy_learner("impala", e,
                     {.workers = o.workers,
                      .environments = o.environments,
                      .seed = o.seed,
                      .how = {.steps = o.fragment, .discount = o.discount, .lambda = o.lambda},
                      .normalise_observations = o.normalise_observations,
                      .normalise_rewards = o.normalise_rewards,
                      .model = o.model,
                      .collection = o.collection,
                      .anneal_steps = o.anneal_steps},
                     nn::rmsprop({.rate = o.rate, .epsilon = 1e-5})),
      options_(o) {
  detail::require_sense(o);
  detail::require_one(".updates", o.updates);
  detail::require_one(".batch", o.batch, " step");
  if (o.lag < 0) throw error("manta: rl: .lag is " + std::to_string(o.lag) + "; 0 is the least");
  crew_ = std::make_unique<detail::impala_crew>(environment_, seed_, told_, o.lag);
  crew_->publish(version_, policy_.get());
}
MANTA_DECL impala::~impala() = default;

inline std::vector<detail::trajectory> impala::gather(figures& all) {
  std::vector<detail::trajectory> parts;
  for (Eigen::Index steps = 0; steps < options_.batch;) {
    auto [duty, version, t] = crew_->next(options_.fragment, options_.discount);
    const double lag = static_cast<double>(version_ - version);
    all.lags += lag;
    all.max_lag = std::max(all.max_lag, lag);
    ++all.fragments;
    steps += t.observations.cols();
    parts.push_back(std::move(t));
  }
  crew_->keep_busy(options_.fragment, options_.discount);  // they act while the learner learns
  return parts;
}

inline void impala::learn(const detail::trajectory& t, double steps, figures& all) {
  const auto length = static_cast<std::size_t>(options_.fragment), size = t.rewards.size();
  const normaliser filter(policy_.filter());
  nn::matrix<float> x, kept;
  filter.apply(t.after, x);
  const nn::matrix<float> after = policy_.critic().forward(x);
  filter.apply(t.observations, x);
  const nn::matrix<float>& outputs = detail::allowed_outputs(policy_.actor().forward(x), t.masks, kept);
  const nn::matrix<float>& values = policy_.critic().forward(x);
  const double scale = next_rollout().reward_scale;
  std::vector<float> log_ratios(size), finals(size), targets(size), advantages(size), of_one(length + 1);
  std::vector<double> rewards(size);
  auto cut = static_cast<Eigen::Index>(size / length);
  for (std::size_t k = 0; k < size; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    rewards[k] = t.rewards[k] * scale;
    if (t.truncated[k]) finals[k] = after(0, cut++);
    const float now =
        distribution_->log_probability(outputs.col(i).data(), policy_.spread().data(), t.actions.col(i).data());
    if (options_.v_trace) log_ratios[k] = now - t.log_probabilities[k];
    all.rho += std::min(options_.rho, std::exp(static_cast<double>(log_ratios[k])));
  }
  for (std::size_t from = 0; from < size; from += length) {
    const auto part = [&](auto& of_all) { return std::span(of_all).subspan(from, length); };
    std::copy_n(values.data() + from, length, of_one.begin());
    of_one[length] = after(0, static_cast<Eigen::Index>(from / length));
    v_trace({part(rewards), of_one, part(t.terminated), part(t.truncated), part(finals), part(log_ratios)},
            {options_.discount, options_.lambda, options_.rho, options_.c}, part(targets), part(advantages));
  }
  all.sums.add(detail::add_gradients(policy_, *distribution_, {outputs, values, t.actions, advantages, targets, steps},
                                     {options_.value, options_.entropy}, spread_gradients_));
}

MANTA_DECL void impala::iterate(report& r) {
  crew_->guard([&] { take_steps(r); });
}

inline void impala::take_steps(report& r) {
  figures all;
  for (int i = 0; i < options_.updates; ++i) {
    auto begin = std::chrono::steady_clock::now();
    std::vector<detail::trajectory> parts = gather(all);
    r.sample_seconds += detail::since(begin);
    begin = std::chrono::steady_clock::now();
    std::size_t steps = 0;
    for (const detail::trajectory& t : parts) steps += t.rewards.size();
    zero_gradients();
    for (const detail::trajectory& t : parts) learn(t, static_cast<double>(steps), all);
    all.norms += step(options_.clip_norm);
    count_steps(steps);
    for (detail::trajectory& t : parts) {
      learn_moments(t.seen, t.gains);
      count_episodes(std::move(t.episodes));
    }
    crew_->publish(++version_, policy_.get());
    r.learn_seconds += detail::since(begin);
  }
  all.sums.write(r.learner);
  r.learner["gradient_norm"] = all.norms / options_.updates;
  r.learner["rho"] = all.rho / static_cast<double>(all.sums.steps);
  r.learner["lag"] = all.lags / all.fragments;
  r.learner["max_lag"] = all.max_lag;
}

MANTA_DECL std::string impala::state() {
  std::string workers = crew_->state();
  return output::pack(learner_state(), version_, workers);
}

MANTA_DECL void impala::restore(const std::string& bytes, bool own_settings) {
  std::string learner, workers;
  std::uint64_t version = 0;
  output::unpack(bytes, learner, version, workers);
  auto crew = std::make_unique<detail::impala_crew>(environment_, seed_, told_, options_.lag);
  crew->restore(workers, told_);
  restore_learner(learner, own_settings);
  crew_ = std::move(crew);
  version_ = version;
}

}  // namespace manta::rl
