# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What scripts/test reads from meson.

  test_report.py --targets BUILD NAME...   prints the build targets that the named tests need
  test_report.py --failed LOG              prints the names of the tests that failed
  test_report.py [LOG COUNT]...            prints the failures with the end of their output, and all counts in the last line;
                                           ends with 1 unless COUNT tests of each log ran and none failed

A LOG is a path without the ending .json, meson-logs/testlog for example. Where LOG-again.json stands beside it, the tests
in it have failed in LOG and were run once more: those that passed then count as passed, and are named as flaky.
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


def read(log):
    if not os.path.exists(log + ".json"):
        return []
    with open(log + ".json") as file:
        return [json.loads(line) for line in file if line.strip()]


def is_failed(result):
    return result["result"] not in PASSED | {"SKIP"}


def name_of(result, log=""):
    """Its name; with that of the log in front unless it is the log of the plain run."""
    label = os.path.basename(log)
    return ("" if label in ("", "testlog") else label + ": ") + result["name"].split(" / ")[-1]


def tail(text, log):
    lines = text.rstrip().splitlines()
    cut = len(lines) - TAIL_LINES
    return ([f"... {cut} lines above, see {log}.txt"] if cut > 0 else []) + lines[-TAIL_LINES:]


def report(runs):
    """runs: pairs of a log and the number of tests that it should have."""
    passed, failed, skipped, flaky, lost = 0, [], 0, [], 0
    for log, count in runs:
        results = read(log)
        passed_later = {name_of(r) for r in read(log + "-again") if r["result"] in PASSED}
        for r in results:
            output = r.get("stdout", "") + r.get("stderr", "")
            if r["result"] == "SKIP":
                skipped += 1
                print(f"skipped: {name_of(r, log)}: {(output.strip().splitlines() or ['no reason given'])[-1]}")
                continue
            if not is_failed(r):
                passed += 1
                continue
            if name_of(r) in passed_later:
                passed += 1
                flaky.append(name_of(r, log))
            else:
                failed.append(name_of(r, log))
            print(f"\n---- {name_of(r, log)}: {r['result']}, exit code {r['returncode']}, {r['duration']:.1f} s")
            print("  $ " + " ".join(r["command"]))
            for line in tail(output, log):
                print("  " + line)
        missing = count - len(results)  # the build or meson itself broke off
        if missing > 0:
            lost += missing
            print(f"\n{os.path.basename(log)}: {missing} of {count} tests were not run")
    if failed:
        print("\nfailed: " + ", ".join(sorted(failed)))
    for name in flaky:
        print("flaky: " + name)
    print(f"{passed} passed, {len(failed) + lost} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or lost else 0


if sys.argv[1] == "--targets":
    targets(sys.argv[2], set(sys.argv[3:]))
elif sys.argv[1] == "--failed":
    print("\n".join(name_of(r) for r in read(sys.argv[2]) if is_failed(r)))
else:
    sys.exit(report(list(zip(sys.argv[1::2], map(int, sys.argv[2::2])))))
