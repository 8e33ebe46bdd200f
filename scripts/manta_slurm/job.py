# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A job that was submitted: what Slurm knows of it, and its output."""
import glob
import json
import os
import re
import shutil
import sys
import time

from .slurm import call, fields, give_up


WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD")
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT")
STATUS = {"COMPLETED": 0, "TIMEOUT": 124, "DEADLINE": 124, "CANCELLED": 130, "OUT_OF_MEMORY": 137, "PREEMPTED": 143}

class Job:
    """A job that was submitted, by its number; an array is one job with several parts."""

    def __init__(self, number, record=None):
        self.number, self.record = number, record or {}
        self.known = []

    @staticmethod
    def named(word):
        if word is not None and re.match(r"^\d+$", word):
            for path in glob.glob("*.job"):
                record = Job.recorded(path)
                if record.get("id") == word:
                    return Job(word, record)
            return Job(word)
        if word is None:
            paths = sorted(glob.glob("*.job"), key=os.path.getmtime)
            if not paths:
                give_up("no job was submitted from this folder: name one by its number or its file")
            path = paths[-1]
        else:
            path = os.path.splitext(word)[0] + ".job"
        record = Job.recorded(path)
        if not record:
            give_up("no job was submitted of %s: there is no %s beside it" % (word, os.path.basename(path)))
        return Job(record["id"], record)

    @staticmethod
    def recorded(path):
        try:
            with open(path) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def parts(self):
        """What Slurm knows of it: one dictionary, or one for each part of an array; as last known if it has forgotten."""
        status, output, errors = call("scontrol", "show", "job", "-o", self.number)
        if status == 0:
            self.known = [fields(line) for line in output.splitlines() if line.startswith("JobId=")]
        elif "Invalid job id" not in errors:
            give_up("scontrol: " + errors)
        elif not self.known:
            self.known = self.remembered()
        return self.known

    def remembered(self):
        """From the accounts, where the cluster keeps some."""
        if shutil.which("sacct"):
            status, output, _ = call("sacct", "-nXP", "-j", self.number, "-o", "JobID,State,ExitCode,Elapsed,NodeList")
            if status == 0:
                return [dict(zip(("JobId", "JobState", "ExitCode", "RunTime", "NodeList"), line.split("|"))) for line in output.splitlines()]
        return []

    def needed(self):
        parts = self.parts()
        if not parts:
            give_up("Slurm does not know job %s any more, and keeps no accounts; its output may be there: manta-slurm logs" % self.number, 1)
        return parts

    @staticmethod
    def state(part):
        return part.get("JobState", "UNKNOWN").split()[0]

    def over(self):
        parts = self.parts()
        return bool(parts) and all(self.state(p) not in WAITING + RUNNING for p in parts)

    @staticmethod
    def part_status(part):
        state = Job.state(part)
        code, _, number = part.get("ExitCode", "0:0").partition(":")
        if state == "FAILED" or (state not in STATUS and (code, number) != ("0", "0")):
            return int(code) or 128 + int(number or 0) or 1
        return STATUS.get(state, 1)

    def status(self):
        """The program's, or that of the first part of an array that failed."""
        return next((s for s in map(self.part_status, self.parts()) if s != 0), 0)

    @staticmethod
    def label(part):
        return "%s_%s" % (part["ArrayJobId"], part["ArrayTaskId"]) if "ArrayTaskId" in part else part.get("JobId", "?")

    def sentence(self, part):
        state = self.state(part)
        text = "job %s: " % self.label(part)
        if state in WAITING:
            text += "waits (%s)" % part.get("Reason", "?")
            if part.get("StartTime", "Unknown") != "Unknown":
                text += ", start expected at " + part["StartTime"]
        elif state in RUNNING:
            text += "%s on %s for %s of %s" % ("runs" if state == "RUNNING" else state.lower(), part.get("NodeList", "?"),
                                              part.get("RunTime", "?"), part.get("TimeLimit", "?"))
        else:
            text += "%s after %s on %s, status %d" % (state.lower().replace("_", " "), part.get("RunTime", "?"), part.get("NodeList", "?"),
                                                     self.part_status(part))
        if part.get("Restarts", "0") != "0":
            text += ", start %d" % (int(part["Restarts"]) + 1)
        return text

    def outputs(self):
        """(label, path) of each part that has started."""
        found = [(self.label(p), p["StdOut"]) for p in self.parts() if p.get("StdOut") and "%" not in p["StdOut"]]
        if not found and self.record:
            name = re.sub(r"%[A-Za-z]", "*", self.record["output"].replace("%j", self.number).replace("%A", self.number))
            found = [(os.path.basename(p), p) for p in sorted(glob.glob(os.path.join(self.record["folder"], name)))]
        return sorted(found)

class Follower:
    """Prints what is new in a job's output."""

    def __init__(self, job):
        self.job, self.read = job, {}

    def step(self):
        outputs = self.job.outputs()
        for label, path in outputs:
            try:
                with open(path, "rb") as file:
                    file.seek(self.read.get(path, 0))
                    data = file.read()
            except OSError:
                continue  # not there yet
            if len(outputs) > 1:  # whole lines, which say where they come from
                data = data[:data.rfind(b"\n") + 1]
                shown = b"".join(b"[%s] %s" % (label.encode(), line) for line in data.splitlines(True))
            else:
                shown = data
            self.read[path] = self.read.get(path, 0) + len(data)
            sys.stdout.buffer.write(shown)
            sys.stdout.flush()

    def until_over(self):
        pause = 0.2
        while True:
            over = self.job.over() or not self.job.known
            self.step()
            if over:
                return
            time.sleep(pause)
            pause = min(pause * 1.1, 3.0)  # the controller is everybody's
