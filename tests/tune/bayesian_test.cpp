// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Bayesian optimisation on functions whose minima are known.
// Bounds are what another implementation reaches at the same budgets, by medians over seeds.
#include <doctest/doctest.h>

#include "manta/tune/bayesian.hpp"
#include "manta/tune/random_search.hpp"
#include "support/search.hpp"

namespace tune = manta::tune;
using namespace manta::testing;

TEST_CASE("Bayesian optimisation on Branin, one by one and in batches of four") {
  const auto one = study(tune::bayesian(), branin_problem, {20, 30, 40}, 15);
  const auto four = study(tune::bayesian(), branin_problem, {20, 28, 40}, 15, 4);
  INFO("one by one " << middle(one[0]) << " " << middle(one[1]) << " " << middle(one[2]) << " (p90 " << p90(one[2])
                        << "), batches " << middle(four[0]) << " " << middle(four[1]) << " " << middle(four[2]));
  CHECK(middle(one[0]) <= 0.146);
  CHECK(middle(one[1]) <= 0.0020 * 1.5);
  CHECK(middle(one[2]) <= 0.0005);
  CHECK(p90(one[2]) <= 0.01);
  CHECK(middle(four[0]) <= 0.4);
  CHECK(middle(four[2]) <= 0.0005);
}

TEST_CASE("Bayesian optimisation on Hartmann-6: half the seeds find the minimum, the others the second") {
  const auto h = study(tune::bayesian(), hartmann_problem, {30, 40, 64}, 10);
  const auto b = study(tune::bayesian(), hartmann_problem, {40, 64}, 10, 4);
  const auto found = std::count_if(h[2].begin(), h[2].end(), [](double x) { return x < 0.01; });
  INFO("one by one " << middle(h[0]) << " " << middle(h[1]) << " " << middle(h[2]) << ", found by " << found
                        << " of 10; batches " << middle(b[0]) << " " << middle(b[1]));
  CHECK(middle(h[1]) <= 0.15);
  CHECK(middle(h[2]) < 0.12);
  CHECK(p90(h[2]) < 0.2);
  CHECK(found >= 4);
  CHECK(middle(b[1]) < 0.125);
}

TEST_CASE("Bayesian optimisation by confidence bound, and with lies in place of beliefs") {
  using tune::bayesian;
  CHECK(middle(study(bayesian({.by = bayesian::acquisition::confidence_bound}), branin_problem, {40}, 7)[0]) < 0.02);
  for (const auto lie : {bayesian::pending::lie_min, bayesian::pending::lie_mean, bayesian::pending::lie_max}) {
    CHECK(middle(study(bayesian({.parallel = lie}), branin_problem, {40}, 7, 4)[0]) < 0.02);
  }
}

TEST_CASE("a Gaussian process finds lengths, interpolates, and knows where it does not know") {
  tune::random r(4);
  Eigen::MatrixXd x(2, 40);
  Eigen::VectorXd y(40);
  const auto f = [](double a, double) { return std::sin(6 * a); };
  for (int i = 0; i < 40; ++i) {
    x.col(i) << r.uniform() * 0.8, r.uniform();
    y(i) = f(x(0, i), x(1, i));
  }
  tune::gaussian_process g(2);
  g.fit(x, y, 3, 50, r);
  CHECK(g.hyper().log_lengths(1) > g.hyper().log_lengths(0) + 1);  // the second does not matter
  Eigen::VectorXd mean, variance;
  g.predict(x, mean, variance);
  CHECK((mean - y).cwiseAbs().maxCoeff() < 0.02);
  Eigen::MatrixXd at(2, 2);
  at << 0.41, 1.6, 0.5, 0.5;
  g.predict(at, mean, variance);
  CHECK(std::abs(mean(0) - f(0.41, 0)) < 0.02);
  CHECK(variance(1) > 100 * variance(0));
  CHECK(tune::log_expected_improvement(0, 1, 0.1) == doctest::Approx(std::log(0.1 * (tune::normal_density(10.) - 10 * tune::normal_cdf(-10)))).epsilon(0.02));
}

TEST_CASE("Bayesian optimisation handles choices, integers, logarithms and conditions") {
  CHECK(middle(study(tune::bayesian({.candidates = 400}), mixed_problem, {60}, 5)[0]) <
        0.5 * middle(study(tune::random_search(), mixed_problem, {60}, 15)[0]));
}

TEST_CASE("what was asked before a kill is not asked again, and the search goes on") {
  check_continues(tune::bayesian(), false);  // the kernel's parameters are fitted from other starts
}
