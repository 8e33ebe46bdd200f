// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layers.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/environments/spaces.hpp"
#include "manta/rl/qmix.hpp"

namespace manta::rl {

namespace detail {

inline off_policy_options told_by_qmix(const qmix_options& o) {
  refuse_distribution(o.model, "qmix");
  off_policy_options told = told_by(o, exploration_options{.how = exploration_options::way::epsilon_greedy});
  told.replay_alpha = o.replay_alpha;
  return told;
}

MANTA_DECL qmix_learner::qmix_learner(const any_environment& joint, const qmix_options& o)
    : off_policy_learner("qmix", joint, told_by_qmix(o)),
      options_(o),
      game_(game_of_joint(joint, "qmix")),
      layout_(layout_of_joint(game_)),
      optimizer_(nn::adam({.rate = o.rate})),
      mixer_optimizer_(optimizer_),
      masked_(static_cast<std::size_t>(layout_.seats())) {
  check(o);
  make_networks();
  begin_with(now_.net);
  slow_ = now_;
}

inline void qmix_learner::check(const qmix_options& o) const {
  require_sense(o);
  require_follow(o.follow);
  require_one(".mixing_units", o.mixing_units);
  require_one(".mixing_hidden", o.mixing_hidden);
  if (o.shared && !game_.seats().are_alike())
    throw error(
        base::text("manta: rl: qmix is told that seats share a network, and those of {} have different spaces; "
                   "leave out .shared",
                   game_.name()));
}

inline void qmix_learner::make_networks() {
  std::vector<nn::spec> parts;
  for (int i = 0; i < layout_.seats(); ++i) {
    const std::uint64_t seed = options_.shared ? options_.seed : base::mix(options_.seed + static_cast<unsigned>(i));
    of_seats_.push_back(make_network(game_.seats()[i].observations, options_.model,
                                     {.outputs = layout_.choices[static_cast<std::size_t>(i)], .relu = true}, seed));
    const nn::network<float>& net = of_seats_.back();
    refuse_memory(net, options_.model, "qmix");
    parts.push_back(nn::part(net.input_shape(), net.specs()));
  }
  parts.push_back(nn::part({layout_.seats() + layout_.whole}, {}));  // stands behind the values, and nobody reads it
  now_.net = nn::network<float>(nn::shape{layout_.size()}, nn::parts(std::move(parts)));
  float* to = now_.net.parameters().data();
  for (const nn::network<float>& net : of_seats_) to = std::ranges::copy(net.parameters(), to).out;
  now_.mixer = q_mixer(options_.mixing, layout_.seats(), state_size(), options_.mixing_units, options_.mixing_hidden,
                       base::mix(options_.seed ^ 0x6d6978U));
}

MANTA_DECL double qmix_learner::randomness() const {
  return 1 + progress(options_.exploration_steps) * (options_.epsilon - 1);
}
MANTA_DECL double qmix_learner::importance() const {
  return options_.replay_beta + (1 - options_.replay_beta) * progress(options_.exploration_steps);
}

inline void qmix_learner::read_best(const nn::matrix<float>& outputs, nn::matrix<float>& choices) const {
  choices.resize(layout_.seats(), outputs.cols());
  for (Eigen::Index k = 0; k < outputs.cols(); ++k) {
    Eigen::Index begin = 0;
    for (Eigen::Index i = 0; i < layout_.seats(); ++i) {
      const int count = layout_.choices[static_cast<std::size_t>(i)];
      Eigen::Index best = 0;
      outputs.col(k).segment(begin, count).maxCoeff(&best);
      choices(i, k) = static_cast<float>(best);
      begin += count;
    }
  }
}

inline void qmix_learner::read_values(const nn::matrix<float>& outputs, const nn::matrix<float>& choices,
                                      nn::matrix<float>& to) const {
  to.resize(choices.rows(), choices.cols());
  each_choice(choices, [&](Eigen::Index i, Eigen::Index k, Eigen::Index row, bool waits) {
    to(i, k) = waits ? 0 : outputs(row, k);
  });
}

template <class F>
void qmix_learner::each_choice(const nn::matrix<float>& choices, F&& f) const {
  for (Eigen::Index k = 0; k < choices.cols(); ++k) {
    Eigen::Index begin = 0;
    for (Eigen::Index i = 0; i < choices.rows(); ++i) {
      const int count = layout_.choices[static_cast<std::size_t>(i)];
      const auto chosen = static_cast<Eigen::Index>(choices(i, k));
      f(i, k, begin + chosen, chosen + 1 == count);
      begin += count;
    }
  }
}

inline nn::matrix<float> qmix_learner::wanted(const replay::sample& s) {
  const action_masks& masks = s.drawn.next_masks;
  if (options_.dual) read_best(allowed_outputs(now_.net.forward(s.drawn.next), masks, allowed_), best_);
  const nn::matrix<float>& later = allowed_outputs(slow_.net.forward(s.drawn.next), masks, allowed_);
  if (!options_.dual) read_best(later, best_);
  read_values(later, best_, values_);
  nn::matrix<float> all = mixes() ? slow_.mixer.forward(values_, state_of(s.drawn.next)) : values_;
  for (Eigen::Index k = 0; k < all.cols(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    all.col(k) = (s.drawn.rewards[at] + s.drawn.discounts[at] * all.col(k).array()).matrix();
  }
  return all;
}

inline void qmix_learner::learn_errors(const replay::sample& s, const nn::matrix<float>& values,
                                       const nn::matrix<float>& should_be, std::vector<float>& errors,
                                       std::map<std::string, double>& figures) {
  const auto count = static_cast<float>(values.size());
  by_values_.resize(values.rows(), values.cols());
  double loss = 0;
  for (Eigen::Index k = 0; k < values.cols(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    errors[at] = 0;
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      const huber h(values(i, k) - should_be(i, k));
      errors[at] += std::abs(values(i, k) - should_be(i, k)) / static_cast<float>(values.rows());
      by_values_(i, k) = s.weights[at] * h.slope * static_cast<float>(values.rows()) / count;
      loss += h.loss / static_cast<double>(count);
    }
  }
  require_finite("the loss is", loss);
  figures["loss"] += loss;
  figures["q"] += static_cast<double>(values.mean());
}

MANTA_DECL void qmix_learner::update(const replay::sample& s, random&, std::vector<float>& errors,
                                     std::map<std::string, double>& figures) {
  note_masks(s.drawn.next_masks);
  if (!mixes()) require_all_act(s.drawn.actions);
  const nn::matrix<float> should_be = wanted(s);
  const nn::matrix<float>& outputs = now_.net.forward(s.drawn.observations);
  by_outputs_.setZero(outputs.rows(), outputs.cols());
  read_values(outputs, s.drawn.actions, values_);
  const nn::matrix<float>& values = mixes() ? now_.mixer.forward(values_, state_of(s.drawn.observations)) : values_;
  learn_errors(s, values, should_be, errors, figures);
  now_.net.zero_gradients();
  now_.mixer.net().zero_gradients();
  const nn::matrix<float>& by_seats = mixes() ? now_.mixer.backward(by_values_) : by_values_;
  each_choice(s.drawn.actions, [&](Eigen::Index i, Eigen::Index k, Eigen::Index row, bool waits) {
    if (!waits) by_outputs_(row, k) = by_seats(i, k);
  });
  now_.net.backward(by_outputs_);
  if (options_.shared) share_gradients();
  take_steps();
  figures["epsilon"] += randomness();
}

inline void qmix_learner::require_all_act(const nn::matrix<float>& choices) const {
  each_choice(choices, [&](Eigen::Index i, Eigen::Index, Eigen::Index, bool waits) {
    if (waits)
      throw error(
          base::text("manta: rl: seat {} of {} does not act in each step, and mixing::none learns the values of "
                     "a seat from step to step; use another .mixing, or rl::multi",
                     i, game_.name()));
  });
}

inline void qmix_learner::share_gradients() {
  const std::size_t each = of_seats_.front().gradients().size();
  const std::span<float> all = now_.net.gradients();
  for (std::size_t at = 0; at < each; ++at) {
    float sum = 0;
    for (std::size_t i = at; i < all.size(); i += each) sum += all[i];
    for (std::size_t i = at; i < all.size(); i += each) all[i] = sum;
  }
}

inline void qmix_learner::take_steps() {
  const auto take = [&](nn::optimizer& o, nn::network<float>& net, nn::network<float>& slow) {
    if (net.gradients().empty()) return;
    if (options_.clip_norm > 0) nn::clip_norm(net.gradients(), options_.clip_norm);
    step(o, net.parameters(), net.gradients());
    move_towards(slow.parameters(), std::as_const(net).parameters(), options_.follow);
  };
  take(optimizer_, now_.net, slow_.net);
  take(mixer_optimizer_, now_.mixer.net(), slow_.mixer.net());
}

inline void qmix_learner::note_masks(const action_masks& next) {
  Eigen::Index begin = 0;
  for (std::size_t i = 0; i < masked_.size(); ++i) {
    const Eigen::Index count = layout_.choices[i];
    for (Eigen::Index k = 0; k < next.cols() && !masked_[i]; ++k) {
      const auto its = next.col(k).segment(begin, count);
      masked_[i] = its[count - 1] == 0 && (its.head(count - 1).array() == 0).any();
    }
    begin += count;
  }
}

MANTA_DECL acting_policy qmix_learner::acting_from(int seat) const {
  const auto number = static_cast<std::size_t>(seat);
  nn::network<float> net = of_seats_[number];
  std::size_t parameters = 0, features = 0;
  for (std::size_t i = 0; i < number; ++i) {
    parameters += std::as_const(of_seats_[i]).parameters().size();
    features += static_cast<std::size_t>(layout_.features[i]);
  }
  const std::span<const float> all = slow_.net.parameters();
  std::ranges::copy(all.subspan(parameters, net.gradients().size()), net.parameters().begin());
  const rl::seat& s = game_.seats()[seat];
  const any_environment e = spaces(s.observations, s.actions, masked_[number] != 0).with_name(game_.name());
  return {e,
          std::move(net),
          filter().part(features, static_cast<std::size_t>(layout_.features[number])),
          {.by = action_choice::drawing::exploration, .exploration = told_.exploration, .randomness = randomness()}};
}

MANTA_DECL std::string qmix_learner::description() const {
  const char* const how = options_.mixing == mixing::none  ? "each by itself"
                          : options_.mixing == mixing::sum ? "summed"
                                                           : "mixed by ";
  return base::text("{}, {}{}{}", off_policy_learner::description(), how, now_.mixer.net().describe(),
                    options_.shared ? ", shared" : "");
}

MANTA_DECL std::string qmix_learner::networks() const {
  return output::pack(now_, slow_, optimizer_, mixer_optimizer_, masked_);
}
MANTA_DECL void qmix_learner::restore_networks(const std::string& bytes) {
  networks_of_values now, slow;
  nn::optimizer its, of_mixer;
  std::vector<char> masked;
  output::unpack(bytes, now, slow, its, of_mixer, masked);
  now_ = std::move(now);
  slow_ = std::move(slow);
  optimizer_.take_moments(its);
  mixer_optimizer_.take_moments(of_mixer);
  masked_ = std::move(masked);
}

/// The options of one that sums.
inline qmix_options summed(qmix_options o) {
  if (o.mixing == mixing::none) throw error("manta: rl: vdn sums values; rl::qmix has .mixing");
  o.mixing = mixing::sum;
  return o;
}

}  // namespace detail

MANTA_DECL qmix::qmix(const any_environment& joint, const qmix_options& o)
    : off_policy(std::make_unique<detail::qmix_learner>(joint, o)) {}
MANTA_DECL qmix::qmix(const any_game& g, const qmix_options& o) : qmix(joint(g), o) {}
MANTA_DECL qmix::qmix(const char* game, const qmix_options& o) : qmix(any_game(game), o) {}

MANTA_DECL const any_game& qmix::game() const { return static_cast<const detail::qmix_learner&>(learned()).game(); }

MANTA_DECL trained_policy qmix::trained(const std::string& seat) const {
  std::string names;
  for (int i = 0; i < game().seats().size(); ++i) {
    const std::string& name = game().seats()[i].name;
    if (name == seat) return trained_policy(static_cast<const detail::qmix_learner&>(learned()).acting_from(i));
    names += (names.empty() ? "\"" : ", \"") + name + '"';
  }
  throw error(base::text("manta: rl: there is no seat \"{}\" in {}; there are {}", seat, game().name(), names));
}

MANTA_DECL vdn::vdn(const any_environment& joint, const qmix_options& o) : qmix(joint, detail::summed(o)) {}
MANTA_DECL vdn::vdn(const any_game& g, const qmix_options& o) : qmix(g, detail::summed(o)) {}
MANTA_DECL vdn::vdn(const char* game, const qmix_options& o) : qmix(game, detail::summed(o)) {}

}  // namespace manta::rl
