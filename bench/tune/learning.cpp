// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What searchers and schedulers reach on functions that nothing in tune was made for. Run by learning.py, which says
// who is ahead of whom.
//
//   bench_tune_learning searchers|curves|fronts SEEDS   prints: function contender seed value, a line each; smaller is better
//   bench_tune_learning searchers|fronts SEEDS NAME..   likewise, of these searchers alone
//   bench_tune_learning evaluate FUNCTION               for other libraries: the first line names the options of each
//                                                       parameter (0: a number), then losses of each line of positions
//                                                       from 0 to 1; after the end, the hypervolume of all, below 0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "manta/tune.hpp"
#include "manta/tune/bayesian.hpp"
#include "manta/tune/cma_es.hpp"

namespace tune = manta::tune;
using tune::config;

namespace {

std::string name_of(int number) {
  std::string name(1, 'x');
  return name.append(std::to_string(number));
}
/// The numbers x0, x1, .. of a configuration.
std::vector<double> numbers(const config& c) {
  std::vector<double> x;
  for (int i = 0; c.contains(name_of(i)); ++i) x.push_back(c[name_of(i)]);
  return x;
}
tune::space numbered(int count, const tune::domain& d) {
  std::vector<tune::parameter> all;
  for (int i = 0; i < count; ++i) all.push_back({name_of(i), d});
  return tune::space(std::move(all));
}
double square(double x) { return x * x; }

// --- one value for each configuration

/// Many local minima around one at 3.7 in each dimension.
double ackley(const config& c) {
  const std::vector<double> x = numbers(c);
  const auto n = static_cast<double>(x.size());
  double squares = 0, waves = 0;
  for (const double each : x) {
    squares += square(each - 3.7);
    waves += std::cos(2 * std::numbers::pi * (each - 3.7));
  }
  return 20 - 20 * std::exp(-0.2 * std::sqrt(squares / n)) + std::numbers::e - std::exp(waves / n);
}

/// A curved valley in the logarithms.
double valley(const config& c) {
  std::vector<double> x = numbers(c);
  for (double& each : x) each = std::log10(each) + 2;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) sum += 30 * square(x[i + 1] - square(x[i])) + square(1 - x[i]);
  return sum;
}

/// A kind of model, with parameters of its own.
double conditional(const config& c) {
  const std::string model = c.get<std::string>("model");
  const double rate = std::log10(c.get<double>("rate"));
  double loss = 0.04 * square(c.get<int>("depth") - 4) + 0.02 * square(std::log2(c.get<double>("size")) - 7);
  if (model == "trees") loss += 0.15 + 0.1 * square(rate + 0.5) + 1.2 * square(c.get<double>("sample") - 0.7);
  if (model == "kernel") loss += 0.2 + 0.1 * square(rate + 2) + 0.3 * square(std::log10(c.get<double>("width")) + 1);
  if (model == "network")
    loss += 0.12 * square(rate + 2.5) + 3 * square(c.get<double>("dropout") - 0.3) +
            2 * square(c.get<double>("momentum") - 0.8);
  return loss + (c.get<std::string>("scaling") == "rank" ? 0 : c.get<std::string>("scaling") == "unit" ? 0.1 : 0.3);
}
const tune::space conditional_space = {{"model", tune::choice({"trees", "kernel", "network"})},
                                       {"scaling", tune::choice({"none", "unit", "rank"})},
                                       {"rate", tune::loguniform(1e-5, 1)},
                                       {"depth", tune::integers(1, 10)},
                                       {"size", tune::loguniform(8, 2048)},
                                       {"sample", tune::uniform(0.1, 1).when("model", "trees")},
                                       {"width", tune::loguniform(1e-3, 10).when("model", "kernel")},
                                       {"dropout", tune::uniform(0, 0.9).when("model", "network")},
                                       {"momentum", tune::uniform(0, 1).when("model", "network")}};

double bowl(const config& c) {
  double sum = 0;
  int i = 1;
  for (const double x : numbers(c)) {
    sum += i * square(x - 0.15 * i);
    ++i;
  }
  return sum;
}

/// Eight local minima along each axis, and a valley across them.
double levy(const config& c) {
  std::vector<double> w = numbers(c);
  for (double& each : w) each = 1 + (each - 2.2) / 4;
  double sum = square(std::sin(std::numbers::pi * w[0]));
  for (std::size_t i = 0; i + 1 < w.size(); ++i)
    sum += square(w[i] - 1) * (1 + 10 * square(std::sin(std::numbers::pi * w[i] + 1)));
  return sum + square(w.back() - 1) * (1 + square(std::sin(2 * std::numbers::pi * w.back())));
}

