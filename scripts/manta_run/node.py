# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The watcher of a node: `manta-run --node program arguments`, which the stub of the node's first rank becomes (stub.py).

It runs that rank's program as its child, and hears from the stubs of the other ranks how theirs do.
"""
import os
import re
import resource
import selectors
import signal
import socket

from .local_ranks import OwnRank, StubRank
from .process import (FORWARDED, Wakeup, adopt_orphans, forget_launcher, give_up, kill_descendants, kill_marked, lines)
from .shared_memory import SharedMemory
from .traces import MemoryKills, Notes


class Node:
    LOOK = 0.005  # seconds between two looks for stubs, until all have come

    def __init__(self, command):
        self.command = command
        forget_launcher()
        if "MANTA_RUN" not in os.environ:
            give_up("MANTA_RUN is not in the environment of this rank on %s: the launcher was told not to pass "
                    "variables on. Add --export=ALL (srun) or -x MANTA_RUN (mpirun)" % socket.gethostname())
        self.job, self.token, launcher, self.host, port, addresses = os.environ.pop("MANTA_RUN").split("/")
        self.recovers = launcher == "recovering"
        self.size = self.number("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", otherwise=1)
        self.own = OwnRank(self.number("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", otherwise=0), Notes())
        self.shared_memory = SharedMemory(self.job)
        os.environ["MANTA_RUN_JOB"] = SharedMemory.NAME + self.job
        self.awaited = self.ranks_here() - 1  # stubs that have still to come
        self.ranks = {}
        self.connection = self.connect(int(port), addresses.split(","))
        self.orders = b""
        self.wakeup = Wakeup(FORWARDED + [signal.SIGCHLD])
        self.memory_kills = MemoryKills()
        self.selector = selectors.DefaultSelector()

    @staticmethod
    def number(*variables, otherwise):
        return next((int(os.environ[v]) for v in variables if v in os.environ), otherwise)

    @classmethod
    def ranks_here(cls):
        if "OMPI_COMM_WORLD_RANK" in os.environ or "SLURM_STEP_TASKS_PER_NODE" not in os.environ:
            return cls.number("OMPI_COMM_WORLD_LOCAL_SIZE", otherwise=1)
        counts = []  # such as 4(x2),3
        for ranks, _, nodes in re.findall(r"(\d+)(\(x(\d+)\))?", os.environ["SLURM_STEP_TASKS_PER_NODE"]):
            counts += [int(ranks)] * int(nodes or 1)
        return counts[cls.number("SLURM_NODEID", otherwise=0)]

    def connect(self, port, addresses):
        if socket.gethostname() == self.host:
            addresses = ["127.0.0.1"] + addresses
        tried = []
        for address in addresses:
            try:
                connection = socket.create_connection((address, port), timeout=3)
                greeting = "manta-run %s\n" % self.job  # some addresses, say of a bridge, are on every node
                if connection.makefile("r").readline() == greeting:
                    connection.settimeout(None)
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return connection
                tried.append("%s: somebody else answers" % address)
            except OSError as e:
                tried.append("%s: %s" % (address, e.strerror or e))
        self.shared_memory.turn_away(self.awaited)
        give_up("rank %d on %s cannot reach manta-run on %s, port %d (%s). If nodes may not connect to each other, start the "
                "program by mpirun or srun itself" % (self.own.number, socket.gethostname(), self.host, port, "; ".join(tried)))

    def tell(self, text):
        try:
            self.connection.sendall(text.encode() + b"\n")
        except OSError:
            pass  # the loop sees the end of the connection

    def run(self):
        adopt_orphans()
        self.tell("hello %s %d %s" % (self.token, self.size, socket.gethostname()))
        self.own.start(self.command, self.recovers)
        self.tell("started %d %d" % (self.own.number, self.own.process))
        self.ranks[self.own.number] = self.own
        for file, hear in ((self.wakeup.file, self.hear_signals), (self.connection, self.hear_job), (self.own.said, self.hear_own)):
            self.selector.register(file, selectors.EVENT_READ, hear)
        while self.ranks or self.awaited > 0:
            if self.own.status is None and self.own.has_ended():
                self.ended(self.own)
                kill_descendants()
                if not self.recovers and (self.ranks or self.awaited > 0):
                    self.go_on_apart()
            waits = [self.memory_kills.look(), self.shared_memory.look()]
            waits += [left for left in [rank.look() for rank in self.ranks.values()] if left is not None]
            if self.awaited > 0:
                self.look_for_stubs()
                waits.append(self.LOOK)
            if self.ranks or self.awaited > 0:
                for key, _ in self.selector.select(min(waits)):
                    key.data()
        kill_marked("MANTA_RUN_JOB=" + os.environ["MANTA_RUN_JOB"])
        self.shared_memory.close()
        self.connection.close()
        self.leave()

    def go_on_apart(self):
        """The launcher, which takes this process for the first rank, has to see its end now; another process watches the others."""
        if os.fork() > 0:
            self.leave()
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in (0, 1, 2):
            os.dup2(nothing, file)

    def leave(self):
        """What the end of the rank means is for manta-run to say. An mpirun that sees a status other than 0 ends all other ranks
        at once, rank 0 too, which may be just about to end with a status of its own; with recovery it prints an error of PMIx.
        """
        number = self.own.status[0]
        if number and not self.recovers:  # the launcher sees what we saw
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        os._exit(0)

    def look_for_stubs(self):
        for number in self.shared_memory.waiting():
            if number in self.ranks:
                continue
            try:
                stub = StubRank(number, self.shared_memory.path)
            except OSError:
                continue  # it has just gone
            self.awaited -= 1
            self.ranks[number] = stub
            self.selector.register(stub.file, selectors.EVENT_READ, lambda stub=stub: self.hear_stub(stub))

    def ended(self, rank):
        number, code = rank.status
        for_memory = number == signal.SIGKILL and self.memory_kills.lately()
        task, unfinished = rank.notes.read()
        self.tell("ended %d %d %d %d %x %d" % (rank.number, number, code, for_memory, task, unfinished != 0))
        del self.ranks[rank.number]

    def hear_signals(self):
        """The launcher's, for the first rank; those of the others get them as well."""
        for number in self.wakeup.what():
            if number != signal.SIGCHLD:
                self.drop_names_after(number)
                self.own.signal(number)

    def drop_names_after(self, number):
        if number in (signal.SIGTERM, signal.SIGINT):
            self.shared_memory.drop_names_soon()

    def hear_own(self):
        said = self.own.hear()
        for words in said or []:
            if words[0] == "survives":
                self.tell(" ".join(words))
        if said is None:
            self.selector.unregister(self.own.said)

    def hear_stub(self, stub):
        was_started = stub.process is not None
        goes_on = stub.hear()
        if not was_started and stub.process is not None:
            self.tell("started %d %d" % (stub.number, stub.process))
        if stub.is_missing:
            stub.is_missing = False
            self.tell("missing %d" % stub.number)
        if stub.status is not None and stub.number in self.ranks:
            self.ended(stub)
        if not goes_on:
            self.selector.unregister(stub.file)
            stub.close()

    def hear_job(self):
        try:
            data = self.connection.recv(4096)
        except OSError:
            data = b""
        what, self.orders = lines(self.orders, data)
        for words in what:
            if words[0] == "signal":
                self.drop_names_after(int(words[1]))
                for rank in self.ranks.values():
                    rank.signal(int(words[1]))
            elif words[0] == "end":
                self.end()
            elif words[0] == "died":
                self.own.tell(" ".join(words))
        if not data:  # manta-run is no more: nobody waits for these ranks
            self.selector.unregister(self.connection)
            self.end()

    def end(self):
        self.awaited = 0
        self.shared_memory.drop_names_soon()
        for rank in self.ranks.values():
            rank.end()
