// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reinforcement learning from the command line: an algorithm and an environment by their names, and every option of the
// algorithm by its name.
//
//   scripts/run rl_train -- --algorithm ppo --environment CartPole-v1 --workers 2 --stop-return 475 --checkpoint DIR
//   scripts/run rl_train -- --evaluate DIR
//   scripts/run rl_train -- --algorithm marwil --environment CartPole-v1 --data expert.episodes --stop-steps 1000000
//   scripts/run rl_train -- --algorithm alpha_zero --environment against:Connect4
//   scripts/run rl_train -- --algorithm multi --environment TicTacToe --shared true
//   scripts/run rl_train -- --help
//
// DIR has the checkpoint, the command line, and what rl::log writes: report.html, progress.csv, result.jsonl and an
// event file. A training that finds a checkpoint in DIR goes on from it. Expected at the end:
//
//   iteration 32, 65536 steps, 428 episodes: return 476.2 (..
//   100 new episodes: return 500 (500 to 500), length 500
#include <manta/rl.hpp>
#include <manta/rl/alpha_zero.hpp>
#include <manta/rl/multi.hpp>
#include <manta/rl/offline.hpp>
#include <manta/rl/pets.hpp>
#include <manta/rl/qmix.hpp>
#if __has_include(<box2d/box2d.h>)
#include <manta/rl/lunar_lander.hpp>
#endif

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "manta/output/append_file.hpp"
#include "manta/output/bytes.hpp"

namespace rl = manta::rl;

namespace {

/// The options of this program: name, default, what for.
struct known_option {
  const char *name, *value, *help;
};
constexpr known_option known[] = {
    {"algorithm", "ppo", "its name"},
    {"environment", "CartPole-v1",
     "its name; gymnasium:NAME for one of Gymnasium; against:GAME from one seat, the others by chance; joint:GAME; a "
     "game's name for multi"},
    {"stop-return", "", "ends the training when the mean return of 100 episodes is so large"},
    {"stop-steps", "1000000", "ends it after so many steps of all environments"},
    {"checkpoint", "", "the folder for the checkpoint and all files"},
    {"checkpoint-every", "20", "iterations between two checkpoints; at the end there is one in any case"},
    {"evaluate-every", "0", "iterations between two evaluations beside the training; 0: none"},
    {"episodes", "100", "of an evaluation"},
    {"evaluate", "", "plays episodes with the policy of this folder instead, and draws one"},
};

struct command_line {
  std::map<std::string, std::string> own;  ///< the options above
  rl::named_options algorithm;             ///< those of the algorithm

  [[nodiscard]] const std::string& text(const char* name) const { return own.at(name); }
  template <class Number>
  [[nodiscard]] Number number(const char* name) const {
    const std::string& t = text(name);
    Number n{};
    const auto [stopped, problem] = std::from_chars(t.data(), t.data() + t.size(), n);
    if (problem != std::errc{} || stopped != t.data() + t.size())
      throw manta::error(std::string("--") + name + " is \"" + t + "\"; it takes a number");
    return n;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(own, algorithm);
  }
};

/// Policies of several seats have another face than the other algorithms. Their options are those of each seat's
/// policy, which learns by PPO, and two more.
const std::string many = "multi";

rl::named_options options_of(const std::string& algorithm) {
  if (algorithm != many) return rl::algorithm_options(algorithm);
  rl::named_options all = rl::algorithm_options("ppo");
  all.merge(rl::named_options{{"shared", "false"}, {"central_values", "false"}});
  return all;
}

std::string usage(const std::string& algorithm) {
  std::string out = "usage: rl_train [--option value]..\n";
  const auto line = [&](const std::string& name, const std::string& value, const std::string& help) {
    std::string option = "  --" + name + (value.empty() ? "" : " " + value);
    option.resize(std::max<std::size_t>(option.size() + 2, 34), ' ');
    out += option + help + '\n';
  };
  for (const known_option& o : known) line(o.name, o.value, o.help);
  out += "options of " + algorithm + ", with their defaults:\n";
  for (const auto& [name, value] : options_of(algorithm)) line(name, value, "");
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    out += what;
    for (const std::string& name : names) out += ' ' + name;
    out += '\n';
  };
  std::vector<std::string> names = rl::algorithm_names();
  names.push_back(many);
  list("algorithms:", names);
  list("environments:", rl::environment_names());
  list("games:", rl::game_names());
  return out;
}

