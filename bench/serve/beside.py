#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Processor time of a request: manta's server beside libevent's and nginx, in one run.

usage: bench/serve/beside.py [BUILD_FOLDER]

Needs wrk; nginx and libevent-dev for the rivals, which are left out where they are missing. Prints us of processor time of all
processes of a server for a request, at 1, 32 and 256 connections: the median and the best of five, and the ratio of the
medians to libevent's. The last lines are the time of a value of a stream and the share of a core that an idle server takes.
"""
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")
PLAIN = os.path.join(BUILD, "bench", "bench_serve_plain")
RUN = os.path.join(ROOT, "scripts", "manta-run")
ROUNDS, SECONDS = 5, 1
TICK = 1 / os.sysconf("SC_CLK_TCK")

LUA = 'wrk.method = "POST"\nwrk.body = "21"\nwrk.headers["Content-Type"] = "application/json"\n'
NGINX = """
worker_processes 1; daemon off; master_process off; pid %(folder)s/pid; error_log %(folder)s/error.log;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 100000000; server { listen 127.0.0.1:%(port)d; location / { default_type application/json; return 200 "21"; } } }
"""


def children(pid):
    found = [pid]
    for each in os.listdir("/proc"):
        if each.isdigit():
            try:
                with open(f"/proc/{each}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found += children(int(each))
    return found


def names(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def processor_seconds(pids):
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * TICK


class Served:
    def __init__(self, command, port, name):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/own", b"21"), timeout=5).read()
                break
            except OSError:
                time.sleep(0.02)
        self.pids = [p for p in children(self.process.pid) if names(p).startswith(name)]
        self.port = port

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def requests_in(text):
    for line in text.splitlines():
        if " requests in " in line:
            return int(line.split()[0])
    raise SystemExit(text)


def cost(served, path, connections, script):
    before = processor_seconds(served.pids)
    done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "-s", script, f"http://127.0.0.1:{served.port}{path}"], stdout=subprocess.PIPE, text=True)
    return 1e6 * (processor_seconds(served.pids) - before) / max(1, requests_in(done.stdout))


def main():
    folder = tempfile.mkdtemp(prefix="manta-beside-")
    script = os.path.join(folder, "post.lua")
    with open(script, "w") as file:
        file.write(LUA)
    environment = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
    servers = {}
    evhttp = os.path.join(folder, "evhttp")
    if subprocess.run(["g++", "-O2", os.path.join(ROOT, "bench/serve/evhttp.cpp"), "-o", evhttp, "-levent"], stderr=subprocess.DEVNULL).returncode == 0:
        servers["libevent"] = (Served([evhttp, "18001"], 18001, "evhttp"), "/own")
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if os.path.exists(nginx):
        with open(os.path.join(folder, "nginx.conf"), "w") as file:
            file.write(NGINX % {"folder": folder, "port": 18002})
        servers["nginx"] = (Served([nginx, "-c", os.path.join(folder, "nginx.conf")], 18002, "nginx"), "/own")
    one = Served(environment + [PLAIN, "18003"], 18003, "bench_serve")
    two = Served(environment + [RUN, "-n", "2", PLAIN, "18004"], 18004, "bench_serve")
    servers["manta, own answer"] = (one, "/own")
    servers["manta, replica on its rank"] = (one, "/replica")
    servers["manta, replica on another rank"] = (two, "/replica")
    print(f"{'us of processor time of a request':32}" + "".join(f"{c:>22}" for c in (1, 32, 256)))
    medians = {}
    for round_ in range(ROUNDS + 1):  # the first one warms up
        for name, (served, path) in servers.items():
            for connections in (1, 32, 256):
                medians.setdefault((name, connections), []).append(cost(served, path, connections, script))
    for name in servers:
        row = f"{name:32}"
        for connections in (1, 32, 256):
            values = medians[name, connections][1:]
            its = statistics.median(values)
            bare = statistics.median(medians["libevent", connections][1:]) if "libevent" in servers else float("nan")
            row += f"{its:8.1f} {min(values):6.1f} {its / bare:5.2f}x"
        print(row)
    values = 1_000_000
    costs = []
    for _ in range(ROUNDS):
        before = processor_seconds(two.pids)
        begin = time.monotonic()
        data = urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:18004/stream", str(values).encode()), timeout=60).read()
        took = time.monotonic() - begin
        assert data.count(b"\n") == values
        costs.append((1e6 * (processor_seconds(two.pids) - before) / values, 1e6 * took / values))
    print("a value of a stream, two ranks: %.1f us of processor time, %.1f us" % (statistics.median(c[0] for c in costs), statistics.median(c[1] for c in costs)))
    before = processor_seconds(one.pids)
    time.sleep(10)
    print("an idle server: %.2f %% of a core" % (10 * (processor_seconds(one.pids) - before)))
    for served in {s for s, _ in servers.values()}:
        served.end()
    shutil.rmtree(folder)


main()
