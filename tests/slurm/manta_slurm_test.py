# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""scripts/manta-slurm through all its verbs, and the mistakes that its check finds."""
from testbed import BOX, EXAMPLES, MANTA_RUN, MANTA_SLURM, PLAIN, PROGRAM, RANK, check, command, expect, long_check, processes_with, read, run, start_soon, until

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time


def plan(name="study.ini", more="", **keys):
    """Writes a file; **keys go into [job]."""
    keys = {"time": "5m", "command": PROGRAM, **keys}
    with open(name, "w") as file:
        file.write("[job]\n" + "".join("%s = %s\n" % item for item in keys.items() if item[1] is not None) + more)
    return name


def manta_slurm(*words, status=0):
    return command(sys.executable, MANTA_SLURM, *words, status=status)


def refused(*texts, more="", verb="check", **keys):
    """The check finds it: one line, with all of these."""
    output = manta_slurm(verb, plan(more=more, **keys), status=1)
    lines = [line for line in output.splitlines() if not line.startswith("note: ")]
    expect(len(lines) == 1 and all(t in lines[0] for t in texts), "%s wants one line with %s, and there is:\n%s" % (keys, texts, output))


@check
def check_finds_mistakes_before_the_queue_does():
    manta_slurm("check", plan())
    refused("study.ini:4: there is no partition 'fast' on this cluster; there are normal, physics, shut, urgent", partition="fast")
    refused("partition 'shut' is DOWN", partition="shut")
    refused("study.ini:2: the time limit 02:00:00 is over the 01:00:00 that partition 'normal' allows", time="2h")
    refused("over the 00:30:00 that partition 'urgent'", "or take partition normal", time="45", partition="urgent")
    refused("study.ini:4: 3 nodes are asked for, and partition 'normal' has 2", nodes=3)
    refused("study.ini:4: 3 ranks of 2 cpus do not fit on a node", "the largest has 4 cpus", ranks_per_node=3, cpus_per_rank=2)
    refused("study.ini:5: 8192 MiB do not fit", "the largest has 4000 MiB", ranks_per_node=2, memory_per_rank="4G")
    refused("1 gpus fit on 1 nodes of partition 'normal' only, and 2 are asked for", nodes=2, gpus_per_rank="0.5", ranks_per_node=2)
    refused("3 gpus do not fit", gpus_per_rank="3")
    refused("study.ini:3: there is no program", "nowhere/program: build it", command="nowhere/program")
    refused("there is no program 'nowhere' in PATH", command="nowhere")
    refused("is not executable: chmod +x it", command=os.path.abspath(__file__))
    refused("srun has no MPI plugin 'openmpi' here, only", "pmix", launcher="srun", mpi="openmpi")
    refused("was not built for the plugin pmi2", launcher="srun", mpi="pmi2")
    refused("each rank would be a world of its own", launcher="srun", mpi="none")
    refused("account 'nobody' may not use partition 'physics', which is for physics,optics", partition="physics", account="nobody")
    refused("there is no folder", folder="nowhere")
    refused("for the output, and Slurm does not make it", output="nowhere/%j.out".replace("%j", "x"))
    refused("there is no file", "mesh.bin to copy in", more="[stage]\nin = mesh.bin\n")
    refused("the number 5000 of the array is over 1000", array="0-5000")
    # What needs no cluster.
    refused("[job] has no 'ranks_per_nod'; is it 'ranks_per_node'?", ranks_per_nod="2")
    refused("[job] has no 'before_end'; it belongs into [requeue]", before_end="2m")
    refused("there is no section [requeu]", more="[requeu]\n")
    refused("nodes is 'two', and has to be a whole number of at least 1", nodes="two")
    refused("has to be a time like", time="soon")
    refused("needs a time limit", time=None)
    refused("needs a command", command=None)
    refused("has to be like 512M", memory_per_rank="much")
    refused("array is '0..9'", array="0..9")
    refused("launcher is 'aprun'", launcher="aprun")
    refused("before_end (00:05:00) leaves nothing of the time limit (00:05:00)", more="[requeue]\nbefore_end = 5m\n")
    refused("leave one out", memory_per_rank="1G", memory_per_node="1G")
    # Slurm's own word comes last; and what the check finds is not submitted.
    refused("Slurm would not take it", sbatch_options="--constraint=purple")
    refused("there is no partition 'fast'", verb="submit", partition="fast")
    expect(not os.path.exists("study.job") and command("squeue", "-h") == "", "it was submitted")
    expect("No such file" in manta_slurm("check", "nowhere.ini", status=2), "a file that is not there")
    expect("keeps no accounts" in manta_slurm("check", plan(account="physics")), "an account that cannot be seen is no mistake")


