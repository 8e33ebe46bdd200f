#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Each hook of the parts (exec/hooks.ipp) is needed: with one that does nothing in its place, a test fails, crashes or
does not end. Without --all a few hooks are tried, always the same.

  hooks.py TEST...          the programs that may notice, the quickest first
  hooks.py --all TEST...    all hooks
  hooks.py --one HOOK TEST...
"""
import concurrent.futures
import os
import subprocess
import sys

A_FEW = 6
SECONDS = {False: 10, True: 60}  # of one program, with a few hooks and with all

# Hooks that no test of ranks in one process notices, and why. Five would be one in ten; the number is only lowered.
MOST_UNNOTICED = 2
UNNOTICED = {
    "helper.owner_is_here": "it watches for what has stood still for ten seconds",
    "quiet.tell_state": "what is told at a deadlock: tests/programs/seeing_test.py",
}


def run(test, hook, seconds, *options):
    environment = dict(os.environ, MANTA_TEST_MUTED_HOOK=hook, MANTA_TEST_TIMEOUT="0")
    return subprocess.run(
        [test, "--no-mpi", *options],
        env=environment,
        timeout=seconds,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def who_notices(hook, tests, seconds):
    """The name of the first program that does, or None."""
    for test in tests:
        try:
            if run(test, hook, seconds, "--abort-after=1").returncode != 0:
                return os.path.basename(test)
        except subprocess.TimeoutExpired:
            return os.path.basename(test) + " (did not end)"
    return None


def main():
    arguments = sys.argv[1:]
    one = arguments.pop(1) if arguments[0] == "--one" else None
    everything = arguments[0] == "--all"
    tests = [a for a in arguments if not a.startswith("--")]
    hooks = run(tests[-1], "list", SECONDS[True]).stdout.split()
    if len(hooks) < 50 or not set(UNNOTICED) <= set(hooks):
        sys.exit(f"hooks.py: these are not all hooks: {hooks}")
    chosen = [h for h in hooks if h not in UNNOTICED]
    if one is not None:
        chosen = [one]
    elif not everything:
        chosen = chosen[:: len(chosen) // A_FEW][:A_FEW]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(chosen, pool.map(lambda hook: who_notices(hook, tests, SECONDS[everything or one is not None]), chosen)))
    for hook, test in found.items():
        print(f"{hook}: {test or 'nobody notices'}")
    missed = [hook for hook, test in found.items() if test is None]
    print(f"{len(hooks)} hooks, {len(UNNOTICED)} that cannot be noticed; {len(chosen)} tried, {len(missed)} missed")
    if len(UNNOTICED) > MOST_UNNOTICED:
        sys.exit(f"hooks.py: more than {MOST_UNNOTICED} hooks are excused")
    if missed:
        sys.exit("hooks.py: nothing fails without these hooks: write a test, or say in UNNOTICED why there is none")


main()
