// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A rank kills itself in the middle of an iteration, in a step of an environment: what PPO, evolution strategies and
// DQN have learnt at the end is the same, bit for bit, as in an undisturbed training, and so is what AlphaZero, PETS,
// QMIX and the policies of many agents, in the middle of a league, have learnt; A3C, IMPALA and Ape-X go on. A recording
// has the same episodes, and marwil learns the same from them when a worker's rank dies. To be started by manta-run on
// four ranks.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "manta/output/bytes.hpp"
#include "manta/rl.hpp"
#include "manta/rl/alpha_zero.hpp"
#include "manta/rl/multi.hpp"
#include "manta/rl/offline.hpp"
#include "manta/rl/pets.hpp"
#include "manta/rl/qmix.hpp"

namespace rl = manta::rl;

/// A pole whose rank may die at a step.
struct deadly_pole {
  int victim = 0, at = 0;  // the rank, and its steps until then; 0: nobody dies
  rl::cart_pole pole = {};

  static rl::box observation_space() { return rl::cart_pole::observation_space(); }
  static rl::discrete action_space() { return rl::cart_pole::action_space(); }
  auto reset(rl::random& random) { return pole.reset(random); }
  auto step(int action) {
    static int steps = 0;
    if (victim > 0 && static_cast<int>(manta::rank()) == victim && ++steps == at) kill(getpid(), SIGKILL);
    return pole.step(action);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(pole);
  }
};

/// Likewise a pendulum.
struct deadly_pendulum {
  int victim = 0, at = 0;
  rl::pendulum its = {};

  static rl::box observation_space() { return rl::pendulum::observation_space(); }
  static rl::box action_space() { return rl::pendulum::action_space(); }
  auto reset(rl::random& random) { return its.reset(random); }
  auto step(float torque) {
    static int steps = 0;
    if (victim > 0 && static_cast<int>(manta::rank()) == victim && ++steps == at) kill(getpid(), SIGKILL);
    return its.step(torque);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(its);
  }
};

/// A checkpoint without the policy as a value, which stands first and names the environment's arguments.
std::string without_policy(const std::string& checkpoint) {
  std::uint64_t size = 0;
  std::memcpy(&size, checkpoint.data(), sizeof size);
  return checkpoint.substr(sizeof size + size);
}

/// Everything that a training of some iterations leaves.
template <class Algorithm>
std::string trained(int victim, int at, const typename Algorithm::options& o) {
  Algorithm algorithm(rl::environment<deadly_pole>(victim, at).with_time_limit(200), o);
  double sum = 0;
  for (int i = 0; i < 5; ++i) sum += algorithm.train().mean_return;
  std::printf("returns sum up to %g\n", sum);
  return without_policy(algorithm.save_to_bytes()) + std::to_string(sum) + ' ' +
         std::to_string(algorithm.evaluate(40).mean_return);
}

/// A training without a fixed order goes on: the learner takes all its steps, each of them with a fragment.
template <class Algorithm>
bool goes_on(int victim) {
  Algorithm algorithm(rl::environment<deadly_pole>(victim, 350).with_time_limit(200),
                      {.workers = 3, .environments = 6, .fragment = 20, .updates = 30});
  for (int i = 0; i < 5; ++i) algorithm.train();
  const rl::report r = algorithm.train();
  std::printf("%llu steps, return %g\n", static_cast<unsigned long long>(r.steps), r.mean_return);
  return r.steps >= 6 * 30 * 40;
}

/// The same of apex, of whose two memories one may lie on the rank that dies.
bool replays_go_on(int victim) {
  rl::apex algorithm(
      rl::environment<deadly_pole>(victim, 350).with_time_limit(200),
      {.workers = 3, .replays = 3, .environments = 6, .learning_starts = 200, .model = {.hidden = {16}}});
  rl::report r;
  for (int i = 0; i < 30; ++i) r = algorithm.train();
  std::printf("%llu steps, replay ratio %g, return %g\n", static_cast<unsigned long long>(r.steps),
              r.learner.at("replay_ratio"), r.mean_return);
  return r.steps >= 30 * 6 * 16 && r.learner.at("replay_ratio") > 0.9 * 32;
}