@check
def the_examples_are_right():
    found = [name for name in os.listdir(EXAMPLES) if name.endswith(".ini")]
    expect(len(found) >= 2, "there are no examples")
    for name in found:
        shutil.copy(os.path.join(EXAMPLES, name), name)
        manta_slurm("check", name, "--set", "command=" + PROGRAM)


@check
def the_batch_script_stands_on_its_own():
    text = manta_slurm("script", plan(nodes=2, ranks_per_node=2, environment="\n  export GREETING='good day'\n  # a comment",
                                      command="bash -c 'echo $GREETING'"))
    expect("#SBATCH --nodes=2" in text and "#SBATCH --time=00:05:00" in text and "export GREETING='good day'" in text, text)
    with open("alone.sbatch", "w") as file:
        file.write(text)
    os.remove("study.ini")
    command("bash", "-n", "alone.sbatch")
    number = command("sbatch", "--parsable", "--wait", "alone.sbatch").strip()
    expect(read("study-%s.out" % number).count("good day") == 4, read("study-%s.out" % number))
    text = manta_slurm("script", plan(launcher="srun", nodes=1), "--set", "nodes=2", "--set", "requeue.status=99")
    expect("--nodes=2" in text and "--launcher srun --mpi=pmix" in text and "status == 99" in text, text)


@check
def run_submits_follows_and_ends_with_the_status():
    output = manta_slurm("run", plan(nodes=2, ranks_per_node=2))
    expect("sum 5050 on 4 ranks of 2 nodes" in output and "completed after" in output, output)
    output = manta_slurm("run", plan(command=RANK + " status 7", launcher="srun"), status=7)
    expect("failed after" in output and "status 7" in output, output)
    output = manta_slurm("run", plan(command=PLAIN + " dies 11", nodes=2), status=139)
    expect("was killed by SIGSEGV" in output, output)


@long_check
def files_go_in_and_come_out_and_nothing_stays():
    os.mkdir("tables")
    for name, text in (("mesh.bin", "a mesh"), ("tables/one", "1")):
        with open(name, "w") as file:
            file.write(text)
    work = "bash -c 'cat $MANTA_SCRATCH/mesh.bin $MANTA_SCRATCH/tables/one > $MANTA_SCRATCH/out-$(hostname).csv; exit $OMPI_COMM_WORLD_RANK'"
    # As written: the shell of the batch script leaves what is in single quotes alone.
    manta_slurm("run", plan(nodes=2, command=work, more="[stage]\nin = mesh.bin tables\nout = *.csv\nto = results\nscratch = /dev/shm\n"),
                status=1)
    expect(sorted(os.listdir("results")) == ["out-n1.csv", "out-n2.csv"] and read("results/out-n2.csv") == "a mesh1", os.listdir("results"))
    # And when the job is cancelled.
    manta_slurm("submit", plan(nodes=2, command=RANK + " hang", more="[stage]\nin = mesh.bin\nscratch = /dev/shm\n"))
    until(lambda: "rank 1 of 2" in manta_slurm("logs", status=None), "the job starts")
    expect("cancelled after" in manta_slurm("cancel"), "it is cancelled")
    left = command("srun", "-N2", "bash", "-c", "ls /dev/shm")
    expect(left.strip() == "", "left in /dev/shm: " + left)


