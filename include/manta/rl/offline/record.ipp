// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "manta/base/hash.hpp"
#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/offline/action_probability.hpp"
#include "manta/rl/offline/episode_file.hpp"
#include "manta/rl/offline/record.hpp"
#include "manta/rl/policies/evaluation.hpp"

namespace manta::rl {

namespace detail {

inline constexpr std::uint64_t record_purpose = 0x7265636f72642121U;  ///< sets its random numbers apart
/// Episodes of a part, which are played beside each other. The same for all recordings, so that an episode has the same
/// bits whatever part of a file was there before.
inline constexpr int episodes_of_part = 32;

/// Keeps the steps of episodes that are played beside each other.
class episode_keeper {
 public:
  explicit episode_keeper(const any_environment& e) : kind_(e) {}

  void begin(const vector_environment& now) {
    lines_.resize(static_cast<std::size_t>(now.size()));
    for (std::size_t i = 0; i < lines_.size(); ++i) keep_observation(now, i);
  }
  /// Before a step. log_probability(column) gives that of the action, or nothing is known.
  template <class LogProbability>
  void before(const vector_environment& now, const nn::matrix<float>& actions, LogProbability&& log_probability) {
    playing_.clear();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (now.is_over(i)) continue;
      playing_.push_back(i);
      const auto column = static_cast<Eigen::Index>(i);
      line& l = lines_[i];
      l.actions.insert(l.actions.end(), actions.col(column).data(), actions.col(column).data() + actions.rows());
      const mask_view mask = mask_of(now.masks(), column);
      l.masks.insert(l.masks.end(), mask.begin(), mask.end());
      if (const std::optional<double> p = log_probability(column))
        l.log_probabilities.push_back(static_cast<float>(*p));
    }
  }
  void after(const vector_environment& now) {
    for (const std::size_t i : playing_) {
      lines_[i].rewards.push_back(now.rewards()[i]);
      lines_[i].terminated = now.terminated()[i] != 0;
      keep_observation(now, i);
    }
  }
  [[nodiscard]] std::vector<recorded_episode> done() const {
    std::vector<recorded_episode> all;
    for (const line& l : lines_) {
      const auto columns = [](const auto& numbers, int rows) {
        using number = typename std::remove_cvref_t<decltype(numbers)>::value_type;
        return nn::matrix<number>(
            Eigen::Map<const nn::matrix<number>>(numbers.data(), rows, rows == 0 ? 0 : std::ssize(numbers) / rows));
      };
      all.push_back({columns(l.observations, kind_.observations().size()), columns(l.actions, kind_.actions().size()),
                     l.rewards, l.terminated, l.log_probabilities, columns(l.masks, kind_.mask_size())});
    }
    return all;
  }

