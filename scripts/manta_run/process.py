# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What the job and its ranks need of the system: messages, signals, children that have ended."""
import ctypes
import os
import signal
import sys


FORWARDED = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2]
LOST = 75  # the status that says that another start may help (EX_TEMPFAIL of sysexits.h)
SAME = 0.5  # seconds within which a SIGTERM or SIGINT that comes again is the same one
PATIENCE = 2.0  # seconds from SIGTERM to SIGKILL for ranks, and between two steps of ending a launcher
ME = "manta-run"
SRUN_FOLDER = "MANTA_RUN_SRUN"  # the variable with the folder of the srun that mpirun finds (daemons.py)
NOISE_FILE = "PMIX_OUTPUT_STDERR_FD"  # the variable with the number of a file that mpirun alone has (launcher.py)
AGAIN = [sys.executable, "-I", "-S", os.path.abspath(sys.argv[0])]  # the command that starts this program

def say(text):
    sys.stderr.write(ME + ": " + text + "\n")
    sys.stderr.flush()

def give_up(text, status=2):
    say(text)
    sys.exit(status)

def seconds_in(variable, otherwise):
    try:
        return float(os.environ.get(variable) or otherwise)
    except ValueError:
        give_up("%s=%s is no number of seconds" % (variable, os.environ[variable]))

def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number

def adopt_orphans():
    """From now on processes whose parents end become children of this one (PR_SET_CHILD_SUBREAPER)."""
    ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)

def die_with_parent(number, parent):
    """In a child: it gets this signal when its parent, which had this id, is no more (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None, use_errno=True).prctl(1, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)

def children():
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry, "rb") as file:
                    if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                        found.append(int(entry))
            except (OSError, IndexError, ValueError):
                pass  # it has ended meanwhile
    return found

def reap():
    """Those children that have ended; false if there are none left at all."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return True
    except ChildProcessError:
        return False

def kill_descendants():
    """Kills and reaps all children; theirs become ours, until there are none."""
    while reap():
        for pid in children():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return

def kill_marked(mark):
    """Kills the processes of this user whose environment has this entry. They may have left their parents."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open("/proc/%s/environ" % entry, "rb") as file:
                    if mark.encode() in file.read().split(b"\0"):
                        os.kill(int(entry), signal.SIGKILL)
            except OSError:
                pass  # it has ended meanwhile, or is somebody else's

class Wakeup:
    """A file that becomes readable when a signal arrives; what(): which ones did."""

    def __init__(self, signals):
        self.file, end = os.pipe()
        for f in (self.file, end):
            os.set_blocking(f, False)
        signal.set_wakeup_fd(end)
        for s in signals:
            signal.signal(s, lambda *_: None)

    def what(self):
        try:
            return list(os.read(self.file, 512))
        except BlockingIOError:
            return []

def lines(buffer, data):
    """Whole lines, as lists of words, and what is left."""
    parts = (buffer + data).split(b"\n")
    return [p.decode("utf-8", "replace").split(" ") for p in parts[:-1]], parts[-1]


def forget_launcher():
    """In a process that mpirun has started: takes out of the environment what was meant for mpirun alone."""
    os.environ.pop(NOISE_FILE, None)
    folder = os.environ.pop(SRUN_FOLDER, None)
    if folder and os.environ.get("PATH", "").startswith(folder + ":"):
        os.environ["PATH"] = os.environ["PATH"][len(folder) + 1:]
