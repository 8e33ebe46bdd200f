# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What the Slurm tests share: a box of their own, jobs in it, and checks that are polled for, never slept for."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "scripts")
MANTA_RUN = os.path.normpath(os.path.join(SCRIPTS, "manta-run"))
MANTA_SLURM = os.path.normpath(os.path.join(SCRIPTS, "manta-slurm"))
BOX = os.path.join(HERE, "box")
EXAMPLES = os.path.join(HERE, "..", "..", "examples", "slurm")
LIMIT = 120  # seconds until something counts as a hang
checks = []


def check(function):
    checks.append(function)
    return function


def long_check(function):
    """One that waits for Slurm's own delays: left out unless MANTA_TEST_LONG is set, or words on the command line choose it."""
    function.is_long = True
    return check(function)


def until(condition, what, limit=LIMIT):
    """The condition's value once it is true; `what`, a text or a function that makes it, is said where it never is."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("not in %d s: %s" % (limit, what() if callable(what) else what))
        time.sleep(0.05)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def command(*words, status=0, **more):
    """Its output, errors included."""
    done = subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=LIMIT * 2, **more)
    expect(status is None or done.returncode == status,
           "%s: status %d instead of %s:\n%s" % (" ".join(map(str, words)), done.returncode, status, done.stdout))
    return done.stdout


def start_soon(number):
    """A requeued job waits until its old credential has expired, at least for a second: nodes tell the two by the second."""
    command("scontrol", "update", "JobId=" + number, "StartTime=now+2seconds")


class Job:
    """A batch script of these lines, submitted."""

    def __init__(self, lines, *options):
        self.script = tempfile.mktemp(prefix="job-", suffix=".sh", dir=".")
        with open(self.script, "w") as file:
            file.write("#!/bin/bash\n" + "\n".join(lines) + "\n")
        self.id = command("sbatch", "--parsable", "--output=job-%j.out", *options, self.script).strip()
        self.path = os.path.abspath("job-%s.out" % self.id)

    @property
    def output(self):
        return read(self.path)

    def facts(self):
        return dict(re.findall(r"(\w+)=(\S*)", command("scontrol", "show", "job", "-o", self.id)))

    def state(self):
        return self.facts()["JobState"]

    def describe(self):
        facts = self.facts()
        return "job %s (%s on %s, restarts %s)\n%s" % (
            self.id, " ".join(facts[k] for k in ("JobState", "Reason", "ExitCode")), facts["NodeList"], facts["Restarts"], self.output)

    def says(self, *texts, limit=LIMIT):
        for text in texts:
            until(lambda: text in self.output, lambda: "'%s' in the output of %s" % (text, self.describe()), limit)
        return self

    def reaches(self, *states, limit=LIMIT):
        until(lambda: self.state() in states, lambda: "%s of %s" % (" or ".join(states), self.describe()), limit)
        return self

    def ends(self, state="COMPLETED", code="0:0"):
        ended = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED")
        self.reaches(*ended)
        facts = self.facts()
        expect((facts["JobState"], facts["ExitCode"]) == (state, code),
               "%s with %s instead of %s with %s: %s" % (facts["JobState"], facts["ExitCode"], state, code, self.describe()))
        return self


def processes_with(text):
    """Ids of the processes, on all virtual nodes, that have this in their command line or environment."""
    found = []
    for folder in glob.glob("/proc/[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    if text.encode() in file.read():
                        found.append(int(os.path.basename(folder)))
                        break
            except OSError:
                pass
    return found


def start_box(nodes, conf=""):
    for tool in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin"):
            print("skipped: there is no %s on this machine; scripts/setup long installs Slurm, or: "
                  "apt-get install slurmctld slurmd slurm-client munge" % tool)
            sys.exit(77)
    folder = tempfile.mkdtemp(prefix="mbox-")
    os.environ.update(BOX_DIR=os.path.join(folder, "box"), BOX_NODES=nodes, BOX_CONF=conf)
    for name in [n for n in os.environ if n.startswith(("SLURM_", "OMPI_MCA_", "MANTA_", "SBATCH_"))]:
        del os.environ[name]
    done = subprocess.run([BOX, "start"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        print(done.stdout)
        if os.getuid() != 0:
            print("skipped: Slurm does not start here without root")
            sys.exit(77)
        print("a Slurm of virtual nodes does not start here, see above")
        sys.exit(1)
    for name, value in re.findall(r"(\w+)='?([^'\s]*)'?", command(BOX, "env").replace("export ", "")):
        os.environ[name] = value
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    return folder


def run(nodes="n1:4:4000 n2:4:4000", conf=""):
    """Runs the checks whose name contains one of the words on the command line, in a box of this test's own."""
    words = sys.argv[4:]
    is_long = bool(os.environ.get("MANTA_TEST_LONG"))
    chosen = [c for c in checks if any(w in c.__name__ for w in words) or not words and (is_long or not hasattr(c, "is_long"))]
    failed = 0
    folder = start_box(nodes, conf)
    try:
        for one in chosen:
            begin, name = time.monotonic(), one.__name__.replace("_", " ")
            os.mkdir(os.path.join(folder, one.__name__))
            os.chdir(os.path.join(folder, one.__name__))
            try:
                one()
                print("%5.1f s  %s" % (time.monotonic() - begin, name), flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as e:
                failed += 1
                print("FAILED   %s: %s" % (name, e), flush=True)
    finally:
        os.chdir("/")
        begin = time.monotonic()
        print(subprocess.run([BOX, "stop"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True).stdout, end="")
        print("%5.1f s  the box is stopped" % (time.monotonic() - begin))
        left = processes_with(folder)
        if left:
            failed += 1
            print("FAILED   the box leaves processes behind: %s" % [read("/proc/%d/cmdline" % p).replace("\0", " ") for p in left])
        shutil.rmtree(folder, ignore_errors=True)
    print("%d checks, %d failed" % (len(chosen), failed))
    sys.exit(1 if failed or not chosen else 0)


PROGRAM, RANK, PLAIN = (os.path.abspath(p) for p in sys.argv[1:4])
