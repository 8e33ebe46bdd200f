# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What ends Slurm jobs before their time: the time limit, others' jobs, dead nodes, scancel."""
from testbed import BOX, EXAMPLES, MANTA_RUN, PROGRAM, RANK, Job, check, command, expect, processes_with, read, run, start_soon, until

import glob
import os
import re
import shutil
import time


def resuming():
    """The batch script of the examples, with a program that never ends by itself."""
    text = read(os.path.join(EXAMPLES, "by_hand.sbatch"))
    old = "../../scripts/manta-run -- ../../build/examples/tree_reduction"
    expect(old in text, "by_hand.sbatch has changed: this wants to replace '%s'" % old)
    return text.replace(old, "%s -- %s steps 99999 state" % (MANTA_RUN, PROGRAM)).splitlines()[1:]


def session_folders():
    return glob.glob(os.path.join(os.environ["TMPDIR"], "ompi.*", "*"))


def folders_of_manta_run():
    return glob.glob(os.path.join(os.environ["TMPDIR"], "manta-run.*"))


def wipe_after_dead_nodes():
    """What a dead node leaves on its disk is for those who start it again."""
    for folder in session_folders():
        shutil.rmtree(folder, ignore_errors=True)


@check
def a_job_requeues_itself_before_its_time_limit_and_resumes():
    # Slurm's clock of limits ticks in minutes and its signals may come early; so: a limit of a minute, 55 s before it.
    job = Job(resuming(), "-N1", "--ntasks-per-node=2", "--time=1", "--signal=B:USR1@55")
    job.says("restart 0 on 2 ranks begins after step 0", "asked to stop after step")
    done = int(re.search(r"asked to stop after step (\d+)", job.output).group(1))
    expect(done > 0, "it did nothing before it was stopped:\n" + job.output)
    job.reaches("PENDING")
    start_soon(job.id)
    job.says("restart 1 on 2 ranks begins after step %d" % done)
    command("scancel", job.id)
    job.reaches("CANCELLED")


@check
def a_job_gives_way_to_one_of_a_higher_partition_and_resumes():
    job = Job(resuming(), "-N2", "--ntasks-per-node=4")
    job.says("restart 0 on 8 ranks begins after step 0")
    urgent = Job(["echo first"], "-N2", "--ntasks-per-node=4", "-p", "urgent")
    urgent.ends().says("first")
    job.says("asked to stop after step")
    done = re.search(r"asked to stop after step (\d+)", job.output).group(1)
    job.reaches("PENDING")
    start_soon(job.id)
    job.says("restart 1 on 8 ranks begins after step " + done)
    command("scancel", job.id)
    job.reaches("CANCELLED")


def loses_a_node(program, option, says, code):
    """A job on two nodes, of which the second dies, says so, leaves no process, and ends with this code."""
    job = Job(["exec %s -- %s %s" % (MANTA_RUN, RANK, program)], "-N2", "-n2", option)
    job.says("rank 0 of 2 is process", "rank 1 of 2 is process")
    command(BOX, "kill-node", "n2")
    job.says(*says)
    job.reaches("FAILED", "COMPLETING", "COMPLETED")
    until(lambda: not processes_with("SLURM_JOB_ID=" + job.id), "nothing of job %s is left" % job.id)
    command(BOX, "start-node", "n2")
    job.ends("FAILED", code)
    wipe_after_dead_nodes()


@check
def a_job_loses_a_node_and_goes_on_with_no_kill():
    says = "rank 1 on n2 is lost, and perhaps its node; the program goes on without it", "rank 0 goes on"
    loses_a_node("outlives-node", "--no-kill", says, "3:0")


@check
def a_manta_program_goes_on_when_slurm_has_given_the_node_up():
    before = set(folders_of_manta_run())
    job = Job(["exec %s -- %s until end" % (MANTA_RUN, PROGRAM)], "-N2", "--ntasks-per-node=2", "--no-kill")
    job.says("started")
    command(BOX, "kill-node", "n2")
    job.says("rank 2 has died", "rank 3 has died", "rank 2 on n2 is lost, and perhaps its node; the program goes on without it")
    until(lambda: job.facts()["NodeList"] == "n1", lambda: "Slurm takes the node out of " + job.describe())
    time.sleep(5)  # what Slurm ends because of it would be over by now
    open("end", "w").close()
    job.says("all right")
    job.reaches("COMPLETED", "COMPLETING")
    until(lambda: not processes_with("SLURM_JOB_ID=" + job.id), "nothing of job %s is left" % job.id)
    expect(set(folders_of_manta_run()) <= before, "manta-run has left its folder")
    command(BOX, "start-node", "n2")
    job.ends()
    wipe_after_dead_nodes()


@check
def a_job_loses_a_node_and_does_not_survive_it():
    # Long before Slurm notices, so it is the status that has to say that this was no fault of the program's.
    says = "rank 1 on n2 is lost, and perhaps its node", "the job is ended"
    loses_a_node("hang", "--requeue", says, "75:0")


@check
def slurm_requeues_a_job_whose_node_died():
    job = Job(["echo restart ${SLURM_RESTART_COUNT:-0}", "sleep 100"], "-N2", "-n2", "--requeue", "--open-mode=append")
    job.says("restart 0")
    command(BOX, "kill-node", "n2")
    job.reaches("PENDING")
    command(BOX, "start-node", "n2")
    until(lambda: "idle" in command("sinfo", "-h", "-n", "n2", "-p", "normal", "-o", "%t"), "n2 is back")
    job.reaches("PENDING")
    start_soon(job.id)
    job.says("restart 1")
    command("scancel", job.id)
    job.reaches("CANCELLED")


@check
def a_cancelled_job_leaves_nothing_behind():
    for words in ("hang", "deaf-all"):  # one that SIGTERM ends, one that has to be killed
        for launcher in ("mpirun", "srun"):
            job = Job(["exec %s --launcher %s -- %s %s" % (MANTA_RUN, launcher, RANK, words)], "-N2", "-n4")
            job.says(*("rank %d of 4 is process" % r for r in range(4)))
            expect(processes_with("SLURM_JOB_ID=" + job.id), "this checks nothing")
            folders = set(re.findall(r"shared memory (/\S+)", job.output))
            command("scancel", job.id)
            job.reaches("CANCELLED")
            until(lambda: not processes_with("SLURM_JOB_ID=" + job.id), lambda: "no process of job %s is left: %s" % (
                job.id, [read("/proc/%d/cmdline" % p).replace("\0", " ") for p in processes_with("SLURM_JOB_ID=" + job.id)]))
            left = command("srun", "-N2", "-n2", "bash", "-c", "ls -d %s 2>/dev/null; true" % " ".join(folders)).split()
            expect(not left, "%s of %s leaves %s" % (words, launcher, left))
            left = session_folders()
            expect(not left, "%s of %s leaves %s" % (words, launcher, left))


run(conf="")
