#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Kills search.cpp at random moments, continues it, and compares with an undisturbed run.

    kill.py PROGRAM [--kills N] [--kinds a,b,...] [MPIRUN...]
    kill.py PROGRAM --worker MANTA_RUN...
    kill.py PROGRAM --leave MANTA_RUN...
    kill.py PROGRAM --bad MANTA_RUN...

Each kind is played at least once; with MANTA_TEST_LONG there are more kills. N: until so many kills have been made.

One process: what comes out is the same to the last digit, whatever searcher and scheduler. With MPIRUN, several ranks, on which
the order of reports is chance: the same trials come out, and the same best, of kinds in which they do not depend on that
order; of the others as many trials, each of them right. --worker: one rank is killed, not the experiment, which costs no
trial. --leave: the experiment is asked to end, as before the end of an allocation, leaves with status 85 each time, and loses
nothing. --bad: a trial that always crashes takes two ranks with it, one that always hangs one, and the others are right.
"""
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120  # seconds until a run counts as a hang
KINDS = ["fifo", "asha", "hyperband", "pbt", "tpe", "isolated", "patience", "repeats", "repeats_asha", "bohb", "front"]
ONE_PROCESS_KINDS = KINDS + ["ends"]  # when it ends depends on the order of reports


def start(command, **more):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **more)


def trials_of(output):
    """What was printed: of each trial state, reports, loss and rate; the best trial and its loss."""
    lines = [line.split() for line in output.splitlines() if line != "started"]
    return [(w[1], int(w[2]), float(w[3]), float(w[4])) for w in lines[:-1]], lines[-1]


def must_agree(kind, before, after, exactly, what):
    """The outcome of an experiment with that of an undisturbed one."""

    def fail(why):
        sys.exit(f"FAILED: {kind}, {what}: {why}\n--- undisturbed\n{before}--- {what}\n{after}")

    if exactly:
        if after != before:
            fail("it came out different")
        return
    (trials, best), (others, other_best) = trials_of(before), trials_of(after)
    if len(trials) != len(others):
        fail("the number of trials")
    for number, (old, new) in enumerate(zip(trials, others)):
        state, reports, loss, rate = new
        if state not in ("complete", "stopped"):
            fail(f"trial {number} is {state}")
        if kind in ("fifo", "isolated", "hyperband", "patience", "repeats") and new != old:
            fail(f"trial {number} came out different")
        if kind in ("asha", "repeats_asha") and rate != old[3]:
            fail(f"trial {number} has another configuration")
        if kind != "pbt" and not math.isclose(loss, rate**reports, rel_tol=1e-9):
            fail(f"trial {number} has not made each of its reports once")
    if kind in ("fifo", "isolated", "hyperband", "asha", "patience", "repeats", "repeats_asha") and other_best != best:
        fail("the best")


def finish(process):
    try:
        output, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        sys.exit(f"FAILED: it hangs\n{output}\n{errors}")
    if process.returncode != 0:
        sys.exit(f"FAILED: exit code {process.returncode}\n{output}\n{errors}")
    return output


def processes_of(session):
    """All processes of a session: mpirun's children are in groups of their own."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[3]) == session:
                found.append(int(entry))
        except (OSError, IndexError):
            pass
    return found