 private:
  struct line {
    std::vector<float> observations, actions, log_probabilities;
    std::vector<unsigned char> masks;
    std::vector<double> rewards;
    bool terminated = false;
  };
  void keep_observation(const vector_environment& now, std::size_t i) {
    std::vector<float>& to = lines_[i].observations;
    const auto size = static_cast<std::size_t>(kind_.observations().size());
    to.resize(to.size() + size);
    unflatten(kind_.observations(), now.observations().col(static_cast<Eigen::Index>(i)).data(),
              to.data() + to.size() - size);
  }
  any_environment kind_;
  std::vector<line> lines_;
  std::vector<std::size_t> playing_;
};

/// Plays the first episodes of the environments first, .., first + count - 1. `act(environments)` gives their actions,
/// and `log_probability(environments, column)` what is known of one of them.
template <class Act, class LogProbability>
std::vector<recorded_episode> record_played(const evaluation& how, int first, int count, Act&& act,
                                            LogProbability&& log_probability) {
  constexpr int longest = 100'000;  // steps of an episode, where no limit is given
  vector_environment environments(how.environment, how.seed ^ record_purpose, first, count);
  environments.play_once();
  environments.reset();
  episode_keeper keeper(how.environment);
  keeper.begin(environments);
  for (int step = 0; environments.playing() > 0; ++step) {
    if (step == longest && how.environment.time_limit() == 0) environments.fail_endless(longest);
    const nn::matrix<float>& actions = act(environments);
    keeper.before(environments, actions, [&](Eigen::Index i) { return log_probability(environments, i); });
    environments.step(actions);
    keeper.after(environments);
  }
  return keeper.done();
}

/// A task: a policy plays.
inline std::vector<recorded_episode> record_policy(const acting_policy& shared, const evaluation& how, int first,
                                                   int count) {
  acting_policy policy = shared;
  const action_probability probability(policy, how.explores);
  const bool is_known = probability.obstacle().empty();
  acting_policy::draw numbers{how.seed ^ record_purpose, static_cast<std::uint64_t>(first), 0};
  nn::matrix<float> actions;
  return record_played(
      how, first, count,
      [&](const vector_environment& now) -> const nn::matrix<float>& {
        actions = policy.actions(now, how.explores ? &numbers : nullptr);
        ++numbers.step;
        return actions;
      },
      [&](const vector_environment& now, Eigen::Index i) -> std::optional<double> {
        if (!is_known) return {};
        return probability(policy.outputs().col(i).data(), mask_of(now.masks(), i),
                           {actions.col(i).data(), static_cast<std::size_t>(actions.rows())});
      });
}

/// A task: players of the program's own play.
inline std::vector<recorded_episode> record_players(const own_player& kind, const evaluation& how, int first,
                                                    int count) {
  const any_environment& e = how.environment;
  std::vector<std::unique_ptr<player>> players;
  for (int i = 0; i < count; ++i) players.push_back(kind.make(e.observations(), e.actions()));
  nn::matrix<float> actions = nn::matrix<float>::Zero(e.actions().size(), count);
  std::uint64_t step = 0;
  return record_played(
      how, first, count,
      [&](const vector_environment& now) -> const nn::matrix<float>& {
        act_by_players(players, kind, now, {how.seed ^ record_purpose, static_cast<std::uint64_t>(first), step++},
                       actions);
        return actions;
      },
      [](const vector_environment&, Eigen::Index) -> std::optional<double> { return {}; });
}

/// A file that a recording adds its episodes to.
class recording {
 public:
  recording(const std::string& path, const any_environment& e, std::uint64_t source, int wanted)
      : path_(path), environment_(e), source_(source), wanted_(static_cast<std::size_t>(wanted)) {
    output::make_folder_of(path);
    if (is_npz()) return;
    if (::access(path.c_str(), F_OK) == 0) {
      go_on();
    } else {
      output::replace_file(path, head_of_file(e));
    }
    file_ = output::append_file(path, output::mode::append);
  }
  /// How many of the episodes the file has: the first ones.
  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  /// Adds those of a part that the file lacks.
  void add(std::size_t first, std::vector<recorded_episode> part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (first + i < size() || first + i >= wanted_) continue;
      if (!is_npz()) file_.buffer() += record_of(environment_, part[i], {source_, first + i});
      keep(part[i]);
      if (is_npz()) played_.push_back(std::move(part[i]));
    }
    if (!is_npz()) file_.flush();
  }
  void close() const {
    if (is_npz()) write_episode_npz(path_, environment_, played_);
  }
  /// Returns and lengths.
  [[nodiscard]] const std::vector<episode>& kept() const { return kept_; }

