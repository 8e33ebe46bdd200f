# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What manta-slurm does."""
import json
import os
import re
import shutil
import subprocess
import sys
import time

from .check import checked
from .job import Follower, Job
from .plan import Plan
from .script import batch_script
from .slurm import ask, give_up


def submit_plan(plan, check=True):
    if check or plan.mistakes:
        checked(plan, quiet=True)
    script = plan.base + ".sbatch"
    with open(script, "w") as file:
        file.write(batch_script(plan))
    number = ask("sbatch", "--parsable", script).strip().split(";")[0]
    record = {"id": number, "output": plan.output, "folder": plan.folder, "script": os.path.abspath(script), "requeue": plan.requeue,
              "tells_state": True}
    with open(plan.base + ".job", "w") as file:
        json.dump(record, file)
        file.write("\n")
    return Job(number, record)

def check(arguments):
    checked(Plan(arguments.file, arguments.set))
    print("%s: nothing is wrong with it" % arguments.file)

def script(arguments):
    plan = Plan(arguments.file, arguments.set)
    for text in plan.mistakes:
        sys.stderr.write(text + "\n")
    sys.stdout.write(batch_script(plan))
    return 1 if plan.mistakes else 0

def submit(arguments):
    plan = Plan(arguments.file, arguments.set)
    job = submit_plan(plan, not arguments.no_check)
    print("job %s (%s.sbatch); follow it: manta-slurm logs -f %s" % (job.number, plan.base, arguments.file))

def run(arguments):
    plan = Plan(arguments.file, arguments.set)
    job = submit_plan(plan, not arguments.no_check)
    sys.stderr.write("manta-slurm: job %s is submitted\n" % job.number)
    try:
        Follower(job).until_over()
    except KeyboardInterrupt:
        sys.stderr.write("\nmanta-slurm: job %s goes on; manta-slurm logs -f %s follows it again, manta-slurm cancel %s ends it\n"
                         % (job.number, arguments.file, arguments.file))
        return 130
    for part in job.parts():
        sys.stderr.write("manta-slurm: %s\n" % job.sentence(part))
    return job.status()

def status(arguments):
    job = Job.named(arguments.job)
    for part in job.needed():
        print(job.sentence(part))

def logs(arguments):
    job = Job.named(arguments.job)
    follower = Follower(job)
    if arguments.follow:
        follower.until_over()
    else:
        if not any(os.path.exists(path) for _, path in job.outputs()):
            for part in job.needed():
                sys.stderr.write("manta-slurm: there is no output yet; %s\n" % job.sentence(part))
            return 1
        follower.step()

def state(arguments):
    """What runs where, who waits for what: the program prints it to the job's output, from which this copies it."""
    job = Job.named(arguments.job)
    parts = [part for part in job.needed() if job.state(part) == "RUNNING"]
    if not parts:
        give_up("job %s does not run: %s" % (job.number, job.sentence(job.known[0])), 1)
    if not job.record.get("tells_state"):  # its batch script might end by the signal
        give_up("job %s was not submitted by this manta-slurm; scancel --signal=USR2 %s asks the ranks themselves" % (job.number, job.number), 1)
    sizes = {path: os.path.getsize(path) if os.path.exists(path) else 0 for _, path in job.outputs()}
    ask("scancel", "--batch", "--signal=USR2", job.number)
    end = time.monotonic() + arguments.patience
    while time.monotonic() < end:
        for path, begin in sizes.items():
            block = state_block(path, begin)
            if block:
                time.sleep(0.3)  # the rest of it may still be on its way
                sys.stdout.write(state_block(path, begin))
                return 0
        if job.over():
            give_up(job.sentence(job.parts()[0]), 1)
        time.sleep(0.2)
    give_up("job %s has not told its state within %d s: it may not be a program of manta, or its batch script does not pass SIGUSR2 on"
            % (job.number, arguments.patience), 1)

def state_block(path, begin):
    """The state that stands behind the first `begin` bytes of an output; None if there is none yet."""
    if not os.path.exists(path):
        return None
    with open(path, errors="replace") as file:
        file.seek(begin)
        lines = file.readlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("manta: state")), None)
    if first is None or not lines[-1].endswith("\n"):
        return None
    last = first + 1
    while last < len(lines) and lines[last].startswith("  "):
        last += 1
    return "".join(lines[first:last])

