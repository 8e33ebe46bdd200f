# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What is left of a process that has died: why the kernel killed it, and what it wrote of its work."""
import mmap
import os
import struct
import tempfile
import time


class MemoryKills:
    """How many processes the kernel has killed for want of memory: in this control group, else on this machine."""

    AGE = 10.0  # seconds: a kill that is older than two of these has nothing to do with a death now

    def __init__(self, files=None):
        self.files = self.find() if files is None else files
        self.counts = [self.count(), self.count()]
        self.next = time.monotonic() + self.AGE

    @staticmethod
    def find():
        found = []
        try:
            with open("/proc/self/cgroup") as file:
                for line in file:
                    number, controllers, path = line.rstrip("\n").split(":", 2)
                    if number == "0":
                        found.append("/sys/fs/cgroup" + path + "/memory.events")
                    elif "memory" in controllers.split(","):
                        found.append("/sys/fs/cgroup/memory" + path + "/memory.oom_control")
        except (OSError, ValueError):
            pass
        return found + ["/proc/vmstat"]

    def count(self):
        for path in self.files:
            try:
                with open(path) as file:
                    for words in map(str.split, file):
                        if words[:1] == ["oom_kill"]:
                            return int(words[1])
            except (OSError, ValueError):
                pass
        return 0

    def look(self):
        """To be called now and then; returns the seconds until the next time."""
        now = time.monotonic()
        if now >= self.next:
            self.counts = [self.counts[1], self.count()]
            self.next = now + self.AGE
        return self.next - now

    def lately(self):
        return self.count() > self.counts[0]

class Notes:
    """A page that the program maps by MANTA_RUN_PAGE: manta writes there which task runs, and whether a run or MPI is under way.
    What stands there when the process has ended says in what it did."""

    def __init__(self, file=None):
        """That of a stub, by its descriptor, or a new one."""
        if file is None:
            folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
            with tempfile.TemporaryFile(dir=folder) as new:
                new.truncate(mmap.PAGESIZE)
                file = os.dup(new.fileno())
        self.file = file

    def hand_on(self):
        """In the process that becomes the program."""
        os.set_inheritable(self.file, True)
        os.environ["MANTA_RUN_PAGE"] = str(self.file)

    def read(self):
        """The task's id, 0 if it is not known; and a number that is not 0 while a run is under way, or MPI is."""
        return struct.unpack("=QQ", os.pread(self.file, 16, 0))

    def close(self):
        os.close(self.file)
