# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Starting manta programs in Slurm jobs: mpirun, srun and manta-run on one node and two, arrays, jobs side by side."""
from testbed import MANTA_RUN, PLAIN, PROGRAM, RANK, Job, check, command, expect, run, until

import os
import re


@check
def mpirun_on_one_node_and_two():
    Job(["mpirun " + PROGRAM], "-N1", "-n4").ends().says("sum 5050 on 4 ranks of 1 nodes")
    Job(["mpirun " + PROGRAM], "-N2", "-n4").ends().says("sum 5050 on 4 ranks of 2 nodes")


@check
def srun_by_pmix_on_one_node_and_two():
    expect("pmix" in command("srun", "--mpi=list"), "Slurm has no PMIx plugin")
    Job(["srun --mpi=pmix " + PROGRAM], "-N1", "-n4").ends().says("sum 5050 on 4 ranks of 1 nodes")
    Job(["srun --mpi=pmix " + PROGRAM], "-N2", "-n4").ends().says("sum 5050 on 4 ranks of 2 nodes")


@check
def manta_run_on_one_node_and_two():
    for launcher in ("mpirun", "srun"):
        for nodes in (1, 2):
            job = Job(["%s --launcher %s -- %s" % (MANTA_RUN, launcher, PROGRAM)], "-N%d" % nodes, "-n4")
            job.ends().says("sum 5050 on 4 ranks of %d nodes" % nodes)
            expect("manta-run:" not in job.output, "manta-run has something to say: " + job.output)


@check
def manta_run_carries_the_status_of_rank_0():
    for launcher in ("mpirun", "srun"):
        Job(["exec %s --launcher %s -- %s status 7" % (MANTA_RUN, launcher, RANK)], "-N2", "-n2").ends("FAILED", "7:0")


@check
def a_rank_of_another_node_dies():
    job = Job(["exec %s -- %s outlives 9" % (MANTA_RUN, RANK)], "-N2", "--ntasks-per-node=2").ends("FAILED", "3:0")
    job.says("rank 3 on n2", "was killed by SIGKILL; the program goes on without it", "rank 0 goes on")
    job = Job(["exec %s -- %s dies 11" % (MANTA_RUN, PLAIN)], "-N2", "--ntasks-per-node=2").ends("FAILED", "139:0")
    job.says("rank 3 on n2", "was killed by SIGSEGV", "the job is ended")


@check
def slurms_pmix_plugin_ends_a_step_whose_rank_died():
    # Not our doing, but what scripts/slurm.md says. If this fails one day, srun has become as good as mpirun.
    job = Job(["exec %s --launcher srun -- %s outlives 9" % (MANTA_RUN, RANK)], "-N2", "--ntasks-per-node=2").reaches("FAILED")
    job.says("rank 3 on n2", "unless Slurm's PMIx plugin ends the step")
    expect("rank 0 goes on" not in job.output, "srun let it go on: " + job.output)


@check
def an_array():
    job = Job(["mpirun %s; echo part $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT" % PROGRAM], "-n2", "--array=0-3%2", "--output=part-%a.out")
    until(lambda: command("squeue", "-h", "-j", job.id, status=None).strip() == "", "the array ends")
    for part in range(4):
        with open("part-%d.out" % part) as file:
            text = file.read()
        expect("sum 5050 on 2 ranks" in text and "part %d of 4" % part in text, "part %d: %s" % (part, text))


@check
def two_jobs_with_different_settings_on_one_node_at_once():
    # Each waits for the other, so they do run together; each has the settings of its own environment.
    def job(mine, other, ranks, seed):
        return Job(["touch here-%s; for i in {1..600}; do [[ -e here-%s ]] && break; sleep 0.05; done" % (mine, other),
                    "[[ -e here-%s ]] || exit 9" % other, "export MANTA_SEED=%d MANTA_CPUS=%d" % (seed, ranks),
                    "%s -- bash -c 'echo $(hostname) seed $MANTA_SEED memory $OMPI_MCA_btl_vader_backing_directory'" % MANTA_RUN,
                    "exec %s -- %s" % (MANTA_RUN, PROGRAM)], "-w", "n1", "-n%d" % ranks)

    a, b = job("a", "b", 1, 11), job("b", "a", 3, 22)
    a.ends().says("n1 seed 11 ", "sum 5050 on 1 ranks")
    b.ends().says("n1 seed 22 ", "sum 5050 on 3 ranks")
    folders = [set(re.findall(r"memory (\S+)", j.output)) for j in (a, b)]
    expect(len(folders[0]) == len(folders[1]) == 1 and folders[0] != folders[1], "shared memory: %s" % folders)


@check
def gpus_are_seen_by_all_ranks_of_a_node():
    job = Job(["mpirun bash -c 'echo gpus=$CUDA_VISIBLE_DEVICES'"], "-w", "n1", "-n2", "--gres=gpu:2").ends()
    expect(job.output.count("gpus=0,1") == 2, job.output)


expect(os.path.exists(PROGRAM), "there is no " + PROGRAM)
run("n1:4:4000:2 n2:4:4000")
