// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Episodes that somebody has played, as values and in files: what algorithms learn from that have no environment.
//
//   rl::episodes data = rl::read_episodes({"expert.episodes", "random.npz"});
//   std::cout << data.size() << " episodes, mean return " << data.mean_return() << '\n';
//   data.save("all.npz");                                             // Python: numpy.load("all.npz")["rewards"]
//
// A file whose name ends in .npz has the five arrays of an episode of Minari, those of all episodes one after the
// other: observations (one more than steps in each episode), actions, rewards, terminations and truncations.
// Optional are log_probabilities (of the actions, by the policy that acted), masks, and environment (the spaces, as
// manta writes them). A file of any other name is manta's own, which grows episode by episode (record.hpp).
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/module.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/spaces.hpp"

namespace manta::rl {

/// An episode as it was played. All matrices have a column for each step.
struct recorded_episode {
  nn::matrix<float> observations;  ///< as the environment gives them; one more than steps: the last is the end
  nn::matrix<float> actions;       ///< as the environment takes them
  std::vector<double> rewards;
  bool terminated = false;  ///< true: nothing comes after the last state. false: the episode was truncated there
  std::vector<float> log_probabilities = {};  ///< those of the actions, by the policy that acted; empty: unknown
  action_masks masks = {};                    ///< the choices that were allowed; no rows: all

  [[nodiscard]] std::size_t steps() const { return rewards.size(); }
  /// The sum of the rewards.
  [[nodiscard]] MANTA_DECL double total() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations, actions, rewards, terminated, log_probabilities, masks);
  }
};

/// Episodes of the same spaces.
class episodes {
 public:
  /// None yet, of the spaces of this environment; rl::spaces(..) where there is no other.
  explicit episodes(const any_environment& e) : environment_(e) {}

  /// Throws manta::error, with the number of the episode and the step, if arrays differ in length, if a number is NaN,
  /// or if an observation or an action is not in its space.
  MANTA_DECL void add(recorded_episode e);
  /// Adds it likewise; an error names it as episode `number` of `from`, such as a file.
  MANTA_DECL void add(recorded_episode e, const std::string& from, std::size_t number);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Throws manta::error if there are fewer.
  [[nodiscard]] MANTA_DECL const recorded_episode& operator[](std::size_t i) const;
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  /// The steps of all episodes.
  [[nodiscard]] MANTA_DECL std::uint64_t steps() const;
  /// The mean of the sums of rewards. Throws manta::error if there is no episode.
  [[nodiscard]] MANTA_DECL double mean_return() const;
  /// Its spaces are those of the episodes.
  [[nodiscard]] const any_environment& environment() const { return environment_; }

  /// Writes a file for read_episodes, at once or not at all: .npz for numpy, or manta's own. Throws manta::error.
  MANTA_DECL void save(const std::string& path) const;

 private:
  any_environment environment_;
  std::vector<recorded_episode> all_;
};

struct read_options {
  /// The spaces of files that do not tell them, as Python writes .npz: an environment of these spaces, or
  /// rl::spaces(..). Nothing: those of the first file that tells them.
  any_environment environment = {};
  /// A file whose end is torn, as a recording leaves it that was killed, is read up to its last whole episode; else
  /// it is an error.
  bool unfinished = false;
};

/// The episodes of all these files, in their order. Throws manta::error, with file, episode and step, if a file is too
/// short or damaged, if its spaces are not those of the others, or if it has what episodes::add refuses.
MANTA_DECL episodes read_episodes(const std::vector<std::string>& paths, const read_options& o = {});
MANTA_DECL episodes read_episodes(const std::string& path, const read_options& o = {});

namespace detail {

/// Writes the size() numbers of a value whose features() numbers a network reads: the inverse of space::flatten.
MANTA_DECL void unflatten(const space& s, const float* features, float* value);

/// The observations of some columns as a network reads them, unfiltered.
MANTA_DECL nn::matrix<float> features_of(const space& s, const nn::matrix<float>& values);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/offline/episodes.ipp"
#endif
