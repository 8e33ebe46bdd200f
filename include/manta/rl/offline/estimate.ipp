// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <ostream>
#include <utility>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/learning/off_policy_learner.hpp"
#include "manta/rl/offline/action_probability.hpp"
#include "manta/rl/offline/estimate.hpp"
#include "manta/rl/policies/evaluation.hpp"

namespace manta::rl {

namespace detail {

/// An estimate from some of the episodes, which may be named more than once.
class estimation {
 public:
  estimation(std::span<const weighed_episode> all, estimator by, double discount)
      : all_(all), by_(by), discount_(discount) {}

  [[nodiscard]] double operator()(std::span<const std::size_t> which) const {
    return by_ == weighted_importance_sampling ? weighted(which) : mean_of_episodes(which);
  }

 private:
  [[nodiscard]] double mean_of_episodes(std::span<const std::size_t> which) const {
    double sum = 0;
    for (const std::size_t i : which) sum += by_ == doubly_robust ? robust(all_[i]) : plain(all_[i]);
    return sum / static_cast<double>(which.size());
  }
  /// Each reward, times the ratio of the probabilities of all actions up to it.
  [[nodiscard]] double plain(const weighed_episode& e) const {
    double sum = 0, log_weight = 0, factor = 1;
    for (std::size_t t = 0; t < e.rewards.size(); ++t, factor *= discount_) {
      log_weight += e.log_ratios[t];
      sum += factor * std::exp(log_weight) * e.rewards[t];
    }
    return sum;
  }
  /// Backwards: the value of a state, corrected by what the recorded action gave beyond its own.
  [[nodiscard]] double robust(const weighed_episode& e) const {
    double above = e.state_values.back();
    for (std::size_t t = e.rewards.size(); t-- > 0;)
      above = e.state_values[t] + std::exp(e.log_ratios[t]) * (e.rewards[t] + discount_ * above - e.action_values[t]);
    return above;
  }
  /// At each step the mean reward by the weights of all episodes; one that has ended has rewards of 0 from there on.
  [[nodiscard]] double weighted(std::span<const std::size_t> which) const {
    std::size_t longest = 0;
    for (const std::size_t i : which) longest = std::max(longest, all_[i].rewards.size());
    std::vector<double> log_weights(which.size());
    double sum = 0, factor = 1;
    for (std::size_t t = 0; t < longest; ++t, factor *= discount_) {
      for (std::size_t k = 0; k < which.size(); ++k) {
        const weighed_episode& e = all_[which[k]];
        if (t < e.rewards.size()) log_weights[k] += e.log_ratios[t];
      }
      const double most = *std::ranges::max_element(log_weights);
      if (base::is_infinite(most)) break;  // no episode goes on as the policy would
      double weights = 0, rewards = 0;
      for (std::size_t k = 0; k < which.size(); ++k) {
        const weighed_episode& e = all_[which[k]];
        const double weight = std::exp(log_weights[k] - most);
        weights += weight;
        if (t < e.rewards.size()) rewards += weight * e.rewards[t];
      }
      sum += factor * rewards / weights;
    }
    return sum;
  }

