# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""One rank: `manta-run --rank program arguments`, started by the launcher, runs the program as its child."""
import os
import resource
import selectors
import signal
import socket
import time

from .process import FORWARDED, PATIENCE, Wakeup, adopt_orphans, die_with_parent, forget_launcher, give_up, kill_descendants, lines, say
from .shared_memory import SharedMemory
from .traces import MemoryKills, Notes


class Rank:
    def __init__(self, command):
        self.command = command
        forget_launcher()
        if "MANTA_RUN" not in os.environ:
            give_up("MANTA_RUN is not in the environment of this rank on %s: the launcher was told not to pass "
                    "variables on. Add --export=ALL (srun) or -x MANTA_RUN (mpirun)" % socket.gethostname())
        self.job, self.token, self.launcher, self.host, port, addresses = os.environ.pop("MANTA_RUN").split("/")
        self.rank = self.number("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", otherwise=0)
        self.size = self.number("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", otherwise=1)
        self.connection = self.connect(int(port), addresses.split(","))
        self.wakeup = Wakeup(FORWARDED + [signal.SIGCHLD])
        self.shared_memory = SharedMemory(self.job)
        self.notes = Notes()
        self.memory_kills = MemoryKills()
        self.child = None
        self.kill_at = None

    @staticmethod
    def number(*variables, otherwise):
        return next((int(os.environ[v]) for v in variables if v in os.environ), otherwise)

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
        give_up("rank %d on %s cannot reach manta-run on %s, port %d (%s). If nodes may not connect to each other, start "
                "the program by mpirun or srun itself" % (self.rank, socket.gethostname(), self.host, port, "; ".join(tried)))

    def tell(self, text):
        try:
            self.connection.sendall(text.encode() + b"\n")
        except OSError:
            pass  # the loop sees the end of the connection

    def start(self):
        """The program becomes the first of a process group of its own, so that nobody signals it twice. Returns our end of the
        line between it and us."""
        said, its_end = socket.socketpair()
        its_end.set_inheritable(True)
        parent = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            try:
                os.setpgid(0, 0)
                signal.set_wakeup_fd(-1)
                for s in FORWARDED + [signal.SIGCHLD, signal.SIGPIPE]:
                    signal.signal(s, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, [])
                die_with_parent(signal.SIGKILL, parent)
                os.environ["MANTA_RUN_FD"] = str(its_end.fileno())
                if self.launcher == "recovering":
                    os.environ.setdefault("MANTA_RECOVERY", "1")
                os.execvp(self.command[0], self.command)
            except OSError as e:
                say("rank %d on %s cannot start '%s': %s" % (self.rank, socket.gethostname(), self.command[0], e.strerror))
            os._exit(127)
        its_end.close()
        said.setblocking(False)
        return said

    def pass_on(self, number):
        if number in (signal.SIGTERM, signal.SIGINT):
            self.shared_memory.drop_names_soon()
        try:
            os.kill(self.child, number)
        except ProcessLookupError:
            pass

    def end(self):
        if self.kill_at is None:
            self.pass_on(signal.SIGCONT)
            self.pass_on(signal.SIGTERM)
            self.kill_at = time.monotonic() + PATIENCE

    def run(self):
        adopt_orphans()
        self.tell("hello %s %d %d %s" % (self.token, self.rank, self.size, socket.gethostname()))
        said = self.start()
        self.tell("started %d" % self.child)
        with selectors.DefaultSelector() as selector:
            for file in (self.wakeup.file, self.connection, said):
                selector.register(file, selectors.EVENT_READ)
            heard, orders = b"", b""
            while True:
                pid, status = os.waitpid(self.child, os.WNOHANG)
                if pid != 0:
                    break
                left = min(self.memory_kills.look(), self.shared_memory.look())
                if self.kill_at is not None:
                    left = min(left, self.kill_at - time.monotonic())
                    if left <= 0:
                        self.pass_on(signal.SIGKILL)
                        left = None
                for key, _ in selector.select(left):
                    if key.fileobj == self.wakeup.file:
                        for number in self.wakeup.what():
                            if number != signal.SIGCHLD:
                                self.pass_on(number)
                        continue
                    try:
                        data = os.read(key.fd, 4096)
                    except OSError:
                        data = b""
                    if key.fileobj == said:
                        what, heard = lines(heard, data)
                        for words in what:
                            if words[0] == "survives":
                                self.tell(" ".join(words))
                    else:
                        what, orders = lines(orders, data)
                        for words in what:
                            if words[0] == "signal":
                                self.pass_on(int(words[1]))
                            elif words[0] == "end":
                                self.end()
                            elif words[0] == "died":
                                try:
                                    said.send(" ".join(words).encode() + b"\n")
                                except OSError:
                                    pass  # a program that does not listen
                    if not data:
                        selector.unregister(key.fileobj)
                        if key.fileobj == self.connection:  # manta-run is no more: nobody waits for this rank
                            self.end()
        kill_descendants()
        self.shared_memory.close()
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        for_memory = number == signal.SIGKILL and self.memory_kills.lately()
        task, unfinished = self.notes.read()
        self.tell("ended %d %d %d %x %d" % (number, 0 if number else os.WEXITSTATUS(status), for_memory, task, unfinished != 0))
        self.connection.close()
        # What it means is for manta-run to say. An mpirun that sees a status other than 0 ends all other ranks at once, rank
        # 0 too, which may be just about to end with a status of its own; with recovery it prints an error of PMIx.
        if number and self.launcher == "plain":  # it sees what we saw
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        return 0
