# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What a run says of itself when somebody asks from outside: seeing_test.py PROGRAM"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
AWAIT = r", [\d.]+ \w+, in (?:manta::future<int>::get\(\) const ?&? < )?mesh::await\(manta::future<int>\)"
STACK = r"in (?:.* < )?mesh::smooth\(double\) < mesh::refine\(double\)"


def read(path):
    with open(path, "rb") as f:
        return f.read().decode(errors="replace")


class Job:
    """A program on some ranks, and what it has written."""

    def __init__(self, ranks, *arguments, **variables):
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 0 else []
        env = {k: v for k, v in os.environ.items() if not k.startswith("MANTA_") or k.startswith("MANTA_TEST_")}
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **variables)
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*command, PROGRAM, *arguments], env=env, stdout=self.output, stderr=self.output)
        self.ranks = max(ranks, 1)

    def text(self):
        if self.output.closed:
            return self.last
        file = self.output.fileno()
        # The program has the same offset as this file, and would write where a read has left it.
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def wait_for(self, pattern, seconds=60):
        """Returns the match, and how long it took."""
        begin = time.monotonic()
        while True:
            found = re.search(pattern, self.text(), re.M | re.S)
            if found or time.monotonic() - begin > seconds:
                assert found, f"no {pattern!r} in\n{self.text()}"
                return found, time.monotonic() - begin
            time.sleep(0.02)

    def process_of(self, rank):
        """The number of the rank's process."""
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                variables = read(f"/proc/{number}/environ").split("\0")
                parent = int(read(f"/proc/{number}/stat").rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
            if parent == self.process.pid and f"OMPI_COMM_WORLD_RANK={rank}" in variables:
                return int(number)
        raise AssertionError(f"rank {rank} has no process")

    def running(self):
        """Waits until all ranks have begun."""
        for rank in range(self.ranks):
            while self.process.poll() is None:
                try:
                    number = self.process.pid if self.process.args[0] != "mpirun" else self.process_of(rank)
                    caught = re.search(r"SigCgt:\s*(\w+)", read(f"/proc/{number}/status"))
                    if caught and int(caught[1], 16) >> (signal.SIGURG - 1) & 1:
                        break
                except (AssertionError, OSError):
                    pass
                time.sleep(0.02)
        return self

    def end(self):
        try:
            return self.process.wait(120)
        finally:
            self.process.kill()
            self.last = self.text()
            self.output.close()


def blocks(text):
    """The states in a text, each a list of lines."""
    all_of = []
    for line in text.splitlines():
        if line.startswith("manta: state at"):
            all_of.append([line])
        elif line.startswith("  ") and all_of:
            all_of[-1].append(line)
    return all_of


class Stacks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def ask(self, ranks):
        state = os.path.join(self.folder, "state.json")
        job = Job(ranks, "tasks", "3", MANTA_STATE=state).running()
        time.sleep(0.3)  # the tasks have begun
        job.process.send_signal(signal.SIGUSR2)
        job.wait_for("longest +rank .*" + STACK)
        self.assertEqual(job.end(), 0, job.text())
        self.assertEqual(len(blocks(job.text())), 1, job.text())
        self.assertLessEqual(len(blocks(job.text())[0]), 40)
        with open(state) as f:
            return json.load(f)

    def test_the_state_has_the_stacks_of_running_tasks_on_any_number_of_ranks(self):
        for ranks in (0, 1, 2, 4):
            with self.subTest(ranks=ranks):
                state = self.ask(ranks)
                tasks = [t for r in state["ranks"] for t in r["tasks"]]
                self.assertEqual(len(tasks), max(1, ranks - 1))
                for task in tasks:
                    self.assertEqual(task["stack"][-1], "mesh::refine(double)")
                    self.assertIn("mesh::smooth(double)", task["stack"])
                    self.assertFalse([f for f in task["stack"] if f.startswith("manta::")])

    def test_the_state_has_the_stack_of_the_driver(self):
        for ranks in (0, 2):
            job = Job(ranks, "driver", "2").running()
            time.sleep(0.2)
            job.process.send_signal(signal.SIGUSR2)
            job.wait_for("driver +rank 0 is in the driver's own code, " + STACK)
            self.assertEqual(job.end(), 0, job.text())

    def test_the_state_says_where_tasks_wait_and_for_how_long(self):
        for ranks in (0, 2, 3, 5):
            with self.subTest(ranks=ranks):
                state = os.path.join(self.folder, "waits.json")
                job = Job(ranks, "waits", "4", MANTA_STATE=state).running()
                time.sleep(1)
                job.process.send_signal(signal.SIGUSR2)
                job.wait_for("  'the driver' waits for 'mesh::assemble'" + AWAIT)
                job.wait_for("'mesh::assemble' waits for 'mesh::refine'" + AWAIT + r" < mesh::assemble\(double\)")
                self.assertEqual(job.end(), 0, job.text())
                with open(state) as f:
                    waits = [w for r in json.load(f)["ranks"] for w in r["waits"]]
                self.assertEqual([w["stack"][-1] for w in waits if "assemble' waits" in w["text"]], ["mesh::assemble(double)"])
                self.assertTrue(all(0 < w["seconds"] < 4 for w in waits), waits)

    def test_the_state_comes_by_itself_at_a_deadlock(self):
        for ranks in (0, 1, 2, 4):
            with self.subTest(ranks=ranks):
                job = Job(ranks, "deadlock")
                self.assertNotEqual(job.end(), 0)
                text = job.text()
                self.assertEqual(len(blocks(text)), 1, text)
                self.assertRegex(text, "(?s)^manta: state at [0-9:]+, at a deadlock.*manta: deadlock")
                self.assertRegex(text, "'mesh 17' waits for a value(?: of rank 0)?" + AWAIT)
                if ranks > 1:  # else the task runs on the stack of the driver, which waits for it
                    self.assertRegex(text, "'the driver' waits for 'mesh::await'" + AWAIT)
                self.assertRegex(text, "begun +1 task that waits")

    def test_the_state_comes_before_a_run_ends_early(self):
        for ranks in (2, 4):
            with self.subTest(ranks=ranks):
                job = Job(ranks, "tasks", "4").running()
                time.sleep(1)
                os.kill(job.process_of(ranks - 1), signal.SIGTERM)  # mpirun would kill all a second later
                job.wait_for("manta: state at [0-9:]+, as the run has to end: SIGTERM has come.*longest +rank .*" + STACK)
                job.end()
                self.assertEqual(len(blocks(job.text())), 1, job.text())

    def test_members_of_gangs_show_the_call_of_mpi_in_which_they_wait(self):
        job = Job(4, "gang", "2").running()
        time.sleep(0.5)
        job.process.send_signal(signal.SIGUSR2)
        job.wait_for(r"in (\.\. < )?P?MPI_Allreduce < mesh::meet\(manta::team, double\)")
        self.assertEqual(job.end(), 0, job.text())

    def test_a_rank_that_is_stopped_is_named_in_three_seconds(self):
        job = Job(4, "tasks", "8").running()
        time.sleep(0.5)
        stopped = job.process_of(2)
        os.kill(stopped, signal.SIGSTOP)
        try:
            os.kill(job.process_of(0), signal.SIGUSR2)
            _, seconds = job.wait_for("silent +rank 2: no answer")
        finally:
            os.kill(stopped, signal.SIGCONT)
        self.assertLess(seconds, 3)
        self.assertEqual(job.end(), 0, job.text())

    def test_the_watchdog_says_where_the_task_was_also_on_one_rank(self):
        for ranks in (0, 2):
            job = Job(ranks, "tasks", "30", MANTA_WATCHDOG="1")
            job.wait_for("'mesh 0' has not called manta for 1 s .*" + STACK)
            job.wait_for(f"manta: state at [0-9:]+, before the watchdog ends a task of rank {max(0, ranks - 1)}.*longest .*mesh 0")
            self.assertNotEqual(job.end(), 0, job.text())

    def test_a_status_line_comes_while_a_task_runs_also_on_one_rank(self):
        for ranks in (0, 2):
            job = Job(ranks, "tasks", "7", MANTA_STATUS="5")
            job.wait_for("manta: at 0:0[5-7], 0 of 1 task")
            self.assertEqual(job.end(), 0, job.text())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
