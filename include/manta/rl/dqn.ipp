// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of dqn.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "manta/base/number.hpp"
#include "manta/manta.hpp"
#include "manta/rl/dqn.hpp"
#include "manta/rl/on_policy.hpp"
#include "manta/rl/sentences.hpp"
#include "manta/rl/worker_states.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL q_network::q_network(int features, int actions, const model_options& m, bool dueling, std::uint64_t seed)
    : net_(make_network(features, m, actions + (dueling ? 1 : 0), 1, seed)), dueling_(dueling) {}

MANTA_DECL const nn::matrix<float>& q_network::forward(const nn::matrix<float>& x) {
  const nn::matrix<float>& y = net_.forward(x);
  if (!dueling_) return y;
  const Eigen::Index n = y.rows() - 1;
  q_ = y.topRows(n);
  q_.rowwise() += (y.row(n) - y.topRows(n).colwise().mean()).eval();
  return q_;
}

MANTA_DECL void q_network::backward(const nn::matrix<float>& by_q) {
  if (!dueling_) return net_.backward(by_q);
  const Eigen::Index n = by_q.rows();
  by_outputs_.resize(n + 1, by_q.cols());
  by_outputs_.row(n) = by_q.colwise().sum();
  by_outputs_.topRows(n) = by_q.rowwise() - by_q.colwise().mean().eval();
  net_.backward(by_outputs_);
}

/// Transitions of some environments, in columns: environment by environment.
struct transitions {
  nn::matrix<float> observations, next;
  std::vector<float> actions, rewards, discounts;
  std::vector<moments> seen;
  std::vector<episode> episodes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations, next, actions, rewards, discounts, seen, episodes);
  }
};

/// What the learner sends to its workers.
struct dqn_orders {
  q_network q;
  moments filter;
  double epsilon = 0, discount = 0;
  int steps = 0, n_step = 1;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(q, filter, epsilon, discount, steps, n_step);
  }
};

class dqn_worker {
 public:
  dqn_worker() = default;
  dqn_worker(const any_environment& e, std::uint64_t seed, int first, int count)
      : kind_(e),
        seed_(seed),
        first_(first),
        environments_(e, seed, first, count),
        pending_(static_cast<std::size_t>(count)) {}

  transitions run(const dqn_orders& o) {
    q_network q = o.q;
    if (!std::exchange(has_begun_, true)) environments_.reset();
    const int n = environments_.size();
    transitions out;
    out.seen.assign(static_cast<std::size_t>(n), moments(static_cast<int>(environments_.observations().rows())));
    std::vector<std::vector<step_taken>> done(static_cast<std::size_t>(n));
    nn::matrix<float> filtered, sent(1, n);
    std::vector<int> choice(static_cast<std::size_t>(n));
    for (int t = 0; t < o.steps; ++t, ++steps_) {
      normalise(o.filter, environments_.observations(), filtered);
      const nn::matrix<float>& values = forward_(q, filtered);
      for (int i = 0; i < n; ++i) {
        random numbers(seed_, static_cast<std::uint64_t>(first_ + i), (std::uint64_t(1) << 63U) + steps_);
        Eigen::Index best = 0;
        values.col(i).maxCoeff(&best);
        choice[static_cast<std::size_t>(i)] =
            numbers.uniform() < o.epsilon ? numbers.index(static_cast<int>(values.rows())) : static_cast<int>(best);
        sent(0, i) = static_cast<float>(choice[static_cast<std::size_t>(i)] + kind_.actions().as_discrete()->start);
      }
      const nn::matrix<float> before = environments_.observations();
      environments_.step(sent);
      for (int i = 0; i < n; ++i) record(i, o, before, choice, done, out);
    }
    collect(done, out);
    out.episodes = environments_.take_episodes();
    return out;
  }

