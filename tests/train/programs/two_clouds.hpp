// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A small recipe whose worker gets a signal in the middle of the third epoch.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "manta/manta.hpp"
#include "manta/train.hpp"

namespace nn = manta::nn;
namespace train = manta::train;

struct two_clouds {
  int signal = 0;  ///< that rank `who` gets; 0: none
  int who = 0;

  nn::network<double> model() const {
    return nn::network<double>(nn::shape{4}, nn::linear(8), nn::tanh(), nn::linear(2));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 1e-3}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const {
    const nn::random numbers(1);
    Eigen::MatrixXd x(4, 200);
    std::vector<int> y(200);
    for (int i = 0; i < 200; ++i) {
      y[static_cast<std::size_t>(i)] = i % 2;
      for (int k = 0; k < 4; ++k) x(k, i) = numbers.normal(static_cast<std::uint64_t>(4 * i + k)) + i % 2;
    }
    return train::samples(std::move(x), std::move(y));
  }
  train::samples validation_data() const { return training_data(); }
  /// Called for each batch: the 25th is in the middle of the third epoch. "rank 3": the share of the samples that rank
  /// 3 takes.
  std::map<std::string, double> metrics(const nn::matrix<double>&, const nn::targets<double>&) const {
    static int batches = 0;
    if (signal != 0 && manta::rank() == who && ++batches == 25) kill(getpid(), signal);
    return {{"rank " + std::to_string(manta::rank()), 1}};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(signal), CEREAL_NVP(who));
  }
};
