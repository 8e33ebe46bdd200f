# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The batch script that comes of a plan: a person can read, keep and submit it without manta-slurm."""
import os
import re
import shlex

from .slurm import PROGRAM, clock


def batch_script(plan):
    manta_run = os.path.join(os.path.dirname(PROGRAM), "manta-run")
    options = ["--job-name=" + plan.name, "--nodes=%d" % plan.nodes, "--ntasks-per-node=%d" % plan.ranks,
               "--cpus-per-task=%d" % plan.cpus, "--time=" + clock(plan.time), "--chdir=" + shlex.quote(plan.folder), "--output=" + plan.output]
    if plan.gpus:
        options.append("--gres=gpu:%d" % plan.gpus)
    if plan.memory is not None:
        options.append("--mem=%s" % ("0" if plan.memory == 0 else "%dM" % plan.memory))
    for name, value in (("partition", plan.partition), ("account", plan.account), ("array", plan.array)):
        if value:
            options.append("--%s=%s" % (name, value))
    if plan.requeue:
        options += ["--requeue", "--open-mode=append", "--signal=B:USR1@%d" % plan.before_end]
    else:
        options.append("--no-requeue")
    options += shlex.split(plan.get("sbatch_options"))
    text = ["#!/bin/bash", "# Made by manta-slurm of %s. It stands on its own: sbatch %s"
            % (os.path.basename(plan.path), os.path.basename(plan.base) + ".sbatch")]
    text += ["#SBATCH " + o for o in options]
    if plan.lines:
        text += ["", "# The environment."] + plan.lines
    if plan.launcher == "srun":
        text += ["", "# Since Slurm 22.05 srun no longer takes this over from sbatch.", "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK"]
    if plan.stage:
        text += stage_in(plan)
    launch = [manta_run, "--launcher", plan.launcher]
    if plan.launcher == "srun":
        launch.append("--mpi=" + plan.mpi)
    elif plan.cpus > 1:
        launch += ["--bind-to", "none"]  # else all threads of a rank would share one core
    launch += shlex.split(plan.get("launch_options"))
    text += ["", "# The program, in the background: so bash hears signals at once, and passes them on."]
    text += [" ".join(shlex.quote(w) for w in launch) + " -- " + plan.command + " &", "launched=$! signalled="]
    text += ["trap 'signalled=1; kill -USR1 $launched' USR1", "trap 'signalled=1; kill -TERM $launched' TERM",
             "trap 'signalled=1; kill -USR2 $launched' USR2",
             "wait $launched; status=$?",
             "while [[ -n $signalled ]]; do  # it was a signal that ended the wait",
             "  signalled=; wait $launched; again=$?",
             "  if ((again != 127)); then status=$again; fi", "done"]
    if plan.stage:
        text += stage_out(plan)
    if plan.requeue:
        text += ["", "# %d: the program asks for another start, and goes on where it was. 75: a node was lost (manta-run)." % plan.status,
                 "if ((status == %d || status == 75)); then" % plan.status,
                 "  job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}; job=${job:-$SLURM_JOB_ID}",
                 "  # Slurm would take even a cancelled job back, as long as it has not quite ended.",
                 "  if scontrol show job -o $job | grep -Eq 'JobState=(COMPLETING|CANCELLED)[^ ]* Reason=None .*PreemptTime=None '; then",
                 '    echo "job $SLURM_JOB_ID was cancelled; there will be no other start"',
                 "  elif ((${SLURM_RESTART_COUNT:-0} < %d)); then" % plan.at_most,
                 '    echo "job $SLURM_JOB_ID: start $((${SLURM_RESTART_COUNT:-0} + 1)) ended with status $status; there will be another"',
                 "    scontrol requeue $job",
                 "  else",
                 '    echo "job $SLURM_JOB_ID: status $status asks for another start, and at most %d are allowed" >&2' % plan.at_most,
                 "  fi", "fi"]
    text += ["exit $status", ""]
    return "\n".join(text)


def stage_in(plan):
    scratch = plan.get("scratch", "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}", "stage")
    keeper = 'trap "rm -rf \\"$MANTA_SCRATCH\\"" EXIT; trap "exit 0" TERM; mkdir -p "$MANTA_SCRATCH"; sleep infinity & wait'
    text = ["", "# A folder of the job on each node. Who waits there removes it, also when the job is cancelled.",
            "export MANTA_SCRATCH=%s/manta-$SLURM_JOB_ID" % scratch,
            'each_node() { srun --overlap --mpi=none --nodes=$SLURM_NNODES --ntasks=$SLURM_NNODES --ntasks-per-node=1 --cpus-per-task=1 "$@"; }',
            "each_node bash -c %s 2>/dev/null &" % shlex.quote(keeper), "keeper=$!"]
    copy = " && cp -r -- %s \"$MANTA_SCRATCH/\"" % " ".join(map(pattern, plan.stage_in)) if plan.stage_in else ""
    return text + ["each_node bash -c %s || exit 1" % shlex.quote('mkdir -p "$MANTA_SCRATCH"' + copy)]


def stage_out(plan):
    text = []
    if plan.stage_out:
        to = plan.get("to", plan.name + ("-%A_%a" if plan.array else "-%j"), "stage")
        for sign, variable in (("%j", "JOB_ID"), ("%A", "ARRAY_JOB_ID"), ("%a", "ARRAY_TASK_ID"), ("%x", "JOB_NAME")):
            to = to.replace(sign, "${SLURM_%s}" % variable)
        copy = 'for f in %s; do if [[ -e $f ]]; then cp -r -- "$f" "$0/"; fi; done' % " ".join(
            '"$MANTA_SCRATCH"/' + pattern(w) for w in plan.stage_out)
        text = ["", "# What comes out.", 'mkdir -p "%s"' % to, "each_node bash -c %s \"%s\"" % (shlex.quote(copy), to)]
    return text + ["kill $keeper; wait $keeper"]

def pattern(word):
    """Quoted for a shell but for * ? [ ]."""
    return "".join(c if re.match(r"[\w*?\[\]./@%+,:=-]", c) else "\\" + c for c in word)