/// Throws what is wrong with the words, with the options that there are.
command_line parsed(int argc, char** argv) {
  command_line c;
  for (const known_option& o : known) c.own[o.name] = o.value;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    std::optional<std::string> value;
    if (const auto equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (!name.starts_with("--")) throw manta::error("\"" + name + "\" is no option; options begin with --");
    name.erase(0, 2);
    if (name == "help") {
      c.own["help"] = "";
      continue;
    }
    if (!value) {
      if (i + 1 == argc) throw manta::error("--" + name + " needs a value");
      value = argv[++i];
    }
    const bool is_own = c.own.contains(name);
    if (!is_own) std::replace(name.begin(), name.end(), '-', '_');
    (is_own ? c.own : c.algorithm)[name] = *value;
  }
  const rl::named_options options = options_of(c.text("algorithm"));
  for (const auto& [name, value] : c.algorithm) {
    if (!options.contains(name)) throw manta::error("there is no option --" + name + "\n" + usage(c.text("algorithm")));
  }
  return c;
}

/// An environment by its name, or by what stands before that: one of Gymnasium, or one that is made of a game.
rl::any_environment environment_of(const std::string& name) {
  const auto after = [&](std::string_view begin) {
    return name.starts_with(begin) ? std::optional(name.substr(begin.size())) : std::nullopt;
  };
  if (const auto its = after("gymnasium:")) return rl::gymnasium(*its);
  if (const auto its = after("against:")) return rl::against(rl::any_game(*its));
  if (const auto its = after("joint:")) return rl::joint(rl::any_game(*its));
  return name;
}

std::unique_ptr<rl::algorithm> made(const command_line& c) {
  return rl::make_algorithm(c.text("algorithm"), environment_of(c.text("environment")), c.algorithm);
}

/// A policy for each seat, or one for all of them.
std::unique_ptr<rl::multi> made_of_many(const command_line& c) {
  const rl::any_game game = c.text("environment");
  rl::named_options values = c.algorithm;
  const auto is_true = [&](const char* option) {
    const auto its = values.extract(option);
    if (!its.empty() && its.mapped() != "true" && its.mapped() != "false")
      throw manta::error(std::string("--") + option + " is \"" + its.mapped() + "\"; it takes true or false");
    return !its.empty() && its.mapped() == "true";
  };
  const bool shared = is_true("shared"), central = is_true("central_values");
  const auto told = rl::named_options_as<rl::ppo_options>(values), standard = rl::ppo_options{};
  rl::multi_options o{.workers = told.workers,
                      .seed = told.seed,
                      .environments = told.environments,
                      .fragment = told.fragment,
                      .central_values = central};
  rl::ppo_options each = told;
  each.workers = standard.workers;
  each.seed = standard.seed;
  each.environments = standard.environments;
  each.fragment = standard.fragment;
  if (shared) o.policies = {{"all", each}};
  for (int i = 0; i < game.seats().size() && !shared; ++i) o.policies.emplace_back(game.seats()[i].name, each);
  return std::make_unique<rl::multi>(game, o);
}

void print(const rl::multi_report& r) { std::cout << r << std::endl; }
void print(const rl::report& r) {
  std::cout << r.episodes << " new episodes: return " << r.mean_return << " (" << r.min_return << " to " << r.max_return
            << "), length " << r.mean_length << std::endl;
}

/// The command line of the training in a folder.
command_line saved_in(const std::string& folder) {
  command_line c;
  const std::string saved = manta::output::read_file(folder + "/command_line");
  if (saved.empty()) throw manta::error("there is no training in " + folder + ": train with --checkpoint " + folder);
  manta::output::unpack(saved, c);
  return c;
}

int evaluate(const command_line& asked) {
  const std::string folder = asked.text("evaluate");
  const command_line c = saved_in(folder);
  if (c.text("algorithm") == many) {
    const auto training = made_of_many(c);
    training->load(folder + "/checkpoint");
    print(training->evaluate(asked.number<int>("episodes")));
    return 0;
  }
  const auto algorithm = made(c);
  algorithm->load(folder + "/checkpoint");
  print(algorithm->evaluate(asked.number<int>("episodes")));
  for (const std::string& frame : algorithm->frames(20)) std::cout << frame << '\n';
  return 0;
}

