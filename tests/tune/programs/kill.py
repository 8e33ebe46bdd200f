#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Kills search.cpp at random moments, continues it, and compares with an undisturbed run.

    kill.py PROGRAM [MPIRUN...]
    kill.py PROGRAM --worker MANTA_RUN...
    kill.py PROGRAM --leave MANTA_RUN...

One process: 50 kills, what comes out is the same to the last digit. With MPIRUN, several ranks: the same trials come out,
whatever the order in which they ran. --worker: one rank is killed, not the experiment, which costs no trial. --leave: the
experiment is asked to end, as before the end of an allocation, leaves with status 85 each time, and loses nothing.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 60  # seconds until a run counts as a hang


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


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
            if rank and rank[0] != b"0" and os.path.samefile(f"/proc/{pid}/exe", sys.argv[1]):
                found.append(pid)
        except OSError:
            pass
    return found


def kill_workers(program, launcher, work, chance):
    before = finish(start(launcher + [program, "", "fifo", "10"]))
    kills = 0
    for kind in ["fifo", "fifo", "asha", "pbt"]:
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
            after = "started\n" + finish(process)
            if " failed " in after or (kind == "fifo" and after != before):
                sys.exit(f"FAILED: {kind} after {kills} kills\n--- undisturbed\n{before}--- with a worker killed\n{after}")
    if kills == 0:
        sys.exit("FAILED: every run had ended before a rank could be killed")
    print(f"{kills} ranks killed: no trial lost")


def leave(program, launcher, work, chance):
    left = 0
    for kind in ["fifo", "asha", "pbt"]:
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
        after = finish(start(command))
        if " failed " in after or (kind == "fifo" and after != before):
            sys.exit(f"FAILED: {kind}\n--- undisturbed\n{before}--- left and continued\n{after}")
    if left == 0:
        sys.exit("FAILED: every run had ended before it could be asked to leave")
    print(f"left {left} times: nothing lost")


def main():
    program, launcher = sys.argv[1], sys.argv[2:]
    seed = int(os.environ.get("MANTA_TEST_SEED", time.time_ns()))
    print(f"MANTA_TEST_SEED={seed}")
    chance = random.Random(seed)
    work = tempfile.mkdtemp()
    try:
        if launcher[:1] == ["--worker"]:
            return kill_workers(program, launcher[1:], work, chance)
        if launcher[:1] == ["--leave"]:
            return leave(program, launcher[1:], work, chance)
        kills = 0
        wanted = 50 if not launcher else 6
        while kills < wanted:
            for kind in ["fifo", "asha"] if not launcher else ["fifo"]:
                before = finish(start(launcher + [program, os.path.join(work, f"undisturbed-{kind}"), kind, "1"]))
                folder = os.path.join(work, f"{kind}-{kills}")
                for _ in range(8):
                    process = start(launcher + [program, folder, kind, "1"])
                    try:
                        process.wait(chance.uniform(0.02, 0.25) if not launcher else chance.uniform(0.3, 1.0))
                    except subprocess.TimeoutExpired:
                        kill(process)
                        kills += 1
                        continue
                    process.communicate()
                    break
                after = finish(start(launcher + [program, folder, kind, "1"]))
                if after != before:
                    sys.exit(f"FAILED: {kind} after {kills} kills\n--- undisturbed\n{before}--- continued\n{after}")
                again = finish(start(launcher + [program, folder, kind, "1"]))
                if again != before:
                    sys.exit("FAILED: an experiment that has ended came out different when it was read")
        print(f"{kills} kills: same trials, same best")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
