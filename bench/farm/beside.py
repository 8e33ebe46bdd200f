#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""manta-farm beside GNU parallel and a loop of posix_spawn, on two cores.

  bench/farm/beside.py [BUILD_FOLDER] [--starts N] [--queued N]

BUILD_FOLDER has manta-farm and bench_farm_plain, the loop. All are started in turn; the table has the best and the median
of each. GNU parallel is left out where it is not installed.
"""
import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def processor_seconds():
    """Of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds_of(command, folder):
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("%s ended with status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return time.monotonic() - begin


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w") as file:
        file.write("".join(line + "\n" for line in lines))
    return name


def rates(options, folder):
    """Lines a second with 2 000 lines that do nothing."""
    number = 2000
    name = write(folder, "short", ["true"] * number)
    commands = {"loop of two posix_spawn": [options.plain, name, "2"], "manta-farm": [options.farm, "--fresh", "-j", "2", name]}
    if shutil.which("parallel"):
        commands["GNU parallel"] = ["parallel", "-j", "2", "--will-cite", "-a", name]
    found = {what: [] for what in commands}
    for _ in range(options.starts):
        for what, command in commands.items():
            before = processor_seconds()
            rate = number / seconds_of(command, folder)
            found[what].append((rate, 1000 * (processor_seconds() - before) / number))
    print("| 2 000 lines of `true` | lines/s | ratio to the loop | ms of processor time a line | the loop's, as a ratio |")
    print("|---|---|---|---|---|")
    best = {what: (max(r for r, _ in both), min(t for _, t in both)) for what, both in found.items()}
    median = {what: tuple(statistics.median(each) for each in zip(*both)) for what, both in found.items()}
    loop = "loop of two posix_spawn"
    for what in commands:
        (b, bt), (m, mt) = best[what], median[what]
        print("| %s | %.0f / %.0f | %.2f / %.2f | %.2f / %.2f | %.2f / %.2f |" %
              (what, b, m, b / best[loop][0], m / median[loop][0], bt, mt, best[loop][1] / bt, median[loop][1] / mt))


def list_schedule(lengths, slots):
    """When all lines have ended if each starts, in the order of the file, as soon as one before it has ended."""
    free = [0.0] * slots
    for length in lengths:
        at = free.index(min(free))
        free[at] += length
    return max(free)


def uneven(options, folder):
    random.seed(5)
    name = write(folder, "uneven", ["sleep %.3f" % random.choice([0.02, 0.05, 0.1, 0.4]) for _ in range(120)])
    excess = []
    for _ in range(max(3, options.starts // 2)):
        seconds_of([options.farm, "--fresh", "-j", "2", name], folder)
        with open(os.path.join(folder, name + ".farm", "results.jsonl")) as file:
            records = sorted((json.loads(line) for line in file), key=lambda r: r["line"])
        length = max(r["begin"] + r["seconds"] for r in records) - min(r["begin"] for r in records)
        excess.append(100 * (length / list_schedule([r["seconds"] for r in records], 2) - 1))
    print("uneven lengths: %.2f %% (best %.2f %%) longer than the list schedule of the measured lengths" %
          (statistics.median(excess), min(excess)))


def queued(options, folder):
    name = write(folder, "queued", ["true %d" % i for i in range(options.queued)])
    process = subprocess.Popen([options.farm, "--fresh", "-j", "2", name], cwd=folder, stderr=subprocess.DEVNULL)
    highest = 0
    while process.poll() is None:
        try:
            with open("/proc/%d/status" % process.pid) as file:
                highest = max([highest] + [int(line.split()[1]) for line in file if line.startswith("VmHWM")])
        except OSError:
            pass
        time.sleep(0.2)
    resumes = [seconds_of([options.farm, "--resume", name], folder) for _ in range(options.starts)]
    print("%d lines: at most %.0f MB of memory; --resume of the finished file %.2f / %.2f s (best / median)" %
          (options.queued, highest / 1024, min(resumes), statistics.median(resumes)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=os.path.join(ROOT, "build"))
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--queued", type=int, default=100_000)
    options = parser.parse_args()
    options.farm = os.path.abspath(os.path.join(options.build, "scripts", "manta_farm", "manta-farm"))
    options.plain = os.path.abspath(os.path.join(options.build, "bench", "bench_farm_plain"))
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    print("load before: %.1f on %d cores" % (os.getloadavg()[0], os.cpu_count()))
    with tempfile.TemporaryDirectory() as folder:
        rates(options, folder)
        uneven(options, folder)
        if options.queued:
            queued(options, folder)


main()
