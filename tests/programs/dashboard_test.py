# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The live page of a run, asked by Python's urllib: dashboard_test.py PROGRAM"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PROGRAM = ""


class Run:
    """A program with a dashboard, and its address."""

    def __init__(self, ranks, token=""):
        self.folder = tempfile.mkdtemp()
        self.end_file = os.path.join(self.folder, "end")
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 0 else []
        env = {k: v for k, v in os.environ.items() if not k.startswith("MANTA_") or k.startswith("MANTA_TEST_")}
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "w") as log:
            words = [*command, PROGRAM, self.end_file, *([token] if token else [])]
            self.process = subprocess.Popen(words, env=env, stdout=log, stderr=log)
        found = None
        begin = time.monotonic()
        while not found and time.monotonic() < begin + 60:
            found = re.search(r"manta: dashboard at (http://\S+?)(/\S*)\n", self.text())
            time.sleep(0.02)
        assert found, self.text()
        self.address, self.query = found[1], found[2].removeprefix("/")

    def text(self):
        with open(self.log) as f:
            return f.read()

    def ask(self, path, query=None, **header):
        request = urllib.request.Request(self.address + path + (self.query if query is None else query), headers=header)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def state(self):
        return json.loads(self.ask("/api/state"))

    def end(self):
        try:
            with open(self.end_file, "w"):
                pass
            return self.process.wait(60)
        finally:
            self.process.kill()
            shutil.rmtree(self.folder)


class Dashboard(unittest.TestCase):
    def start(self, ranks, token=""):
        run = Run(ranks, token)
        self.addCleanup(lambda: run.process.poll() is None and run.end())
        return run

    def refused(self, run, path, query="", **header):
        with self.assertRaises(urllib.error.HTTPError) as refusal:
            run.ask(path, query, **header)
        refusal.exception.close()
        return refusal.exception.code

    def test_the_state_names_the_task_that_runs_and_its_functions(self):
        for ranks in (0, 2, 4):
            run = self.start(ranks)
            end = time.monotonic() + 30
            tasks = []
            while not any(t["name"] == "mesh 17" and t["stack"] for t in tasks) and time.monotonic() < end:
                tasks = [t for r in run.state()["ranks"] for t in r["tasks"]]
            task = next(t for t in tasks if t["name"] == "mesh 17")
            self.assertTrue(task["stack"][-1].startswith("mesh::refine("), task)
            self.assertEqual(run.end(), 0)

    def test_counters_move_and_statistics_agree(self):
        run = self.start(3)
        before = run.state()["status"]["done"]
        time.sleep(0.3)
        after = run.state()["status"]["done"]
        self.assertGreater(after, before)
        statistics = json.loads(run.ask("/api/statistics"))
        self.assertEqual(len(statistics["ranks"]), 3)
        self.assertGreaterEqual(sum(f["tasks"] for f in statistics["functions"]), after)
        self.assertEqual(run.end(), 0)

    def test_a_request_needs_the_token(self):
        run = self.start(2)
        self.assertRegex(run.query, r"^\?token=[0-9a-f]{32}$")
        for path in ("/", "/report", "/api/state", "/api/statistics", "/nothing"):
            self.assertEqual(self.refused(run, path), 401)
        self.assertEqual(self.refused(run, "/api/state", "?token=" + "0" * 32), 401)
        token = run.query.removeprefix("?token=")
        self.assertIn("status", json.loads(run.ask("/api/state", "", Authorization="Bearer " + token)))
        self.assertEqual(self.refused(run, "/nothing", run.query), 404)
        self.assertEqual(self.refused(run, "/", run.query, Host="evil.example"), 403)
        self.assertEqual(run.end(), 0)

    def test_it_listens_on_this_machine_alone(self):
        run = self.start(0, "none")
        self.assertTrue(run.address.startswith("http://127.0.0.1:"))
        self.assertEqual(run.query, "")
        port = int(run.address.rsplit(":", 1)[1])
        with open("/proc/net/tcp") as f:
            listening = [line.split()[1] for line in f if line.split()[3] == "0A"]
        self.assertIn("0100007F:%04X" % port, listening)
        self.assertNotIn("00000000:%04X" % port, listening)
        self.assertIn("<title>", run.ask("/"))
        self.assertEqual(run.end(), 0)

    def test_the_pages_are_whole_and_need_no_network(self):
        run = self.start(2)
        for path in ("/", "/report"):
            page = run.ask(path)
            self.assertTrue(page.rstrip().endswith("</html>"), page[-100:])
            self.assertIsNone(re.search(r"https?://", page))
        self.assertEqual(run.end(), 0)

    def test_a_browser_shows_the_task_and_its_stack(self):
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not browser:
            self.skipTest("Chromium is not installed")
        run = self.start(2)
        for width in (1180, 500):
            words = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--timeout=15000", "--dump-dom"]
            words += [f"--window-size={width},1400", run.address + "/" + run.query]
            page = subprocess.run(words, capture_output=True, timeout=120).stdout.decode()
            self.assertIn("mesh 17", page)
            self.assertIn("mesh::refine(", page)
            self.assertNotIn('id="about" class="bad"', page)
        self.assertEqual(run.end(), 0)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=1)
