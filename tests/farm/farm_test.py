# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""manta-farm as its users start it: lines, results, retries, other ranks, signals, kills.

  farm_test.py PROGRAM GROUP [words]   GROUP: lines, ranks, kills; only checks whose name contains one of the words
"""
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
MANTA_RUN = os.path.join(ROOT, "scripts", "manta-run")
PROGRAM = os.path.abspath(sys.argv[1])
BASE = tempfile.mkdtemp(prefix="mf-")
LIMIT = 120  # seconds until something counts as a hang
LONG = os.environ.get("MANTA_TEST_LONG")
SEED = int(os.environ.get("MANTA_TEST_SEED", time.time_ns() % 1_000_000))
checks = []
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_ALLOW_RUN_AS_ROOT": "1",
       "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
       "PRTE_MCA_hwloc_default_binding_policy": "none"}


def check(group):
    def register(function):
        checks.append((group, function))
        return function
    return register


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not in %d s: %s" % (LIMIT, what))
        time.sleep(0.005)


def equal(is_now, wanted):
    assert is_now == wanted, "%r instead of %r" % (is_now, wanted)


class Farm:
    """A folder in which manta-farm runs; `launcher` stands before the program."""

    def __init__(self, *lines, launcher=(), folder=None):
        self.folder = folder or tempfile.mkdtemp(dir=BASE)
        self.launcher = list(launcher)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
        self.environment.update(MPI, TMPDIR=self.folder)
        if lines:
            self.write(*lines)

    def write(self, *lines):
        text = b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines)
        with open(os.path.join(self.folder, "c"), "wb") as file:
            file.write(text)

    def start(self, *words, stdin=subprocess.DEVNULL):
        return subprocess.Popen(self.launcher + [PROGRAM] + [str(w) for w in words], cwd=self.folder, env=self.environment,
                                stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *words, status=0, stdin=None):
        process = self.start(*words, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        out, err = process.communicate(stdin, timeout=LIMIT)
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")
        assert process.returncode == status, "status %s instead of %s\n%s%s" % (process.returncode, status, self.out, self.err)
        return self

    def records(self, folder="c.farm"):
        with open(os.path.join(self.folder, folder, "results.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def last(self, folder="c.farm"):
        return {r["line"]: r for r in self.records(folder)}

    def outcomes(self):
        return {number: r["outcome"] for number, r in self.last().items()}

    def output(self, *numbers):
        return subprocess.run([PROGRAM, "output", *map(str, numbers)], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, check=True, timeout=LIMIT).stdout.decode()

    def file(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return ""
        with open(path) as file:
            return file.read()

    def processes(self):
        """Those that work in this folder, wardens aside."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % pid) as file:
                    name, state = file.read().split("(", 1)[1].rsplit(") ", 1)
                if os.readlink("/proc/%s/cwd" % pid) == self.folder and state[0] != "Z" and name != "farm-warden":
                    found.append(int(pid))
            except (OSError, ValueError):
                pass
        return found


@check("lines")
def a_line_has_its_status_its_output_and_its_reason():
    f = Farm("echo one", "# a comment", "", "exit 3", "kill -9 $$", "nosuchprogram", "echo err >&2; echo out").run("c", status=1)
    equal(f.outcomes(), {1: "ok", 4: "failed", 5: "failed", 6: "failed", 7: "ok"})
    by_line = f.last()
    equal((by_line[4]["status"], by_line[5]["signal"], by_line[6]["status"]), (3, 9, 127))
    assert "has not found" in by_line[6]["why"], by_line[6]
    equal(f.output(7, 1), "err\nout\none\n")
    assert "2 lines ended well, 3 lines did not (4, 5, 6)" in f.err, f.err
    with open(os.path.join(f.folder, "c.farm", "results.csv"), newline="") as file:
        equal([row["outcome"] for row in csv.DictReader(file)], ["ok", "failed", "failed", "failed", "ok"])


@check("lines")
def quotes_braces_utf8_crlf_and_100_kb_arrive_as_they_are():
    f = Farm("echo 'it'\\''s' \"a  b\" {x} ü '#manta no'", b"echo crlf\r\n", "printf %s " + "x" * 100_000 + " | wc -c", b"echo last")
    f.run("c")
    equal(f.output(1, 2, 3, 4), "it's a  b {x} ü #manta no\ncrlf\n100000\nlast\n")


