# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The job: `manta-run ...`, as somebody called it. It starts the launcher, hears the ranks, and ends what lingers."""
import glob
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time

from .daemons import Daemons
from .launcher import Launcher, Noise
from .process import (FORWARDED, NOISE_FILE, PATIENCE, SAME, Wakeup, adopt_orphans, children, die_with_parent,
                      kill_descendants, lines, reap, say, seconds_in, signal_name)
from . import stub
from .ranks import Listener, WatchedRank
from .shared_memory import SharedMemory
from .verdict import Ending, Verdict


class Job:
    def __init__(self, options):
        self.options = options
        self.term_grace = seconds_in("MANTA_TERM_GRACE", 30.0)
        self.selector = selectors.DefaultSelector()
        self.ending = Ending()
        self.verdict = Verdict(options, self.ending)
        self.nodes = {}       # connection -> WatchedNode
        self.deaths = []      # of which rank 0 has not been told
        self.size = None      # ranks there are, once one has been heard of
        self.ended_ranks = 0
        self.launcher = None
        self.noise = None     # of mpirun
        self.daemons = None   # the folder of the srun that starts mpirun's daemons

    def launch(self):
        launcher = Launcher(self.options)
        self.name = self.verdict.launcher = launcher.name
        command = launcher.command + stub.command(SharedMemory.NAME + self.listener.id, self.options.recovery) + self.options.program
        if self.name == "mpirun" and self.options.recovery:
            self.daemons = Daemons.prepare()
        if self.options.verbose:
            say("+ " + " ".join(shlex.quote(w) for w in command))
        parent = os.getpid()

        def before():
            # Signals reach the ranks through us. mpirun, which may get them as well, from a terminal or from Slurm, would
            # end the job at once; SIGHUP, which it is left, is our way to end it.
            signal.pthread_sigmask(signal.SIG_BLOCK, [s for s in FORWARDED if s != signal.SIGHUP])
            die_with_parent(signal.SIGHUP, parent)

        files = []
        if self.name == "mpirun" and self.options.recovery and Noise.is_wanted(self.daemons):
            self.noise = Noise()
            files = [self.noise.its_end]
            os.environ[NOISE_FILE] = str(self.noise.its_end)
        if sys.stderr.isatty():  # the ranks see none: their parents are mpirun's and manta-run's
            os.environ.setdefault("MANTA_PROGRESS", "bar")
        self.launcher = subprocess.Popen(command, preexec_fn=before, pass_fds=files)
        if self.noise:
            self.noise.launched()
            self.selector.register(self.noise.file, selectors.EVENT_READ)

    def run(self):
        adopt_orphans()
        wakeup = Wakeup(FORWARDED + [signal.SIGCHLD])
        self.listener = Listener(self.options.recovery)
        self.selector.register(self.listener.socket, selectors.EVENT_READ)
        self.selector.register(wakeup.file, selectors.EVENT_READ)
        self.launch()
        while self.launcher.poll() is None or self.nodes:
            if self.launcher.poll() is not None and self.ending.deadline is None:
                self.ending.due(PATIENCE, "%s has ended before its ranks" % self.name)
            left = self.ending.left()
            if left is not None and left <= 0:
                self.next_step()
                left = self.ending.left()
            for key, _ in self.selector.select(left):
                if key.fileobj == self.listener.socket:
                    self.accept()
                elif self.noise and key.fileobj == self.noise.file:
                    if not self.noise.hear():
                        self.selector.unregister(self.noise.file)
                elif key.fileobj == wakeup.file:
                    for number in wakeup.what():
                        if number != signal.SIGCHLD:
                            self.forward(number)
                else:
                    self.hear(key.data)
        if self.noise:
            self.noise.hear()  # what has come after the last rank
        return self.verdict.of_job(self.launcher.returncode)

    # What the watchers of nodes say of their ranks.

    def accept(self):
        node = self.listener.accept()
        if node:
            self.nodes[node.connection] = node
            self.selector.register(node.connection, selectors.EVENT_READ, node)

    def forget(self, node):
        self.selector.unregister(node.connection)
        node.connection.close()
        del self.nodes[node.connection]

    def hear(self, node):
        try:
            data = node.connection.recv(4096)
        except OSError:
            data = b""
        what, node.buffer = lines(node.buffer, data)
        for words in what:
            if node.host is None:
                if len(words) != 4 or words[0] != "hello" or words[1] != self.listener.token:
                    return self.forget(node)  # not one of ours
                self.size, node.host = int(words[2]), words[3]
                if self.ending.steps:
                    node.tell("end")
            else:
                self.heard(node, words)
        if not data:
            self.forget(node)
            for watched in node.ranks.values():  # lost, and perhaps their node
                self.deaths.append("died %d -1 0 0 0" % watched.rank)
                self.tell_rank_0()
                self.ended(watched, None, 0)

    def heard(self, node, words):
        if words[0] == "started":
            node.ranks[int(words[1])] = WatchedRank(int(words[1]), node.host, int(words[2]))
        elif words[0] == "missing":
            say("rank %s on %s cannot start '%s': there is no such program" % (words[1], node.host, self.options.program[0]))
        elif words[0] == "survives":
            self.verdict.survived(words[1:])
            self.tell_rank_0()
            if self.daemons:
                Daemons.note(self.daemons, rank_0_runs=True)
        elif words[0] == "ended":
            rank = int(words[1])
            watched = node.ranks.pop(rank, None) or WatchedRank(rank, node.host, 0)  # a program that could not be started
            self.deaths.append("died " + " ".join(words[1:6]))
            self.tell_rank_0()
            self.ended(watched, int(words[2]), int(words[3]), words[4] == "1", words[6] == "1")

    def tell_rank_0(self):
        """How others have ended, which nobody else can tell it; once it has said that it survives that. It may do so later than
        another rank ends which has begun to work."""
        for node in self.nodes.values() if self.verdict.has_survived else []:
            if 0 in node.ranks:
                for line in self.deaths:
                    node.tell(line)
                self.deaths = []

    def ended(self, watched, number, code, for_memory=False, early=False):
        if watched.rank == 0 and self.daemons and self.verdict.has_survived:
            Daemons.note(self.daemons, rank_0_runs=False)
        self.verdict.ended(watched, number, code, for_memory, early)
        self.ended_ranks += 1
        if self.ended_ranks == self.size and self.options.recovery and not self.verdict.all_is_well:
            # With recovery an mpirun of several nodes often never ends when something has gone wrong.
            self.ending.due_at_last(min(PATIENCE, self.options.linger))

    # The end.

    def forward(self, number):
        due, name, asks_to_end = self.ending.due, signal_name(number), number in (signal.SIGTERM, signal.SIGINT)
        now = time.monotonic()
        first = self.verdict.passed_on.setdefault(number, now)
        if asks_to_end and first < now < first + SAME:
            return  # timeout(1), for one, signals its child and then the group that the child is in
        if asks_to_end and first < now:
            due(0, "%s came a second time: the job is ended" % name)
        elif asks_to_end and self.term_grace > 0:
            due(self.term_grace + 5, "%s came %g s ago, and the job still runs: it is ended" % (name, self.term_grace + 5))
        for node in list(self.nodes.values()):
            if node.host is not None:
                node.tell("signal %d" % number)
        if not self.nodes and (asks_to_end or number == signal.SIGHUP):
            due(0, "%s came before any rank had started: the job is ended" % name)

    def next_step(self):
        """Each is for what the one before it did not reach."""
        step = self.ending.begin_step()
        if step == 1:
            self.verdict.give_up()
            self.tell_why()
            for node in self.nodes.values():
                node.tell("end")
            if self.nodes:
                self.ending.deadline += PATIENCE / 2  # they wait as long themselves before they kill
            elif self.size is not None:
                self.next_step()  # nobody is left to end but the launcher
        elif step == 2 and self.size is None:
            self.signal_launcher(signal.SIGHUP)  # ranks that it is just starting are its own affair
        elif step <= 3:
            self.signal_launcher(signal.SIGKILL)  # on anything else some hang, and some crash with a page of text
        else:
            for node in list(self.nodes.values()):
                self.forget(node)

    def tell_why(self):
        if self.ending.reason != Verdict.LINGERS:
            if self.ending.reason:
                say(self.ending.reason)
            return
        left = sorted(rank for node in self.nodes.values() for rank in node.ranks)
        who = "%s %s" % ("ranks" if len(left) > 1 else "rank", ", ".join(map(str, left[:10])))
        if len(left) > 10:
            who += ", ..."
        many = len(left) > 1
        say("%s still run%s %g s after rank 0 has ended, and %s ended"
            % (who if left else self.name, "" if many else "s", self.options.linger, "are" if many else "is"))

    def signal_launcher(self, number):
        if self.launcher.poll() is None:
            self.launcher.send_signal(number)

    def clean(self):
        if self.daemons:
            shutil.rmtree(self.daemons, ignore_errors=True)
        if self.launcher is None:
            return
        for pid in children():  # srun, which mpirun starts its daemons with, ends them if it is asked to
            os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while reap() and time.monotonic() < end:
            time.sleep(0.01)
        kill_descendants()
        SharedMemory.remove_stale()
        base, pid = os.environ.get("TMPDIR") or "/tmp", self.launcher.pid
        for path in glob.glob(os.path.join(base, "prte*.*.%d.*" % pid)):  # session folders, where the launcher was killed
            shutil.rmtree(path, ignore_errors=True)
        for path in glob.glob(os.path.join(base, "ompi.*", "pid.%d" % pid)):
            shutil.rmtree(path, ignore_errors=True)
            try:
                os.rmdir(os.path.dirname(path))
            except OSError:
                pass  # another job's folders are in it