  std::span<const weighed_episode> all_;
  estimator by_;
  double discount_;
};

inline std::vector<std::size_t> numbers_to(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// What a policy does in the recorded states.
struct followed_episode {
  std::vector<double> log_probabilities;  ///< log probabilities of the recorded actions
  nn::matrix<float> choices;              ///< the probabilities of all choices in each state, also the last one
};

/// The outputs of a policy's network in all states of an episode: at once, or, where it remembers, one after the other
/// as if it played them. Masks are those of the episode; in the last state everything is allowed.
inline nn::matrix<float> outputs_in(acting_policy& policy, const nn::matrix<float>& features,
                                    const action_masks& masks) {
  if (!policy.remembers()) {
    (void)policy.actions(features, masks);
    return policy.outputs();
  }
  policy.forget();
  nn::matrix<float> all;
  for (Eigen::Index t = 0; t < features.cols(); ++t) {
    (void)policy.actions(features.col(t), masks.rows() > 0 ? action_masks(masks.col(t)) : action_masks());
    if (t == 0) all.resize(policy.outputs().rows(), features.cols());
    all.col(t) = policy.outputs().col(0);
  }
  return all;
}

/// Asks a policy what it would do in the recorded states. `whose` names it in errors.
inline std::vector<followed_episode> follow(const episodes& data, const trained_policy& p, bool explores,
                                            const char* whose, bool with_choices) {
  acting_policy policy = p.acting();
  const any_environment& e = data.environment();
  (void)evaluation_of(policy, {.environment = e}, 0);
  const action_probability probability(policy, explores);
  if (!probability.obstacle().empty())
    throw error(base::text("manta: rl: estimate: the {} has no probabilities of actions, for {}", whose,
                           probability.obstacle()));
  std::vector<followed_episode> all;
  for (const recorded_episode& r : data) {
    const nn::matrix<float> features = features_of(e.observations(), r.observations);
    action_masks masks;
    if (e.mask_size() > 0) {
      masks.setOnes(e.mask_size(), features.cols());
      masks.leftCols(r.masks.cols()) = r.masks;
    }
    const nn::matrix<float> outputs = outputs_in(policy, features, masks);
    followed_episode f;
    for (Eigen::Index t = 0; t < r.actions.cols(); ++t)
      f.log_probabilities.push_back(probability(outputs.col(t).data(), mask_of(masks, t),
                                                {r.actions.col(t).data(), static_cast<std::size_t>(r.actions.rows())}));
    if (with_choices) f.choices.resize(e.actions().as_discrete()->n, features.cols());
    for (Eigen::Index t = 0; t < f.choices.cols(); ++t) {
      for (Eigen::Index a = 0; a < f.choices.rows(); ++a) {
        const float action[] = {static_cast<float>(e.actions().as_discrete()->start + a)};
        f.choices(a, t) = static_cast<float>(std::exp(probability(outputs.col(t).data(), mask_of(masks, t), action)));
      }
    }
    all.push_back(std::move(f));
  }
  return all;
}

/// The values of actions under a policy, learnt from the data (fitted Q evaluation: Le et al., 2019).
class fitted_values {
 public:
  fitted_values(const episodes& data, const std::vector<followed_episode>& policy, const estimate_options& o)
      : data_(data), policy_(policy), options_(o), optimizer_(nn::adam({.rate = o.rate})) {
    const any_environment& e = data.environment();
    net_ = make_network(e.observations(), o.model, {.outputs = e.actions().as_discrete()->n, .last = 0.01}, o.seed);
    refuse_memory(net_, o.model, "estimate");
    slow_ = net_;
    moments seen(e.observations().features());
    double sizes = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      features_.push_back(features_of(e.observations(), data[i].observations));
      for (Eigen::Index t = 0; t < features_[i].cols(); ++t) seen.add(features_[i].col(t).data());
      for (std::size_t t = 0; t < data[i].steps(); ++t) {
        steps_.push_back({i, t});
        sizes += std::abs(data[i].rewards[t]);
      }
    }
    const normaliser filter(seen);
    for (nn::matrix<float>& m : features_) {
      const nn::matrix<float> raw = m;
      filter.apply(raw, m);
    }
    // Values are learnt in units in which they are near 1.
    const double size = sizes / static_cast<double>(steps_.size()) / std::max(1 - o.discount, 0.01);
    if (size > 0) unit_ = size;
    for (int pass = 0; pass < o.passes; ++pass) learn(static_cast<std::uint64_t>(pass));
  }
  /// Writes the values of the recorded actions and of the states.
  void write(std::size_t i, weighed_episode& to) {
    const nn::matrix<float>& q = net_.forward(features_[i]);
    const int start = data_.environment().actions().as_discrete()->start;
    for (Eigen::Index t = 0; t < q.cols(); ++t) {
      const bool is_last = t + 1 == q.cols();
      const double value = unit_ * static_cast<double>(q.col(t).dot(policy_[i].choices.col(t)));
      to.state_values.push_back(is_last && data_[i].terminated ? 0 : value);
      if (!is_last)
        to.action_values.push_back(unit_ * static_cast<double>(q(static_cast<int>(data_[i].actions(0, t)) - start, t)));
    }
  }

 private:
  struct place {
    std::size_t episode, step;
  };
  void learn(std::uint64_t pass) {
    random numbers(options_.seed, pass, 9);
    for (std::size_t i = steps_.size(); i > 1; --i)
      std::swap(steps_[i - 1], steps_[static_cast<std::size_t>(numbers.index(static_cast<int>(i)))]);
    const auto batch = static_cast<std::size_t>(options_.batch);
    for (std::size_t at = 0; at < steps_.size();) {
      const std::size_t count = steps_.size() - at < 2 * batch ? steps_.size() - at : batch;
      learn_batch({steps_.data() + at, count});
      at += count;
    }
  }
  void learn_batch(std::span<const place> batch) {
    const auto count = std::ssize(batch);
    nn::matrix<float> before(features_.front().rows(), count), after(features_.front().rows(), count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const place& p = batch[static_cast<std::size_t>(k)];
      before.col(k) = features_[p.episode].col(static_cast<Eigen::Index>(p.step));
      after.col(k) = features_[p.episode].col(static_cast<Eigen::Index>(p.step) + 1);
    }
    const nn::matrix<float>& later = slow_.forward(after);
    const nn::matrix<float>& q = net_.forward(before);
    nn::matrix<float> by_q = nn::matrix<float>::Zero(q.rows(), q.cols());
    const int start = data_.environment().actions().as_discrete()->start;
    for (Eigen::Index k = 0; k < count; ++k) {
      const place& p = batch[static_cast<std::size_t>(k)];
      const recorded_episode& r = data_[p.episode];
      const auto t = static_cast<Eigen::Index>(p.step);
      const bool is_end = r.terminated && p.step + 1 == r.steps();
      const float next = is_end ? 0.f : later.col(k).dot(policy_[p.episode].choices.col(t + 1));
      const int action = static_cast<int>(r.actions(0, t)) - start;
      const float wanted = static_cast<float>(r.rewards[p.step] / unit_) + static_cast<float>(options_.discount) * next;
      by_q(action, k) = 2 * (q(action, k) - wanted) / static_cast<float>(count);
    }
    net_.zero_gradients();
    net_.backward(by_q);
    optimizer_.step(net_.parameters(), net_.gradients());
    move_towards(slow_.parameters(), std::as_const(net_).parameters(), 0.02);
  }

  const episodes& data_;
  const std::vector<followed_episode>& policy_;
  estimate_options options_;
  nn::network<float> net_, slow_;
  nn::optimizer optimizer_;
  std::vector<nn::matrix<float>> features_;  ///< filtered, by episode
  std::vector<place> steps_;
  double unit_ = 1;
};

/// The logarithms of the probabilities by which the actions of an episode were drawn.
inline std::vector<double> behaviour_of(const episodes& data, std::size_t i, const std::vector<followed_episode>& by) {
  const std::vector<float>& known = data[i].log_probabilities;
  std::vector<double> all(known.begin(), known.end());
  if (all.empty() && !by.empty()) all = by[i].log_probabilities;
  if (all.empty())
    throw error(
        base::text("manta: rl: estimate: episode {}, step 0: the data does not say how probable the action was, as "
                   "where a player of the program's own or another program has acted; give .behaviour, a policy "
                   "like the one that acted, such as a rl::bc of the data",
                   i));
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (!base::is_finite(all[t]))
      throw error(
          base::text("manta: rl: estimate: episode {}, step {}: under .behaviour the recorded action has the "
                     "probability 0; give a policy that draws its actions",
                     i, t));
  }
  return all;
}

inline void check_estimate(const episodes& data, const estimate_options& o) {
  if (data.size() == 0) throw error("manta: rl: estimate was given no episodes");
  require_sense("discount", o.discount);
  require_one(".passes", o.passes);
  require_one(".batch", o.batch, " step");
  if (o.by == doubly_robust && data.environment().actions().as_discrete() == nullptr)
    throw error(
        base::text("manta: rl: estimate: doubly_robust needs actions that are rl::discrete; these are {}. Use "
                   "weighted_importance_sampling",
                   data.environment().actions().text()));
}

/// For how many episodes the weighed ones stand: those of Kish, 1965, by the weights at the ends.
inline double effective(const std::vector<weighed_episode>& all) {
  std::vector<double> logs;
  for (const weighed_episode& e : all) logs.push_back(std::accumulate(e.log_ratios.begin(), e.log_ratios.end(), 0.0));
  const double most = *std::ranges::max_element(logs);
  if (base::is_infinite(most)) return 0;
  double sum = 0, squares = 0;
  for (const double l : logs) {
    sum += std::exp(l - most);
    squares += std::exp(2 * (l - most));
  }
  return sum * sum / squares;
}

/// The deviation of estimates from episodes that were drawn from these.
inline double bootstrap_error(const estimation& value_of, std::size_t count, std::uint64_t seed) {
  constexpr std::uint64_t draws = 200;
  std::vector<std::size_t> which(count);
  double mean = 0, squares = 0;
  for (std::uint64_t d = 0; d < draws; ++d) {
    random numbers(seed, d, 10);
    for (std::size_t& i : which) i = static_cast<std::size_t>(numbers.index(static_cast<int>(count)));
    const double value = value_of(which), difference = value - mean;
    mean += difference / static_cast<double>(d + 1);
    squares += difference * (value - mean);
  }
  return std::sqrt(squares / static_cast<double>(draws - 1));
}

}  // namespace detail