 private:
  [[nodiscard]] bool is_npz() const { return path_.ends_with(".npz"); }
  void keep(const recorded_episode& r) {
    kept_.push_back({.total = r.total(), .length = r.steps(), .environment = kept_.size()});
  }
  /// Reads what is there, and cuts off the record that a kill has torn.
  void go_on() {
    const read_file there = read_episode_file(path_, true);
    if (!(there.environment.observations() == environment_.observations()) ||
        !(there.environment.actions() == environment_.actions()) ||
        there.environment.mask_size() != environment_.mask_size())
      throw error(base::text(
          "manta: rl: {} has episodes of {}, with observations {} and actions {}; those of {} are {} and "
          "{}. Record into another file",
          path_, there.environment.name(), there.environment.observations().text(), there.environment.actions().text(),
          environment_.name(), environment_.observations().text(), environment_.actions().text()));
    for (std::size_t i = 0; i < there.episodes.size() && size() < wanted_; ++i) {
      if (there.origins[i].source == source_ && there.origins[i].number == size()) keep(there.episodes[i]);
    }
    if (::truncate(path_.c_str(), static_cast<off_t>(there.whole_bytes)) != 0)
      throw error(base::text("manta: rl: {} cannot be written: {}", path_, std::strerror(errno)));
  }

  std::string path_;
  any_environment environment_;
  std::uint64_t source_;
  std::size_t wanted_;
  output::append_file file_;
  std::vector<episode> kept_;
  std::vector<recorded_episode> played_;  ///< episodes for .npz
};

/// Plays what the file lacks: start(first, count) gives the future of a part. Some parts more than there are ranks are
/// under way, so that memory does not grow with the number of episodes.
template <class Start>
report record_parts(recording& file, int wanted, Start&& start) {
  using part = std::vector<recorded_episode>;
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t most = 2 * static_cast<std::size_t>(manta::size());
  std::deque<std::pair<int, future<part>>> under_way;
  const auto take = [&] {
    auto [first, played] = std::move(under_way.front());
    under_way.pop_front();
    file.add(static_cast<std::size_t>(first), sentence(played));
  };
  for (int first = static_cast<int>(file.size()) / episodes_of_part * episodes_of_part; first < wanted;
       first += episodes_of_part) {
    if (under_way.size() == most) take();
    under_way.emplace_back(first, start(first, std::min(episodes_of_part, wanted - first)));
  }
  while (!under_way.empty()) take();
  file.close();
  report r;
  r.episodes = file.kept().size();
  for (const episode& e : file.kept()) r.steps += e.length;
  summarise(file.kept(), r);
  r.seconds = r.sample_seconds = since(begin);
  return r;
}

/// A number for who plays: the same policy in the same environment, with the same random numbers.
template <class Policy>
std::uint64_t source_of(const Policy& p, const evaluation& how) {
  const std::string bytes = output::pack(p, how);
  return base::hash_bytes(bytes.data(), bytes.size());
}

inline evaluation recording_of(const any_environment& e, const trained_policy& p, const record_options& o) {
  return evaluation_of(p.acting(), {.explore = o.explore, .seed = o.seed, .environment = e}, o.seed);
}

MANTA_DECL recorded_episode one_recorded(const any_environment& e, const trained_policy& p, const record_options& o) {
  return sentence(async<record_policy>(p.acting(), recording_of(e, p, o), 0, 1)).front();
}
MANTA_DECL recorded_episode one_recorded(const any_environment& e, const own_player& p, const record_options& o) {
  return sentence(async<record_players>(p, evaluation{e, o.seed, false}, 0, 1)).front();
}

}  // namespace detail

MANTA_DECL report record(const std::string& path, const any_environment& e, const trained_policy& p,
                         const record_options& o) {
  detail::require_one(".episodes", o.episodes);
  const detail::evaluation how = detail::recording_of(e, p, o);
  detail::recording file(path, e, detail::source_of(p, how), o.episodes);
  const future<acting_policy> policy = put(p.acting());
  return detail::record_parts(
      file, o.episodes, [&](int first, int count) { return async<detail::record_policy>(policy, how, first, count); });
}

MANTA_DECL report record(const std::string& path, const any_environment& e, const own_player& p,
                         const record_options& o) {
  detail::require_one(".episodes", o.episodes);
  const detail::evaluation how{e, o.seed, false};
  detail::recording file(path, e, detail::source_of(p, how), o.episodes);
  return detail::record_parts(
      file, o.episodes, [&](int first, int count) { return async<detail::record_players>(p, how, first, count); });
}

}  // namespace manta::rl