@check("lines")
def a_mistake_in_the_file_is_a_sentence_and_nothing_runs():
    for lines, words in [((b"a\0b\n",), "byte 0"), (("true", "true #manta cups=2"), "line 2: there is no option 'cups'"),
                         (("true", "", "true #manta after=2"), "no command in line 2"),
                         (("true #manta cpus=9999",), "asks for 9999 cores")]:
        f = Farm(*lines).run("c", status=2)
        assert words in f.err and not os.path.exists(os.path.join(f.folder, "c.farm")), f.err
    f = Farm().run("nofile", status=2)
    assert "No such file" in f.err, f.err
    f.run("--jobz", "c", status=2)
    assert "no option --jobz" in f.err, f.err
    f = Farm().run("-", stdin=b"echo a\nb\0\necho c\n", status=1)
    assert "line 2: it contains a byte 0" in f.err, f.err
    equal(f.output(1, 3), "a\nc\n")


@check("lines")
def lines_wait_for_others_and_are_skipped_when_these_fail():
    f = Farm("sleep 0.1; touch a", "test -e a; echo $?  #manta after=1", "false", "echo no #manta after=3", "echo no #manta after=4", "#manta after=1-2",
             "echo yes").run("c", "-j", 4, status=1)
    equal(f.outcomes(), {1: "ok", 2: "ok", 3: "failed", 4: "skipped", 5: "skipped", 7: "ok"})
    equal(f.output(2, 7), "0\nyes\n")
    assert "line 3 has not ended well" in f.last()[4]["why"]


@check("lines")
def a_failed_line_runs_again_as_often_as_it_may():
    f = Farm("echo $MANTA_FARM_ATTEMPT; test $MANTA_FARM_ATTEMPT = 3", "false #manta retries=1").run("c", "--retries", 2, status=1)
    equal([r["outcome"] for r in f.records() if r["line"] == 1], ["failed", "failed", "ok"])
    equal([r["attempt"] for r in f.records() if r["line"] == 2], [1, 2])
    equal(f.output(1), "3\n")


@check("lines")
def time_limits_endless_output_and_background_children_end():
    f = Farm("yes #manta timeout=0.3", "sleep 300 & echo started", "trap '' TERM; sleep 300 & wait; sleep 300 #manta timeout=0.1", "cat")
    f.run("c", "--most-output", "100K", "-j", 4, status=1)
    equal(f.outcomes(), {1: "timeout", 2: "ok", 3: "timeout", 4: "ok"})
    equal(f.last()[1]["output_bytes"], 102400)
    assert f.last()[1]["cut_bytes"] > 0
    equal(f.processes(), [])


@check("lines")
def earlier_results_are_refused_continued_or_removed():
    f = Farm("echo a >>log", "echo b >>log; test -e good", "echo a >>log").run("c", status=1)
    f.run("c", status=2)
    assert "--resume" in f.err, f.err
    f.run("c", "--resume", status=1)
    equal(sorted(f.file("log").split()), ["a", "a", "b"])
    open(os.path.join(f.folder, "good"), "w").close()
    # A line is known by its text and by which of its equals it is, not by its number.
    f.write("echo new >>log", "echo a >>log", "echo b >>log; test -e good", "echo a >>log #manta cpus=1", "echo a >>log")
    f.run("c", "--resume-failed")
    equal(sorted(f.file("log").split()), ["a", "a", "a", "b", "b", "new"])
    f.run("c", "--fresh")
    equal(len(f.file("log").split()), 11)


@check("lines")
def templates_take_products_and_quote_their_words():
    f = Farm()
    open(os.path.join(f.folder, "in 1.dat"), "w").close()
    open(os.path.join(f.folder, "in 2.dat"), "w").close()
    f.run("--each", "echo {#} {1} {2/.}.out", "1..2", "in*.dat")
    equal(f.output(1, 2, 3, 4), "1 1 in 1.out\n2 1 in 2.out\n3 2 in 1.out\n4 2 in 2.out\n")
    f.run("--each", "echo {} ${HOME}", "a,b c", "--dry-run")
    equal(f.out, "1: echo a ${HOME}\n2: echo 'b c' ${HOME}\n")
    f.run("--each", "ls {}", *map(str, range(12)), status=2)
    assert "quote their pattern" in f.err, f.err


@check("lines")
def lines_from_a_pipe_run_as_they_come_and_are_shown_with_their_number():
    f = Farm()
    p = f.start("-", "--tag", stdin=subprocess.PIPE)
    p.stdin.write(b"echo first; echo again\n")
    p.stdin.flush()
    equal(p.stdout.readline(), b"1: first\n")  # the pipe is open still
    p.stdin.write(b"printf second")
    p.stdin.close()
    equal((p.stdout.read(), p.wait(LIMIT)), (b"1: again\n2: second\n", 0))


@check("lines")
def a_line_sees_its_number_and_its_cores_and_has_them():
    f = Farm("echo $MANTA_FARM_LINE $MANTA_FARM_CPUS $OMP_NUM_THREADS; nproc #manta cpus=2" if os.cpu_count() > 1 else "echo 1 2 2; echo 2")
    f.run("c")
    equal(f.output(1), "1 2 2\n2\n")
    # -j is a number of cores: two lines of two cores never run together on two of them.
    lines = ["mkdir d && sleep 0.05 && rmdir d #manta cpus=2"] * 4
    Farm(*lines).run("c", "-j", 2)


