# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What scripts/test needs to read from meson.

  test_report.py LOG COUNT             prints the failures in meson's testlog.json with the end of their output, and the
                                       counts in the last line; ends with 1 unless COUNT tests ran and none failed
  test_report.py --targets BUILD NAME...   prints the build targets that the named tests need
"""
import json
import os
import sys

TAIL_LINES = 60
PASSED = {"OK", "EXPECTEDFAIL"}


def targets(build, names):
    with open(os.path.join(build, "meson-info", "intro-tests.json")) as file:
        tests = json.load(file)
    wanted = {d for test in tests if test["name"] in names for d in test["depends"]}
    with open(os.path.join(build, "meson-info", "intro-targets.json")) as file:
        for target in json.load(file):
            if target["id"] in wanted:
                for name in target["filename"]:
                    print(os.path.relpath(name, os.path.realpath(build)))


def tail(text):
    lines = text.rstrip().splitlines()
    cut = len(lines) - TAIL_LINES
    return ([f"... {cut} lines above, see meson-logs/testlog.txt"] if cut > 0 else []) + lines[-TAIL_LINES:]


def report(log, count):
    results = []
    if os.path.exists(log):
        with open(log) as file:
            results = [json.loads(line) for line in file if line.strip()]
    passed = [r for r in results if r["result"] in PASSED]
    skipped = [r for r in results if r["result"] == "SKIP"]
    failed = [r for r in results if r not in passed and r not in skipped]
    for r in skipped:
        reason = (r.get("stdout", "") + r.get("stderr", "")).strip().splitlines()
        print(f"skipped: {r['name']}: {reason[-1] if reason else 'no reason given'}")
    for r in failed:
        print(f"\n---- {r['name']}: {r['result']}, exit code {r['returncode']}, {r['duration']:.1f} s")
        print("  $ " + " ".join(r["command"]))
        for line in tail(r.get("stdout", "") + r.get("stderr", "")):
            print("  " + line)
    if failed:
        print("\nfailed: " + ", ".join(r["name"].split(" / ")[-1] for r in failed))
    lost = count - len(results)  # meson itself broke off
    if lost > 0:
        print(f"\n{lost} of {count} tests were not run")
    print(f"{len(passed)} passed, {len(failed) + max(lost, 0)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or lost > 0 else 0


if sys.argv[1] == "--targets":
    targets(sys.argv[2], set(sys.argv[3:]))
else:
    sys.exit(report(sys.argv[1], int(sys.argv[2])))
