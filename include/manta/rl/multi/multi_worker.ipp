// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/output/bytes.hpp"
#include "manta/rl/multi/multi_worker.hpp"

namespace manta::rl::detail {

MANTA_DECL multi_worker::multi_worker(const any_game& g, std::uint64_t seed, int first, int count)
    : kind_(g),
      seed_(seed),
      lanes_(g, seed, first, count),
      seats_(static_cast<std::size_t>(count) * static_cast<std::size_t>(g.seats().size())) {}

template <class F>
void multi_worker::each_line(const pupil& p, F&& f) {
  for (int lane = 0; lane < lanes_.size(); ++lane) {
    for (int seat = 0; seat < lanes_.seats(); ++seat) {
      auto& lines = at({lane, seat}).lines;
      if (const auto found = lines.find(p.number); found != lines.end()) f(seat_place{lane, seat}, found->second);
    }
  }
}

inline void multi_worker::set_policies(const multi_setting& s) {
  if (version_ == s.version) return;
  version_ = s.version;
  lanes_.sit_by(s);
  actors_ = make_actors(s, lanes_, seed_);
}

inline void multi_worker::begin(const multi_setting& s, const std::vector<policy::weights>& weights,
                                const multi_rollout& how) {
  set_policies(s);
  pupils_.clear();
  for (const auto& [number, actor] : actors_.learning) {
    const std::size_t k = pupils_.size();
    const auto games = static_cast<std::size_t>(lanes_.size());
    actor->set(weights.at(k));
    pupils_.push_back({number,
                       actor,
                       how.of_policies.at(k),
                       std::vector<moments>(games, moments(actor->features() + actor->central())),
                       std::vector<moments>(games, moments(1)),
                       {}});
  }
  history_.go_to(how.from, steps_, lanes_.can_be_saved(), [&](const auto& states) { restore(states); });
  if (!std::exchange(has_begun_, true)) lanes_.begin();
  if (history_.now().empty() && lanes_.can_be_saved()) history_.set(state());
  for (pupil& p : pupils_) {
    each_line(p, [](seat_place, seat_line& l) { l.keep_open(); });  // a call that has failed leaves more
    value_open_steps(p);
  }
}

inline void multi_worker::value_open_steps(pupil& p) {
  std::vector<seat_place> places;
  std::vector<seat_line*> lines;
  each_line(p, [&](seat_place at, seat_line& l) {
    if (!l.is_open()) return;
    places.push_back(at);
    lines.push_back(&l);
  });
  if (places.empty()) return;
  const auto features = static_cast<std::size_t>(p.actor->features() + p.actor->central());
  const std::vector<float> v = p.actor->values(
      places, [&](std::size_t k, float* to) { std::ranges::copy(lines[k]->open_observation(features), to); });
  for (std::size_t k = 0; k < lines.size(); ++k) lines[k]->set_value_after(v[k]);
}

inline void multi_worker::note_actions(pupil& p) {
  const std::vector<seat_place>& places = actors_.places(p.number);
  for (std::size_t k = 0; k < places.size(); ++k) {
    seat_state& s = at(places[k]);
    s.lines[p.number].open(*p.actor, k, lanes_.game(places[k].lane).mask(places[k].seat),
                           !std::exchange(s.has_acted, true));
    p.seen[static_cast<std::size_t>(places[k].lane)].add(p.actor->seen(k).data());
  }
}

inline void multi_worker::note_rewards(pupil& p, seat_place place) {
  seat_state& s = at(place);
  const auto found = s.lines.find(p.number);
  if (found == s.lines.end() || !found->second.is_open()) return;
  seat_line& line = found->second;
  const live_game& game = lanes_.game(place.lane);
  line.give(game.reward(place.seat), p.how.discount);
  const bool ends = game.has_ended(place.seat), sees = game.has_seen(place.seat);
  if (!ends && !sees) return;  // it waits for its next turn
  const bool is_cut = ends && game.is_cut_off(place.seat);
  if (is_cut && !sees) return line.leave_out_open();
  std::vector<float> next;
  if (p.actor->own_collection() != nullptr) {
    next.resize(static_cast<std::size_t>(p.actor->features()));
    lanes_.write(place, 0, next.data());
  }
  s.gain = s.gain * line.discount() + line.reward();
  const float gain = static_cast<float>(s.gain);
  p.gains[static_cast<std::size_t>(place.lane)].add(&gain);
  line.close(!ends    ? seat_line::ending::next_turn
             : is_cut ? seat_line::ending::truncated
                      : seat_line::ending::terminated,
             next);
  if (is_cut) p.cut.push_back(place);
}

inline void multi_worker::value_cut_states(pupil& p) {
  if (p.cut.empty()) return;
  const std::vector<float> v =
      p.actor->values(p.cut, [&](std::size_t k, float* to) { lanes_.write(p.cut[k], p.actor->central(), to); });
  for (std::size_t k = 0; k < p.cut.size(); ++k) at(p.cut[k]).lines.at(p.number).set_final_value(v[k]);
  p.cut.clear();
}

inline void multi_worker::end_episodes(std::vector<multi_episode>& ended) {
  for (int lane = 0; lane < lanes_.size(); ++lane) {
    const bool is_over = lanes_.game(lane).is_over();
    for (int seat = 0; seat < lanes_.seats(); ++seat) {
      if (!is_over && !lanes_.game(lane).has_ended(seat)) continue;
      seat_state& s = at({lane, seat});
      s.gain = 0;
      s.has_acted = false;
    }
    if (!is_over) continue;
    ended.push_back(lanes_.result(lane));
    lanes_.go_on(lane);
    actors_.begin(lane);
  }
}

inline void multi_worker::value_next_states(pupil& p) {
  std::vector<seat_place> places;
  each_line(p, [&](seat_place at, seat_line& l) {
    if (l.size() > 0 && !l.is_open() && !l.ends()) places.push_back(at);
  });
  if (places.empty()) return;
  const std::vector<float> v =
      p.actor->values(places, [&](std::size_t k, float* to) { lanes_.write(places[k], p.actor->central(), to); });
  for (std::size_t k = 0; k < places.size(); ++k) at(places[k]).lines.at(p.number).set_value_after(v[k]);
}

inline fragment multi_worker::take_fragment(pupil& p) {
  value_next_states(p);
  std::size_t count = 0;
  bool forbids = false;
  each_line(p, [&](seat_place, const seat_line& l) {
    count += l.size();
    forbids = forbids || l.forbids();
  });
  const auto columns = static_cast<Eigen::Index>(count);
  fragment f;
  nn::matrix<float> filtered;
  f.observations.resize(p.actor->features() + p.actor->central(), columns);
  f.actions.resize(p.actor->action_size(), columns);
  f.masks.resize(forbids ? p.actor->mask_size() : 0, columns);
  f.log_probabilities.resize(count);
  f.advantages.resize(count);
  f.returns.resize(count);
  f.begins.resize(count);
  f.actor_states.resize(0, lanes_.size());
  f.critic_states.resize(0, lanes_.size());
  std::size_t column = 0;
  each_line(p, [&](seat_place, seat_line& l) {
    l.write(*p.actor, p.how, f, column);
    column += l.size();
    l.keep_open();
  });
  p.actor->filter(f.observations, filtered);
  f.observations.swap(filtered);
  f.seen = std::move(p.seen);
  f.gains = std::move(p.gains);
  return f;
}

MANTA_DECL multi_fragment multi_worker::run(const multi_setting& setting, const std::vector<policy::weights>& weights,
                                            const multi_rollout& how) {
  begin(setting, weights, how);
  multi_fragment all;
  for (int t = 0; t < how.steps; ++t) {
    actors_.choose(lanes_, steps_++);
    for (pupil& p : pupils_) note_actions(p);
    for (int lane = 0; lane < lanes_.size(); ++lane) lanes_.step(lane);
    for (pupil& p : pupils_) {
      for (int lane = 0; lane < lanes_.size(); ++lane) {
        for (int seat = 0; seat < lanes_.seats(); ++seat) note_rewards(p, {lane, seat});
      }
      value_cut_states(p);
    }
    end_episodes(all.episodes);
  }
  for (pupil& p : pupils_) all.of_policies.push_back(take_fragment(p));
  if (lanes_.can_be_saved()) history_.end(state());
  return all;
}

MANTA_DECL bool multi_worker::begin_at(std::uint64_t step) {
  steps_ = step;
  return true;
}

MANTA_DECL std::vector<std::string> multi_worker::state() const {
  std::vector<std::string> states;
  const auto seats = static_cast<std::size_t>(lanes_.seats());
  for (int lane = 0; lane < lanes_.size(); ++lane) {
    const auto from = seats_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(lane) * seats);
    const std::vector<seat_state> own(from, from + static_cast<std::ptrdiff_t>(seats));
    states.push_back(output::pack(lanes_.save(lane), own, steps_, has_begun_));
  }
  return states;
}

MANTA_DECL void multi_worker::restore(const std::vector<std::string>& states) {
  const auto seats = static_cast<std::size_t>(lanes_.seats());
  for (std::size_t i = 0; i < states.size(); ++i) {
    std::string lane;
    std::vector<seat_state> own;
    std::uint64_t steps = 0;
    output::unpack(states[i], lane, own, steps, has_begun_);
    lanes_.load(static_cast<int>(i), lane);
    std::ranges::move(own, seats_.begin() + static_cast<std::ptrdiff_t>(i * seats));
    steps_ = std::max(steps_, steps);
  }
  history_.set(states);
}

}  // namespace manta::rl::detail
