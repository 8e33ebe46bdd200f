# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The folder in /dev/shm where the Open MPI of a job puts its segments."""
import fcntl
import glob
import math
import os
import shutil
import time


class SharedMemory:
    """A folder in /dev/shm that is this job's, where Open MPI puts its segments. The ranks of the job on this node hold
    a lock on it; who finds that nobody else does removes it, and removes what a job left whose ranks were all killed."""

    PREFIX = "/dev/shm/manta-run-%d-" % os.getuid()
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
                pass  # a rank that has ended already has just removed it
            except OSError:
                return  # no /dev/shm that one could write to: Open MPI knows what to do
        else:
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
            pass  # held by ranks that live, or gone

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
