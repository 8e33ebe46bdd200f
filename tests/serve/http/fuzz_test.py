# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Bad requests by the thousand, made at random from good ones: each is answered with a status that says what is wrong, or
the connection ends; the server lives, good requests beside them are answered, and nothing is left over.

usage: fuzz_test.py RANKS http_server -- LAUNCHER..          more of them with MANTA_TEST_LONG; $MANTA_TEST_SEED repeats a run
"""
import json
import os
import random
import re
import socket
import struct
import threading
import time

from servers import Server, check, run

LONG = bool(os.environ.get("MANTA_TEST_LONG"))
SEED = int(os.environ.get("MANTA_TEST_SEED", time.time_ns()))
ROUNDS = 40_000 if LONG else 1_500
HOST = b"Host: localhost\r\n"
INFER = {"id": "a", "inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6]}], "outputs": [{"name": "y"}]}
BODIES = {
    "/double": [21], "/add": [[1, 2.5], {"a": 1, "b": 2}], "/mirror": [{"x": 1, "y": -2, "label": "\u00e4"}], "/shout": ["text"], "/next": [7],
    "/rows": [[[1, 2, 3], [4, 5, 6]]], "/linear": [[1, 2, 3]], "/v2/models/linear/infer": [INFER], "/count": [3],
    "/v2/models/shout/infer": [{"inputs": [{"name": "input0", "shape": [1], "datatype": "BYTES", "data": ["a"]}]}]}
FINE = {200, 204, 400, 403, 404, 405, 408, 413, 417, 501}  # what a bad request may be answered with; 500 would be the fault of the server
TOKENS = [b"\r\n", b"\n", b"\r", b"\0", b": ", b" ", b"\t", b"HTTP/1.1", b"HTTP/9.9", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n",
          b"ffffffffffffffff", b"-1", b"99999999999999999999", b"[" * 70, b"{\"a\":" * 70, b"\xff\xfe", b"%00", b"../", b"Expect: 100-continue\r\n", b"Host: evil\r\n",
          b"Connection: close\r\n", b"Upgrade: websocket\r\n", b"GET ", b"1e999", b"null", b"\"", b"\\u", b"\\ud800", b"A" * 3000, HOST]


def request(path, body, chunked=False, more=b""):
    head = b"POST " + path.encode() + b" HTTP/1.1\r\n" + HOST + more
    if not chunked:
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    half = len(body) // 2
    parts = [p for p in (body[:half], body[half:]) if p]
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"


def good_request(r):
    kind = r.randrange(8)
    if kind == 0:
        return r.choice([b"GET", b"HEAD", b"PUT", b"OPTIONS"]) + b" " + r.choice([b"/v2", b"/status", b"/metrics", b"/openapi.json", b"/greet", b"/api/status"]) + b" HTTP/1.1\r\n" + HOST + b"\r\n"
    if kind == 1:
        head = json.dumps({"inputs": [dict(INFER["inputs"][0], parameters={"binary_data_size": 24}, data=None)]}).encode()
        return request("/v2/models/linear/infer", head + struct.pack("<6f", *range(6)), more=b"Inference-Header-Content-Length: %d\r\n" % len(head))
    path = r.choice(list(BODIES))
    return request(path, json.dumps(r.choice(BODIES[path])).encode(), r.random() < .3, b"Accept: text/event-stream\r\n" if r.random() < .2 else b"")


def mutated(r, data):
    data = bytearray(data)
    for _ in range(r.choice([1, 1, 1, 2, 3, 8])):
        at, kind = r.randrange(len(data) + 1), r.randrange(8)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << r.randrange(8)
        elif kind == 1:
            data[at:at] = r.choice(TOKENS)
        elif kind == 2:
            del data[at:at + r.choice([1, 2, 10, 100])]
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data[at:at] = data[at:at + r.choice([4, 20, 200])] * r.choice([1, 2, 5])
        elif kind == 5:
            data[at:at] = bytes(r.randrange(256) for _ in range(r.choice([1, 4, 64])))
        elif kind == 6:  # a line twice, or elsewhere
            lines = bytes(data).split(b"\r\n")
            lines.insert(r.randrange(len(lines) + 1), r.choice(lines))
            data = bytearray(b"\r\n".join(lines))
        else:
            data += good_request(r)
    return bytes(data)


def statuses(answer):
    """Those of all answers in what came back."""
    return [int(s) for s in re.findall(rb"HTTP/-?\d+\.-?\d+ (\d{3}) [A-Z]", answer)]


class Client:
    """Sends bad requests in every manner in which a client can do so."""

    def __init__(self, server, r):
        self.server, self.random, self.open = server, r, []

    def send(self, data):
        r = self.random
        c = self.server.connect()
        c.connect()
        s = c.sock
        s.settimeout(20)
        try:
            at = 0
            while at < len(data):
                size = r.choice([1, 7, 100, 10**6])
                s.sendall(data[at:at + size])
                at += size
            manner = r.random()
            if manner < .1:  # reset
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return c.close()
            if manner < .15:  # left open; some of them wait
                self.open.append(c)
                if len(self.open) > 30:
                    self.open.pop(0).close()
                return
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server has closed already
        answer = b""
        try:
            while part := s.recv(65536):
                answer += part
        except socket.timeout:
            check("the connection ends", data, "ends")
        except OSError:
            pass
        c.close()
        codes = statuses(answer)
        if b"a number in the result is infinite" in answer:  # a NaN among binary data: no other 500 is right
            codes = [code for code in codes if code != 500]
        other_version = re.search(rb"HTTP/(?!1\.[01] )[\d.]+ 200 OK\r", answer)
        if answer and (not answer.startswith(b"HTTP/") or not set(codes) <= FINE | {100} or other_version):
            check(f"the answer to {data[:2000]!r}", answer[:500], "a status of a bad request")
        for text in re.findall(rb'{"error":".*', answer):
            if len(text) > 800:
                check(f"the length of the answer to {data[:2000]!r}", text[:1000], "short")


def raw_requests(server, r):
    client = Client(server, r)
    for i in range(ROUNDS):
        client.send(mutated(r, good_request(r)))
        if i % 50 == 0:
            check("a good request beside them", server.json("/double", i), (200, 2 * i))


def smuggling(server, r):
    """Messages with more than one idea of where they end get one refusal, and what is hidden in them no answer."""
    hidden = b"GET /v2 HTTP/1.1\r\n" + HOST + b"\r\n"
    inner = b"0\r\n\r\n" + hidden
    lengths = [b"Content-Length: %d", b"content-length:%d", b"Content-Length:\t%d", b"Content-Length: %d ", b"Content-Length: 0%d"]
    codings = [b"Transfer-Encoding: chunked", b"transfer-encoding:chunked", b"Transfer-Encoding: Chunked", b"Transfer-Encoding: x, chunked", b"Transfer-Encoding: chunked, identity",
               b"Transfer-Encoding:\tchunked", b"Transfer-Encoding : chunked", b"Transfer-Encoding: \x0bchunked"]
    for _ in range(ROUNDS // 10):
        fields = [(r.choice(lengths) % r.choice([len(inner), 5, 0, 3])) for _ in range(r.choice([1, 1, 2]))]
        fields += [r.choice(codings) for _ in range(2 - len(fields) if len(fields) < 2 else r.choice([0, 1]))]
        r.shuffle(fields)
        data = b"POST /double HTTP/1.1\r\n" + HOST + b"".join(f + b"\r\n" for f in fields) + b"\r\n" + inner
        answer = server.raw(data, half_close=True)
        if b"extensions" in answer or 200 in statuses(answer):
            check(f"hidden in {data!r}", answer, "refused")


def replaced(r, value):
    """The value with one part of it replaced by something else."""
    others = [None, True, -1, 1.5, 10**30, "x", "", [], {}, [[]], {"a": 1}, [1, "x"], "\0", "9" * 400, [[[[[1]]]]]]
    if r.random() < .3 or not isinstance(value, (list, dict)) or not value:
        return r.choice(others)
    if isinstance(value, list):
        i = r.randrange(len(value))
        return value[:i] + r.choice([[replaced(r, value[i])], [], [value[i]] * 3]) + value[i + 1:]
    key = r.choice(list(value))
    return {k: v for k, v in value.items() if k != key} | r.choice([{key: replaced(r, value[key])}, {}, {key + "x": value[key]}])


def values(server, r):
    """JSON of other types and forms than a route takes: 400 with a short text, or an answer where they fit."""
    c = server.connect()
    for _ in range(ROUNDS):
        path = r.choice(list(BODIES))
        value = r.choice(BODIES[path])
        for _ in range(r.choice([1, 1, 2, 4])):
            value = replaced(r, value)
        if path == "/count" and isinstance(value, (int, float)) and not isinstance(value, bool) and value > 1000:
            continue
        status, data, _ = server.ask(path, json.dumps(value), connection=c)
        is_good = status == 200 or (status == 400 and len(data) < 1500 and list(json.loads(data)) == ["error"])
        if not is_good:
            check(f"{path} {value!r}", (status, data[:300]), "200 or 400 with a reason")


def slow(server, stop, seen):
    """Clients that send a byte now and then, until they are sent away."""
    while not stop.is_set():
        clients = [server.connect() for _ in range(5)]
        [c.connect() for c in clients]
        for byte in b"POST /double HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n" + b" " * 100:
            time.sleep(.05)
            try:
                [c.sock.sendall(bytes([byte])) for c in clients]
            except OSError:
                seen.append(byte)
                break
            if stop.is_set():
                break
        [c.close() for c in clients]


def state_of(pid):
    with open(f"/proc/{pid}/status") as file:
        memory = int(re.search(r"VmRSS:\s*(\d+)", file.read()).group(1)) // 1024
    return memory, len(os.listdir(f"/proc/{pid}/fd"))


def fuzz():
    r = random.Random(SEED)
    print(f"MANTA_TEST_SEED={SEED}", flush=True)
    with Server(launcher=[], request_time=1500, max_header=4096, max_body=100_000) as s:
        check("before", s.json("/double", 1), (200, 2))
        stop, seen = threading.Event(), []
        beside = threading.Thread(target=slow, args=(s, stop, seen))
        beside.start()
        raw_requests(s, r)
        memory, _ = state_of(s.process.pid)
        for part in (values, smuggling, raw_requests):
            begin = time.monotonic()
            part(s, r)
            print(f"  {part.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        deadline = time.monotonic() + 30
        while not seen and time.monotonic() < deadline:
            time.sleep(.05)
        stop.set()
        beside.join()
        check("slow clients are sent away", len(seen) > 0, True)
        deadline = time.monotonic() + 30
        while (left := s.json("/api/status")[1]["connections"]) > 3 and time.monotonic() < deadline:
            time.sleep(.1)
        check("connections are gone", left <= 3, True)
        after, descriptors = state_of(s.process.pid)
        check("descriptors are closed", descriptors < 60, True)
        check("memory does not grow", after < memory + 40, True)
        print(f"{memory} MiB after the first part, {after} MiB at the end, {descriptors} descriptors")
        check("after", s.json("/double", 4), (200, 8))


run((fuzz,))
