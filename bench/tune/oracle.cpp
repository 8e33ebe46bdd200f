// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How good what the searchers find is: regrets on functions whose minima are known. Run by oracle.py,
// which compares them with those of other libraries.
//
//   bench_tune_oracle SEEDS      prints: function searcher trials regret, a line for each seed
#include <cstdio>
#include <cstdlib>

#include "../../tests/support/problems.hpp"
#include "manta/tune/cma_es.hpp"
#include "manta/tune/random_search.hpp"
#include "manta/tune/tpe.hpp"

namespace tune = manta::tune;

int main(int argc, char** argv) {
  const auto seeds = static_cast<std::uint64_t>(argc > 1 ? std::atoi(argv[1]) : 20);
  const auto measure = [&](const char* name, const auto& searcher) {
    for (const bool on_branin : {true, false}) {
      const auto& problem = on_branin ? manta::testing::branin_problem : manta::testing::hartmann_problem;
      const std::vector<std::size_t> budgets =
          on_branin ? std::vector<std::size_t>{50, 100} : std::vector<std::size_t>{50, 100, 200};
      const auto all = manta::testing::study(searcher, problem, budgets, seeds);
      for (std::size_t i = 0; i < budgets.size(); ++i) {
        for (const double regret : all[i])
          std::printf("%s %s %zu %.17g\n", on_branin ? "branin" : "hartmann6", name, budgets[i], regret);
      }
    }
  };
  measure("random", tune::random_search());
  measure("tpe", tune::tpe());
  measure("joint-tpe", tune::tpe({.multivariate = true}));
  measure("cma-es", tune::cma_es());
}