/// The least return of all policies: each of them has to reach what is wanted.
double return_of(const rl::multi_report& r) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [name, its] : r.policies) least = std::min(least, its.mean_return);
  return least;
}
double return_of(const rl::report& r) { return r.mean_return; }

/// One evaluation at a time, beside the training.
class evaluations_beside {
 public:
  evaluations_beside(rl::log& log, const command_line& c)
      : log_(log), every_(c.number<std::uint64_t>("evaluate-every")), episodes_(c.number<int>("episodes")) {}
  void after(std::uint64_t iteration, rl::algorithm& a) {
    if (running_.valid() && running_.ready()) {
      log_.evaluation(running_.get());
      running_ = {};
    }
    if (every_ > 0 && iteration % every_ == 0 && !running_.valid()) running_ = a.evaluate_async(episodes_);
  }
  void after(std::uint64_t /*iteration*/, const rl::multi& /*training*/) const {}  // its evaluations wait

 private:
  rl::log& log_;
  std::uint64_t every_;
  int episodes_;
  manta::future<rl::report> running_;
};

void show_end(rl::algorithm& a, int episodes, rl::log& log) {
  const rl::report result = a.evaluate(episodes);
  log.evaluation(result);
  log.episode(a.frames());
  print(result);
}
void show_end(const rl::multi& training, int episodes, rl::log& /*log*/) { print(training.evaluate(episodes)); }

template <class Algorithm>
int train(const command_line& c, Algorithm& algorithm) {
  const std::string folder = c.text("checkpoint"), file = folder + "/checkpoint";
  const bool goes_on = !folder.empty() && std::filesystem::exists(file);
  if (goes_on) algorithm.load(file);
  const std::uint64_t most = c.number<std::uint64_t>("stop-steps");
  rl::log log(folder,
              {.title = c.text("algorithm") + " in " + c.text("environment"), .steps = most, .append = goes_on});
  if (!folder.empty()) manta::output::replace_file(folder + "/command_line", manta::output::pack(c));
  const double wanted =
      c.text("stop-return").empty() ? std::numeric_limits<double>::infinity() : c.number<double>("stop-return");
  const auto save_every = c.number<std::uint64_t>("checkpoint-every");
  evaluations_beside evaluations(log, c);

  decltype(algorithm.train()) r;
  do {
    log(r = algorithm.train());
    if (r.iteration % 10 == 0) std::cout << r << std::endl;
    if (!folder.empty() && save_every > 0 && r.iteration % save_every == 0) algorithm.save(file);
    evaluations.after(r.iteration, algorithm);
    if (manta::this_task::stop_requested()) {  // the job has to end: a later start goes on
      if (!folder.empty()) algorithm.save(file);
      return manta::requeue_status;
    }
  } while (return_of(r) < wanted && r.steps < most);

  if (r.iteration % 10 != 0) std::cout << r << std::endl;
  if (!folder.empty()) algorithm.save(file);
  show_end(algorithm, c.number<int>("episodes"), log);
  return c.text("stop-return").empty() || return_of(r) >= wanted ? 0 : 1;
}

int train(const command_line& c) {
  return c.text("algorithm") == many ? train(c, *made_of_many(c)) : train(c, *made(c));
}

}  // namespace

int main(int argc, char** argv) {
  rl::register_algorithm<rl::alpha_zero>("alpha_zero");  // rl.hpp is without these
  rl::register_algorithm<rl::bc>("bc");
  rl::register_algorithm<rl::cql>("cql");
  rl::register_algorithm<rl::marwil>("marwil");
  rl::register_algorithm<rl::pets>("pets");
  rl::register_algorithm<rl::qmix>("qmix");
  rl::register_algorithm<rl::vdn>("vdn");
  return manta::run(argc, argv, [&] {
    try {
      const command_line c = parsed(argc, argv);
      if (c.own.contains("help")) {
        std::cout << usage(c.text("algorithm"));
        return 0;
      }
      return c.text("evaluate").empty() ? train(c) : evaluate(c);
    } catch (const manta::error& e) {
      std::cerr << "rl_train: " << e.what() << '\n';
      return 2;
    }
  });
}
