# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""scripts/test counts its tests, tells which failed, and runs those once more that failed in an automatic check.

It runs here in a project of a few shell commands instead of manta.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROJECT = """
project('small', meson_version: '>=0.61')
option_only_here = get_option('compiled')
sh = find_program('sh')
test('good.one', sh, args: ['-c', 'exit 0'], suite: 'unit')
test('good.two', sh, args: ['-c', 'exit 0'], suite: 'mpi')
test('slow', sh, args: ['-c', 'test -n "$MANTA_TEST_LONG"'], suite: ['mpi', 'long'])
test('bad', sh, args: ['-c', 'echo what is wrong; exit 3'], suite: 'unit')
test('absent', sh, args: ['-c', 'echo there is no Slurm; exit 77'], suite: 'unit')
test('moody', sh, args: ['-c', 'test -e "$0" || { touch "$0"; exit 1; }', meson.current_build_dir() / 'second'], suite: 'unit')
foreach n : ['1', '2', '3', '4', '5', '6']
  test('many.' + n, sh, args: ['-c', 'exit 1'], suite: 'unit')
endforeach
"""

failures = 0


def check(what, words, last_lines, status, silent="", **environment):
    """Runs scripts/test in the small project; `last_lines` are the end of its output, `silent` is nowhere in it."""
    global failures
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MANTA_", "MESON")) and k != "CI"}
    second = os.path.join(folder, "build", "second")
    if os.path.exists(second):
        os.remove(second)
    done = subprocess.run([os.path.join(folder, "scripts", "test"), *words], env=dict(env, **environment), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = done.stdout.splitlines()
    if lines[-len(last_lines):] != last_lines or done.returncode != status or (silent and silent in done.stdout):
        failures += 1
        print(f"FAILED: {what}: status {done.returncode}, not {status}; the end should be {last_lines}\n{done.stdout}")
    else:
        print(f"ok: {what}")


folder = tempfile.mkdtemp(prefix="manta-scripts-")
try:
    os.mkdir(os.path.join(folder, "scripts"))
    for name in ("test", "test_report.py", "common.sh"):
        shutil.copy(os.path.join(ROOT, "scripts", name), os.path.join(folder, "scripts"))
    with open(os.path.join(folder, "scripts", "setup"), "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod(os.path.join(folder, "scripts", "setup"), 0o755)
    for name in ("tests", "examples", "bench"):
        os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, "meson.build"), "w") as file:
        file.write(PROJECT)
    with open(os.path.join(folder, "meson_options.txt"), "w") as file:
        file.write("option('compiled', type: 'boolean', value: false)\n")

    check("all is well", ["good"], ["2 passed, 0 failed"], 0)
    check("one fails", ["good", "bad"], ["failed: bad", "2 passed, 1 failed"], 1)
    check("its output is shown", ["bad"], ["  what is wrong", "", "failed: bad", "0 passed, 1 failed"], 1)
    check("one is skipped", ["good", "absent"], ["2 passed, 0 failed, 1 skipped"], 0)
    check("no test of that name", ["nothing"], ["0 passed, 1 failed"], 1)
    check("a test of the long suite", ["slow"], ["0 passed, 1 failed"], 1)
    check("a test of the long suite, with --long", ["--long", "slow"], ["1 passed, 0 failed"], 0)
    check("names", ["--list", "good"], ["good.one", "good.two"], 0)
    check("by hand a test runs once", ["moody"], ["failed: moody", "0 passed, 1 failed"], 1, silent="once more")
    check("a flaky test", ["moody", "good"], ["flaky: moody", "3 passed, 0 failed"], 0, CI="true")
    check("a flaky test and a bad one", ["moody", "bad"], ["failed: bad", "flaky: moody", "1 passed, 1 failed"], 1, CI="true")
    check("many fail: nothing runs again", ["many"], ["failed: " + ", ".join(f"many.{n}" for n in range(1, 7)), "0 passed, 6 failed"],
          1, silent="once more", CI="true")
finally:
    shutil.rmtree(folder, ignore_errors=True)
sys.exit(1 if failures else 0)