@check("lines")
def a_line_that_prints_without_end_does_not_hold_up_others():
    f = Farm("yes #manta timeout=0.5", *["true"] * 20).run("c", "-j", 2, "--most-output", "1K", status=1)
    by_line = f.last()
    assert max(by_line[n]["begin"] for n in range(2, 22)) < by_line[1]["begin"] + by_line[1]["seconds"], by_line


@check("lines")
def closed_standard_streams_do_no_harm():
    f = Farm("echo a; cat", "echo b >&2")
    subprocess.run(["sh", "-c", 'exec "$0" c <&- >&- 2>&-', PROGRAM], cwd=f.folder, env=f.environment, check=True, timeout=LIMIT)
    equal(f.output(1, 2), "a\nb\n")


@check("lines")
def outputs_lie_in_one_file_or_apart_on_request():
    f = Farm("echo a", "echo b", "echo c").run("c")
    equal(sorted(os.listdir(os.path.join(f.folder, "c.farm"))), ["output.0", "results.csv", "results.jsonl"])
    f.run("c", "--fresh", "--apart")
    equal(f.file("c.farm/output.2.line"), "b\n")
    equal(f.output(3), "c\n")


@check("lines")
def a_full_disk_is_said_and_the_lines_run_later():
    f = Farm("echo a", "echo b")
    os.mkdir(os.path.join(f.folder, "c.farm"))
    os.symlink("/dev/full", os.path.join(f.folder, "c.farm", "output.0"))
    f.run("c", status=1)
    assert "No space left" in f.last()[1]["why"], f.records()
    os.unlink(os.path.join(f.folder, "c.farm", "output.0"))
    f.run("c", "--resume-failed")
    equal(f.output(1, 2), "a\nb\n")


@check("lines")
def sigterm_lets_lines_end_and_status_85_says_that_some_are_left():
    f = Farm("touch started; while ! test -e go; do sleep 0.01; done; echo end", "true")
    p = f.start("c", "-j", 1)
    until(lambda: os.path.exists(os.path.join(f.folder, "started")), "the line starts")
    f.run("c", "--fresh", status=2)
    assert "another manta-farm writes to c.farm" in f.err, f.err
    p.send_signal(signal.SIGTERM)
    equal(p.stderr.readline()[:6], b"manta:")
    open(os.path.join(f.folder, "go"), "w").close()
    out, err = p.communicate(timeout=LIMIT)
    equal((p.returncode, f.outcomes()), (85, {1: "ok"}))
    f.run("c", "--resume")
    equal(f.outcomes(), {1: "ok", 2: "ok"})


@check("lines")
def lines_that_take_longer_than_the_drain_are_ended_and_run_again():
    f = Farm("touch started; test -e go || sleep 300")
    p = f.start("c", "--drain", 0.1)
    until(lambda: os.path.exists(os.path.join(f.folder, "started")), "the line starts")
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=LIMIT)
    equal((p.returncode, f.outcomes(), f.processes()), (85, {1: "interrupted"}, []))
    open(os.path.join(f.folder, "go"), "w").close()
    f.run("c", "--resume")
    equal(f.outcomes(), {1: "ok"})


@check("ranks")
def all_ranks_run_lines_and_share_the_cores_of_a_node():
    f = Farm(*["echo $MANTA_FARM_RANK; sleep 0.05"] * 12, launcher=["mpirun", "-n", "4"])
    f.run("c", "-j", 4)
    equal(sorted(set(r["rank"] for r in f.records())), [0, 1, 2, 3])
    equal(sorted(set(f.output(*range(1, 13)).split())), ["0", "1", "2", "3"])


@check("ranks")
def a_line_that_is_an_mpi_program_starts_on_its_ranks():
    line = "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE #manta ranks=2"
    for launcher in [], ["mpirun", "-n", "2"]:
        f = Farm(line, launcher=launcher).run("c", "-j", 2)
        equal(sorted(f.output(1).splitlines()), ["0 of 2", "1 of 2"])
    f.run("c", "-j", 1, "--fresh", status=2)
    assert "the ranks of a line run on one node" in f.err, f.err


@check("ranks")
def a_rank_that_dies_costs_no_line():
    # A line kills the rank that runs it, once.
    kill = "test -e dead || { touch dead; kill -9 $PPID; sleep 300; }"
    f = Farm(*["sleep 0.02"] * 6, "if test $MANTA_FARM_RANK != 0; then %s; fi" % kill, *["sleep 0.02"] * 6,
             launcher=[sys.executable, MANTA_RUN, "-n", "3", "--"])
    f.run("c", "-j", 3)
    equal(set(f.outcomes().values()), {"ok"})
    equal((len(f.outcomes()), f.processes()), (13, []))


