# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The samples that scripts/bench takes, and the table, the CSV files and the machine's line that it writes about them."""
import csv
import datetime
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path


class Samples:
    """Every value measured, by (question, "manta", "limit" or a rival, name); and what went wrong."""

    def __init__(self):
        self.values = {}
        self.failures = []

    def add(self, question, side, name, run, value):
        self.values.setdefault((question, side, name), []).append((run, value))

    def of(self, question, side, name):
        return [value for _, value in self.values.get((question, side, name), [])]

    def fail(self, what, text):
        if what not in [w for w, _ in self.failures]:
            self.failures.append((what, text.strip()))


def progress(text):
    print(text, file=sys.stderr, flush=True)


def first_line(*command):
    try:
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        return (out.stdout or out.stderr).strip().split("\n")[0]
    except OSError:
        return "none"


def errors_in(text):
    """The first errors of a compiler's or meson's output, its end where none can be told."""
    lines = text.splitlines()
    return "\n".join([line for line in lines if re.search(r"\berror:|undefined reference", line, re.IGNORECASE)][:5]
                     or lines[-5:])


def machine_line(load):
    cpu = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return ", ".join([cpu, f"{len(os.sched_getaffinity(0))} cores", f"Linux {platform.release()}",
                      first_line(os.environ.get("CXX", "g++"), "--version"),
                      first_line("mpirun", "--version").replace("mpirun (Open MPI)", "Open MPI"),
                      f"load {load:.2f} at the start", datetime.datetime.now().strftime("%Y-%m-%d %H:%M")])


def rows(figures, questions, samples):
    """(figure, manta best, manta median, limit best, limit median) for each figure of these questions."""
    for figure in figures:
        if figure.question not in questions:
            continue
        manta = samples.of(figure.question, "manta", figure.manta)
        limit = samples.of(figure.question, "limit", figure.limit)
        yield figure, *[value for values in (manta, limit)
                        for value in ((figure.best(values), statistics.median(values)) if values else (None, None))]


def ratio(a, b):
    return a / b if a is not None and b else None


def number(value):
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def print_table(table):
    head = ["id", "figure", "unit", "manta best / median", "limit best / median", "ratio best / median", "goal"]
    lines = [[f.id, f.title, f.unit, f"{number(mb)} / {number(mm)}", f"{number(lb)} / {number(lm)}",
              f"{number(ratio(mb, lb))} / {number(ratio(mm, lm))}", f.goal] for f, mb, mm, lb, lm in table]
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    for line in [head, ["-" * width for width in widths], *lines]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")


def print_rivals(figures, rivals, questions, samples):
    """The figures of manta beside those that the programs of other libraries print under the same name."""
    lines = {}
    for f in figures:
        cells = []
        for name in ["manta", *rivals]:
            values = samples.of(f.question, name, f.manta) if f.question in questions else []
            cells.append(f"{number(f.best(values))} / {number(statistics.median(values))}" if values else "-")
        if any(cell != "-" for cell in cells[1:]):
            lines.setdefault((f.question, f.manta), f"| {f.id} | {f.title.strip()} | {f.unit} | " + " | ".join(cells) + " |")
    if lines:
        print("\nBest and median beside other libraries:\n")
        print("| id | figure | unit | manta | " + " | ".join(rivals) + " |")
        print("| --- | --- | --- | --- |" + " --- |" * len(rivals), *lines.values(), sep="\n")


def write_csv(folder, table, samples, machine):
    with open(folder / "figures.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["id", "question", "figure", "unit", "manta_best", "manta_median", "limit_best", "limit_median",
                      "ratio_best", "ratio_median", "goal", "machine"])
        for f, mb, mm, lb, lm in table:
            out.writerow([f.id, f.question, f.title.strip(), f.unit, mb, mm, lb, lm, ratio(mb, lb), ratio(mm, lm),
                          f.goal, machine])
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["question", "program", "name", "run", "value"])
        for (question, side, name), values in samples.values.items():
            out.writerows([question, side, name, run + 1, value] for run, value in values)