  template <class Archive>
  void save(Archive& archive) const {
    archive(kind_, seed_, first_, environments_.size(),
            environments_.can_be_saved() ? state() : std::vector<std::string>());
  }
  template <class Archive>
  void load(Archive& archive) {
    any_environment kind;
    std::uint64_t seed = 0;
    int first = 0, count = 0;
    std::vector<std::string> states;
    archive(kind, seed, first, count, states);
    *this = dqn_worker(kind, seed, first, count);
    if (!states.empty()) restore(states);
  }
  [[nodiscard]] std::vector<std::string> state() const {
    std::vector<std::string> states;
    for (std::size_t i = 0; i < pending_.size(); ++i)
      states.push_back(output::pack(environments_.save(i), pending_[i], steps_, has_begun_));
    return states;
  }
  void restore(const std::vector<std::string>& states) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      std::string environment;
      output::unpack(states.at(i), environment, pending_[i], steps_, has_begun_);
      environments_.load(i, environment);
    }
  }

 private:
  /// A step that waits for the rewards after it.
  struct step_taken {
    std::vector<float> observation, next;
    float action = 0, discount = 1;
    double reward = 0;
    int steps = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(observation, next, action, discount, reward, steps);
    }
  };

  void record(int i, const dqn_orders& o, const nn::matrix<float>& before, const std::vector<int>& choice,
              std::vector<std::vector<step_taken>>& done, transitions& out) {
    const auto k = static_cast<std::size_t>(i);
    const auto column = [](const nn::matrix<float>& m, int c) {
      return std::vector<float>(m.col(c).data(), m.col(c).data() + m.rows());
    };
    out.seen[k].add(before.col(i).data());
    const bool ends = environments_.terminated()[k] || environments_.truncated()[k];
    const std::vector<float> next = column(ends ? environments_.last_observations() : environments_.observations(), i);
    std::vector<step_taken>& line = pending_[k];
    line.push_back({column(before, i), {}, static_cast<float>(choice[k]), 1, 0, 0});
    for (step_taken& s : line) {
      s.reward += std::pow(o.discount, s.steps) * environments_.rewards()[k];
      ++s.steps;
    }
    std::size_t complete = 0;
    for (step_taken& s : line) {
      if (!ends && s.steps < o.n_step) break;
      s.next = next;
      s.discount = environments_.terminated()[k] ? 0.f : static_cast<float>(std::pow(o.discount, s.steps));
      done[k].push_back(std::move(s));
      ++complete;
    }
    line.erase(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(complete));
  }

  void collect(const std::vector<std::vector<step_taken>>& done, transitions& out) const {
    std::size_t count = 0;
    for (const auto& line : done) count += line.size();
    const Eigen::Index rows = environments_.observations().rows();
    out.observations.resize(rows, static_cast<Eigen::Index>(count));
    out.next.resize(rows, static_cast<Eigen::Index>(count));
    Eigen::Index at = 0;
    for (const auto& line : done) {
      for (const step_taken& s : line) {
        out.observations.col(at) = Eigen::Map<const Eigen::VectorXf>(s.observation.data(), rows);
        out.next.col(at++) = Eigen::Map<const Eigen::VectorXf>(s.next.data(), rows);
        out.actions.push_back(s.action);
        out.rewards.push_back(static_cast<float>(s.reward));
        out.discounts.push_back(s.discount);
      }
    }
  }

  any_environment kind_;
  std::uint64_t seed_ = 0;
  int first_ = 0;
  vector_environment environments_;
  std::vector<std::vector<step_taken>> pending_;
  std::uint64_t steps_ = 0;
  bool has_begun_ = false;
  even_forward forward_;
};

}  // namespace detail

MANTA_DECL dqn::dqn(const any_environment& e, const dqn_options& o) : algorithm("dqn", e, o.seed), options_(o) {
  const discrete* const d = e.actions().as_discrete();
  if (d == nullptr)
    throw error("manta: rl: dqn needs discrete actions; those of " + e.name() + " are " + e.actions().text() +
                ": use rl::ppo");
  for (const auto& [option, value] : {std::pair(".workers", o.workers),
                                      {".environments", o.environments},
                                      {".fragment", o.fragment},
                                      {".batch", o.batch},
                                      {".n_step", o.n_step},
                                      {".steps_per_update", o.steps_per_update},
                                      {".target_updates", o.target_updates}})
    detail::require_one(option, value);
  if (o.replay_size < o.batch)
    throw error("manta: rl: .replay_size is " + std::to_string(o.replay_size) + ", less than a batch");
  const int features = e.observations().features();
  q_ = detail::q_network(features, d->n, o.model, o.dueling, o.seed);
  target_ = q_;
  filter_ = moments(features);
  optimizer_ = nn::adam({.rate = o.rate});
  replay_ = replay(features, 1, static_cast<std::size_t>(o.replay_size), o.replay_alpha);
  start_workers();
}
MANTA_DECL dqn::~dqn() = default;

inline void dqn::start_workers() {
  workers_.clear();
  for (const auto& [first, count] : detail::shares(options_.environments, options_.workers))
    workers_.push_back(
        spawn<detail::dqn_worker>({.spread = true, .restarts = 1000, .checkpoint_every = 1, .at_least_once = true},
                                  environment_, seed_, first, count));
}

inline double dqn::exploration() const {
  const double part = static_cast<double>(steps()) / std::max(1, options_.exploration_steps);
  return part >= 1 ? options_.epsilon : 1 + part * (options_.epsilon - 1);
}

