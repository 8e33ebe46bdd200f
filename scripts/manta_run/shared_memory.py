# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The folder of a job on a node, where its Open MPI puts its segments, and where its stubs meet their watcher."""
import fcntl
import glob
import math
import os
import shutil
import time


class SharedMemory:
    """A folder in /dev/shm that is this job's, where Open MPI puts its segments. The watcher of the job on this node holds
    a lock on it, and so do stubs that wait for it; who finds that nobody does removes it, and so what a job left whose
    processes were all killed.

    Each stub makes a pipe there, rank-N, and a page for its notes, page-N, and waits at the pipe for its watcher. Where
    /dev/shm cannot be written to, the folder is in $TMPDIR, and Open MPI chooses its own.
    """

    HERE = os.access("/dev/shm", os.W_OK)
    NAME = "manta-run-%d-" % os.getuid()
    PREFIX = os.path.join("/dev/shm" if HERE else os.environ.get("TMPDIR") or "/tmp", NAME)
    GRACE = 0.5  # seconds from SIGTERM until the segments lose their names; mpirun may send SIGKILL after one second

    def __init__(self, job):
        self.lock = None
        self.drop_at = math.inf
        # Nodes of a test bed may share a /dev/shm; segments of the same name would then be taken for one.
        node = os.environ.get("SLURMD_NODENAME", "")
        self.path = self.PREFIX + job + ("-" + node if node else "")
        self.remove_stale(besides=self.path)
        for _ in range(100):
            try:
                os.makedirs(self.path, 0o700, exist_ok=True)
                self.lock = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                fcntl.flock(self.lock, fcntl.LOCK_SH)
                if os.path.samestat(os.fstat(self.lock), os.stat(self.path)):
                    break
                os.close(self.lock)
            except FileNotFoundError:
                pass  # another job has just removed it
            except OSError:
                return
        else:
            return
        if not self.HERE:
            return
        for component in ("vader", "sm"):  # its name in Open MPI 4 and 5
            os.environ.setdefault("OMPI_MCA_btl_%s_backing_directory" % component, self.path)

    @classmethod
    def remove_stale(cls, besides=None):
        for path in glob.glob(cls.PREFIX + "*"):
            if path != besides:
                cls.remove_unless_held(path)

    @staticmethod
    def remove_unless_held(path):
        try:
            lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
        except OSError:
            pass  # held by a watcher that lives, or gone

    def waiting(self):
        """The numbers of the ranks whose stubs wait for their watcher, or have done so."""
        try:
            return [int(name[5:]) for name in os.listdir(self.path) if name.startswith("rank-")]
        except OSError:
            return []

    def turn_away(self, count):
        """So many stubs, which come within a few seconds, find that there is no watcher."""
        end = time.monotonic() + 5
        while count > 0 and time.monotonic() < end:
            for number in self.waiting():
                path = os.path.join(self.path, "rank-%d" % number)
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                os.unlink(path)
                count -= 1
            time.sleep(0.01)
        self.close()

    def drop_names_soon(self):
        """After SIGTERM, SIGKILL may come, for this process too, so the names have to go before. What is mapped stays mapped.
        A program that ends at once ends before them: Open MPI complains about names that it no longer finds."""
        self.drop_at = min(self.drop_at, time.monotonic() + self.GRACE)

    def look(self):
        """Drops the names when it is time to; returns the seconds until then."""
        if self.lock is not None and self.drop_at <= time.monotonic():
            shutil.rmtree(self.path, ignore_errors=True)
            self.drop_at = math.inf
        return max(0, self.drop_at - time.monotonic())

    def close(self):
        if self.lock is not None:
            os.close(self.lock)
            self.remove_unless_held(self.path)