@check
def status_and_logs_and_cancel():
    expect("no job was submitted from this folder" in manta_slurm("status", status=2), "nothing yet")
    manta_slurm("submit", plan("slow.ini", command=RANK + " hang", ranks_per_node=2))
    until(lambda: "rank 1 of 2" in manta_slurm("logs", status=None), "the job starts")
    number = re.search(r'"id": "(\d+)"', read("slow.job")).group(1)
    for word in ([], ["slow.ini"], [number]):
        expect("job %s: runs on n1 for" % number in manta_slurm("status", *word), "status of a running job")
    following = subprocess.Popen([sys.executable, MANTA_SLURM, "logs", "-f"], stdout=subprocess.PIPE, universal_newlines=True)
    expect("cancelled after" in manta_slurm("cancel", "slow.ini"), "cancel")
    expect("rank 1 of 2 is process" in following.communicate(timeout=60)[0] and following.returncode == 0, "logs -f ends with the job")
    manta_slurm("submit", plan("later.ini", sbatch_options="--begin=now+1hour"))
    expect("waits (BeginTime)" in manta_slurm("status"), "status of a waiting job")
    expect("there is no output yet; job" in manta_slurm("logs", status=1), "logs of a waiting job")
    manta_slurm("cancel")
    expect("no job was submitted of other.ini" in manta_slurm("status", "other.ini", status=2), "an unknown file")
    expect("does not know job 4321" in manta_slurm("status", "4321", status=1), "an unknown number")


@check
def state_shows_what_the_ranks_do_and_the_job_goes_on():
    manta_slurm("submit", plan(command="%s steps 99999 state" % PROGRAM, ranks_per_node=2))
    until(lambda: "begins after step" in manta_slurm("logs", status=None), "the program runs")
    for _ in range(2):
        block = manta_slurm("state")
        expect(block.startswith("manta: state at ") and "asked for by SIGUSR2" in block, "the block:\n" + block)
        expect(re.search(r"^  tasks    \d+ done, 0 failed", block, re.MULTILINE), "the counts:\n" + block)
        expect(len(block.splitlines()) <= 40, "its length:\n" + block)
        time.sleep(4)  # the program tells its state once in three seconds
    expect("has printed no 'manta: dashboard at" in manta_slurm("forward", status=1), "a job without a dashboard")
    with open(glob.glob("study-*.out")[0], "a") as output:
        output.write("manta: dashboard at http://127.0.0.1:8123/?token=ab\n")
    expect(":localhost:8123 " in manta_slurm("forward"), "the port of the dashboard")
    expect("http://localhost:8123/?token=ab port 8123 of n1" in manta_slurm("forward"), "its address")
    expect("runs on n1" in manta_slurm("status"), "it goes on")
    manta_slurm("cancel")
    expect("does not run" in manta_slurm("state", status=1), "a job that is over")


@long_check
def an_array_is_one_job_of_several_parts():
    output = manta_slurm("run", plan(array="0-3%2", command="bash -c 'echo part $SLURM_ARRAY_TASK_ID; exit $((SLURM_ARRAY_TASK_ID == 2 ? 6 : 0))'"),
                         status=6)
    for part in range(4):
        expect(re.search(r"\[\d+_%d\] part %d\n" % (part, part), output), "part %d is missing in:\n%s" % (part, output))
    expect(len(re.findall(r"_\d: completed", output)) == 3 and re.search(r"_2: failed after .*status 6", output), output)


@long_check
def a_program_that_asks_for_another_start_gets_one():
    manta_slurm("submit", plan(command="%s steps 99999 state" % PROGRAM, ranks_per_node=2, more="[requeue]\nat_most = 1\n"))
    number = re.search(r'"id": "(\d+)"', read("study.job")).group(1)
    log = "study-%s.out" % number
    for start in range(2):
        until(lambda: read(log).count("ranks begins") == start + 1, lambda: "start %d begins:\n%s" % (start, read(log)))
        command("scancel", "--batch", "--signal=USR1", number)  # as Slurm does before_end; faults_test.py waits for that
        until(lambda: read(log).count("asked to stop after") == start + 1, lambda: "start %d ends:\n%s" % (start, read(log)))
        if start == 0:
            until(lambda: "JobState=PENDING" in command("scontrol", "show", "job", number), "it waits for its second start")
            start_soon(number)
    until(lambda: "failed after" in manta_slurm("status"), lambda: manta_slurm("status") + read(log))
    done = re.findall(r"asked to stop after step (\d+)", read(log))
    expect("restart 1 on 2 ranks begins after step " + done[0] in read(log), read(log))
    expect("status 85 asks for another start, and at most 1 are allowed" in read(log), read(log))
    expect("status 85, start 2" in manta_slurm("status"), manta_slurm("status"))


