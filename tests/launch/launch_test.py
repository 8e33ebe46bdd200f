# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""scripts/manta-run without Slurm: exit status, deaths, signals, what lingers, what is left.

  launch_test.py RANK PLAIN [words]   the programs built from rank.cpp; only checks whose name contains one of the words
"""
import fcntl
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types

MANTA_RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "manta-run")
RANK, PLAIN = (os.path.abspath(p) for p in sys.argv[1:3])
BASE = tempfile.mkdtemp(prefix="mt-")
LIMIT = 120  # seconds until something counts as a hang
OPEN_MPI_5 = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
              "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"}
checks = []
failures = []


def check(function):
    checks.append(function)
    return function


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not in %d s: %s" % (LIMIT, what))
        time.sleep(0.01)


def lives(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Run:
    """manta-run with these words; its folder for temporary files is its own."""

    def __init__(self, *words, environment=(), stdin=subprocess.DEVNULL):
        self.folder = tempfile.mkdtemp(dir=BASE)
        self.log = open(os.path.join(self.folder, "output"), "w+")
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)
        env = dict(os.environ, TMPDIR=self.temporary, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none", **OPEN_MPI_5)
        env.update(environment)
        env = {name: value for name, value in env.items() if value is not None}
        self.process = subprocess.Popen([sys.executable, MANTA_RUN] + [str(w) for w in words], stdin=stdin, stdout=self.log, stderr=self.log, env=env)

    @property
    def output(self):
        with open(self.log.name) as file:
            return file.read()

    def pids(self):
        return [int(p) for p in re.findall(r"is process (\d+)", self.output)]

    def started(self, ranks=3):
        until(lambda: len(self.pids()) >= ranks or self.process.poll() is not None, "the ranks start\n" + self.output)
        return self

    def says(self, *texts):
        for text in texts:
            until(lambda: text in self.output or self.process.poll() is not None, "'%s'\n%s" % (text, self.output))
            assert text in self.output, "there is no '%s' in:\n%s" % (text, self.output)
        return self

    def silent(self, *texts):
        for text in texts:
            assert text not in self.output, "there is '%s' in:\n%s" % (text, self.output)

    def ends(self, status):
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("it hangs:\n" + self.output)
        assert code == status, "status %s instead of %s:\n%s" % (code, status, self.output)
        return self.leaves_nothing()

    def leaves_nothing(self, at_once=True):
        def left():
            return ([p for p in self.pids() if lives(p)] + os.listdir(self.temporary) +
                    [f for f in re.findall(r"shared memory (/\S+)", self.output) if os.path.exists(f)])

        if not at_once:
            until(lambda: not left(), "nothing is left")
        assert not left(), "left behind: %s\n%s" % (left(), self.output)
        shutil.rmtree(self.folder)
        return self


def rank(*words, options=(), program=RANK, **more):
    return Run(*options, "-n", 3, "--", program, *words, **more)


# ---- exit status

@check
def status_of_rank_0_is_carried():
    rank("status", 0).ends(0)
    rank("status", 7).ends(7)
    rank("status", 7, program=PLAIN).ends(7)


@check
def status_of_another_rank_counts_when_rank_0_has_none():
    run = rank("other-status", 4)
    run.says("rank 2 on", "ended with status 4; rank 0 with 0").ends(4)


@check
def a_program_that_uses_no_mpi():
    Run("-n", 2, "bash", "-c", "exit $((OMPI_COMM_WORLD_RANK == 0 ? 9 : 0))").ends(9)


# ---- deaths

@check
def a_rank_dies_and_the_program_survives():
    for number, name in ((9, "SIGKILL"), (15, "SIGTERM")):
        run = rank("survives", number)
        run.started().says("rank 2 on", "was killed by %s" % name, "the program goes on without it", "rank 0 goes on")
        run.ends(3)


@check
def a_rank_dies_and_the_program_does_not_survive():
    for program in (RANK, PLAIN):
        for number in (9, 11):
            run = rank("dies", number, program=program)
            run.says("rank 2 on", "was killed by %s" % signal.Signals(number).name, "the job is ended")
            run.silent("rank 1 on", "rank 0 on")
            run.ends(128 + number)


@check
def recovery_is_for_programs_that_know_of_it():
    for program, options, wanted in ((RANK, [], True), (PLAIN, [], False), (RANK, ["--no-recovery"], False),
                                     (PLAIN, ["--recovery"], True)):
        run = Run(*options, "--verbose", "-n", 1, program, "status")
        run.process.wait(LIMIT)
        assert ("--enable-recovery" in run.output or "--with-ft" in run.output) == wanted, run.output
        run.ends(0)


@check
def a_rank_that_leaves_without_finalize_ends_a_plain_program():
    run = rank("leaves", 0, program=PLAIN)
    run.process.wait(LIMIT)
    assert run.process.returncode != 0, run.output
    run.leaves_nothing()


@check
def a_rank_that_leaves_with_a_status_ends_the_job_after_a_while():
    run = rank("leaves", 6, options=("--grace", "0.2"))
    run.says("rank 2 on", "ended with status 6 and rank 0 goes on: the job is ended").ends(6)


@check
def rank_0_dies():
    for program in (RANK, PLAIN):
        run = rank("first-dies", 9, program=program)
        run.says("rank 0 on", "was killed by SIGKILL")
        run.silent("rank 1 on", "rank 2 on")
        run.ends(137)


# ---- what lingers

@check
def ranks_that_linger_are_ended():
    run = rank("first-leaves", 5, options=("--linger", "0.2"))
    run.says("ranks 1, 2 still run 0.2 s after rank 0 has ended, and are ended").ends(5)


@check
def they_are_ended_although_another_runtime_begins_a_run_then():
    sys.path.insert(0, os.path.dirname(MANTA_RUN))
    from manta_run.verdict import Ending, Verdict
    ending = Ending()
    verdict = Verdict(types.SimpleNamespace(recovery=True, grace=5, linger=0.2), ending)
    verdict.survived([])
    verdict.survived(["nothing"])
    verdict.ended(types.SimpleNamespace(rank=2, host="here", process=2), signal.SIGSEGV, 0)
    verdict.ended(types.SimpleNamespace(rank=0, host="here", process=1), 0, 4)
    verdict.survived([])  # rank 1 is the first one of another communicator
    assert ending.left() is not None and ending.reason == Verdict.LINGERS, ending.reason


@check
def ranks_that_do_not_hear_sigterm_are_killed():
    rank("deaf", 5, options=("--linger=0.2",)).says("ranks 1, 2 still run").ends(5)


@check
def an_mpirun_that_lingers_is_ended():
    # One that goes on for ever when the ranks have ended.
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "mpirun")
        with open(script, "w") as file:
            file.write("#!/bin/bash\nif [[ $1 == --version ]]; then exec %s --version; fi\n"
                       "trap '' HUP\n%s \"$@\"\nwhile :; do sleep 1; done\n" % ((shutil.which("mpirun"),) * 2))
        os.chmod(script, 0o755)
        run = rank("status", 0, options=("--linger", "3"), environment={"MPIRUN": script})  # long enough for ranks 1 and 2
        run.says("mpirun still runs 3 s after rank 0 has ended, and is ended").ends(0)


@check
def processes_that_ranks_leave_are_ended():
    run = rank("orphan")
    run.process.wait(LIMIT)
    assert len(run.pids()) == 6, run.output
    run.ends(0)


# ---- signals

@check
def a_question_for_the_state_ends_no_rank_that_has_not_begun():
    run = Run("-n", 3, "--", "sh", "-c", "echo begun; sleep 2").says("begun")
    run.process.send_signal(signal.SIGUSR2)
    run.ends(0)


@check
def signals_reach_all_ranks():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        run = rank("signal", 85)
        run.says("rank 0 waits", "rank 1 waits", "rank 2 waits")
        run.process.send_signal(number)
        run.says(*("rank %d caught signal %d" % (r, number) for r in range(3)))
        run.silent("manta-run:")
        run.ends(85)


@check
def signals_that_come_when_all_is_over_change_nothing():
    run = Run("-n", 1, "bash", "-c", "trap '' USR1; echo started; sleep 0.1; exit 3").says("started")
    while run.process.poll() is None:
        run.process.send_signal(signal.SIGUSR1)
        time.sleep(0.0005)
    run.ends(3)


@check
def a_second_sigint_ends_the_job():
    run = rank("signal-once").started()
    run.says("rank 0 waits", "rank 1 waits", "rank 2 waits")
    run.process.send_signal(signal.SIGINT)
    run.says("rank 0 caught signal 2")
    while run.process.poll() is None:
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    run.says("SIGINT came a second time: the job is ended").ends(137)


@check
def a_sigterm_that_comes_twice_at_once_counts_once():
    run = rank("signal", 7).started()
    run.says("rank 0 waits", "rank 1 waits", "rank 2 waits")
    run.process.terminate()
    run.process.terminate()
    run.ends(7)


@check
def what_goes_on_after_sigterm_is_ended():
    run = rank("deaf-all", environment={"MANTA_TERM_GRACE": "0.5"}).started()
    run.process.terminate()
    run.says("SIGTERM came 5.5 s ago, and the job still runs: it is ended").ends(137)


@check
def pmix_says_nothing_of_ranks_that_die():
    run = rank("survives", 9)
    run.process.wait(LIMIT)
    run.silent("PMIX ERROR")
    run = rank("hang").started()
    run.process.send_signal(signal.SIGINT)
    run.process.wait(LIMIT)
    run.silent("PMIX ERROR")


@check
def kills_for_want_of_memory_are_seen():
    sys.path.insert(0, os.path.dirname(MANTA_RUN))
    from manta_run.traces import MemoryKills
    with tempfile.TemporaryDirectory() as folder:
        def note(count):
            with open(os.path.join(folder, "events"), "w") as file:
                file.write("low 0\noom 3\noom_kill %d\n" % count)

        note(2)
        kills = MemoryKills([os.path.join(folder, "missing"), os.path.join(folder, "events")])
        assert not kills.lately()
        note(3)
        assert kills.lately(), "one more since"
        for _ in range(2):
            kills.next = 0
            kills.look()
        assert not kills.lately(), "long ago"


@check
def a_signal_that_nobody_catches_ends_the_job():
    run = rank("hang").started()
    run.process.terminate()
    run.silent("manta-run:")
    run.ends(143)


# ---- one watcher a node

def watchers(run):
    """The processes that watch the ranks of a job on this node."""
    found = []
    with open("/proc/%d/task/%d/children" % ((run.process.pid,) * 2)) as file:
        mpirun = int(file.read().split()[0])
    with open("/proc/%d/task/%d/children" % ((mpirun,) * 2)) as file:
        for pid in file.read().split():
            with open("/proc/%s/cmdline" % pid, "rb") as words:
                if b"python" in words.read().split(b"\0")[0]:
                    found.append(int(pid))
    return found


@check
def a_node_has_one_watcher():
    run = rank("hang").started()
    assert len(watchers(run)) == 1, watchers(run)
    run.process.terminate()
    run.ends(143)


@check
def a_watcher_is_killed():
    run = rank("hang").started()
    os.kill(watchers(run)[0], signal.SIGKILL)
    run.says("rank 0 on", "is lost, and perhaps its node").ends(75)


@check
def a_status_above_128_is_a_signal():
    rank("other-status", 137).says("rank 2 on", "was killed by SIGKILL").ends(137)
    rank("other-status", 147).says("rank 2 on", "ended with status 147").ends(147)  # no signal that ends a process


@check
def a_program_that_is_not_there():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "program")
        with open(script, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(script, 0o755)
        elsewhere = os.path.join(folder, *"abcdefgh")
        os.makedirs(elsewhere)
        run = Run("-n", 2, "-wdir", elsewhere, "--", os.path.relpath(script))
        run.says("rank 0 on", "cannot start", "rank 1 on", "there is no such program").ends(127)


# ---- when others die

@check
def manta_run_is_killed():
    run = rank("hang").started()
    run.process.kill()
    run.process.wait()
    run.leaves_nothing(at_once=False)


@check
def mpirun_is_killed():
    run = rank("hang").started()
    with open("/proc/%d/task/%d/children" % ((run.process.pid,) * 2)) as file:
        os.kill(int(file.read().split()[0]), signal.SIGKILL)
    run.says("mpirun was killed by SIGKILL")
    assert run.process.wait(LIMIT) != 0, run.output
    run.leaves_nothing()


@check
def what_killed_jobs_left_goes_with_the_next_one():
    prefix = "/dev/shm/manta-run-%d-test-%d-" % (os.getuid(), os.getpid())
    for name in ("dead", "alive"):
        os.mkdir(prefix + name)
        open(os.path.join(prefix + name, "segment"), "w").close()
    lock = os.open(prefix + "alive", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)  # as a rank does
    try:
        rank("status", 0).ends(0)
        assert not os.path.exists(prefix + "dead"), prefix + "dead is still there"
        assert os.path.exists(prefix + "alive/segment"), prefix + "alive is gone"
    finally:
        os.close(lock)
        shutil.rmtree(prefix + "alive", ignore_errors=True)


@check
def segments_keep_their_names_for_a_moment_after_sigterm():
    sys.path.insert(0, os.path.dirname(MANTA_RUN))
    from manta_run.shared_memory import SharedMemory
    before = {name: os.environ.get(name) for name in os.environ}
    memory = SharedMemory("test-%d-names" % os.getpid())
    try:
        open(os.path.join(memory.path, "segment"), "w").close()
        memory.GRACE = 1000
        memory.drop_names_soon()
        assert 900 < memory.look() <= 1000, "names go later, so that Open MPI finds them when the program ends at once"
        assert os.path.exists(os.path.join(memory.path, "segment")), "it is gone already"
        memory.drop_at = 0
        assert memory.look() == math.inf, "all is done"
        assert not os.path.exists(memory.path), memory.path + " is still there"
    finally:
        memory.close()
        shutil.rmtree(memory.path, ignore_errors=True)
        os.environ.clear()
        os.environ.update(before)


# ---- words

@check
def arguments_arrive_as_they_are():
    Run("-n", 1, "--", "printf", "<%s>", "a b", "--", "-n", "$HOME", "--help").says("<a b><--><-n><$HOME><--help>").ends(0)


@check
def standard_input_arrives():
    with tempfile.TemporaryFile("w+") as file:
        file.write("a line\n")
        file.seek(0)
        Run("-n", 1, "cat", stdin=file).says("a line").ends(0)


@check
def settings_reach_the_ranks():
    Run("-n", 1, "printenv", "MANTA_SEED", environment={"MANTA_SEED": "77"}).says("77").ends(0)


@check
def one_rank_or_two_may_use_all_cores():
    count = "import os; print('cores:', len(os.sched_getaffinity(0)), flush=True)"
    default = {"OMPI_MCA_hwloc_base_binding_policy": None, "PRTE_MCA_hwloc_default_binding_policy": None}
    for ranks in (1, 2):
        Run("-n", ranks, "--", sys.executable, "-c", count, environment=default).says(
            "cores: %d\n" % len(os.sched_getaffinity(0))).ends(0)
    Run("--bind-to", "core", "-n", 1, "--", sys.executable, "-c", count, environment=default).says("cores: 1\n").ends(0)


@check
def what_is_wrong_is_said():
    Run().says("there is no program to start").ends(2)
    Run("-n", 2, "./nowhere").says("cannot start './nowhere' in", "there is no such file").ends(127)
    Run("-n", 2, "nowhere").says("it is not in PATH").ends(127)
    Run("-n", 2, MANTA_RUN + ".md").says("there is no such file").ends(127)
    Run("-n", 2, __file__).says("it is not executable").ends(127)
    Run("--map-by", "node", "true").says("'--map-by' is no option of manta-run", "put --").ends(2)
    Run("--linger", "long", "true").says("wants a number of seconds, not 'long'").ends(2)
    Run("--launcher", "aprun", "true").says("there is no launcher 'aprun'").ends(2)
    Run("-n").says("-n needs a value").ends(2)
    Run("true", environment={"MPIRUN": "/nowhere/mpirun", "MANTA_LAUNCHER": "mpirun"}).says(
        "there is no program '/nowhere/mpirun'").ends(2)
    Run("--help").says("usage: manta-run").ends(0)


@check
def other_launchers_get_their_own_options():
    with tempfile.TemporaryDirectory() as folder:
        def fake(name, version):
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write("#!/bin/bash\nif [[ $1 == --version ]]; then echo '%s'; exit; fi\necho \"started: $*\"\n" % version)
            os.chmod(path, 0o755)
            return path

        five = {"MPIRUN": fake("mpirun", "mpirun (Open MPI) 5.0.7")}  # MANTA_* of the environment are handed on
        Run("--recovery", "-n", 2, "true", environment=five).says("started: --with-ft ulfm -x MANTA_RUN ", " -n 2 ").ends(1)
        other = {"MPIRUN": fake("mpirun", "HYDRA build details:")}
        Run("-n", 2, "true", environment=other).says("is not Open MPI's", "HYDRA").ends(2)
        fake("srun", "slurm 22.05.8")
        path = {"PATH": folder + os.pathsep + os.environ["PATH"], "MANTA_LAUNCHER": "srun"}
        Run("--recovery", "-N2", "--", "true", environment=path).says(
            "started: --mpi=pmix --kill-on-bad-exit=0 --no-kill -N2").ends(1)
        Run("--mpi=pmi2", "--", "true", environment=path).says("started: --mpi=pmi2 ").ends(1)


def main():
    if not shutil.which("mpirun"):
        print("skipped: there is no mpirun on this machine; load the module of Open MPI, or run scripts/setup")
        return 77
    words = sys.argv[3:]
    chosen = [c for c in checks if not words or any(w in c.__name__ for w in words)]
    for one in chosen:
        begin = time.monotonic()
        try:
            one()
            print("%5.1f s  %s" % (time.monotonic() - begin, one.__name__.replace("_", " ")), flush=True)
        except AssertionError as e:
            failures.append(one.__name__)
            print("FAILED   %s: %s" % (one.__name__.replace("_", " "), e), flush=True)
    print("%d checks, %d failed" % (len(chosen), len(failures)))
    return 1 if failures or not chosen else 0


try:
    status = main()
finally:
    shutil.rmtree(BASE, ignore_errors=True)
sys.exit(status)
