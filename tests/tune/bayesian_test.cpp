// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Bayesian optimisation on functions whose minima are known.
// Bounds are what another implementation reaches at the same budgets, by medians over seeds; where ours are looser,
// both figures stand beside them.
#include <doctest/doctest.h>

#include "manta/tune/bayesian.hpp"
#include "manta/tune/random_search.hpp"
#include "support/campaign.hpp"
#include "support/search.hpp"

namespace tune = manta::tune;
using namespace manta::testing;

TEST_CASE("Bayesian optimisation on Branin, one by one and in batches of four") {
  const auto one = study(tune::bayesian(), branin_problem, {15, 20, 25, 30, 40}, 25);
  const auto four = study(tune::bayesian(), branin_problem, {16, 24, 32, 40}, 25, 4);
  INFO("one by one " << middle(one[0]) << " " << middle(one[1]) << " " << middle(one[2]) << " " << middle(one[3]) << " "
                     << middle(one[4]) << " (p90 " << p90(one[4]) << "), batches " << middle(four[0]) << " "
                     << middle(four[1]) << " " << middle(four[2]) << " " << middle(four[3]) << " (p90 " << p90(four[3])
                     << ")");
  CHECK(middle(one[0]) <= 0.78);
  CHECK(middle(one[1]) <= 0.146);
  CHECK(middle(one[2]) <= 0.031);
  CHECK(middle(one[3]) <= 0.0020);
  CHECK(middle(one[4]) <= 0.0001);
  CHECK(p90(one[4]) <= 0.003);  // 0.0004 by fifteen seeds elsewhere, 0.0016 here by a hundred
  CHECK(middle(four[0]) <= 1.57);
  CHECK(middle(four[1]) <= 0.047);
  CHECK(middle(four[2]) <= 0.0048);
  CHECK(middle(four[3]) <= 0.0005);  // 0.00025 by fifteen seeds elsewhere, 0.0003 here by a hundred
  CHECK(p90(four[3]) <= 0.0075);     // 0.0017 and 0.0070
}

TEST_CASE("Bayesian optimisation on Hartmann-6: more than half of the seeds find the minimum, the others the second" *
          doctest::skip(!is_long())) {
  const auto h = study(tune::bayesian({.candidates = 500}), hartmann_problem, {20, 25, 30, 40, 72}, 15);
  const auto b = study(tune::bayesian({.candidates = 500}), hartmann_problem, {40, 72}, 15, 4);
  const auto found = [](const std::vector<double>& all) {
    return std::count_if(all.begin(), all.end(), [](double x) { return x < 0.01; });
  };
  INFO("one by one " << middle(h[0]) << " " << middle(h[1]) << " " << middle(h[2]) << " " << middle(h[3]) << " "
                     << middle(h[4]) << " (p90 " << p90(h[4]) << "), found by " << found(h[4]) << " of 15; batches "
                     << middle(b[0]) << " " << middle(b[1]) << " (p90 " << p90(b[1]) << "), found by " << found(b[1]));
  CHECK(middle(h[0]) <= 0.98);
  CHECK(middle(h[1]) <= 0.39);
  CHECK(middle(h[2]) <= 0.2);  // 0.117 by ten seeds elsewhere; 0.17 here by forty
  CHECK(middle(h[3]) <= 0.066);
  CHECK(middle(h[4]) <= 0.0596);
  CHECK(p90(h[4]) <= 0.14);
  CHECK(found(h[4]) >= 8);
  CHECK(middle(b[0]) <= 0.15);  // 0.09 by ten seeds elsewhere
  CHECK(middle(b[1]) <= 0.0597);
  CHECK(p90(b[1]) <= 0.14);
  CHECK(found(b[1]) >= 8);
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
  Eigen::VectorXd mean, deviation;
  g.predict(x, mean, deviation);
  CHECK((mean - y).cwiseAbs().maxCoeff() < 0.02);
  Eigen::MatrixXd at(2, 2);
  at << 0.41, 1.6, 0.5, 0.5;
  g.predict(at, mean, deviation);
  CHECK(std::abs(mean(0) - f(0.41, 0)) < 0.02);
  CHECK(deviation(1) > 10 * deviation(0));
  CHECK(tune::log_expected_improvement(0, 1, 0.1) ==
        doctest::Approx(std::log(0.1 * (tune::normal_density(10.) - 10 * tune::normal_cdf(-10)))).epsilon(0.02));
}

TEST_CASE("Bayesian optimisation does not look again and again at values of parameters that do not apply") {
  // The best is "b" with x = 0.3; each option has two parameters of its own.
  const auto f = [](const tune::config& c) {
    const std::string kind = c["kind"];
    const double u = c[kind + "0"], v = c[kind + "1"];
    return (kind == "b" ? 0 : 0.3) + (u - 0.3) * (u - 0.3) + (v - 0.6) * (v - 0.6);
  };
  std::vector<tune::parameter> all = {{"kind", tune::choice({"a", "b", "c"})}};
  for (const char* kind : {"a", "b", "c"}) {
    for (const char* number : {"0", "1"})
      all.push_back({std::string(kind) + number, tune::uniform(0, 1).when("kind", kind)});
  }
  const tune::space where(all);
  std::vector<double> best(5, tune::infinity);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    tune::bayesian s({.candidates = 300});
    s.begin(where, seed);
    for (std::uint64_t t = 0; t < 40; ++t) {
      const double loss = f(*s.ask(t));
      s.tell(t, loss);
      best[seed] = std::min(best[seed], loss);
    }
  }
  std::sort(best.begin(), best.end());
  CHECK(best[2] < 1e-3);
}

TEST_CASE("Bayesian optimisation learns from losses whose squares are no numbers") {
  tune::bayesian s({.startup = 4, .candidates = 200});
  s.begin({{"x", tune::uniform(0, 1)}}, 1);
  double best = tune::infinity;
  for (std::uint64_t t = 0; t < 20; ++t) {
    const double x = (*s.ask(t))["x"];
    s.tell(t, 1e300 * (x - 0.3) * (x - 0.3));
    best = std::min(best, std::abs(x - 0.3));
  }
  CHECK(best < 1e-3);
}

TEST_CASE("Bayesian optimisation handles choices, integers, logarithms and conditions") {
  CHECK(middle(study(tune::bayesian({.candidates = 400}), mixed_problem, {60}, 5)[0]) <
        0.5 * middle(study(tune::random_search(), mixed_problem, {60}, 15)[0]));
}

TEST_CASE("what was asked before a kill is not asked again, and the search goes on as it would have") {
  check_continues(tune::bayesian({.candidates = 200}));
  check_continues(tune::bayesian({.candidates = 200}), mixed_problem);
}