def goes_on_from_its_journal(number, log, journal):
    """A job of 400 tasks, on two nodes with two ranks each, is asked to end when some have ended, and started again."""
    until(lambda: glob.glob(journal + "/*.journal"), lambda: "results are kept:\n" + read(log))
    command("scancel", "--batch", "--signal=USR1", number)  # as Slurm does before the end
    until(lambda: "JobState=PENDING" in command("scontrol", "show", "job", number), lambda: "it waits for its second start:\n" + read(log))
    expect("the sum" not in read(log), "it had ended:\n" + read(log))
    start_soon(number)
    until(lambda: "results were known already" in read(log), lambda: "it ends:\n" + read(log))
    known = int(re.search(r"journal: (\d+) results were known already", read(log)).group(1))
    expect(0 < known < 400 and read(log).count("the sum is 79800") == 1, read(log))


@long_check
def the_study_of_the_examples_goes_on_from_its_journal():
    shutil.copy(os.path.join(EXAMPLES, "study.ini"), "study.ini")
    manta_slurm("submit", "study.ini", "--set", "command=%s study 400" % PROGRAM, "--set", "ranks_per_node=2")
    number = re.search(r'"id": "(\d+)"', read("study.job")).group(1)
    goes_on_from_its_journal(number, "study-%s.out" % number, "study-journal")


@long_check
def the_batch_script_of_the_examples_goes_on_from_its_journal():
    text = read(os.path.join(EXAMPLES, "by_hand.sbatch"))
    old = "../../scripts/manta-run -- ../../build/examples/tree_reduction"
    expect(old in text, "by_hand.sbatch has changed: this wants to replace '%s'" % old)
    with open("by_hand.sbatch", "w") as file:
        file.write(text.replace(old, "%s -- %s study 400" % (MANTA_RUN, PROGRAM)))
    number = command("sbatch", "--parsable", "--ntasks-per-node=2", "by_hand.sbatch").strip()
    goes_on_from_its_journal(number, "slurm-%s.out" % number, "by_hand-journal")


@long_check
def a_cancelled_job_is_not_started_again():
    manta_slurm("submit", plan(command="%s steps 99999 state" % PROGRAM, more="[requeue]\n"))  # SIGTERM too has it end with 85
    number = re.search(r'"id": "(\d+)"', read("study.job")).group(1)
    log = "study-%s.out" % number
    until(lambda: "ranks begins" in read(log), lambda: "it starts:\n" + read(log))
    expect("cancelled" in manta_slurm("cancel"), manta_slurm("status"))
    until(lambda: not processes_with("SLURM_JOB_ID=" + number), "nothing is left of it")
    expect("SIGTERM has come" in read(log) and "was cancelled; there will be no other start" in read(log), read(log))


@long_check
def a_job_whose_node_died_is_started_again():
    manta_slurm("submit", plan(command="bash -c 'echo restart ${SLURM_RESTART_COUNT:-0} on $(hostname); exec %s hang'" % RANK, nodes=2, more="[requeue]\nbefore_end = 1m\n"))
    number = re.search(r'"id": "(\d+)"', read("study.job")).group(1)
    log = "study-%s.out" % number
    until(lambda: "restart 0 on n2" in read(log) and "rank 1 of 2" in read(log), lambda: "it starts:\n" + read(log))
    command(BOX, "kill-node", "n2")
    until(lambda: "ended with status 75; there will be another" in read(log), lambda: "it asks for another start:\n" + read(log))
    command(BOX, "start-node", "n2")
    until(lambda: "waits" in manta_slurm("status"), "it waits")
    start_soon(number)
    until(lambda: "restart 1 on n2" in read(log), lambda: "it starts again:\n" + read(log))
    manta_slurm("cancel")


