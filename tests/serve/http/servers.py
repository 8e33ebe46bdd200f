# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A server for the tests beside this file, which are called: TEST.py RANKS http_server -- LAUNCHER.."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SERVER = sys.argv[2]
LAUNCHER = sys.argv[sys.argv.index("--") + 1 :]
FOLDER = tempfile.mkdtemp(prefix="manta-http-")
failures = []


def check(what, value, expected):
    if value != expected:
        failures.append(what)
        print(f"FAILED {what}:\n  got      {value!r}\n  expected {expected!r}")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


class Server:
    """A running server; `with` ends it by SIGTERM, and checks its status and that it says nothing that it should not."""

    def __init__(self, unix=True, ends=signal.SIGTERM, launcher=LAUNCHER, **options):
        self.socket = os.path.join(FOLDER, f"s{time.monotonic_ns()}") if unix else ""
        self.ends = ends
        arguments = [f"{k}={v}" for k, v in options.items()] + ([f"socket={self.socket}"] if unix else [])
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(launcher + [SERVER] + arguments, stderr=self.errors)
        place = self.wait_for(r"serving on (?:unix:|https?://)(\S+)")
        self.host, self.port = ("localhost", 0) if unix else (place.split(":")[0], int(place.split(":")[1]))

    def text(self):
        file = self.errors.fileno()
        # The server has the same offset as this file, and would write where a read has left it.
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def wait_for(self, pattern):
        while not (found := re.search(pattern, self.text())):
            assert self.process.poll() is None, self.text()
            time.sleep(0.01)
        return found.group(1) if found.groups() else found.group(0)

    def connect(self):
        return UnixConnection(self.socket) if self.socket else http.client.HTTPConnection(self.host, self.port, timeout=30)

    def ask(self, path, body=None, headers={}, method=None, connection=None):
        c = connection or self.connect()
        c.request(method or ("GET" if body is None else "POST"), path, body, headers)
        answer = c.getresponse()
        data = answer.read()
        if connection is None:
            c.close()
        return answer.status, data, answer

    def json(self, path, value=None):
        status, data, _ = self.ask(path, None if value is None else json.dumps(value))
        return status, json.loads(data)

    def raw(self, data, until=b"", half_close=False):
        """All that comes back until the server closes, or `until` has come."""
        s = self.connect()
        s.connect()
        try:
            s.sock.sendall(data)
            if half_close:
                s.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        got = b""
        try:
            while part := s.sock.recv(65536):
                got += part
                if until and until in got:
                    break
        except OSError:
            pass
        s.close()
        return got

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.ends is not None and self.process.poll() is None:
            self.process.send_signal(self.ends)
        try:
            check("status at the end", self.process.wait(60), 0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            check("end", "hangs", "ends")
        if kind is not None or self.process.returncode != 0:
            print(self.text())
        if self.socket:
            check("the socket is removed", os.path.exists(self.socket), False)


def run(parts):
    """Calls them all, says how long each took, and ends with the status of the test."""
    for part in parts:
        begin = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    shutil.rmtree(FOLDER)
    print("passed" if not failures else f"{len(failures)} checks failed")
    sys.exit(len(failures) != 0)
