#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Says which searchers and schedulers of manta are ahead of which, on functions that nothing in tune was made for.

Values are medians over the seeds. Beside each stands the probability, by Mann-Whitney's test, that a contender
that is no better than random search comes out so far ahead. Fronts are compared with Optuna's searchers at
the same number of trials where Optuna is installed (Debian's python3-optuna, which only Debian's own python3 sees)."""

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
PROGRAM = ROOT / "build-bench" / "bench_tune_learning"
# beside random search: what else has to be compared (who, with whom)
PAIRS = [("tpe-multivariate", "tpe"), ("tpe+asha", "random+asha"), ("bayesian", "random-100"), ("nsga2", "Optuna-nsga2"), ("tpe", "Optuna-tpe")]


def chance_of_less(a, b):
    """The probability that values of the same kind as b come out as far below them as a does (normal approximation)."""
    order = sorted([(x, 0) for x in a] + [(x, 1) for x in b])
    ranks, ties, i = 0.0, 0, 0
    while i < len(order):
        end = i
        while end < len(order) and order[end][0] == order[i][0]:
            end += 1
        ties += (end - i) ** 3 - (end - i)
        ranks += sum((i + end + 1) / 2 for _, side in order[i:end] if side == 0)
        i = end
    n, m = len(a), len(b)
    u = ranks - n * (n + 1) / 2
    spread = math.sqrt(n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1))))
    return 0.5 if spread == 0 else 0.5 * math.erfc(-(u + 0.5 - n * m / 2) / spread / math.sqrt(2))


def build():
    PROGRAM.parent.mkdir(exist_ok=True)
    eigen = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, text=True).stdout
    subprocess.run([os.environ.get("CXX", "mpicxx"), "-std=c++20", "-O2", f"-I{ROOT}/include",
                    *shlex.split(eigen or "-I/usr/include/eigen3"), str(ROOT / "bench" / "tune" / "learning.cpp"),
                    "-o", str(PROGRAM), "-pthread"], check=True)


def manta(program, group, seeds):
    found = {}
    for line in subprocess.run([program, group, str(seeds)], capture_output=True, text=True, check=True).stdout.splitlines():
        function, contender, _, value = line.split()
        found.setdefault(function, {}).setdefault(contender, []).append(float(value))
    return found


def optuna_hypervolume(program, function, sampler, trials):
    """The negative hypervolume that Optuna's searcher reaches."""
    import optuna

    with subprocess.Popen([program, "evaluate", function], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:
        options = [int(n) for n in ours.stdout.readline().split()]

        def evaluate(trial):
            at = [(trial.suggest_categorical(f"x{i}", list(range(n))) + 0.5) / n if n else trial.suggest_float(f"x{i}", 0, 1)
                  for i, n in enumerate(options)]
            ours.stdin.write(" ".join(map(repr, at)) + "\n")
            ours.stdin.flush()
            return tuple(map(float, ours.stdout.readline().split()))

        study = optuna.create_study(directions=["minimize"] * (3 if function == "dtlz2" else 2), sampler=sampler)
        study.optimize(evaluate, n_trials=trials)
        ours.stdin.close()
        return float(ours.stdout.readline())


def add_optuna(program, fronts, seeds):
    try:
        import optuna
    except ImportError as error:
        print(f"Optuna is left out: {error}; install python3-optuna, and use Debian's python3", file=sys.stderr)
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    for function, contenders in fronts.items():
        for name, kind in (("Optuna-nsga2", optuna.samplers.NSGAIISampler), ("Optuna-tpe", optuna.samplers.TPESampler)):
            contenders[name] = [optuna_hypervolume(program, function, kind(seed=seed), 200) for seed in range(1, seeds + 1)]


def table(found):
    for function, contenders in found.items():
        print(f"\n{function}")
        for name, values in contenders.items():
            line = f"  {name:18} {statistics.median(values):10.4g}"
            if name != "random":
                line += f"   ahead of random: p = {chance_of_less(values, contenders['random']):.4f}"
            for who, other in PAIRS:
                if who == name and other in contenders:
                    line += (f"; of {other}: p = {chance_of_less(values, contenders[other]):.4f},"
                             f" behind: p = {chance_of_less(contenders[other], values):.4f}")
            print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--program", help="bench_tune_learning, if it has been built; else it is built here")
    parser.add_argument("--group", choices=["searchers", "curves", "fronts"], action="append", help="only this one; may be repeated")
    arguments = parser.parse_args()
    if not arguments.program:
        build()
    program = arguments.program or str(PROGRAM)
    for group in arguments.group or ["searchers", "curves", "fronts"]:
        found = manta(program, group, arguments.seeds)
        if group == "fronts":
            add_optuna(program, found, arguments.seeds)
        table(found)


if __name__ == "__main__":
    main()