@long_check
def resize_starts_it_again_with_another_number_of_nodes():
    manta_slurm("submit", plan(command="%s steps 99999 state" % PROGRAM, ranks_per_node=2, more="[requeue]\nbefore_end = 1m\n"))
    number = re.search(r'"id": "(\d+)"', read("study.job")).group(1)
    log = "study-%s.out" % number
    for nodes, ranks in ((2, 4), (1, 2)):
        until(lambda: "on %d ranks begins" % (6 - ranks) in read(log), lambda: "it starts:\n" + read(log))
        expect("will start with %d nodes" % nodes in manta_slurm("resize", nodes), "resize")
        start_soon(number)
        until(lambda: re.search(r"restart \d on %d ranks begins" % ranks, read(log).split("asked to stop")[-1]), lambda: "on %d nodes:\n%s%s" % (nodes, manta_slurm("status"), read(log)))
    begun = [int(n) for n in re.findall(r"begins after step (\d+)", read(log))]
    expect(begun == sorted(begun) and begun[0] == 0 and begun[1] > 0, "it goes on where it was: %s" % begun)
    expect("partition 'normal' has 2" in manta_slurm("resize", 3, status=2), "too many nodes")
    manta_slurm("cancel")
    expect("submit it again with nodes = 2" in manta_slurm("resize", 2, status=1), "a job that is over")
    manta_slurm("submit", plan(command=RANK + " hang"))
    until(lambda: "runs on" in manta_slurm("status"), "it runs")
    expect("is not one that requeues itself" in manta_slurm("resize", 2, status=1), "a job without [requeue]")
    manta_slurm("cancel")


@long_check
def forward_prints_or_opens_the_tunnel():
    manta_slurm("submit", plan(command=RANK + " hang", sbatch_options="-w n2"))
    until(lambda: "runs on n2" in manta_slurm("status"), "it runs")
    os.environ.update(USER="ada", MANTA_LOGIN_HOST="login.example.org")
    expect("ssh -N -J ada@login.example.org -L 8080:localhost:8080 ada@n2\n" in manta_slurm("forward", 8080), "the command for one's own machine")
    expect("-L 9090:localhost:8080 ada@n2" in manta_slurm("forward", 8080, "--local", 9090), "another number here")
    os.mkdir("bin")
    with open("bin/ssh", "w") as file:
        file.write("#!/bin/sh\necho ssh was called: $*\n")
    os.chmod("bin/ssh", 0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = os.path.abspath("bin") + ":" + path
    expect("ssh was called: -N -L 8080:localhost:8080 n2" in manta_slurm("forward", 8080, "--open"), "the tunnel")
    os.environ["PATH"] = path
    manta_slurm("cancel")
    expect("does not run, so there is nothing to reach" in manta_slurm("forward", 8080, status=1), "a job that is over")


@long_check
def run_that_is_interrupted_leaves_the_job():
    process = subprocess.Popen([sys.executable, MANTA_SLURM, "run", plan(command=RANK + " hang")], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, universal_newlines=True)
    until(lambda: os.path.exists("study.job") and "runs on" in manta_slurm("status", status=None), "it runs")
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    expect(process.returncode == 130 and "goes on; manta-slurm logs -f study.ini follows it again" in output, output)
    expect("runs on" in manta_slurm("status"), "it still runs")
    number = re.search(r'"id": "(\d+)"', read("study.job")).group(1)
    manta_slurm("cancel")
    until(lambda: not processes_with("SLURM_JOB_ID=" + number), "nothing is left of it")


run("n1:4:4000:2 n2:4:4000", "PartitionName=shut Nodes=n1 State=DOWN\nPartitionName=physics Nodes=n1 AllowAccounts=physics,optics")
