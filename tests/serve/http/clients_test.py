# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""serve::http behind programs that serve the web: Node's client, h2load, haproxy, nginx. Those that are not installed are
left out; where none is, the test counts as skipped.

usage: clients_test.py RANKS http_server -- LAUNCHER..
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from servers import FOLDER, Server, UnixConnection, check, run

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def node():
    with Server(unix=False) as s:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients.js")
        done = subprocess.run(["node", script, str(s.port)], capture_output=True, text=True, timeout=120)
        check("node", (done.returncode, done.stderr), (0, ""))
        check("what node found", json.loads(done.stdout or "{}"), {
            "doubled": 200, "sockets": 4, "chunks": "3.5", "long": True, "with_length": "42", "wrong": 400, "head": "",
            "lines": "0\n1\n2\n", "events": "data: 0\n\ndata: 1\n\nevent: end\ndata:\n\n", "aborted": True, "after": "8"})


def h2load():
    body = os.path.join(FOLDER, "body")
    open(body, "w").write("21")
    with Server(unix=False) as s:
        for clients, streams in ((1, 1), (16, 1), (8, 4)):  # more streams are pipelined in HTTP/1.1
            done = subprocess.run(["h2load", "--h1", "-n", "800", "-c", str(clients), "-m", str(streams), "-d", body, f"http://127.0.0.1:{s.port}/double"],
                                  capture_output=True, text=True, timeout=120)
            requests = re.search(r"requests: .*", done.stdout)
            check(f"h2load with {clients} connections", requests and requests.group(0),
                  "requests: 800 total, 800 started, 800 done, 800 succeeded, 0 failed, 0 errored, 0 timeout")


def haproxy():
    """Two servers behind haproxy. One is restarted under load, and no request is lost."""
    place, settings = os.path.join(FOLDER, "proxy"), os.path.join(FOLDER, "haproxy.cfg")
    with Server() as b:
        a = Server()
        # A server that ends answers 503 on connections that are open. The proxy then asks the other one, which it can
        # for requests that it has as a whole (http-buffer-request).
        open(settings, "w").write(f"""
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend all
  bind unix@{place}
  default_backend servers
backend servers
  option httpchk GET /v2/health/ready
  http-reuse always
  retries 5
  option redispatch 1
  option http-buffer-request
  retry-on conn-failure empty-response response-timeout 503
  server a unix@{a.socket} check inter 100ms
  server b unix@{b.socket} check inter 100ms
""")
        restart_behind([HAPROXY, "-db", "-f", settings], place, a, b)


def nginx():
    """Likewise, with the settings that examples/slurm has."""
    place = os.path.join(FOLDER, "nginx")
    with Server(unix=False) as b:
        a = Server(unix=False)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/slurm/serve.nginx.conf")) as file:
            text = file.read()
        text = text.replace("listen 127.0.0.1:8000", f"listen unix:{place}").replace("server 127.0.0.1:8003;", "")
        for port, server in (("8001", a), ("8002", b)):
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{server.port}")
        with open(os.path.join(FOLDER, "nginx.conf"), "w") as file:
            file.write(("user root;\n" if os.geteuid() == 0 else "") + text)  # whose folder is FOLDER
        restart_behind([NGINX, "-p", FOLDER, "-c", "nginx.conf"], place, a, b)


def restart_behind(command, place, a, b):
    """Through this proxy, while server `a` ends."""
    proxy = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not os.path.exists(place) and proxy.poll() is None:
        time.sleep(0.01)
    # The proxy asks both servers' health before it counts them as ready.
    ask = lambda path, body=None, c=None, headers={}: b.ask(path, body, headers, connection=c or UnixConnection(place))[:2]
    c = UnixConnection(place)
    check("through the proxy", [ask("/double", str(i), c) for i in range(100)], [(200, str(2 * i).encode()) for i in range(100)])
    check("a large body", len(ask("/shout", json.dumps("y" * 600_000), c)[1]), 600_003)
    check("a stream", ask("/count", "3000", c)[1].count(b"\n"), 3000)
    check("events", ask("/count", "1", c, {"Accept": "text/event-stream"})[1], b"data: 0\n\nevent: end\ndata:\n\n")
    check("a bad request", ask("/double", '"x"', c)[0], 400)
    wrong, answered, stop = [], [], threading.Event()

    def load(k):
        mine = UnixConnection(place)
        while not stop.is_set():
            answer = ask("/double", str(k), mine)
            (answered if answer == (200, str(2 * k).encode()) else wrong).append(answer)

    threads = [threading.Thread(target=load, args=(k,)) for k in range(6)]
    [t.start() for t in threads]

    def wait_for_load(n):
        enough = len(answered) + n
        while len(answered) < enough and not wrong:
            time.sleep(0.01)

    wait_for_load(100)
    a.process.send_signal(signal.SIGTERM)
    check("status of the one that ends", a.process.wait(60), 0)
    wait_for_load(100)
    stop.set()
    [t.join() for t in threads]
    check("lost", wrong[:3], [])
    proxy.terminate()
    proxy.wait(60)
    check("the other one answers", b.json("/double", 4), (200, 8))


programs = {"node": node, "h2load": h2load}
parts = [part for name, part in programs.items() if shutil.which(name)] + ([haproxy] if HAPROXY else []) + ([nginx] if NGINX else [])
if len(parts) < 4:
    print("not all of node, h2load (nghttp2-client), haproxy and nginx are installed: the others are left out")
if not parts:
    shutil.rmtree(FOLDER)
    sys.exit(77)
run(parts)