double integers(const config& c) {
  double sum = 0;
  int i = 0;
  for (const double x : numbers(c)) sum += std::abs(x - 5 - 3 * i++) / 31;
  return sum;
}

/// The loss of a network of one layer on two rings, after a training by momentum: sizes and rates as in real searches.
double network(const config& c) {
  const int width = c["width"];
  const double rate = c["rate"], momentum = c["momentum"], decay = c["decay"], spread = c["spread"];
  const bool is_smooth = c["activation"] == "tanh";
  tune::random r(7, 1);
  std::vector<std::array<double, 3>> data;  // x, y, class
  for (int i = 0; i < 60; ++i) {
    const double angle = r.uniform(0, 2 * std::numbers::pi), radius = (i % 2 != 0 ? 1.0 : 0.5) + 0.12 * r.normal();
    data.push_back({radius * std::cos(angle), radius * std::sin(angle), i % 2 != 0 ? 1.0 : 0.0});
  }
  const auto n = static_cast<std::size_t>(width);
  std::vector<double> weights(4 * n + 1), velocity(4 * n + 1), slope(4 * n + 1);
  for (double& w : weights) w = spread * r.normal();
  double loss = 0;
  for (int epoch = 0; epoch < 60; ++epoch) {
    std::fill(slope.begin(), slope.end(), 0.0);
    loss = 0;
    for (const auto& [x, y, wanted] : data) {
      double out = weights.back();
      std::vector<double> hidden(n), inner(n);
      for (std::size_t k = 0; k < n; ++k) {
        inner[k] = weights[4 * k] * x + weights[4 * k + 1] * y + weights[4 * k + 2];
        hidden[k] = is_smooth ? std::tanh(inner[k]) : std::max(0.0, inner[k]);
        out += weights[4 * k + 3] * hidden[k];
      }
      const double p = 1 / (1 + std::exp(-out)), error = p - wanted;
      loss -= std::log(std::max(1e-12, wanted > 0.5 ? p : 1 - p)) / static_cast<double>(data.size());
      for (std::size_t k = 0; k < n; ++k) {
        const double back = error * weights[4 * k + 3] * (is_smooth ? 1 - square(hidden[k]) : inner[k] > 0 ? 1.0 : 0.0);
        slope[4 * k] += back * x;
        slope[4 * k + 1] += back * y;
        slope[4 * k + 2] += back;
        slope[4 * k + 3] += error * hidden[k];
      }
      slope.back() += error;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      velocity[i] = momentum * velocity[i] - rate * (slope[i] / static_cast<double>(data.size()) + decay * weights[i]);
      weights[i] += velocity[i];
    }
  }
  return std::isfinite(loss) ? std::min(loss, 10.0) : 10;
}
const tune::space network_space = {
    {"width", tune::logintegers(2, 16)},   {"rate", tune::loguniform(1e-3, 10)},
    {"momentum", tune::uniform(0, 0.99)},  {"decay", tune::loguniform(1e-7, 1e-1)},
    {"spread", tune::loguniform(0.01, 3)}, {"activation", tune::choice({"tanh", "relu"})}};

/// A narrow ridge across three pairs: each number alone says little.
double ridge(const config& c) {
  const std::vector<double> x = numbers(c);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2)
    sum += 25 * square(x[i] - x[i + 1]) + 0.5 * square(x[i] + x[i + 1] - 1.3);
  return sum;
}

/// Options that only work together: of six each, those of equal number, and a number that has to fit them.
double pairs(const config& c) {
  double sum = 0;
  for (const char* pair : {"a", "b"}) {
    const int first = c[std::string(pair) + "1"], second = c[std::string(pair) + "2"];
    const double x = c[std::string(pair) + "x"];
    sum += (first == second ? 0 : 1) + 4 * square(x - (0.1 + 0.15 * first));
  }
  return sum;
}
const tune::space pairs_space = {
    {"a1", tune::choice({0, 1, 2, 3, 4, 5})}, {"a2", tune::choice({0, 1, 2, 3, 4, 5})}, {"ax", tune::uniform(0, 1)},
    {"b1", tune::choice({0, 1, 2, 3, 4, 5})}, {"b2", tune::choice({0, 1, 2, 3, 4, 5})}, {"bx", tune::uniform(0, 1)}};

struct problem {
  const char* name;
  tune::space where;
  std::function<double(const config&)> f;
  std::size_t trials = 200;
  double noise = 0;  ///< is added to what searchers are told; the value is that of the best without it
};

struct contender {
  const char* name;
  tune::any_searcher searcher;
  std::size_t most_trials = 1000;
};

