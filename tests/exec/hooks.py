#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Each hook of the parts (exec/hooks.ipp) is needed: with one that does nothing in its place, a test fails, crashes or
does not end. Without --long a few hooks are tried, which the day chooses.

  hooks.py TEST...          the programs that may notice, the quickest first
  hooks.py --all TEST...    all hooks
  hooks.py --one HOOK TEST...
"""
import concurrent.futures
import os
import subprocess
import sys
import time

A_FEW = 6
SECONDS = 60  # of one program

# Hooks that no test of ranks in one process can notice, and why.
UNNOTICED = {}


def run(test, hook, *options):
    environment = dict(os.environ, MANTA_TEST_MUTED_HOOK=hook, MANTA_TEST_TIMEOUT="0")
    return subprocess.run(
        [test, "--no-mpi", *options],
        env=environment,
        timeout=SECONDS,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def who_notices(hook, tests):
    """The name of the first program that does, or None."""
    for test in tests:
        try:
            if run(test, hook, "--abort-after=1").returncode != 0:
                return os.path.basename(test)
        except subprocess.TimeoutExpired:
            return os.path.basename(test) + " (did not end)"
    return None


def main():
    arguments = sys.argv[1:]
    one = arguments.pop(1) if arguments[0] == "--one" else None
    everything = arguments[0] == "--all"
    tests = [a for a in arguments if not a.startswith("--")]
    hooks = run(tests[-1], "list").stdout.split()
    if len(hooks) < 50 or not set(UNNOTICED) <= set(hooks):
        sys.exit(f"hooks.py: these are not all hooks: {hooks}")
    chosen = [h for h in hooks if h not in UNNOTICED]
    if one is not None:
        chosen = [one]
    elif not everything:
        day = int(time.time()) // 86400
        chosen = [chosen[(day * A_FEW + i) % len(chosen)] for i in range(A_FEW)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(chosen, pool.map(lambda hook: who_notices(hook, tests), chosen)))
    for hook, test in found.items():
        print(f"{hook}: {test or 'nobody notices'}")
    missed = [hook for hook, test in found.items() if test is None]
    print(f"{len(hooks)} hooks, {len(UNNOTICED)} that cannot be noticed; {len(chosen)} tried, {len(missed)} missed")
    if len(UNNOTICED) > len(hooks) / 10:
        sys.exit("hooks.py: more than one hook in ten is excused")
    if missed:
        sys.exit("hooks.py: nothing fails without these hooks: write a test, or say in UNNOTICED why there is none")


main()
