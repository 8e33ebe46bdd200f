// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How much an algorithm learns from what models of the environment have dreamt.
#pragma once

#include <cereal/cereal.hpp>
#include <memory>

#include "manta/rl/policies/policy.hpp"

namespace manta::rl {

struct dream_options {
  int models = 0;            ///< networks that learn what the environment does; 0: no dreams
  int length = 1;            ///< steps of a dream, which begins with what has really been seen
  int per_step = 20;         ///< batches of dreamt steps that are learnt from for each step of the environments
  double rate = 1e-3;        ///< learning rate of the models' Adam
  model_options model = {};  ///< layers of each network

  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::make_nvp("dream_models", models), cereal::make_nvp("dream_length", length),
            cereal::make_nvp("dreams_per_step", per_step), cereal::make_nvp("dream_rate", rate));
  }
};

namespace detail {

class dreams;
/// What learns the models and dreams by them; its class is known where it is compiled.
using dreams_pointer = std::unique_ptr<dreams, void (*)(dreams*)>;

}  // namespace detail

}  // namespace manta::rl