/// A linear network whose rank may die in a forward pass.
class deadly_net {
 public:
  using scalar = float;
  deadly_net(int features, int outputs, int victim)
      : victim_(victim), m_(outputs), p_(static_cast<std::size_t>(outputs * features), 0.01F), g_(p_.size()) {}
  const manta::nn::matrix<float>& forward(const manta::nn::matrix<float>& x) {
    static int calls = 0;
    if (victim_ > 0 && static_cast<int>(manta::rank()) == victim_ && ++calls == 100) kill(getpid(), SIGKILL);
    x_ = x;
    return y_ = Eigen::Map<manta::nn::matrix<float>>(p_.data(), m_, x.rows()) * x;
  }
  void backward(const manta::nn::matrix<float>& dy) {
    Eigen::Map<manta::nn::matrix<float>>(g_.data(), m_, x_.rows()) += dy * x_.transpose();
  }
  std::span<float> parameters() { return p_; }
  std::span<const float> parameters() const { return p_; }
  std::span<float> gradients() { return g_; }

 private:
  int victim_, m_;
  std::vector<float> p_, g_;
  manta::nn::matrix<float> x_, y_;
};

/// What marwil learns with three workers.
std::vector<float> imitated(int victim, const rl::episodes& data) {
  rl::marwil algorithm(data, {.workers = 3, .seed = 2, .model = {.network = rl::own<deadly_net>(victim)}});
  for (int i = 0; i < 10; ++i) algorithm.train();
  const rl::trained_policy p = algorithm.trained();
  const std::span<const float> w = p.network().parameters();
  return {w.begin(), w.end()};
}

/// The episodes that a recording leaves.
rl::episodes recorded(int victim) {
  const rl::environment<deadly_pole> e(victim, 700);
  const std::string file = "killed-" + std::to_string(getpid()) + "-" + std::to_string(victim) + ".episodes";
  rl::record(file, e.with_time_limit(200), rl::ppo("CartPole-v1").trained(),
             {.episodes = 300, .seed = 3, .explore = true});
  rl::episodes data = rl::read_episodes(file);
  std::remove(file.c_str());
  return data;
}

/// As bytes, without the environment, whose arguments differ.
std::string bytes_of(const rl::episodes& data) {
  std::string bytes;
  for (const rl::recorded_episode& e : data)
    bytes += manta::output::pack(e.observations, e.actions, e.rewards, e.log_probabilities);
  return bytes;
}

int learns_from_files() {
  const rl::episodes data = recorded(0);
  const bool same_data = bytes_of(data) == bytes_of(recorded(2)), same_policy = imitated(0, data) == imitated(3, data);
  for (const auto& [name, same] : {std::pair("recording", same_data), {"marwil", same_policy}})
    std::printf("%s: %s\n", name, same ? "the same" : "not the same");
  return same_data && same_policy ? 0 : 1;
}

/// Tic-tac-toe on a rank that may die at a step.
struct deadly_game {
  int victim = 0, at = 0;
  rl::tic_tac_toe game = {};

  static rl::seats seats() { return rl::tic_tac_toe::seats(); }
  void reset(rl::random& random, rl::table& t) { game.reset(random, t); }
  void step(rl::table& t) {
    static int steps = 0;
    if (victim > 0 && static_cast<int>(manta::rank()) == victim && ++steps == at) kill(getpid(), SIGKILL);
    game.step(t);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(game);
  }
};

std::string self_play(int victim, int at) {
  rl::alpha_zero a(rl::environment<deadly_game>(victim, at),
                   {.workers = 3, .seed = 4, .games = 192, .simulations = 10});
  for (int i = 0; i < 3; ++i) a.train();
  const rl::match m = rl::play(a.game(), a.trained(10), {}, 100);
  std::printf("%d won, %d lost\n", m.won, m.lost);
  return without_policy(a.save_to_bytes()) + std::to_string(m.won);
}

/// The second seat belongs to a policy that learns and to its copy by turns.
struct league {
  std::string operator()(int seat, std::uint64_t episode) const {
    if (seat == 0) return "0";
    return episode % 2 == 0 ? "1" : "1-1";
  }
};