MANTA_DECL double estimated_value(std::span<const weighed_episode> all, estimator by, double discount) {
  if (all.empty()) throw error("manta: rl: an estimate needs at least one episode");
  const double value = detail::estimation(all, by, discount)(detail::numbers_to(all.size()));
  if (!base::is_finite(value))
    throw error(
        "manta: rl: the estimate is not finite: the policy differs so much from the one that acted that weights "
        "of long episodes have no end; use weighted_importance_sampling, or shorter episodes");
  return value;
}

MANTA_DECL value_estimate estimate(const episodes& data, const trained_policy& p, const estimate_options& o) {
  detail::check_estimate(data, o);
  const bool with_choices = o.by == doubly_robust;
  const std::vector<detail::followed_episode> policy = detail::follow(data, p, o.explore, "policy", with_choices);
  std::vector<detail::followed_episode> behaviour;
  if (o.behaviour) behaviour = detail::follow(data, o.behaviour, true, "policy of .behaviour", false);
  std::optional<detail::fitted_values> values;
  if (with_choices) values.emplace(data, policy, o);
  std::vector<weighed_episode> all;
  value_estimate v{.episodes = data.size()};
  for (std::size_t i = 0; i < data.size(); ++i) {
    weighed_episode e{.rewards = data[i].rewards, .log_ratios = policy[i].log_probabilities};
    const std::vector<double> drawn = detail::behaviour_of(data, i, behaviour);
    for (std::size_t t = 0; t < drawn.size(); ++t) e.log_ratios[t] -= drawn[t];
    if (values) values->write(i, e);
    for (std::size_t t = e.rewards.size(); t-- > 0;)
      v.data_value += std::pow(o.discount, static_cast<double>(t)) * e.rewards[t];
    all.push_back(std::move(e));
  }
  v.data_value /= static_cast<double>(data.size());
  v.value = estimated_value(all, o.by, o.discount);
  v.error = detail::bootstrap_error(detail::estimation(all, o.by, o.discount), all.size(), o.seed);
  v.effective_episodes = detail::effective(all);
  return v;
}

MANTA_DECL std::ostream& operator<<(std::ostream& out, const value_estimate& v) {
  char text[200];
  std::snprintf(text, sizeof text,
                "value %.4g +- %.2g from %llu episodes, as good as %.3g of its own; the data's is %.4g", v.value,
                v.error, static_cast<unsigned long long>(v.episodes), v.effective_episodes, v.data_value);
  return out << text;
}

}  // namespace manta::rl
