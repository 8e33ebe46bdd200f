# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The ranks of one node, as the node's watcher sees them (node.py)."""
import os
import signal
import socket
import time

from .process import FORWARDED, PATIENCE, die_with_parent, lines, say
from .stub import FATAL
from .traces import Notes


class LocalRank:
    """A rank of this node, whose program runs as `process` or has still to be started (None)."""

    def __init__(self, number, notes):
        self.number, self.notes = number, notes
        self.process = None
        self.status = None   # signal and exit status, once it has ended
        self.kill_at = None  # once it is to end

    def signal(self, number):
        try:
            if self.process is not None and self.status is None:
                os.kill(self.process, number)
        except ProcessLookupError:
            pass

    def end(self):
        if self.kill_at is None:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            self.kill_at = time.monotonic() + PATIENCE

    def look(self):
        """Kills the program if it was to end and has had its time; the seconds until then, None if there is nothing to wait for."""
        if self.kill_at is None or self.status is not None:
            return None
        left = self.kill_at - time.monotonic()
        if left > 0:
            return left
        self.signal(signal.SIGKILL)
        return None


class OwnRank(LocalRank):
    """The first rank of the node: its program is a child of this process."""

    def start(self, command, recovers):
        """The program becomes the first of a process group of its own, so that nobody signals it twice. `said` is our end of the
        line between it and us."""
        self.said, its_end = socket.socketpair()
        its_end.set_inheritable(True)
        parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.setpgid(0, 0)
                signal.set_wakeup_fd(-1)
                for s in FORWARDED + [signal.SIGCHLD, signal.SIGPIPE]:
                    signal.signal(s, signal.SIG_DFL)
                signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # asks for the state, of which a rank that starts has none
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                die_with_parent(signal.SIGKILL, parent)
                self.notes.hand_on()
                os.environ["MANTA_RUN_FD"] = str(its_end.fileno())
                if recovers:
                    os.environ.setdefault("MANTA_RECOVERY", "1")
                os.execvp(command[0], command)
            except OSError as e:
                say("rank %d on %s cannot start '%s': %s" % (self.number, socket.gethostname(), command[0], e.strerror))
            os._exit(127)
        its_end.close()
        self.said.setblocking(False)
        self.heard = b""

    def has_ended(self):
        pid, status = os.waitpid(self.process, os.WNOHANG)
        if pid != 0:
            self.status = (os.WTERMSIG(status), 0) if os.WIFSIGNALED(status) else (0, os.WEXITSTATUS(status))
        return pid != 0

    def hear(self):
        """What the program says, as lists of words; None if it says no more."""
        try:
            data = os.read(self.said.fileno(), 4096)
        except OSError:
            data = b""
        what, self.heard = lines(self.heard, data)
        return what if data else None

    def tell(self, text):
        try:
            self.said.send(text.encode() + b"\n")
        except OSError:
            pass  # a program that does not listen


class StubRank(LocalRank):
    """A rank whose program is the child of a stub (stub.py), which waits until this object is made."""

    def __init__(self, number, folder):
        self.paths = [os.path.join(folder, name + str(number)) for name in ("page-", "rank-")]
        page, self.file = (os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC) for path in self.paths)
        super().__init__(number, Notes(page))
        self.heard = b""
        self.is_missing = False  # there is no such program

    def hear(self):
        """False when its stub has ended."""
        try:
            data = os.read(self.file, 4096)
        except BlockingIOError:
            return True
        what, self.heard = lines(self.heard, data)
        for words in what:
            if words[0] == "started":
                self.process = int(words[1])
                for path in self.paths:
                    os.unlink(path)
                if self.kill_at is not None:  # too late
                    self.signal(signal.SIGTERM)
            elif words[0] == "missing":
                self.is_missing = True
            elif words[0] == "ended":
                number = int(words[1]) - 128
                self.status = (number, 0) if number in FATAL else (0, number + 128)
        if not data and self.status is None:  # somebody has killed the stub
            self.signal(signal.SIGKILL)
            self.status = (signal.SIGKILL, 0)
        return bool(data)

    def close(self):
        os.close(self.file)
        self.notes.close()