void run_searchers(std::uint64_t seeds, const std::vector<std::string>& only) {
  const std::vector<problem> problems = {{"ackley-10", numbered(10, tune::uniform(-15, 25)), ackley},
                                         {"valley-5", numbered(5, tune::loguniform(1e-4, 1)), valley},
                                         {"conditional", conditional_space, conditional},
                                         {"noisy", numbered(5, tune::uniform(-1, 1)), bowl, 200, 0.3},
                                         {"levy-8", numbered(8, tune::uniform(-10, 10)), levy},
                                         {"integers-8", numbered(8, tune::integers(0, 31)), integers},
                                         {"network", network_space, network, 100},
                                         {"ridge", numbered(6, tune::uniform(-2, 2)), ridge},
                                         {"pairs", pairs_space, pairs}};
  const std::vector<contender> contenders = {{"random", tune::random_search()},
                                             {"tpe", tune::tpe()},
                                             {"tpe-multivariate", tune::tpe({.multivariate = true})},
                                             {"cma-es", tune::cma_es()},
                                             {"bohb", tune::bohb()},
                                             {"bayesian", tune::bayesian(), 100}};
  for (const problem& p : problems) {
    for (const contender& one : contenders) {
      if (!only.empty() && std::find(only.begin(), only.end(), one.name) == only.end()) continue;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        tune::random noise(seed, 0, 99);
        tune::study s(p.where, {.minimise = "loss",
                                .trials = std::min(p.trials, one.most_trials),
                                .searcher = one.searcher,
                                .seed = seed});
        while (const auto j = s.next()) {
          s.report(j->trial, {{"loss", p.f(j->parameters) + (p.noise > 0 ? p.noise * noise.normal() : 0)}});
          s.ended(j->trial);
        }
        std::printf("%s %s %d %.9g\n", p.name, one.name, static_cast<int>(seed), p.f(s.best()->parameters));
      }
    }
  }
}

// --- learning curves

struct curve {
  const char* name;
  double (*loss)(double quality, double speed, double epoch);
};
/// What is learned fast is good in the end, too.
double parallel(double quality, double speed, double epoch) {
  return quality + 0.4 * std::exp(-(0.05 + 0.3 * speed) * epoch);
}
/// What is learned fast is worse in the end: the curves cross.
double crossing(double quality, double speed, double epoch) {
  return quality + 0.25 * speed + 1.2 * std::exp(-(0.02 + 0.5 * speed) * epoch);
}

void run_curves(std::uint64_t seeds) {
  struct way {
    const char* name;
    tune::any_searcher searcher;
    tune::any_scheduler scheduler;
  };
  const auto asha = tune::asha({.max = 81, .eta = 3});
  const std::vector<way> ways = {
      {"random", tune::random_search(), tune::fifo()},
      {"tpe", tune::tpe(), tune::fifo()},
      {"random+asha", tune::random_search(), asha},
      {"tpe+asha", tune::tpe(), asha},
      {"random+promotion", tune::random_search(), tune::asha_promotion({.max = 81, .eta = 3})},
      {"random+hyperband", tune::random_search(), tune::hyperband({.max = 81})},
      {"bohb+hyperband", tune::bohb(), tune::hyperband({.max = 81})},
      {"random+median", tune::random_search(), tune::median_stopping()}};
  const tune::space where = numbered(5, tune::uniform(0, 1));
  for (const curve& c : {curve{"parallel", parallel}, curve{"crossing", crossing}}) {
    for (const way& w : ways) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        tune::study s(where, {.minimise = "loss",
                              .trials = 100'000,
                              .searcher = w.searcher,
                              .scheduler = w.scheduler,
                              .stop = {tune::after(81)},
                              .stop_all = {tune::report_budget(4050)},
                              .seed = seed});
        double best = tune::infinity;  // at the end, of the trials that came there
        std::map<tune::trial_number, int> reached;
        while (const auto j = s.next()) {
          const std::vector<double> x = numbers(j->parameters);
          double quality = 0;
          for (std::size_t i = 0; i + 1 < x.size(); ++i)
            quality += 0.5 * square(x[i] - 0.2 - 0.15 * static_cast<double>(i));
          int& epoch = reached[j->trial];
          while (true) {
            const double loss = c.loss(quality, x.back(), ++epoch);
            if (epoch == 81) best = std::min(best, loss);
            if (s.report(j->trial, {{"loss", loss}}).what != tune::verdict::kind::go_on) break;
          }
        }
        std::printf("%s %s %d %.9g\n", c.name, w.name, static_cast<int>(seed), best);
      }
    }
  }
}

// --- several objectives