/// Two policies that learn, in turn, after two iterations in a league. The rank dies in the third one.
std::string many_agents(int victim, int at) {
  rl::multi training(rl::environment<deadly_game>(victim, at),
                     {.workers = 3, .seed = 4, .environments = 6, .fragment = 60, .policies = {{"0", {}}, {"1", {}}}});
  std::string all;
  for (int i = 0; i < 5; ++i) {
    if (i == 2) {
      training.snapshot("1");
      training.map(rl::own<league>());
    }
    const rl::multi_report r = training.train();
    all += std::to_string(r.episodes) + ' ' + std::to_string(r["0"].mean_return) + ' ';
  }
  for (const char* name : {"0", "1"}) all += manta::output::pack(training.trained(name).network());
  return all;
}

/// Values of both seats, learnt together.
std::string team(int victim, int at) {
  rl::qmix a(rl::environment<deadly_game>(victim, at),
             {.workers = 3, .seed = 4, .environments = 6, .learning_starts = 200, .model = {.hidden = {16}}});
  std::string all;
  for (int i = 0; i < 5; ++i) all += std::to_string(a.train().mean_return) + ' ';
  for (const char* seat : {"0", "1"}) all += manta::output::pack(a.trained(seat).network());
  return all;
}

bool games_are_the_same() {
  const bool zero = self_play(0, 0) == self_play(2, 5000), multi = many_agents(0, 0) == many_agents(3, 350),
             qmix = team(0, 0) == team(2, 200);
  for (const auto& [name, same] : {std::pair("alpha_zero", zero), {"multi", multi}, {"qmix", qmix}})
    std::printf("%s: %s\n", name, same ? "the same" : "not the same");
  return zero && multi && qmix;
}

/// What pets learns where a rank dies in the middle of an episode that it plans.
std::string planned(int victim, int at) {
  rl::pets p(rl::environment<deadly_pendulum>(victim, at).with_time_limit(50), {.workers = 3,
                                                                                .seed = 4,
                                                                                .environments = 6,
                                                                                .fragment = 15,
                                                                                .learning_starts = 90,
                                                                                .models = 2,
                                                                                .horizon = 5,
                                                                                .candidates = 20,
                                                                                .elites = 4,
                                                                                .model = {.hidden = {16}}});
  double last = 0;
  for (int i = 0; i < 4; ++i) last = p.train().mean_return;
  std::printf("return %g\n", last);
  return p.trained().acting().choice().planner.value().arguments + std::to_string(last) + ' ' +
         std::to_string(p.evaluate(3).mean_return);
}

bool plans_are_the_same() {
  const bool same = planned(0, 0) == planned(2, 70);
  std::printf("pets: %s\n", same ? "the same" : "not the same");
  return same;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    if (argc > 1 && argv[1] == std::string("asynchronous"))
      return goes_on<rl::a3c>(2) && goes_on<rl::impala>(3) && replays_go_on(1) ? 0 : 1;
    if (argc > 1 && argv[1] == std::string("recording")) return learns_from_files();
    if (argc > 1 && argv[1] == std::string("models")) return plans_are_the_same() ? 0 : 1;
    if (argc > 1 && argv[1] == std::string("games")) return games_are_the_same() ? 0 : 1;
    const int at = argc > 1 ? std::atoi(argv[1]) : 350;  // of PPO's thousand steps on that rank
    const rl::ppo_options ppo{.workers = 3, .seed = 4, .environments = 6, .fragment = 100};
    const rl::es_options es{.workers = 3, .seed = 4};
    const rl::dqn_options dqn{
        .workers = 3, .seed = 4, .environments = 6, .fragment = 40, .learning_starts = 300, .model = {.hidden = {32}}};
    const bool ppo_same = trained<rl::ppo>(0, 0, ppo) == trained<rl::ppo>(2, at, ppo),
               es_same = trained<rl::es>(0, 0, es) == trained<rl::es>(3, 1000, es),
               dqn_same = trained<rl::dqn>(0, 0, dqn) == trained<rl::dqn>(1, 150, dqn);  // the last rank besides this
    for (const auto& [name, same] : {std::pair("ppo", ppo_same), {"es", es_same}, {"dqn", dqn_same}})
      std::printf("%s: %s\n", name, same ? "the same" : "not the same");
    return ppo_same && es_same && dqn_same ? 0 : 1;
  });
}
