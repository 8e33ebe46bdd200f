# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What the ends of ranks mean: for the other ranks, for the user, and for the job's exit status."""
import signal
import time

from .process import LOST, PATIENCE, say, signal_name


class Ending:
    """When the job is to be ended and why, and how many steps of ending it have been taken."""

    def __init__(self):
        self.steps = 0
        self.deadline = None  # when the next step is due
        self.reason = ""      # of the first step

    def due(self, seconds, reason):
        when = time.monotonic() + seconds
        if not self.steps and (self.deadline is None or when < self.deadline):
            self.deadline, self.reason = when, reason

    def due_at_last(self, seconds):
        """Whatever was planned: all ranks have ended."""
        when = time.monotonic() + seconds
        self.deadline = when if self.deadline is None else min(self.deadline, when)
        self.reason = ""

    def withdraw(self):
        self.deadline, self.reason = None, ""

    def left(self):
        return None if self.deadline is None else self.deadline - time.monotonic()

    def begin_step(self):
        self.steps += 1
        self.deadline = time.monotonic() + PATIENCE
        return self.steps


class Verdict:
    LINGERS = "rank 0 has ended"
    NOT_SURVIVED = "the program does not say that it survives this: the job is ended"
    AT_THE_END = "MPI, which the program ends, waits for a rank that has died: the job is ended"
    BETWEEN_RUNS = "no run of manta is under way, which would survive this: the job is ended"

    def __init__(self, options, ending):
        self.options, self.ending = options, ending
        self.launcher = ""       # its name
        self.status = None       # rank 0's, once it has ended
        self.failed = None       # that of the first other rank that failed
        self.late = None         # that of the last other rank whose end the program survived, at least until then
        self.failure = ""        # and how it did, until that has been said
        self.survives = False    # the program has said that it does, at this moment
        self.ends = False        # its last run is over, and all ranks that were alive then end MPI together
        self.survives_codes = True  # if it survives deaths: also those of processes that end by themselves, before they are done
        self.has_survived = False   # it has said so at some time
        self.passed_on = {}      # signals that ranks were sent, and when first: a death by one of them was wanted
        self.all_is_well = True  # the ranks that have ended did so with 0
        self.codes = []          # (status, text, time) of other ranks that ended by themselves, in a program that survives it
        self.said = 0

    def survived(self, what):
        """The program says which deaths of ranks it survives from now on, perhaps just after one: [], all; ["kills"], those by a
        signal and those of ranks that had done all they had to do; ["end"], only those that MPI's end does not wait for;
        ["nothing"], none."""
        if what == ["nothing"] and self.survives and self.codes and self.failed is None and self.ending.deadline is None:
            self.judge_late()
        self.survives = what != ["nothing"]
        self.survives_codes = not what
        self.ends = what == ["end"]
        if self.ends and not self.all_is_well:
            self.ending.due(PATIENCE, self.AT_THE_END)
        self.has_survived = self.has_survived or self.survives
        if self.survives and not self.ends and self.ending.reason in (self.NOT_SURVIVED, self.BETWEEN_RUNS) and not self.ending.steps:
            self.ending.withdraw()
            self.failed, self.failure = None, ""
            say("the program goes on without it")
            if self.status is not None:  # rank 0 has ended meanwhile
                self.ending.due(self.options.linger, self.LINGERS)

    def judge_late(self):
        """A run is over. A rank that has ended by itself just before may have left it already, and the program's MPI waits for it."""
        status, how, when = self.codes[-1]
        if time.monotonic() - when < 0.5:
            self.codes.pop()
            self.failed, self.failure = status, how
            self.ending.due(max(self.options.grace, 5), self.failure + " and rank 0 goes on: the job is ended")

    def ended(self, watched, number, code, for_memory=False, early=False):
        """A rank has: by a signal, or with a code, or (number is None) nobody knows how, as its node is lost."""
        status = LOST if number is None else 128 + number if number else code
        if early and status == 0:
            status = 1
        if watched.rank == 0 and self.status is None:
            # A launcher without recovery has killed it because of a rank that failed before.
            killed = not self.options.recovery and number in (signal.SIGTERM, signal.SIGKILL) and number not in self.passed_on
            self.status = self.failed if self.failed and killed else status
        self.all_is_well = self.all_is_well and status == 0
        if self.ending.steps:
            return
        how = self.describe(watched, number, code, for_memory, early)
        died, wanted = number is None or number != 0, number in self.passed_on
        survived = self.survives and (died or self.survives_codes or not early)
        if status != 0 and watched.rank != 0 and self.failed is None and not survived:
            self.failed, self.failure = status, how
        if status != 0 and watched.rank != 0:
            self.late = status
        if watched.rank == 0:
            self.judge_rank_0(how, died, wanted, early and code == 0 and not died)
        elif status != 0 and self.status is None:
            self.judge_other(how, died, wanted, status, survived)

    def give_up(self):
        """Rank 0 is about to be ended: what it ends with is our doing."""
        if self.status is None:
            self.status = self.failed or (self.late if self.ends else None)

    @staticmethod
    def describe(watched, number, code, for_memory, early):
        who = "rank %d on %s" % (watched.rank, watched.host)
        if number is None:
            return "%s is lost, and perhaps its node" % who
        if number != 0:
            how = "%s (process %d) was killed by %s" % (who, watched.process, signal_name(number))
            return how + (", as the kernel does where memory ends: it has counted such a kill" if for_memory else "")
        how = "%s ended with status %d" % (who, code)
        if early and code == 0:
            how += " (_exit or the like) before its run or MPI was over, which counts as 1"
        return how

    def judge_rank_0(self, how, died, wanted, left_early):
        if left_early or (died and not wanted):
            self.report(how)
        if died and not wanted:
            just_now = time.monotonic() - 1
            self.codes = [each for each in self.codes if each[2] < just_now]  # the others have ended because rank 0 has
            self.ending.due(0, "")
        else:
            self.ending.due(self.options.linger, self.LINGERS)

    def judge_other(self, how, died, wanted, status, survived):
        """A rank other than 0 has failed while rank 0 runs."""
        if survived and not died:
            self.codes.append((status, how, time.monotonic()))  # perhaps rank 0 is about to end with the same
        elif survived and self.ends:
            self.report(how)
            self.ending.due(PATIENCE, self.AT_THE_END)
        elif survived:
            doubt = ", unless Slurm's PMIx plugin ends the step; mpirun does not" if self.launcher == "srun" else ""
            if not wanted:
                self.report(how + "; the program goes on without it" + doubt)
        elif died and not wanted:
            self.report(how)
            # What rank 0 says and this news come by different ways.
            self.ending.due(0.5 if self.options.recovery else 0, self.BETWEEN_RUNS if self.has_survived else self.NOT_SURVIVED)
        elif self.ending.deadline is None:
            self.ending.due(self.options.grace, how + " and rank 0 goes on: the job is ended")

    def report(self, text):
        self.failure = ""
        self.said += 1
        if self.said <= 10:
            say(text)
        elif self.said == 11:
            say("... and more")

    def of_job(self, code):
        """The exit status of the job, whose launcher has ended with this code; says what has not been said yet."""
        if code < 0 and self.ending.steps < 2:
            say("%s was killed by %s" % (self.launcher, signal_name(-code)))
        own = 128 - code if code < 0 else code
        alike = {}
        for status, how, _ in self.codes:
            alike.setdefault(status, []).append(how)
        for status, all_of_them in alike.items():
            if status != self.status:
                more = len(all_of_them) - 1
                self.report(all_of_them[0] + (", and so did %d more" % more if more else ""))
        if self.status is None:
            if self.failed is None and own == 0:
                say("%s has ended, and rank 0 was never heard of" % self.launcher)
            return self.failed or own or 1
        if self.status == 0 and self.failed:
            if self.failure:
                say("%s; rank 0 with 0" % self.failure)
            return self.failed
        return self.status