tune::metrics zdt(int number, const std::vector<double>& x) {
  double g = 0;
  for (std::size_t i = 1; i < x.size(); ++i) g += 9 * x[i] / static_cast<double>(x.size() - 1);
  g += 1;
  const double part = x[0] / g;
  const double h = number == 1   ? 1 - std::sqrt(part)
                   : number == 2 ? 1 - part * part
                                 : 1 - std::sqrt(part) - part * std::sin(10 * std::numbers::pi * x[0]);
  return {{"f1", x[0]}, {"f2", g * h}};
}
tune::metrics dtlz2(const std::vector<double>& x) {
  double g = 0;
  for (std::size_t i = 2; i < x.size(); ++i) g += square(x[i] - 0.5);
  const double a = x[0] * std::numbers::pi / 2, b = x[1] * std::numbers::pi / 2;
  return {{"f1", (1 + g) * std::cos(a) * std::cos(b)},
          {"f2", (1 + g) * std::cos(a) * std::sin(b)},
          {"f3", (1 + g) * std::sin(a)}};
}

struct front {
  const char* name;
  tune::space where;
  std::function<tune::metrics(const config&)> f;
  std::vector<double> reference;
};
std::vector<front> fronts() {
  const auto number = [](int which) { return [which](const config& c) { return zdt(which, numbers(c)); }; };
  const tune::space ten = numbered(10, tune::uniform(0, 1));
  return {
      {"zdt1", ten, number(1), {1.1, 8}},
      {"zdt2", ten, number(2), {1.1, 8}},
      {"zdt3", ten, number(3), {1.1, 8}},
      {"dtlz2", numbered(7, tune::uniform(0, 1)), [](const config& c) { return dtlz2(numbers(c)); }, {2.5, 2.5, 2.5}},
      {"network",
       network_space,
       [](const config& c) {
         return tune::metrics{{"f1", network(c)}, {"f2", 4 * c.get<double>("width") + 1}};
       },
       {0.8, 70}}};
}

void run_fronts(std::uint64_t seeds, const std::vector<std::string>& only) {
  const std::vector<contender> contenders = {{"random", tune::random_search()},
                                             {"random-100", tune::random_search(), 100},
                                             {"nsga2", tune::nsga2()},
                                             {"tpe", tune::tpe()},
                                             {"bayesian", tune::bayesian(), 100}};
  for (const front& p : fronts()) {
    const tune::metric_names names =
        p.reference.size() == 3 ? tune::metric_names{"f1", "f2", "f3"} : tune::metric_names{"f1", "f2"};
    for (const contender& one : contenders) {
      if (!only.empty() && std::find(only.begin(), only.end(), one.name) == only.end()) continue;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        tune::study s(p.where, {.minimise = names,
                                .trials = std::min<std::size_t>(200, one.most_trials),
                                .searcher = one.searcher,
                                .seed = seed});
        while (const auto j = s.next()) {
          s.report(j->trial, p.f(j->parameters));
          s.ended(j->trial);
        }
        std::printf("%s %s %d %.9g\n", p.name, one.name, static_cast<int>(seed),
                    -tune::results(s).hypervolume(p.reference));
      }
    }
  }
}

int evaluate(const std::string& name) {
  for (const front& p : fronts()) {
    if (p.name != name) continue;
    const tune::cube cube(p.where, "evaluate");
    for (const auto& axis : cube.axes()) {
      const bool is_choice = axis.where.type() == tune::domain::kind::choice;
      std::printf("%zu ", is_choice ? axis.where.options().size() : 0);
    }
    std::puts("");
    std::fflush(stdout);
    std::vector<tune::loss_vector> all;
    std::vector<double> u;
    for (double x = 0; std::scanf("%lf", &x) == 1;) {
      u.push_back(x);
      if (u.size() < cube.dimensions()) continue;
      tune::random r(1);
      all.emplace_back();
      for (const auto& [metric, value] : p.f(cube.at(u, r))) {
        all.back().push_back(value);
        std::printf("%.17g ", value);
      }
      std::puts("");
      std::fflush(stdout);
      u.clear();
    }
    std::printf("%.9g\n", -tune::hypervolume(all, p.reference));
    return 0;
  }
  return std::fprintf(stderr, "bench_tune_learning: no function '%s'\n", name.c_str()), 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string group = argc > 1 ? argv[1] : "searchers";
  const auto seeds = static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 15);
  if (group == "evaluate" && argc > 2) return evaluate(argv[2]);
  const std::vector<std::string> only(argv + std::min(argc, 3), argv + argc);
  if (group == "searchers") run_searchers(seeds, only);
  else if (group == "curves") run_curves(seeds);
  else if (group == "fronts") run_fronts(seeds, only);
  else
    return std::fprintf(stderr, "bench_tune_learning: no '%s': searchers, curves, fronts or evaluate FUNCTION\n",
                        group.c_str()),
           2;
  return 0;
}
