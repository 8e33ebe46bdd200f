# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A study in Slurm: saved and requeued, killed, continued with other numbers of ranks, the same as undisturbed."""
from testbed import EXAMPLES, MANTA_RUN, PROGRAM, Job, check, command, expect, processes_with, read, run, start_soon, until

import os
import random
import re
import signal
import time

SEED = int(os.environ.get("MANTA_TEST_SEED", time.time_ns()))


def resuming(ranks, words):
    """The batch script of the examples, with the search in place of its program, on another number of ranks in each start."""
    text = read(os.path.join(EXAMPLES, "by_hand.sbatch"))
    old = "../../scripts/manta-run -- ../../build/examples/tree_reduction"
    expect(old in text, "by_hand.sbatch has changed: this wants to replace '%s'" % old)
    launch = "ranks=(%s); %s -n ${ranks[${SLURM_RESTART_COUNT:-0}]} -- %s %s" % (" ".join(map(str, ranks)), MANTA_RUN, PROGRAM, words)
    return text.replace(old, launch).splitlines()[1:]


def reports(folder):
    return read(os.path.join(folder, "journal.jsonl")).count('"e":"report"')


@check
def a_study_requeued_three_times_and_killed_once_comes_out_the_same():
    print("MANTA_TEST_SEED=%d" % SEED)
    chance = random.Random(SEED)
    undisturbed = [line for line in command(PROGRAM, "", "fifo", "0").splitlines() if line != "started"]
    expect(len(undisturbed) == 21, undisturbed)
    job = Job(resuming((4, 8, 3, 5), "study fifo 50"), "-N2", "--ntasks-per-node=4")

    def requeued(start):
        job.reaches("PENDING")
        start_soon(job.id)
        until(lambda: job.output.count("started\n") == start + 1, job.describe)

    def comes_to(least):  # of 240 reports
        wanted = least + chance.randrange(40)
        until(lambda: reports("study") >= wanted, lambda: "%d reports of %s" % (wanted, job.describe()))

    comes_to(20)
    command("scancel", "--batch", "--signal=USR1", job.id)  # as Slurm does before the time limit
    requeued(1)
    comes_to(80)
    for process in processes_with("SLURM_JOB_ID=" + job.id):  # but for the batch script: the job has failed then
        if os.path.basename(PROGRAM) in read("/proc/%d/cmdline" % process):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
    job.reaches("FAILED")
    command("scontrol", "requeue", job.id)
    requeued(2)
    comes_to(140)
    command("scancel", "--batch", "--signal=USR1", job.id)
    requeued(3)
    job.ends()
    last = job.output.rsplit("started\n", 1)[1]
    trials = [line for line in last.splitlines() if re.match(r"\d+ \w+ \d+ |best ", line)]
    expect(trials == undisturbed, "undisturbed\n%s\nand in Slurm\n%s" % ("\n".join(undisturbed), job.output))
    expect(job.facts()["Restarts"] == "3", job.describe())


run()
