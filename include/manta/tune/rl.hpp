// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins tune and rl: an algorithm as a trial of a search. The parameters of the space are members of its options, by
// their names. The environment is a template argument: a class with `static rl::any_environment environment()`, or the
// literal name of one.
//
//   auto best = tune::run<rl::trial<rl::ppo, "CartPole-v1">>({{"rate", tune::loguniform(1e-4, 1e-2)}},
//                                                           {.maximise = "mean_return", .trials = 20, .scheduler =
//                                                           tune::asha({.max = 30})}).best();
#pragma once

#include <cereal/types/string.hpp>
#include <memory>
#include <string>

#include "manta/output/bytes.hpp"
#include "manta/rl.hpp"
#include "manta/tune/configured.hpp"
#include "manta/tune/metrics.hpp"
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

/// One trial trains by the workers that its options name. Each report is an iteration: "mean_return", "episodes",
/// "steps" and the learner's figures. `Name`: of a registered environment.
template <class Algorithm, environment_name Name = "CartPole-v1">
class trial {
 public:
  void setup(const tune::config& c) {
    settings s;
    tune::configure(s, c, "the algorithm's options");
    algorithm_ = std::make_unique<Algorithm>(any_environment(s.environment), s.options);
  }
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
  void load(const std::string& bytes) { algorithm_->load_from_bytes(bytes, true); }

 private:
  struct settings {
    std::string environment = Name.text;
    typename Algorithm::options options;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(CEREAL_NVP(environment));
      options.serialize(archive);
    }
  };

  std::unique_ptr<Algorithm> algorithm_;
};

}  // namespace manta::rl
