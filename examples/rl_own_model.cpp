// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A network and a distribution of actions of one's own: PPO keeps a pole upright with a polynomial of second degree,
// and with choices that are never certain. Workers on all ranks make objects of both classes.
//
//   scripts/run rl_own_model -n 2
//
// Expected output:
//   checkpoints are of 4 -> polynomial -> 2 and 4 -> polynomial -> 1 with careful(0.02)
//   100 new episodes: 500
#include <manta/rl.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <vector>

namespace rl = manta::rl;
namespace nn = manta::nn;

/// y = W f(x), where f(x) has 1, the features, and the products of any two of them.
class polynomial {
 public:
  using scalar = float;
  polynomial(int features, int outputs)
      : n_(features), m_(outputs), p_(static_cast<std::size_t>(m_ * terms())), g_(p_.size()) {}

  // [network]
  const nn::matrix<float>& forward(const nn::matrix<float>& x) {
    f_.resize(terms(), x.cols());
    f_.row(0).setOnes();
    f_.middleRows(1, n_) = x;
    for (Eigen::Index i = 0, row = n_ + 1; i < n_; ++i) {
      for (Eigen::Index j = i; j < n_; ++j) f_.row(row++) = x.row(i).cwiseProduct(x.row(j));
    }
    return y_ = Eigen::Map<nn::matrix<float>>(p_.data(), m_, terms()) * f_;
  }
  void backward(const nn::matrix<float>& dy) {
    Eigen::Map<nn::matrix<float>>(g_.data(), m_, terms()) += dy * f_.transpose();
  }
  // [end]
  std::span<float> parameters() { return p_; }
  std::span<const float> parameters() const { return p_; }
  std::span<float> gradients() { return g_; }

 private:
  int terms() const { return 1 + n_ + n_ * (n_ + 1) / 2; }

  int n_, m_;
  std::vector<float> p_, g_;  // weights, and their gradients
  nn::matrix<float> f_, y_;
};

/// A choice by softmax, of which a part is uniform: p = (1 - part) softmax(outputs) + part / n.
class careful : public rl::distribution {
 public:
  careful(const rl::space& actions, float part) : n_(actions.as_discrete()->n), part_(part) {}

  int outputs() const override { return n_; }
  int spread() const override { return 0; }
  int size() const override { return 1; }

  void sample(const float* outputs, const float*, rl::random& numbers, float* action) const override {
    const Eigen::ArrayXf p = mixed(softmax(outputs));
    float left = static_cast<float>(numbers.uniform());
    int choice = 0;
    while (choice + 1 < n_ && (left -= p[choice]) >= 0) ++choice;
    *action = static_cast<float>(choice);
  }
  void best(const float* outputs, float* action) const override {
    *action = static_cast<float>(std::max_element(outputs, outputs + n_) - outputs);
  }
  void to_environment(const float* action, float* to) const override { *to = *action; }
  float log_probability(const float* outputs, const float*, const float* action) const override {
    return std::log(mixed(softmax(outputs))[static_cast<int>(*action)]);
  }
  float entropy(const float* outputs, const float*) const override {
    const Eigen::ArrayXf p = mixed(softmax(outputs));
    return -(p * p.log()).sum();
  }
  // [distribution]
  void add_gradient(const float* outputs, const float*, const float* action, weights w, float* by_outputs,
                    float*) const override {
    const Eigen::ArrayXf s = softmax(outputs), p = mixed(s);
    Eigen::ArrayXf by_p = -w.entropy * (p.log() + 1);
    by_p[static_cast<int>(*action)] += w.log_probability / p[static_cast<int>(*action)];
    Eigen::Map<Eigen::ArrayXf>(by_outputs, n_) += (1 - part_) * s * (by_p - (by_p * s).sum());
  }
  // [end]

 private:
  Eigen::ArrayXf softmax(const float* outputs) const {
    const Eigen::Map<const Eigen::ArrayXf> o(outputs, n_);
    const Eigen::ArrayXf e = (o - o.maxCoeff()).exp();
    return e / e.sum();
  }
  Eigen::ArrayXf mixed(const Eigen::ArrayXf& s) const { return (1 - part_) * s + part_ / static_cast<float>(n_); }

  int n_;
  float part_;
};

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [use]
    rl::check_distribution<careful>(rl::discrete{2}, 0.02f);  // says what is wrong with the class, if anything is
    rl::ppo algorithm("CartPole-v1",
                      {.workers = 2,
                       .seed = 1,
                       .rate = 3e-3,
                       .model = {.network = rl::own<polynomial>(), .distribution = rl::own<careful>(0.02f)}});
    // [end]
    rl::report r;
    while ((r = algorithm.train()).mean_return < 400 && r.steps < 100'000) std::cout << r << std::endl;
    const double result = algorithm.evaluate(100).mean_return;
    std::cout << "100 new episodes: " << result << '\n';
    return result > 400 ? 0 : 1;
  });
}
