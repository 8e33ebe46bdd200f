// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins tune and rl: an algorithm as a trial of a search. The parameters of the space are members of its
// options, by their names. The environment is a template argument, its name; one of the program's own has a
// name by rl::register_environment.
//
//   auto best = tune::run<rl::trial<rl::ppo, "CartPole-v1">>({{"rate", tune::loguniform(1e-4, 1e-2)}},
//                                                           {.maximise = "mean_return", .trials = 20, .scheduler =
//                                                           tune::asha({.max = 30})}).best();
//
// Classes of one's own, and all else that the space does not change, come from a function that gives the options. It
// may read parameters of the space which are no members of them:
//
//   rl::ppo_options mine(const rl::trial_values& v) {
//     return {.model = {.network = rl::own<polynomial>(), .distribution = rl::own<careful>(v.get<float>("part"))}};
//   }
//   tune::run<rl::trial<rl::ppo, "CartPole-v1", mine>>({{"part", tune::uniform(0., 0.1)}, {"rate", ..}}, ..);
#pragma once

#include <cereal/types/string.hpp>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

#include "manta/output/bytes.hpp"
#include "manta/rl.hpp"
#include "manta/tune/configured.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/random.hpp"
#include "manta/tune/trainable.hpp"

namespace manta::rl {

/// The name of an environment as a template argument.
template <std::size_t N>
struct environment_name {
  char text[N]{};
  constexpr environment_name(const char (&t)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = t[i];
  }
};

/// The configuration of a trial, for the function that gives its options. It notes which parameters were asked for.
class trial_values {
 public:
  explicit trial_values(const tune::config& c) : config_(c) {}
  /// Throws manta::error if there is none of that name.
  template <class T>
  [[nodiscard]] T get(const std::string& name) const {
    asked_.insert(name);
    return config_.get<T>(name);
  }
  template <class T>
  [[nodiscard]] T get_or(const std::string& name, T otherwise) const {
    asked_.insert(name);
    return config_.get_or<T>(name, otherwise);
  }
  /// The parameters that were not asked for.
  [[nodiscard]] tune::config rest() const {
    tune::config left;
    for (const auto& [name, value] : config_) {
      if (!asked_.contains(name)) left.set(name, value);
    }
    return left;
  }

 private:
  const tune::config& config_;
  mutable std::set<std::string> asked_;
};

namespace detail {
/// The options of a trial before the configuration sets members of them. `From`: a function that gives them, or null.
template <class Options, auto From>
Options trial_options(const trial_values& v) {
  using given = decltype(From);
  constexpr bool is_none = std::is_same_v<given, std::nullptr_t>;
  constexpr bool is_right =
      is_none || std::is_invocable_r_v<Options, given> || std::is_invocable_r_v<Options, given, const trial_values&>;
  static_assert(is_right,
                "manta: rl: the third argument of rl::trial is a function that gives the algorithm's options; it takes "
                "nothing, or const rl::trial_values&");
  if constexpr (is_none || !is_right) {
    return {};
  } else if constexpr (std::is_invocable_v<given>) {
    return From();
  } else {
    return From(v);
  }
}
}  // namespace detail

/// One trial trains by the workers that its options name. Each report is an iteration: "mean_return",
/// "episodes", "steps" and the learner's figures. `Options`: a function that gives the options with which all
/// trials begin. A checkpoint is of one network and one distribution, so population based training cannot change
/// what these are made of.
template <class Algorithm, environment_name Environment = "CartPole-v1", auto Options = nullptr>
class trial {
 public:
  void setup(const tune::config& c) {
    const trial_values values(c);
    settings s;
    s.options = detail::trial_options<typename Algorithm::options, Options>(values);
    tune::configure(s, values.rest(), "the algorithm's options");
    if constexpr (requires { s.options.seed; }) {
      if (repeat_ > 0) s.options.seed = tune::random(s.options.seed, static_cast<std::uint64_t>(repeat_)).bits();
    }
    algorithm_ = std::make_unique<Algorithm>(any_environment(s.environment), s.options);
  }
  /// With .repeats of the experiment, each run but the first has another seed than the options say.
  void repeat(int k) { repeat_ = k; }
  tune::metrics step() {
    const report r = algorithm_->train();
    tune::metrics m;
    m.set("mean_return", r.mean_return);
    m.set("episodes", static_cast<double>(r.episodes));
    m.set("steps", static_cast<double>(r.steps));
    for (const auto& [name, value] : r.learner) m.set(name, value);
    return m;
  }
  [[nodiscard]] std::string save() const { return algorithm_->save_to_bytes(); }
  void load(const std::string& bytes) { algorithm_->load_from_bytes(bytes); }

 private:
  struct settings {
    std::string environment = Environment.text;
    typename Algorithm::options options;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(CEREAL_NVP(environment));
      options.serialize(archive);
    }
  };

  std::unique_ptr<Algorithm> algorithm_;
  int repeat_ = 0;
};

}  // namespace manta::rl
