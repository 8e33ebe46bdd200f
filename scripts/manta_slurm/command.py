# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The command line of manta-slurm."""
import argparse
import signal
import sys

from . import remote, verbs


DESCRIPTION = """\
  manta-slurm check  study.ini     finds mistakes before the queue does
  manta-slurm script study.ini     prints the batch script
  manta-slurm submit study.ini     checks, writes study.sbatch and submits it
  manta-slurm run    study.ini     submits, follows the output, ends with the program's status
  manta-slurm status | state | logs [-f] | cancel | resize NODES | forward [PORT]   [study.ini or job number]

Without a file or number these mean the job that was submitted last from this folder.

From a machine that reaches the cluster by ssh alone, --on does each of these there:

  manta-slurm --on ada@login run study.ini       copies this folder to the cluster, runs, and fetches the outputs
  manta-slurm --on ada@login:runs/7 fetch        the folder has another name there; fetches what is new"""

EPILOG = """\
study.ini, with what may be left out in parentheses:

  [job]
  command = ./study --runs 100     as in a shell; $SLURM_ARRAY_TASK_ID, ${SLURM_RESTART_COUNT:-0}, $MANTA_SCRATCH
  time = 2:00:00                   or 90m, 2h, 1-12 (a day and twelve hours)
  nodes = 2                        (1)
  ranks_per_node = 16              (1)
  cpus_per_rank = 2                (1)
  gpus_per_rank = 0.5              (0) rounded up to whole ones on each node
  memory_per_rank = 2G             (the cluster's default) or memory_per_node = 64G, or all
  partition = normal               (the cluster's default)
  account = physics                (yours)
  name = study                     (of the file)
  array = 0-9%3                    (a single job) one job for each number, three at a time
  folder = runs                    (that of this file) where the command starts
  output = study-%j.out            (name-%j.out, name-%A_%a.out of an array)
  launcher = mpirun                (mpirun) or srun
  mpi = pmix                       (pmix) srun's plugin
  launch_options = --map-by node   () options of the launcher
  sbatch_options = --qos=long      () options of sbatch, in one line or several
  environment =                    () lines of shell, before all else
    module load gcc openmpi

  [requeue]                        (the job is started once) starts again too when a node is lost
  status = 85                      (85) the program's exit status that asks for another start
  before_end = 5m                  (5m, a quarter of a short time) SIGUSR1 reaches all ranks so long before the limit
  at_most = 20                     (20) starts beyond the first

  [stage]                          (nothing is copied)
  in = mesh.bin tables/            copied to $MANTA_SCRATCH, a folder of the job on the disk of each node
  out = *.csv                      copied from there to the folder "to", also after a failure
  to = results                     (name-%j)
  scratch = /scratch               (${SLURM_TMPDIR:-${TMPDIR:-/tmp}}) where the folder is made
"""


def main():
    parser = argparse.ArgumentParser(prog="manta-slurm", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="manta-slurm [--on LOGIN] VERB [options] [file or job number]")
    parser.add_argument("--on", metavar="LOGIN[:FOLDER]", help="does it on the cluster of this login node, by ssh and rsync")
    names = parser.add_subparsers(dest="verb", metavar="VERB")

    def verb(name, function, text, of_file):
        sub = names.add_parser(name, help=text, description=text)
        sub.set_defaults(function=function)
        if of_file:
            sub.add_argument("file", help="the file that says what is wanted")
            sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="in place of what the file says")
        return sub

    def of_job(sub):
        sub.add_argument("job", nargs="?", help="its file or number; else the last submitted from this folder")

    verb("check", verbs.check, "finds mistakes before the queue does", True)
    verb("script", verbs.script, "prints the batch script", True)
    for name, function, text in (("submit", verbs.submit, "checks and submits"),
                                 ("run", verbs.run, "submits, follows the output and ends with the program's status")):
        verb(name, function, text, True).add_argument("--no-check", action="store_true", help="Slurm alone is to judge it")
    of_job(verb("status", verbs.status, "what the job does", False))
    sub = verb("state", verbs.state, "what runs where, and who waits for what", False)
    sub.add_argument("--patience", type=int, default=20, metavar="SECONDS", help="how long the program may take to answer (20)")
    of_job(sub)
    sub = verb("logs", verbs.logs, "the job's output", False)
    sub.add_argument("-f", "--follow", action="store_true", help="until the job ends")
    of_job(sub)
    of_job(verb("cancel", verbs.cancel, "ends the job and waits until it has", False))
    sub = verb("forward", verbs.forward, "the ssh command that brings a port of the job's first node to your machine", False)
    sub.add_argument("port", type=int, nargs="?", help="without it that of the job's dashboard")
    sub.add_argument("--local", type=int, help="another number on this side")
    sub.add_argument("--open", action="store_true", help="opens a tunnel from this machine to the node")
    of_job(sub)
    sub = verb("resize", verbs.resize, "starts the job again with another number of nodes, where it was", False)
    sub.add_argument("nodes", type=int)
    sub.add_argument("--patience", type=int, default=600, metavar="SECONDS", help="how long it may take to save itself (600)")
    of_job(sub)
    verb("fetch", verbs.fetch, "copies what is new on the cluster to this folder (with --on)", False)

    arguments = parser.parse_args()
    if arguments.verb is None:
        parser.print_help()
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.on is not None:
        words = sys.argv[2:] if sys.argv[1].startswith("--on=") else sys.argv[3:]
        return remote.run(arguments.on, arguments, words)
    return arguments.function(arguments) or 0