def kill(process):
    for pid in processes_of(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()


def workers_of(session):
    """The ranks of its program but rank 0."""
    found = []
    for pid in processes_of(session):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                rank = [v.split(b"=")[1] for v in file.read().split(b"\0") if v.startswith(b"OMPI_COMM_WORLD_RANK=")]
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            is_rank = os.path.samefile(f"/proc/{pid}/exe", sys.argv[1]) and not os.path.samefile(f"/proc/{parent}/exe", sys.argv[1])
            if rank and rank[0] != b"0" and is_rank:  # and no child of one, for isolated trials
                found.append(pid)
        except OSError:
            pass
    return found


def kill_workers(program, launcher, work, chance):
    kills = 0
    for kind in ["fifo", "isolated", "asha", "pbt", "repeats_asha"]:
        before = finish(start(launcher + [program, "", kind, "10"]))
        for folder in ["", os.path.join(work, f"{kind}-{kills}")]:
            process = start(launcher + [program, folder, kind, "10"])
            if os.read(process.stdout.fileno(), 8) != b"started\n":
                sys.exit(f"FAILED: it does not start\n{finish(process)}")
            time.sleep(chance.uniform(0, 0.8))
            try:
                os.kill(chance.choice(workers_of(process.pid)), signal.SIGKILL)
                kills += 1
            except (IndexError, ProcessLookupError):  # it has ended already
                pass
            must_agree(kind, before, "started\n" + finish(process), False, f"after {kills} kills of a worker")
    if kills == 0:
        sys.exit("FAILED: every run had ended before a rank could be killed")
    print(f"{kills} ranks killed: no trial lost")


def leave(program, launcher, work, chance):
    left = 0
    for kind in ["fifo", "asha", "pbt", "repeats_asha"]:
        before = finish(start(launcher + [program, "", kind, "10"]))
        command = launcher + [program, os.path.join(work, kind), kind, "10"]
        for _ in range(3):
            process = start(command)
            if os.read(process.stdout.fileno(), 8) != b"started\n":
                sys.exit(f"FAILED: it does not start\n{finish(process)}")
            time.sleep(chance.uniform(0, 0.5))
            process.send_signal(signal.SIGUSR1)
            try:
                output, errors = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                kill(process)
                sys.exit(f"FAILED: {kind}: it does not leave")
            if process.returncode not in (0, 85):
                sys.exit(f"FAILED: {kind}: exit code {process.returncode}\n{output}\n{errors}")
            left += process.returncode == 85
        must_agree(kind, before, finish(start(command)), False, "left and continued")
    if left == 0:
        sys.exit("FAILED: every run had ended before it could be asked to leave")
    print(f"left {left} times: nothing lost")


def bad(program, launcher):
    for kind, says, ranks in [("crash", "it has taken 2 ranks with it, and it is not tried again; the last: ", 2), ("hang", "hung in task", 1)]:
        process = start(launcher + [program, "", kind, "1"], env={**os.environ, "MANTA_WATCHDOG": "2"})
        try:
            output, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            kill(process)
            sys.exit(f"FAILED: {kind}: it does not end")
        trials, _ = trials_of(output)
        lines = [line for line in errors.splitlines() if "trial 3 failed: " in line]
        right = [number for number, t in enumerate(trials) if t[0] == "complete" and math.isclose(t[2], t[3] ** 12, rel_tol=1e-9)]
        if process.returncode != 0 or right != [n for n in range(20) if n != 3] or trials[3][0] != "failed":
            sys.exit(f"FAILED: {kind}: exit code {process.returncode}\n{output}\n{errors}")
        if says not in lines[-1] or len(lines) != ranks or errors.count("has died") < ranks:
            sys.exit(f"FAILED: {kind}: it should say once for each of {ranks} ranks what happened, and at last '{says}'\n{errors}")
    print("trials that crash and that hang are given up, and the others are right")


def kill_all(program, launcher, work, chance, kinds, wanted):
    exactly = not launcher
    kills = rounds = 0
    undisturbed = {}
    while kills < wanted or rounds < len(kinds):
        kind = kinds[rounds % len(kinds)]
        rounds += 1
        if kind not in undisturbed:
            undisturbed[kind] = finish(start(launcher + [program, os.path.join(work, f"undisturbed-{kind}"), kind, "1"]))
        folder = os.path.join(work, f"{kind}-{rounds}")
        command = launcher + [program, folder, kind, "1"]
        before = kills
        for _ in range(8 if exactly else 2):
            process = start(command)
            try:
                process.wait(chance.uniform(0.02, 0.25) if exactly else chance.uniform(0.3, 1.0))
            except subprocess.TimeoutExpired:
                kill(process)
                kills += 1
                continue
            finish(process)
            break
        what = f"after {kills - before} kills"
        after = finish(start(command))
        must_agree(kind, undisturbed[kind], after, exactly, what)
        if finish(start(command)) != after:
            sys.exit(f"FAILED: {kind}, {what}: an experiment that has ended came out different when it was read")
    print(f"{kills} kills, {rounds} experiments ({', '.join(kinds)}): same trials, same best")


def main():
    program, launcher = sys.argv[1], sys.argv[2:]
    kinds, wanted = None, None
    while launcher[:1] in (["--kills"], ["--kinds"]):
        if launcher[0] == "--kills":
            wanted = int(launcher[1])
        else:
            kinds = launcher[1].split(",")
        launcher = launcher[2:]
    seed = int(os.environ.get("MANTA_TEST_SEED", time.time_ns()))
    print(f"MANTA_TEST_SEED={seed}")
    chance = random.Random(seed)
    work = tempfile.mkdtemp()
    try:
        if launcher[:1] == ["--worker"]:
            return kill_workers(program, launcher[1:], work, chance)
        if launcher[:1] == ["--leave"]:
            return leave(program, launcher[1:], work, chance)
        if launcher[:1] == ["--bad"]:
            return bad(program, launcher[1:])
        many = 12 if launcher else 50
        kinds = kinds or (KINDS if launcher else ONE_PROCESS_KINDS)
        kill_all(program, launcher, work, chance, kinds, wanted or (many if os.environ.get("MANTA_TEST_LONG") else 1))
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