MANTA_DECL void dqn::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  const auto orders =
      put(detail::dqn_orders{q_, filter_, exploration(), options_.discount, options_.fragment, options_.n_step});
  std::vector<future<detail::transitions>> parts;
  for (const auto& w : workers_) parts.push_back(async<&detail::dqn_worker::run>(w, orders));
  const std::vector<detail::transitions> all = detail::sentences(parts);
  r.sample_seconds = detail::since(begin);
  begin = std::chrono::steady_clock::now();
  std::vector<episode> episodes;
  nn::matrix<float> from, to;
  for (const detail::transitions& part : all) {
    normalise(filter_, part.observations, from);
    normalise(filter_, part.next, to);
    for (Eigen::Index i = 0; i < from.cols(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      replay_.add(from.col(i).data(), &part.actions[k], part.rewards[k], part.discounts[k], to.col(i).data());
    }
    if (options_.normalise_observations) {
      for (const moments& m : part.seen) filter_.merge(m);
    }
    episodes.insert(episodes.end(), part.episodes.begin(), part.episodes.end());
  }
  const int taken = options_.fragment * options_.environments;
  count_steps(static_cast<std::uint64_t>(taken));
  count_episodes(std::move(episodes));
  r.learner["epsilon"] = exploration();
  if (steps() >= static_cast<std::uint64_t>(options_.learning_starts) &&
      replay_.size() >= static_cast<std::size_t>(options_.batch)) {
    for (int i = 0; i < taken / options_.steps_per_update; ++i) update(r);
  }
  r.learn_seconds = detail::since(begin);
}

inline void dqn::update(report& r) {
  random numbers(seed_, updates_, 7);
  const double progress = std::min(1.0, static_cast<double>(steps()) / std::max(1, options_.exploration_steps));
  const replay::sample s =
      replay_.draw(options_.batch, options_.replay_beta + (1 - options_.replay_beta) * progress, numbers);
  std::vector<int> best(s.which.size());
  if (options_.dual) {
    const nn::matrix<float>& q = q_.forward(s.next);
    for (Eigen::Index i = 0; i < q.cols(); ++i) q.col(i).maxCoeff(&best[static_cast<std::size_t>(i)]);
  }
  const nn::matrix<float>& later = target_.forward(s.next);
  std::vector<float> wanted(s.which.size()), errors(s.which.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    wanted[k] = s.rewards[k] + s.discounts[k] * (options_.dual ? later(best[k], i) : later.col(i).maxCoeff());
  }
  const nn::matrix<float>& q = q_.forward(s.observations);
  by_q_.setZero(q.rows(), q.cols());
  double loss = 0, mean = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const auto a = static_cast<Eigen::Index>(s.actions(0, i));
    errors[k] = q(a, i) - wanted[k];
    mean += static_cast<double>(q(a, i));
    // Huber's loss, weighted against the bias of priorities.
    by_q_(a, i) = s.weights[k] * std::clamp(errors[k], -1.f, 1.f) / static_cast<float>(options_.batch);
    const double e = std::abs(static_cast<double>(errors[k]));
    loss += e <= 1 ? e * e / 2 : e - 0.5;
  }
  if (!base::is_finite(loss)) throw error("manta: rl: the loss of dqn is not finite. Try a smaller rate");
  q_.net().zero_gradients();
  q_.backward(by_q_);
  if (options_.clip_norm > 0) nn::clip_norm(q_.net().gradients(), options_.clip_norm);
  optimizer_.step(q_.net().parameters(), q_.net().gradients());
  replay_.set_priorities(s.which, errors);
  if (++updates_ % static_cast<std::uint64_t>(options_.target_updates) == 0) target_ = q_;
  r.learner["loss"] = loss / options_.batch;
  r.learner["q"] = mean / options_.batch;
}

MANTA_DECL std::string dqn::state() {
  return output::pack(q_, target_, filter_, optimizer_, replay_, updates_, detail::states_of(workers_));
}
MANTA_DECL void dqn::restore(const std::string& bytes, bool own_settings) {
  detail::q_network q, target;
  moments filter;
  nn::optimizer saved;
  replay memory;
  std::uint64_t updates = 0;
  std::vector<std::string> states;
  output::unpack(bytes, q, target, filter, saved, memory, updates, states);
  detail::require_environments(states.size(), options_.environments);
  q_ = std::move(q);
  target_ = std::move(target);
  filter_ = std::move(filter);
  replay_ = std::move(memory);
  updates_ = updates;
  optimizer_.resume(saved, own_settings);
  start_workers();
  detail::restore_states(workers_, states);
}

}  // namespace manta::rl
