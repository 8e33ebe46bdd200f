# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Many clients for a long time, while versions change and ranks are killed: each request is answered as it must be, and
the server's memory does not grow.

usage: soak_test.py RANKS http_server -- LAUNCHER..          $MANTA_TEST_SOAK: seconds (20); $MANTA_TEST_CLIENTS: 48
"""
import http.client
import json
import os
import random
import signal
import sys
import threading
import time

from servers import LAUNCHER, Server, check, run

SECONDS = float(os.environ.get("MANTA_TEST_SOAK", 20))
CLIENTS = int(os.environ.get("MANTA_TEST_CLIENTS", 48))
KILLS = 3  # of six ranks that work


def tensor(values):
    return json.dumps({"inputs": [{"name": "input0", "shape": [len(values)], "datatype": "INT32", "data": values}]})


def one(s, r, c):
    """Sends a request and says what is wrong with its answer, or nothing."""
    x = r.randrange(1000)
    kind = r.randrange(6)
    if kind == 0:
        path, body, right = "/soak/one", str(x), b"%d" % (2 * x)
    elif kind == 1:
        path, body, right = "/soak/batch", json.dumps([x, 1]), None
    elif kind == 2:
        path, body, right = "/soak/scaled", str(x), b"%d" % (2 * x)
    elif kind == 3:
        path, body, right = "/soak/asks", str(x), b"%d" % (2 * x + 1)
    elif kind == 4:
        path, body, right = "/count", "20", b"".join(b"%d\n" % i for i in range(20))
    else:
        values = [r.randrange(1000) for _ in range(r.choice([1, 5, 60]))]
        path, body, right = "/v2/models/soak_one/infer", tensor(values), None
    status, data, _ = s.ask(path, body, connection=c)
    if status == 200 and kind == 1 and json.loads(data)[1] == 2:
        return None
    if status == 200 and kind == 5 and json.loads(data)["outputs"][0]["data"] == [2 * v for v in values]:
        return None
    return None if status == 200 and data == right else (path, body, status, data[:300])


class Load:
    def __init__(self, server):
        self.server, self.stop = server, threading.Event()
        self.sent, self.wrong = [0] * CLIENTS, []
        self.threads = [threading.Thread(target=self.client, args=(i,)) for i in range(CLIENTS)]
        [t.start() for t in self.threads]

    def client(self, number):
        r, c = random.Random(number), self.server.connect()
        while not self.stop.is_set():
            if r.random() < 0.02:  # now and then one that leaves without its answer
                gone = self.server.connect()
                gone.request("POST", "/soak/one", "1")
                gone.close()
            self.sent[number] += 1
            try:
                problem = one(self.server, r, c)
            except (OSError, http.client.HTTPException, ValueError) as e:
                problem, c = repr(e), self.server.connect()
            if problem is not None:
                self.wrong.append(problem)

    def end(self):
        self.stop.set()
        [t.join() for t in self.threads]


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))


def soak():
    if not LAUNCHER:
        return
    with Server(soak=1, launcher=LAUNCHER[:-1] + ["7"]) as s:
        load, begin, changes, killed, sizes = Load(s), time.monotonic(), 0, 0, []
        server = s.json("/here/pid", 0)[1]
        verbs = [("soak_one", "update", ""), ("soak_batch", "update", '{"weight": 0.5}'), ("soak_batch", "promote", ""), ("soak_scaled", "update", ""), ("soak_one", "check", "")]
        while time.monotonic() - begin < SECONDS:
            name, verb, body = verbs[changes % len(verbs)]
            status, data, _ = s.ask(f"/api/deployments/{name}/{verb}", body)
            check(f"{verb} of {name}", (status, data if status != 200 else b""), (200, b""))
            changes += 1
            if killed < KILLS and time.monotonic() - begin > (killed + 1) * SECONDS / (KILLS + 1):
                os.kill(s.json("/soak/pid", 0)[1], signal.SIGKILL)
                killed += 1
            sizes.append(memory(server))
            time.sleep(0.05)
        load.end()
        print(f"{sum(load.sent)} requests, {changes} changes, {killed} ranks killed, {len(load.wrong)} wrong; "
              f"memory {sizes[len(sizes) // 4]} MiB after a quarter, {sizes[-1]} MiB at the end", flush=True)
        check("requests that were not answered as they must be", load.wrong[:5], [])
        check("memory is flat", sizes[-1] <= sizes[len(sizes) // 4] + 10, True)


run((soak,))