@check("ranks")
def sigterm_to_manta_run_reaches_the_lines_of_all_ranks():
    f = Farm(*["echo >started.$MANTA_FARM_LINE; while ! test -e go; do sleep 0.01; done"] * 3, "true", launcher=[sys.executable, MANTA_RUN, "-n", "3", "--"])
    p = f.start("c", "-j", 3)
    until(lambda: sum(name.startswith("started.") for name in os.listdir(f.folder)) == 3, "three lines start")
    p.send_signal(signal.SIGTERM)
    equal(p.stderr.readline()[:6], b"manta:")
    open(os.path.join(f.folder, "go"), "w").close()
    p.communicate(timeout=LIMIT)
    equal((p.returncode, f.outcomes()), (85, {1: "ok", 2: "ok", 3: "ok"}))


@check("kills")
def a_farm_killed_at_random_moments_loses_no_line_and_repeats_only_what_was_under_way():
    random.seed(SEED)
    kills, lines = (50, 400) if LONG else (12, 60)
    f = Farm(*["echo b$MANTA_FARM_LINE >>log; sleep 0.0%d; echo e$MANTA_FARM_LINE >>log #%d" % (i % 5, i) for i in range(lines)])
    recorded = {}  # line: number of ends in the log when its result was there
    for _ in range(kills):
        p = f.start("c", "--resume", "-j", 2)
        time.sleep(random.uniform(0.05, 0.9 if LONG else 0.6))
        p.kill()
        p.communicate(timeout=LIMIT)
        until(lambda: not f.processes(), "the warden ends what was under way")
        if os.path.exists(os.path.join(f.folder, "c.farm", "results.jsonl")):
            log = f.file("log").split()
            for line, r in f.last().items():
                equal(r["outcome"], "ok")
                ends = log.count("e%d" % line)
                equal((line, recorded.setdefault(line, ends)), (line, ends))  # a line with a result never runs again
    f.run("c", "--resume")
    equal(f.outcomes(), {line: "ok" for line in range(1, lines + 1)})
    log = f.file("log").split()
    assert all("e%d" % line in log for line in range(1, lines + 1))
    equal(sorted(r["line"] for r in f.records()), list(range(1, lines + 1)))
    equal(os.path.exists(os.path.join(f.folder, "c.farm", "results.csv")), True)


@check("kills")
def a_kill_ends_also_what_lines_have_started_in_groups_of_their_own():
    f = Farm("setsid sleep 300 & env -i sleep 300 & touch started; wait")
    p = f.start("c")
    until(lambda: os.path.exists(os.path.join(f.folder, "started")) and len(f.processes()) >= 4, "the line starts")
    p.kill()
    p.communicate(timeout=LIMIT)
    until(lambda: not f.processes(), "all of the line ends")


@check("kills")
def a_second_sigterm_ends_the_farm_and_its_lines_at_once():
    f = Farm("touch started; trap '' TERM; sleep 300")
    p = f.start("c")
    until(lambda: os.path.exists(os.path.join(f.folder, "started")), "the line starts")
    p.send_signal(signal.SIGTERM)
    while p.poll() is None:
        time.sleep(0.1)
        p.send_signal(signal.SIGTERM)
    p.communicate(timeout=LIMIT)
    until(lambda: not f.processes(), "the line ends")
    equal(os.path.getsize(os.path.join(f.folder, "c.farm", "results.jsonl")), 0)


@check("kills")
def a_record_that_was_cut_is_no_record():
    f = Farm("echo a >>log", "echo b >>log").run("c")
    path = os.path.join(f.folder, "c.farm", "results.jsonl")
    os.truncate(path, os.path.getsize(path) - 20)
    f.run("c", "--resume")
    equal((len(f.records()), len(f.file("log").split())), (2, 3))


def main():
    group, words = sys.argv[2], sys.argv[3:]
    failures = 0
    for its_group, function in checks:
        if its_group != group or (words and not any(word in function.__name__ for word in words)):
            continue
        begin = time.monotonic()
        try:
            function()
            print("ok    %5.1f s  %s" % (time.monotonic() - begin, function.__name__), flush=True)
        except (AssertionError, OSError, subprocess.SubprocessError) as problem:
            failures += 1
            print("WRONG %5.1f s  %s (MANTA_TEST_SEED=%d)\n%s" % (time.monotonic() - begin, function.__name__, SEED, problem), flush=True)
    shutil.rmtree(BASE, ignore_errors=True)
    return 1 if failures else 0


sys.exit(main())
