// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The face that all algorithms have.
//
//   rl::ppo algorithm("CartPole-v1", {.workers = 4, .seed = 1});
//   for (rl::report r; (r = algorithm.train()).mean_return < 475;) std::cout << r << '\n';
//   std::cout << algorithm.evaluate(100).mean_return << '\n';                     // or (100, {.explore = true})
//   algorithm.save("checkpoint");
//   int a = algorithm.act(observation);
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/base/report.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/learning/learner.hpp"
#include "manta/rl/policies/evaluation.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

/// What happens to the episodes under way when a training goes on from a checkpoint: they go on, or begin anew, in this
/// object's environment, which may then be another one of the same observations and actions.
enum start_of_episodes { go_on, begin_anew };

struct load_options {
  start_of_episodes episodes = go_on;
};

class algorithm {
 public:
  algorithm(const algorithm&) = delete;
  algorithm& operator=(const algorithm&) = delete;
  virtual ~algorithm() = default;

  /// One iteration: workers act, the learner learns; waits. Throws manta::error with environment, episode and step for
  /// what an environment does wrong, and if the learner diverges; the text says in which iteration.
  MANTA_DECL report train();
  /// Runs this number of episodes on seeds that training does not use, by tasks on any ranks; waits. The best actions
  /// are taken, unless the options say otherwise. The result is the same for any number of ranks. Throws manta::error
  /// if an episode does not end: within the limit that the environment was given, or 100 000 steps where it has none.
  MANTA_DECL report evaluate(int episodes, const evaluate_options& o = {});
  /// Evaluates the policy of this moment, and returns at once: training may go on meanwhile.
  MANTA_DECL future<report> evaluate_async(int episodes, const evaluate_options& o = {});

  /// f is called in train(), on the rank of the caller, for each episode that has ended, in the order in which they are
  /// counted. What f throws leaves train(). What has to see each step runs with the environment: callbacks.hpp.
  void on_episode(std::function<void(const episode&)> f) { on_episode_.push_back(std::move(f)); }
  /// f is called at the end of each train(), and may change the report.
  void on_iteration(std::function<void(report&)> f) { on_iteration_.push_back(std::move(f)); }

  /// The action for one observation, as the environment gives it: the best one, or one that is drawn as in training.
  /// A policy with a memory (.lstm, .attention) remembers the observations of the calls before, back to
  /// begin_episode() or train().
  template <class Observation>
  action act(const Observation& observation, const act_options& o = {}) {
    return acting().act(observation, o);
  }
  /// The action of the present policy, of the choices that are allowed: `mask` is a range as an environment's
  /// action_mask() gives it, and must be given if the environment has masks. Throws manta::error if its size is wrong
  /// or if it allows none.
  template <class Observation, detail::mask_range Mask>
  action act(const Observation& observation, const Mask& mask, const act_options& o = {}) {
    return acting().act(observation, mask, o);
  }
  /// The next act() is the first of an episode: a policy with a memory forgets what it saw.
  void begin_episode() {
    if (acting_) acting_->begin_episode();
  }
  /// The policy of this moment as a value: training does not change it any more.
  [[nodiscard]] trained_policy trained() const { return trained_policy(learned().acting()); }

  /// An episode as pictures in text, one for each state: the first one that evaluate plays with these options. None
  /// where the environment has no text().
  [[nodiscard]] MANTA_DECL std::vector<std::string> frames(int longest = 500, const evaluate_options& o = {}) const;

  /// Writes everything that is needed to go on, and the policy of this moment for load_policy, to a file, at once or
  /// not at all. Throws if the environment's class has no serialize.
  MANTA_DECL void save(const std::string& path);
  /// Goes on from there, with the options of this object: with equal ones bit for bit, with any number of workers
  /// (asynchronous algorithms only with one). A rate and other settings of optimisers are this object's, their moments
  /// are the file's, and so is the seed, unless episodes begin anew. Throws manta::error, and changes nothing, if the
  /// file is of another algorithm or of other networks; or, unless episodes begin anew, of another environment or of
  /// one that was made from other arguments.
  MANTA_DECL void load(const std::string& path, const load_options& o = {});

  /// What save writes and load reads, as bytes in memory.
  [[nodiscard]] MANTA_DECL std::string save_to_bytes();
  MANTA_DECL void load_from_bytes(const std::string& bytes, const load_options& o = {});

  [[nodiscard]] const any_environment& environment() const { return environment_; }

 protected:
  MANTA_DECL algorithm(std::string name, const any_environment& e, std::uint64_t seed);

  /// Fills in the learner's figures and the times, and calls count_episodes and count_steps.
  virtual void iterate(report& r) = 0;
  /// What learns; of several, the first.
  [[nodiscard]] virtual const learner& learned() const = 0;
  [[nodiscard]] virtual std::string state() = 0;
  /// begin_anew: the environments of the state are left aside.
  virtual void restore(const std::string& state, start_of_episodes episodes) = 0;

  /// Episodes may come in any order.
  MANTA_DECL void count_episodes(std::vector<episode> ended);
  void count_steps(std::uint64_t n) { steps_ += n; }
  /// Iterations before this one.
  [[nodiscard]] std::uint64_t iteration() const { return iteration_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  any_environment environment_;
  std::uint64_t seed_;

 private:
  [[nodiscard]] MANTA_DECL trained_policy& acting();
  /// iterate() with what it throws, and with what it leaves behind, looked at.
  void iterate_with_care(report& r);

  std::string name_;
  std::uint64_t iteration_ = 0, steps_ = 0, episodes_ = 0;
  std::deque<episode> last_episodes_;
  std::vector<std::function<void(const episode&)>> on_episode_;
  std::vector<std::function<void(report&)>> on_iteration_;
  std::optional<trained_policy> acting_;  ///< policy for act(), until the policy changes
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/learning/algorithm.ipp"
#endif
