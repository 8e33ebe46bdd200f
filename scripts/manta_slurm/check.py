# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Checks of a plan against the cluster."""
import glob
import math
import os
import re
import shlex
import shutil
import subprocess
import sys

from .script import batch_script
from .slurm import ask, call, clock, fields, seconds


class Check:
    def __init__(self, plan):
        self.plan, self.notes = plan, []
        config = ask("scontrol", "show", "config")
        self.config = dict(re.findall(r"^(\w+)\s*= (.*)$", config, re.MULTILINE))
        self.partitions = {p["PartitionName"]: p for p in map(fields, ask("scontrol", "show", "partition", "-o").splitlines())
                           if "PartitionName" in p}
        self.partition = None
        self.check_partition()
        self.check_account()
        self.check_program()
        self.check_launcher()
        self.check_files()
        if self.partition and not plan.mistakes:
            self.check_time()
            self.check_nodes()
            self.check_array()
        if not plan.mistakes:
            self.ask_sbatch()

    def check_partition(self):
        plan = self.plan
        name = plan.partition or next((n for n, p in self.partitions.items() if p.get("Default") == "YES"), None)
        names = ", ".join(sorted(self.partitions))
        if name is None:
            plan.mistake(None, "this cluster has no default partition: add partition = one of %s" % names)
        elif name not in self.partitions:
            plan.mistake("partition", "there is no partition '%s' on this cluster; there are %s" % (name, names))
        elif self.partitions[name].get("State", "UP") != "UP":
            plan.mistake("partition", "partition '%s' is %s: jobs there wait for ever; the others are %s"
                         % (name, self.partitions[name]["State"], names))
        else:
            self.partition = self.partitions[name]

    def check_account(self):
        plan = self.plan
        allowed = (self.partition or {}).get("AllowAccounts", "ALL")
        if plan.account and allowed != "ALL" and plan.account not in allowed.split(","):
            plan.mistake("account", "account '%s' may not use partition '%s', which is for %s"
                         % (plan.account, self.partition["PartitionName"], allowed))
        if "accounting_storage/none" in self.config.get("AccountingStorageType", "") or not shutil.which("sacctmgr"):
            if plan.account:
                self.notes.append("whether account '%s' exists cannot be seen: this cluster keeps no accounts" % plan.account)
            return
        status, output, _ = call("sacctmgr", "-nP", "show", "associations", "user=" + os.environ.get("USER", str(os.getuid())), "format=account")
        mine = sorted(set(output.split()))
        if status == 0 and mine and plan.account and plan.account not in mine:
            plan.mistake("account", "you are not in account '%s'; yours are %s" % (plan.account, ", ".join(mine)))

    def check_time(self):
        plan, limit = self.plan, seconds(self.partition.get("MaxTime", "UNLIMITED"))
        if limit is not None and plan.time > limit:
            longer = [n for n, p in self.partitions.items() if (seconds(p.get("MaxTime", "")) or math.inf) >= plan.time]
            plan.mistake("time", "the time limit %s is over the %s that partition '%s' allows: lower it%s"
                         % (clock(plan.time), clock(limit), self.partition["PartitionName"],
                            ", or take partition %s" % " or ".join(sorted(longer)) if longer else
                            ", and let the job requeue itself ([requeue])"))

    def check_nodes(self):
        plan, name = self.plan, self.partition["PartitionName"]
        nodes = []
        for line in ask("sinfo", "-h", "-N", "-p", name, "-O", "NodeList:100,CPUs:20,Memory:20,Gres:200,StateLong:40").splitlines():
            words = line.split()
            if len(words) >= 5:
                gpus = sum(int(n) for n in re.findall(r"gpu(?::[^:,()]+)?:(\d+)", words[3]))
                nodes.append((int(words[1]), int(words[2]), gpus, words[4]))
        if not nodes:
            return plan.mistake("partition", "partition '%s' has no nodes" % name)
        limit = self.partition.get("MaxNodes", "UNLIMITED")
        if limit.isdigit() and plan.nodes > int(limit):
            plan.mistake("nodes", "%d nodes are over the %s that partition '%s' allows for one job" % (plan.nodes, limit, name))
        if plan.nodes > len(nodes):
            return plan.mistake("nodes", "%d nodes are asked for, and partition '%s' has %d" % (plan.nodes, name, len(nodes)))
        needs = plan.ranks * plan.cpus
        memory_key = "memory_per_rank" if plan.get("memory_per_rank") else "memory_per_node"
        for key, need, place, unit, what in (
                ("ranks_per_node", needs, 0, "cpus", "%d ranks of %d cpus" % (plan.ranks, plan.cpus)),
                (memory_key, plan.memory or 0, 1, "MiB", "%d MiB" % (plan.memory or 0)),
                ("gpus_per_rank", plan.gpus, 2, "gpus", "%d gpus" % plan.gpus)):
            enough = [n for n in nodes if n[place] >= need]
            most = max(n[place] for n in nodes)
            if not enough:
                plan.mistake(key, "%s do not fit on a node of partition '%s': the largest has %d %s; ask for less per node, or for more nodes"
                             % (what, name, most, unit))
            elif len(enough) < plan.nodes:
                plan.mistake(key, "%s fit on %d nodes of partition '%s' only, and %d are asked for" % (what, len(enough), name, plan.nodes))
        if not plan.mistakes:
            fit = [n for n in nodes if n[0] >= needs and n[1] >= (plan.memory or 0) and n[2] >= plan.gpus]
            if len(fit) < plan.nodes:
                plan.mistake("nodes", "%d nodes of partition '%s' have cpus, memory and gpus enough together, and %d are asked for"
                             % (len(fit), name, plan.nodes))
            usable = [n for n in fit if not re.match(r"down|drain|fail|maint", n[3])]
            if len(usable) < plan.nodes:
                self.notes.append("at the moment only %d of the %d nodes that could take it are up: it will wait" % (len(usable), len(fit)))

    def check_array(self):
        plan = self.plan
        if plan.array:
            most = int(self.config.get("MaxArraySize", "1001"))
            last = max(int(n) for n in re.findall(r"\d+", re.sub(r":\d+|%\d+", "", plan.array)))
            if last >= most:
                plan.mistake("array", "the number %d of the array is over %d, the largest on this cluster" % (last, most - 1))

    def check_program(self):
        plan = self.plan
        try:
            words = shlex.split(plan.command)
        except ValueError as e:
            return plan.mistake("command", "the command cannot be read: %s" % e)
        if not words or "$" in words[0]:
            return
        program = words[0]
        path = os.path.join(plan.folder, program) if os.sep in program else shutil.which(program)
        if path is None:
            if plan.lines:
                self.notes.append("'%s' is not in PATH here; the lines of 'environment' have to put it there" % program)
            else:
                plan.mistake("command", "there is no program '%s' in PATH (one in %s is ./%s)" % (program, plan.folder, program))
        elif not os.path.isfile(path):
            plan.mistake("command", "there is no program %s: build it, or correct the path (it counts from %s)" % (path, plan.folder))
        elif not os.access(path, os.X_OK):
            plan.mistake("command", "%s is not executable: chmod +x it" % path)
        elif shutil.which("ldd") and not plan.lines:
            lost = re.findall(r"^\s*(\S+) => not found", call("ldd", path)[1], re.MULTILINE)
            if lost:
                plan.mistake("command", "%s needs %s, which is not found here: load its module in 'environment'" % (path, ", ".join(lost)))

    def check_launcher(self):
        plan = self.plan
        if plan.launcher == "srun":
            listed = call("srun", "--mpi=list")
            known = re.findall(r"^\s+(\w+)$", listed[1] + "\n" + listed[2], re.MULTILINE)
            known += re.findall(r"available:\s*(.*)", listed[1] + listed[2])
            known = [w for k in known for w in re.split(r"[, ]+", k)]
            if known and plan.mpi not in known:
                plan.mistake("mpi" if plan.get("mpi") else "launcher",
                             "srun has no MPI plugin '%s' here, only %s: name another with 'mpi', or take launcher = mpirun"
                             % (plan.mpi, ", ".join(known)))
            elif plan.mpi == "none":
                plan.mistake("mpi", "with the plugin 'none' each rank would be a world of its own: mpi = pmix, or launcher = mpirun")
            elif plan.mpi == "pmi2" and shutil.which("ompi_info") and "mca:pmix:s2:" not in call("ompi_info", "--parsable")[1]:
                plan.mistake("mpi", "this Open MPI was not built for the plugin pmi2: mpi = pmix, or launcher = mpirun")
        elif not shutil.which(os.environ.get("MPIRUN", "mpirun")):
            if plan.lines:
                self.notes.append("there is no mpirun in PATH here; the lines of 'environment' have to put it there")
            else:
                plan.mistake("launcher", "there is no mpirun in PATH: load the module of Open MPI in 'environment', or take launcher = srun")

    def check_files(self):
        plan = self.plan
        if not os.path.isdir(plan.folder):
            return plan.mistake("folder", "there is no folder %s" % plan.folder)
        output = os.path.join(plan.folder, os.path.dirname(plan.output))
        if "%" not in output and not os.path.isdir(output):
            plan.mistake("output", "there is no folder %s for the output, and Slurm does not make it" % output)
        elif "%" not in output and not os.access(output, os.W_OK):
            plan.mistake("output" if plan.get("output") else None, "the folder %s for the output cannot be written to" % output)
        for name in plan.stage_in:
            if not glob.glob(os.path.join(plan.folder, name)):
                plan.mistake("in", "there is no file %s to copy in" % os.path.join(plan.folder, name), "stage")

    def ask_sbatch(self):
        done = subprocess.run(["sbatch", "--test-only"], input=batch_script(self.plan), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        for line in done.stdout.splitlines():
            match = re.search(r"to start at (\S+)", line)
            if match:
                self.notes.append("it would start at %s" % match.group(1))
        if done.returncode != 0:
            self.plan.mistakes.append("%s: Slurm would not take it: %s" % (self.plan.path, "; ".join(
                re.sub(r"^(sbatch|allocation failure): (error: )?", "", line) for line in done.stdout.strip().splitlines())))

def checked(plan, quiet=False):
    if plan.mistakes:
        notes = []
    else:
        notes = Check(plan).notes
    for text in plan.mistakes:
        sys.stderr.write(text + "\n")
    if plan.mistakes:
        sys.exit(1)
    for text in notes if not quiet else []:
        print("note: " + text)
