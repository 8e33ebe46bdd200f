# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""manta-farm in Slurm jobs: lines on all nodes, lines that are MPI programs, the end of the time and another start."""
from testbed import MANTA_RUN, PROGRAM, Job, check, command, expect, read, run, start_soon, until

import json

MPI = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"


def write(lines):
    with open("commands.txt", "w") as file:
        file.write("".join(line + "\n" for line in lines))


def results():
    return [json.loads(line) for line in read("commands.txt.farm/results.jsonl").splitlines()]


@check
def lines_run_on_all_nodes_with_one_rank_for_each_core_or_for_each_node():
    write(["hostname; sleep 0.2"] * 16 + ["echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE #manta ranks=4"] * 2)
    for options in (["--ntasks-per-node=4"], ["--ntasks-per-node=1", "--cpus-per-task=4"]):
        Job([MPI, "%s --bind-to none -- %s --fresh -j 4 commands.txt" % (MANTA_RUN, PROGRAM)], "-N2", *options).ends()
        expect({r["host"] for r in results()} == {"n1", "n2"}, "not all nodes: %s" % results())
        expect(all(r["outcome"] == "ok" for r in results()), "not all well: %s" % results())
        lines = command(PROGRAM, "output", 17, 18).splitlines()
        expect(sorted(lines) == sorted(["rank %d of 4" % rank for rank in range(4)] * 2), "\n".join(lines))


@check
def a_job_whose_time_ends_is_started_again_and_repeats_no_line():
    write(["touch started; sleep 1; echo $MANTA_FARM_LINE >>log"] * 24)
    job = Job([MPI, "%s -- %s --resume commands.txt & launched=$!" % (MANTA_RUN, PROGRAM), "trap 'kill -USR1 $launched' USR1",
               "wait $launched; status=$?; if ((status == 138)); then wait $launched; status=$?; fi", "echo status $status",
               "if ((status == 85)); then scontrol requeue $SLURM_JOB_ID; fi", "exit $status"],
              "-N2", "--ntasks-per-node=2", "--requeue", "--open-mode=append")
    until(lambda: read("log"), "a line ends")
    command("scancel", "--batch", "--signal=USR1", job.id)
    job.says("status 85")
    until(lambda: job.state() == "PENDING", "the job waits for its next start")
    start_soon(job.id)
    job.ends().says("status 0")
    expect(sorted(map(int, read("log").split())) == list(range(1, 25)), "lost or repeated: " + read("log"))


run()