def cancel(arguments):
    job = Job.named(arguments.job)
    job.needed()
    ask("scancel", job.number)
    end = time.monotonic() + 120
    while not job.over():  # Slurm ends what runs, first kindly
        if time.monotonic() > end:
            give_up("job %s does not end; manta-slurm status %s says more" % (job.number, job.number), 1)
        time.sleep(0.2)
    for part in job.parts():
        print(job.sentence(part))

def dashboard_of(job):
    """The port of the job's dashboard and the rest of its address, as the program has printed them last."""
    found = []
    for _, path in job.outputs():
        try:
            with open(path, errors="replace") as output:
                found += re.findall(r"^manta: dashboard at http://[^/]*:(\d+)(/\S*)$", output.read(), re.MULTILINE)
        except OSError:
            continue
    if not found:
        give_up("job %s has printed no 'manta: dashboard at ..'; make a manta::dashboard in the driver, or give the PORT of"
                " another server" % job.number, 1)
    return int(found[-1][0]), found[-1][1]

def forward(arguments):
    job = Job.named(arguments.job)
    part = next((p for p in job.needed() if job.state(p) == "RUNNING"), None)
    if part is None:
        give_up("job %s does not run, so there is nothing to reach: %s" % (job.number, job.sentence(job.known[0])), 1)
    port, path = (arguments.port, "") if arguments.port else dashboard_of(job)
    node, local = part.get("BatchHost", part.get("NodeList")), arguments.local or port
    if arguments.open:
        command = ["ssh", "-N", "-L", "%d:localhost:%d" % (local, port), node]
        sys.stderr.write("manta-slurm: http://localhost:%d%s is port %d of %s until Ctrl-C\n" % (local, path, port, node))
        try:
            return call_through(command)
        except KeyboardInterrupt:
            return 0
    host = os.environ.get("MANTA_LOGIN_HOST") or os.uname().nodename
    user = os.environ.get("USER", "")
    user += "@" if user else ""
    print("ssh -N -J %s%s -L %d:localhost:%d %s%s" % (user, host, local, port, user, node))
    sys.stderr.write("manta-slurm: on your own machine this makes http://localhost:%d%s port %d of %s, while job %s runs\n"
                     % (local, path, port, node, job.number))

def fetch(_):
    give_up("fetch copies files from a cluster to this machine: manta-slurm --on LOGIN fetch")

def call_through(command):
    if not shutil.which(command[0]):
        give_up("there is no %s on this machine" % command[0])
    return subprocess.call(command)

def resize(arguments):
    """A running job saves itself and is started again with more or fewer nodes: it takes what it has from its journal."""
    job = Job.named(arguments.job)
    parts = job.needed()
    if len(parts) > 1:
        give_up("job %s is an array: its parts have sizes of their own; name one by its own number" % job.number)
    part, nodes = parts[0], arguments.nodes
    if job.over():
        give_up("%s: submit it again with nodes = %d" % (job.sentence(part), nodes), 1)
    name = part.get("Partition", "")
    most = sum(1 for _ in ask("sinfo", "-h", "-N", "-p", name, "-o", "%N").split())
    if nodes < 1 or nodes > most:
        give_up("%d nodes: partition '%s' has %d" % (nodes, name, most))
    if job.state(part) == "RUNNING":
        if not job.record.get("requeue"):
            give_up("job %s runs and is not one that requeues itself: add [requeue] to its file, or cancel it and submit it with nodes = %d"
                    % (job.number, nodes), 1)
        starts = int(part.get("Restarts", "0"))
        ask("scancel", "--batch", "--signal=USR1", job.number)
        sys.stderr.write("manta-slurm: job %s is asked to save itself (SIGUSR1)\n" % job.number)
        end = time.monotonic() + arguments.patience
        while job.state(part) != "PENDING" or int(part.get("Restarts", "0")) <= starts:
            if job.over():
                give_up("%s: the program ended instead of asking for another start" % job.sentence(job.parts()[0]), 1)
            if time.monotonic() > end:
                give_up("job %s has not ended in %d s: it goes on with %s nodes. Does the program heed SIGUSR1?"
                        % (job.number, arguments.patience, part.get("NumNodes")), 1)
            time.sleep(0.1)
            part = job.parts()[0]
    tasks = int(part.get("NtasksPerN:B:S:C", "1:0").split(":")[0] or 1)
    ask("scontrol", "hold", job.number)
    ask("scontrol", "update", "JobId=" + job.number, "NumNodes=%d-%d" % (nodes, nodes), "NumTasks=%d" % (nodes * tasks))
    ask("scontrol", "release", job.number)
    print("job %s will start with %d nodes (the file it came of is as it was)" % (job.number, nodes))
