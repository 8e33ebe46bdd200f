#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Compares what manta's searchers find with what Optuna's and cmaes' find.

The same functions, budgets and numbers of seeds; regret is how far the best of so many trials
lies above the minimum. Optuna and cmaes are used where they are installed (Debian's
python3-optuna and python3-cmaes, which only Debian's own python3 sees)."""

import argparse
import math
import os
import shlex
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SEARCHERS = ["random", "tpe", "joint-tpe", "cma-es"]

ALPHA = [1.0, 1.2, 3.0, 3.2]
A = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
P = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991], [2348, 1451, 3522, 2883, 3047, 6650],
     [4047, 8828, 8732, 5743, 1091, 381]]


def branin(x):
    a = x[1] - 5.1 / (4 * math.pi**2) * x[0] ** 2 + 5 / math.pi * x[0] - 6
    return a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


def hartmann6(x):
    return -sum(alpha * math.exp(-sum(a * (y - 1e-4 * p) ** 2 for a, y, p in zip(row, x, centre)))
                for alpha, row, centre in zip(ALPHA, A, P))


# name: function, minimum, bounds, budgets
PROBLEMS = {
    "branin": (branin, 0.39788735772973816, [(-5, 10), (0, 15)], [50, 100]),
    "hartmann6": (hartmann6, -3.32236801141551, [(0, 1)] * 6, [50, 100, 200]),
}


def progress(text):
    print(text, file=sys.stderr, flush=True)


def regrets_at(values, problem):
    """The regret after each budget."""
    _, minimum, _, budgets = PROBLEMS[problem]
    return {budget: min(values[:budget]) - minimum for budget in budgets}


def manta_regrets(seeds):
    """{(problem, searcher, budget): [regret of each seed]}"""
    program = ROOT / "build-bench" / "bench_tune_oracle"
    program.parent.mkdir(exist_ok=True)
    eigen = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, text=True).stdout
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", f"-I{ROOT}/include", *shlex.split(eigen or "-I/usr/include/eigen3"),
                    str(ROOT / "bench" / "tune" / "oracle.cpp"), "-o", str(program)], check=True)
    found = {}
    for line in subprocess.run([str(program), str(seeds)], capture_output=True, text=True, check=True).stdout.splitlines():
        problem, searcher, budget, regret = line.split()
        found.setdefault((problem, searcher, int(budget)), []).append(float(regret))
    return found


def optuna_regrets(seeds, searchers, problems):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    samplers = {
        "random": optuna.samplers.RandomSampler,
        "tpe": optuna.samplers.TPESampler,
        "joint-tpe": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=True),
        "cma-es": optuna.samplers.CmaEsSampler,
    }
    found = {}
    for problem in problems:
        f, _, bounds, budgets = PROBLEMS[problem]
        for searcher in searchers:
            progress(f"Optuna: {searcher} on {problem}")
            for seed in range(1, seeds + 1):
                study = optuna.create_study(sampler=samplers[searcher](seed=seed))
                study.optimize(lambda t: f([t.suggest_float(f"x{i}", low, high) for i, (low, high) in enumerate(bounds)]),
                               n_trials=budgets[-1])
                for budget, regret in regrets_at([t.value for t in study.trials], problem).items():
                    found.setdefault((problem, searcher, budget), []).append(regret)
    return found


def cmaes_regrets(seeds, searchers, problems):
    import cmaes
    import numpy

    found = {}
    for problem in problems if "cma-es" in searchers else []:
        progress(f"cmaes: cma-es on {problem}")
        f, _, bounds, budgets = PROBLEMS[problem]
        unit = numpy.array([[0.0, 1.0]] * len(bounds))
        for seed in range(1, seeds + 1):
            strategy = cmaes.CMA(mean=numpy.full(len(bounds), 0.5), sigma=1 / 6, bounds=unit, seed=seed)
            values = []
            while len(values) < budgets[-1]:
                generation = []
                for _ in range(strategy.population_size):
                    u = strategy.ask()
                    generation.append((u, f([low + (high - low) * y for (low, high), y in zip(bounds, u)])))
                strategy.tell(generation)
                values += [value for _, value in generation]
            for budget, regret in regrets_at(values, problem).items():
                found.setdefault((problem, "cma-es", budget), []).append(regret)
    return found


def cell(regrets):
    if not regrets:
        return "-"
    p90 = sorted(regrets)[min(len(regrets) - 1, math.ceil(0.9 * len(regrets)) - 1)]
    return f"{statistics.median(regrets):.3g} ({p90:.3g})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="of the other libraries (default 20); Optuna takes 0.1 s a trial")
    parser.add_argument("--manta-seeds", type=int, default=200, help="of manta (default 200)")
    parser.add_argument("--searcher", choices=SEARCHERS, action="append", help="only this one; may be repeated")
    parser.add_argument("--function", choices=PROBLEMS, action="append", help="only this one; may be repeated")
    arguments = parser.parse_args()
    searchers, problems = arguments.searcher or SEARCHERS, arguments.function or list(PROBLEMS)

    columns = {"manta": manta_regrets(arguments.manta_seeds)}
    for name, regrets in (("Optuna", optuna_regrets), ("cmaes", cmaes_regrets)):
        try:
            columns[name] = regrets(arguments.seeds, searchers, problems)
        except ImportError as error:
            progress(f"{name} is left out: {error}; install python3-{name.lower()}, and use Debian's python3")
    print(f"Regret, median (9 of 10 are below): {arguments.manta_seeds} seeds of manta, {arguments.seeds} of the others\n")
    print("| function | searcher | trials | " + " | ".join(columns) + " |")
    print("|---|---|---|" + "---|" * len(columns))
    for problem in problems:
        for searcher in searchers:
            for budget in PROBLEMS[problem][3]:
                cells = [cell(column.get((problem, searcher, budget))) for column in columns.values()]
                print(f"| {problem} | {searcher} | {budget} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
