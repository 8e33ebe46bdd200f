# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""serve::http, asked by clients that are not ours: Python's http.client, curl, and raw sockets for what no client sends.

usage: http_test.py RANKS http_server -- LAUNCHER..
"""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time

from servers import FOLDER, LAUNCHER, SERVER, Server, check, run


def calls():
    with Server() as s:
        for kind in ("application/json", "application/x-www-form-urlencoded", "text/plain"):
            check("curl -d", s.ask("/double", "21", {"Content-Type": kind})[:2], (200, b"42"))
        check("array", s.json("/add", [1, 2.5]), (200, 3.5))
        check("object", s.json("/add", {"b": 2.5, "a": 1}), (200, 3.5))
        check("too few", s.json("/add", [1]), (400, {"error": "the body: expected an array of 2, not an array of 1"}))
        check("missing", s.json("/add", {"a": 1}), (400, {"error": "b is missing: expected a number"}))
        check("GET", s.ask("/greet")[:2], (200, b'"hello"'))
        check("POST without a body", s.ask("/greet", "")[:2], (200, b'"hello"'))
        check("type", s.json("/double", "x"), (400, {"error": 'the body: expected an integer from -2147483648 to 2147483647, not the text "x"'}))
        check("range", s.json("/next", 256), (400, {"error": "the body: expected an integer from 0 to 255, not 256"}))
        check("char", s.json("/letter_after", 65), (200, 66))
        check("no JSON", s.ask("/double", "{")[0], 400)
        check("empty", s.ask("/double", "")[0], 400)
        check("depth", s.json("/double", json.loads("[" * 65 + "]" * 65))[0], 400)
        check("class", s.json("/mirror", {"x": 1, "y": -2, "label": "ä", "more": 1}), (200, {"x": -1, "y": 2, "label": "ä"}))
        check("optional", s.json("/mirror", {"x": 1, "y": 2}), (200, {"x": -1, "y": -2, "label": None}))
        check("field", s.json("/mirror", {"x": 1, "y": [1]}), (400, {"error": "y: expected a number, not an array of 1"}))
        check("matrix", s.json("/rows", [[1, 2, 3], [4, 5, 6]]), (200, [6, 15]))
        check("ragged", s.json("/rows", [[1, 2], [3]]), (400, {"error": "[1]: expected an array of 2, not an array of 1"}))
        check("value at once", s.json("/here", 5), (200, 5))
        status, answer = s.json("/fail", 3)
        check("exception", (status, "no luck with 3" in answer["error"]), (500, True))
        status, answer = s.json("/infinite", 1)
        check("infinite result", (status, "infinite" in answer["error"]), (500, True))
        check("404", s.ask("/nothing")[0], 404)
        status, _, answer = s.ask("/double", method="PUT", body="1")
        check("405", (status, answer.getheader("Allow")), (405, "POST"))
        c = s.connect()
        for i in range(50):
            check("keep-alive", s.ask("/double", str(i), connection=c)[:2], (200, str(2 * i).encode()))
        status, data, answer = s.ask("/v2", method="HEAD", connection=c)
        check("HEAD", (status, data, answer.getheader("Content-Length") != "0"), (200, b"", True))
        check("after HEAD", s.ask("/double", "4", connection=c)[:2], (200, b"8"))
        # many at once, each with its own answer
        wrong = []

        def several(k):
            mine = s.connect()
            for i in range(20):
                if s.ask("/double", str(100 * k + i), connection=mine)[1] != str(200 * k + 2 * i).encode():
                    wrong.append((k, i))

        threads = [threading.Thread(target=several, args=(k,)) for k in range(16)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        check("many at once", wrong, [])
        if shutil.which("curl"):
            curl = ["curl", "-s", "--unix-socket", s.socket]
            check("curl", subprocess.run(curl + ["-d", "21", "localhost/double"], capture_output=True).stdout, b"42")
            big = json.dumps("x" * 900_000)
            got = subprocess.run(curl + ["-d", "@-", "-H", "Expect: 100-continue", "localhost/shout"], input=big.encode(), capture_output=True).stdout
            check("curl, 100-continue", len(got), 900_003)


def streams():
    with Server() as s:
        status, data, answer = s.ask("/count", "4")
        check("lines", (status, data, answer.getheader("Content-Type")), (200, b"0\n1\n2\n3\n", "application/x-ndjson"))
        status, data, answer = s.ask("/count", "2", {"Accept": "text/event-stream"})
        check("events", (status, data), (200, b"data: 0\n\ndata: 1\n\nevent: end\ndata:\n\n"))
        lines = s.ask("/break_off", "2")[1].splitlines()
        check("broken off", (lines[:2], b"broken off" in lines[2]), ([b"0", b"1"], True))
        check("none", s.ask("/count", "0")[:2], (200, b""))
        check("long", len(s.ask("/count", "3000")[1].splitlines()), 3000)
        gone = s.connect()
        gone.request("POST", "/count", "100000000")
        gone.getresponse().read(20)
        gone.close()
        gone.sock = None
        check("others go on", s.json("/double", 2), (200, 4))


def inference():
    def infer(name, inputs, **more):
        return s.json(f"/v2/models/{name}/infer", dict(inputs=inputs, **more))

    with Server() as s:
        check("live", s.ask("/v2/health/live")[0], 200)
        check("each row fails", infer("fail", [{"name": "input0", "shape": [3], "datatype": "INT32", "data": [1, 2, 3]}])[0], 500)
        check("ready", s.ask("/v2/health/ready")[0], 200)
        check("server", s.json("/v2")[1]["extensions"], ["binary_tensor_data"])
        check("model ready", s.json("/v2/models/linear/ready"), (200, {"name": "linear", "ready": True}))
        check("metadata", s.json("/v2/models/linear/versions/1"), (200, {
            "name": "linear", "versions": ["1"], "platform": "manta_cpp",
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, -1]}],
            "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, -1]}, {"name": "size", "datatype": "INT32", "shape": [-1]}]}))
        both = [{"name": "y", "shape": [2, 3], "datatype": "FP32", "data": [2, 4, 6, 8, 10, 12]}, {"name": "size", "shape": [2], "datatype": "INT32", "data": [3, 3]}]
        x = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6]}
        check("flat", infer("linear", [x], id="a7"), (200, {"model_name": "linear", "model_version": "1", "id": "a7", "outputs": both}))
        nested = dict(x, data=[[1, 2, 3], [4, 5, 6]])
        check("nested", infer("linear", [nested])[1]["outputs"], both)
        check("one output", infer("linear", [x], outputs=[{"name": "size"}])[1]["outputs"], both[1:])
        check("unknown output", infer("linear", [x], outputs=[{"name": "z"}])[0], 400)
        matrix = {"name": "input0", "shape": [1, 2, 3], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6]}
        check("row-major", infer("rows", [matrix])[1]["outputs"][0]["data"], [6, 15])
        check("bytes, another name for the only input", infer("shout", [{"name": "any", "shape": [2], "datatype": "BYTES", "data": ["a", "bé"]}])[1]["outputs"][0]["data"], ["a!", "bé!"])
        two = [{"name": n, "shape": [2], "datatype": "FP64", "data": d} for n, d in (("a", [1, 2]), ("b", [10, 20]))]
        column = {"name": "input0", "shape": [2, 1], "datatype": "INT32", "data": [[4], [5]]}
        check("[n, 1] for [n]", infer("double", [column])[1]["outputs"], [{"name": "output0", "shape": [2], "datatype": "INT32", "data": [8, 10]}])
        check("[n, 2] for [n]", infer("double", [dict(column, shape=[1, 2])])[0], 400)
        check("[n, m, 1] for [n, m]", infer("linear", [dict(x, shape=[2, 3, 1])])[1]["outputs"], both)
        check("two inputs", infer("add", two)[1]["outputs"][0]["data"], [11, 22])
        for kind in ("UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP32", "FP64"):
            check(kind, infer("double", [{"name": "input0", "shape": [2], "datatype": kind, "data": [1, 3]}])[1]["outputs"][0]["data"], [2, 6])
        bad = {
            "shape": dict(x, shape=[2, 2]), "datatype": dict(x, datatype="FP33"), "negative": dict(x, shape=[-1, 3]),
            "dimensions": dict(x, shape=[6]), "huge": dict(x, shape=[2**40, 2**40]), "many rows of nothing": dict(x, shape=[2**32, 0], data=[]), "text": dict(x, data=["a"] * 6), "no data": {k: x[k] for k in x if k != "data"},
            "no shape": {k: x[k] for k in x if k != "shape"}, "array": [1]}
        check("bad name", infer("add", [dict(two[0], name="z"), two[1]])[0], 400)
        for what, tensor in bad.items():
            status, answer = infer("linear", [tensor])
            check("bad " + what, (status, list(answer)), (400, ["error"]))
        check("no tensors", s.json("/v2/models/mirror/infer", {"inputs": []}), (400, {"error": 'the values of "mirror" are no tensors: POST JSON to /mirror'}))
        check("no model", infer("nobody", [x])[0], 404)
        check("GET", (s.ask("/v2/models/linear/infer")[0], s.ask("/v2/models/nobody/infer")[0]), (405, 404))
        check("no version", [infer("linear/versions/" + v, [x])[0] for v in ("1", "2")], [200, 404])
        # the binary extension, as Triton's client writes it
        head = json.dumps({"inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": 24}}],
                           "outputs": [{"name": "y", "parameters": {"binary_data": True}}, {"name": "size", "parameters": {"binary_data": False}}]}).encode()
        status, data, answer = s.ask("/v2/models/linear/infer", head + struct.pack("<6f", *range(6)), {"Inference-Header-Content-Length": str(len(head))})
        length = int(answer.getheader("Inference-Header-Content-Length"))
        outputs = json.loads(data[:length])["outputs"]
        check("binary", (status, outputs[0]["parameters"], outputs[1]["data"]), (200, {"binary_data_size": 24}, [3, 3]))
        check("binary data", struct.unpack("<6f", data[length:]), tuple(float(2 * i) for i in range(6)))
        # without outputs, as that client asks by default; a text has its length before it
        packed = lambda words: b"".join(struct.pack("<I", len(w.encode())) + w.encode() for w in words)
        raw = packed(["a", "bé"])
        text = json.dumps({"id": "7", "inputs": [{"name": "input0", "shape": [2], "datatype": "BYTES", "parameters": {"binary_data_size": len(raw)}}],
                           "parameters": {"priority": 1, "binary_data_output": True}}).encode()
        status, data, answer = s.ask("/v2/models/shout/versions/1/infer", text + raw, {"Inference-Header-Content-Length": str(len(text))})
        length = int(answer.getheader("Inference-Header-Content-Length", 0))
        output = json.loads(data[:length])
        check("binary texts", (output["id"], output["outputs"][0]["datatype"], data[length:]), ("7", "BYTES", packed(["a!", "bé!"])))
        half = json.dumps({"inputs": [{"name": "input0", "shape": [2], "datatype": "FP16", "parameters": {"binary_data_size": 4}}]}).encode()
        status, data, _ = s.ask("/v2/models/double/infer", half + struct.pack("<2e", 3, -4), {"Inference-Header-Content-Length": str(len(half))})
        check("FP16", json.loads(data)["outputs"][0]["data"], [6, -8])
        status, data, _ = s.ask("/v2/models/linear/infer", head + b"\0" * 23, {"Inference-Header-Content-Length": str(len(head))})
        check("binary, too short", status, 400)
    check("the client has seen all failures", "nobody looked at" in s.text(), False)


def certificate(name):
    key, made = os.path.join(FOLDER, name + ".key"), os.path.join(FOLDER, name + ".pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key, "-out", made, "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return made, key


def refusal(**options):
    done = subprocess.run([SERVER] + [f"{k}={v}" for k, v in options.items()], stderr=subprocess.PIPE, text=True, timeout=60)
    check("a server that cannot be", done.returncode, 1)
    return done.stderr


def mistakes():
    text = subprocess.run([SERVER, "mistakes=1"], stderr=subprocess.PIPE, text=True, timeout=60).stderr
    check("a mistake is accepted", "accepted" in text, False)
    for words in (
        "there is no folder /no/such/folder, which .files names",
        "cannot listen on 192.0.2.1:0: ",
        ".address is an address or a name of this machine",
        "serve::http: .max_connections is 0; at least 1 is needed",
        ".answer_time is -5 ms; at least 1 is needed",
        "serve::http: .token has a line break, another control character or a space at its end, which no client can send",
        '.hosts has names alone, without scheme and port; it has "me.org:80"',
        "/status is a path that each server answers itself; choose another one",
        "/v2/models is a path that each server answers itself",
        'a path begins with "/"; this one does not: "double"',
        "there is a route /double already",
        'no request has the path "/other?x=1": a path has no "?"',
        ".inputs of /named has 3 names, and the function takes 2",
        '.inputs of /named has the name "x" twice',
        ".inputs of /named has an empty name",
        ".outputs of /named has 2 names, and the function gives 1",
        '/double and /other would both be the model "double" of /v2/models; give one of them another name',
        '/linear and /linear/other would both be the model "linear"',
        "http.route: the handle for /empty is empty: it was declared and never assigned; give it what serve::deploy",
    ):
        check(words, text if words not in text else "", "")
    check("the token cannot be sent", text.count(".token has"), 3)
    check("the path cannot be asked for", text.count("no request has the path"), 2)
    refusal(address="192.0.2.1")


def encrypted():
    if not shutil.which("openssl") or "no TLS" in subprocess.run([SERVER, "certificate=no"], capture_output=True, text=True).stderr:
        return print("not tested: there is no OpenSSL")
    mine, key = certificate("mine")
    other, other_key = certificate("other")
    open(os.path.join(FOLDER, "page.txt"), "w").write("x" * 300_000)
    with Server(unix=False, certificate=mine, key=key, files=FOLDER, request_time=500) as s:
        context = ssl.create_default_context(cafile=mine)
        secure = lambda: http.client.HTTPSConnection("localhost", s.port, timeout=30, context=context)
        c = secure()
        for i in range(30):
            check("TLS", s.ask("/double", str(i), connection=c)[:2], (200, str(2 * i).encode()))
        check("a stream", s.ask("/count", "1000", connection=c)[1].count(b"\n"), 1000)
        check("a file", s.ask("/page.txt", connection=c)[1], b"x" * 300_000)
        check("a large body", len(s.ask("/shout", json.dumps("y" * 600_000), connection=c)[1]), 600_003)
        if shutil.which("curl"):
            curl = ["curl", "-s", "-d", "21", f"https://localhost:{s.port}/double"]
            check("curl", subprocess.run(curl + ["--cacert", mine], capture_output=True).stdout, b"42")
            check("curl with another certificate", subprocess.run(curl + ["--cacert", other], capture_output=True).returncode, 60)
            check("old TLS", subprocess.run(curl + ["--cacert", mine, "--tls-max", "1.1"], capture_output=True).returncode != 0, True)
        check("text that is not encrypted", b" 200 " in s.raw(b"GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n"), False)
        check("a handshake that does not come", s.raw(b"\x16\x03"), b"")
        for _ in range(50):
            broken = socket.create_connection(("localhost", s.port))
            broken.sendall(os.urandom(200))
            broken.close()
        check("good ones beside them", s.ask("/double", "8", connection=secure())[1], b"16")
    with Server(unix=False, certificate=mine, key=key, clients=other) as s:
        context = ssl.create_default_context(cafile=mine)
        try:
            s.ask("/double", "1", connection=http.client.HTTPSConnection("localhost", s.port, timeout=30, context=context))
            check("a client without a certificate", "answered", "refused")
        except OSError:
            pass
        context.load_cert_chain(other, other_key)
        check("a client's certificate", s.ask("/double", "1", connection=http.client.HTTPSConnection("localhost", s.port, context=context))[1], b"2")
    check("no certificate", "serve::tls: .certificate: cannot read /no/file.pem: No such file" in refusal(certificate="/no/file.pem", key=key), True)
    check("no key", "serve::tls: .key is missing" in refusal(certificate=mine, key=""), True)
    check("no PEM", "there is no certificate in " + SERVER in refusal(certificate=SERVER, key=key), True)
    check("another key", "or it is not that of " + mine in refusal(certificate=mine, key=other_key), True)


def python_models():
    pythons = [p for p in ("python3", "/usr/bin/python3") if subprocess.run([p, "-c", "import numpy"], capture_output=True).returncode == 0]
    if not pythons:
        return print("not tested: there is no Python with NumPy")
    os.environ["MANTA_PYTHON"] = pythons[0]
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    with Server(python=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/model.py")) as s:
        check("python", s.json("/python", [1, 2.5]), (200, [2, 5]))
        x = {"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [1, 2, 3, 4]}
        check("python, tensors", s.json("/v2/models/model/infer", {"inputs": [x]})[1]["outputs"], [dict(x, name="y", data=[2, 4, 6, 8])])
        status, answer = s.json("/python", [-1])
        check("exception of Python", (status, "ValueError: no luck with [-1.0]" in answer["error"]), (500, True))
        status, answer = s.json("/python", [-2])
        check("crash of Python", (status, "last words of the model" in answer["error"]), (500, True))
        check("after the crash", s.json("/python", [1, 2.5]), (200, [2, 5]))


def pages():
    folder = os.path.join(FOLDER, "files")
    os.mkdir(folder)
    open(os.path.join(folder, "index.html"), "w").write("<h1>mine</h1>")
    open(os.path.join(folder, "a.js"), "w").write("1")
    open(os.path.join(FOLDER, "secret"), "w").write("no")
    os.symlink(os.path.join(FOLDER, "secret"), os.path.join(folder, "link"))
    with Server(files=folder) as s:
        check("index", s.ask("/")[:2], (200, b"<h1>mine</h1>"))
        check("type", s.ask("/a.js")[2].getheader("Content-Type"), "text/javascript; charset=utf-8")
        for path in ("/../secret", "/%2e%2e/secret", "/..%2fsecret", "/link", "//etc/passwd"):
            check("outside " + path, s.ask(path)[0], 404)
        check("status page", (s.ask("/status")[0], b"<title>manta" in s.ask("/status")[1]), (200, True))
        s.json("/double", 1)
        s.json("/double", "x")
        route = [r for r in s.json("/api/status")[1]["routes"] if r["path"] == "/double"][0]
        check("status", (route["answered"], route["answers"], route["deployment"]["served"]), (1, {"200": 1, "400": 1}, 1))
        metrics = s.ask("/metrics")[1].decode()
        check("metrics", ('manta_http_answers_total{route="/double",code="400"} 1\n' in metrics, 'manta_http_answer_seconds_count{route="/double"} 1\n' in metrics), (True, True))
        help_lines = [line for line in metrics.splitlines() if line.startswith("# HELP")]
        check("texts of metrics have no escapes", [line for line in help_lines if "\\" in line], [])
        if shutil.which("promtool"):
            check("promtool", subprocess.run(["promtool", "check", "metrics"], input=metrics.encode()).returncode, 0)
        api = s.json("/openapi.json")[1]
        schema = api["paths"]["/mirror"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        check("schema", (schema["properties"]["x"], schema["required"]), ({"type": "number"}, ["x", "y"]))
        ids = [operation["operationId"] for path in api["paths"].values() for operation in path.values()]
        check("each operation has its id", len(set(ids)), len(ids))
        check("another path of a deployment", s.json("/linear/again", [1, 2]), (200, [[2, 4], 2]))
        check("docs", s.ask("/docs")[0], 200)


def attacks():
    host = b"Host: localhost\r\n"
    good = b"POST /double HTTP/1.1\r\n" + host + b"Content-Length: 2\r\n\r\n21"
    hidden = b"GET /v2 HTTP/1.1\r\n" + host + b"\r\n"
    with Server(max_header=4096, max_body=10000) as s:
        check("pipelined", s.raw(good * 20 + b"GET /v2 HTTP/1.1\r\nConnection: close\r\n" + host + b"\r\n").count(b"\r\n\r\n42"), 20)
        refused = {
            "length and coding": b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n21\r\n0\r\n\r\n",
            "other coding": b"Content-Length: 2\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n21\r\n0\r\n\r\n",
            "coding alone": b"Transfer-Encoding: xchunked\r\n\r\n21",
            "two lengths": b"Content-Length: 2\r\nContent-Length: 0\r\n\r\n21",
            "signed length": b"Content-Length: +2\r\n\r\n21",
            "list": b"Content-Length: 2, 2\r\n\r\n21",
            "negative": b"Content-Length: -2\r\n\r\n21",
            "space": b"Content-Length : 2\r\n\r\n21",
            "chunk": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n21\r\n0\r\n\r\n",
            "long chunk": b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n21\r\n0\r\n\r\n",
            "no colon": b"junk\r\n\r\n",
        }
        for what, rest in refused.items():
            got = s.raw(b"POST /double HTTP/1.1\r\n" + host + rest + hidden)
            check("refused: " + what, (got.count(b"HTTP/1.1 4"), got.count(b"HTTP/1.1 2"), b"extensions" in got), (1, 0, False))
        for what, data in {
            "long line": b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            "long field": b"GET /v2 HTTP/1.1\r\n" + host + b"X: " + b"a" * 9000 + b"\r\n\r\n",
            "endless line": b"G" * 50000,
            "many fields": b"GET /v2 HTTP/1.1\r\n" + host + b"".join(b"X%d: 1\r\n" % i for i in range(150)) + b"\r\n",
            "large body": b"POST /double HTTP/1.1\r\n" + host + b"Content-Length: 20000\r\n\r\n" + b"1" * 20000,
            "garbage": bytes(range(256)) * 8,
            "two hosts": b"GET /v2 HTTP/1.1\r\n" + host + host + b"\r\n",
        }.items():
            got = s.raw(data)
            check("too much: " + what, got == b"" or got.startswith(b"HTTP/1.1 4"), True)
        for _ in range(3):  # the client sends on while it is refused, and finds the answer
            check("oversized", s.ask("/double", b"1" * 20_000_000)[0], 413)
        status, data, _ = s.ask("/mirror", b'{"x": "\xff"}')
        check("no UTF-8", (status, "line 1, column 8" in json.loads(data)["error"]), (400, True))
        check("truncated", s.raw(good[:-1], half_close=True), b"")
        check("half-closed", s.raw(good, half_close=True)[-2:], b"42")
        for _ in range(200):  # connections that come and go
            c = s.connect()
            c.connect()
            c.sock.sendall(good[:30])
            c.close()
        check("good ones beside them", s.json("/double", 8), (200, 16))

    with Server(unix=False, token="tea pot") as s:
        secret = {"Authorization": "Bearer tea pot"}
        check("no token", s.ask("/double", "1")[0], 401)
        check("wrong token", s.ask("/double", "1", {"Authorization": "Bearer tea"})[0], 401)
        check("token", s.ask("/double", "1", secret)[:2], (200, b"2"))
        check("token in the address", s.ask("/double?token=tea%20pot", "1")[0], 200)
        check("Host", s.ask("/double", "1", dict(secret, Host="evil.example"))[0], 403)
        check("Origin", s.ask("/double", "1", dict(secret, Origin="http://evil.example"))[0], 403)
        check("own origin", s.ask("/double", "1", dict(secret, Origin=f"http://localhost:{s.port}"))[0], 200)
        check("other host in the line", s.raw(b"GET http://evil/v2 HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer tea pot\r\n\r\n")[9:12], b"403")
        check("no Host", s.raw(b"GET /v2 HTTP/1.1\r\n\r\n", half_close=True)[9:12], b"400")
        check("no Host, no browser, but no token either", s.raw(b"GET /v2 HTTP/1.0\r\n\r\n")[9:12], b"401")


def limits():
    with Server(request_time=300, max_connections=8, max_requests=4) as s:
        slow = s.connect()
        slow.connect()
        slow.sock.sendall(b"POST /double HTTP/1.1\r\nHost: lo")
        idle = [s.connect() for _ in range(12)]
        [c.connect() for c in idle]  # more than may be open: they wait, until the others are sent away
        got = b""
        try:
            while part := slow.sock.recv(1000):
                got += part
        except OSError:
            pass
        check("slow request", got[:12] in (b"HTTP/1.1 408", b""), True)
        [c.close() for c in idle]
        check("after the crowd", s.json("/double", 3), (200, 6))
        waiting = [s.connect() for _ in range(6)]
        for c in waiting:  # once the crowd's connections are forgotten, each of these is accepted
            c.request("POST", "/double", "1")
            c.getresponse().read()
        for c in waiting:
            c.request("POST", "/pause", "1000")
        answers = [c.getresponse() for c in waiting]
        codes = sorted(a.status for a in answers)
        check("full", codes, [200] * 4 + [503] * 2)
        check("Retry-After", {a.getheader("Retry-After") for a in answers if a.status == 503}, {"1"})
        [(a.read(), c.close()) for a, c in zip(answers, waiting)]

        def rows(n):
            return s.json("/v2/models/double/infer", {"inputs": [{"name": "input0", "shape": [n], "datatype": "INT32", "data": list(range(n))}]})

        letters = {"inputs": [{"name": "input0", "shape": [1], "datatype": "INT8", "data": [128]}]}
        status, answer = s.json("/v2/models/letter_after/infer", letters)
        check("a char that does not fit", (status, "which does not fit INT8" in answer["error"]), (400, True))
        check("a tensor is one request, however many rows it has", rows(50)[1]["outputs"][0]["data"], [2 * i for i in range(50)])
        beside = s.connect()
        beside.request("POST", "/pause", "1000")
        while not any(r["under_way"] for r in s.json("/api/status")[1]["routes"] if r["path"] == "/pause"):
            time.sleep(0.01)
        check("rows beside a request", [rows(n)[0] for n in (3, 4, 5)], [200] * 3)
        check("that request", beside.getresponse().status, 200)


def late():
    with Server(answer_time=300) as s:
        def figures():
            return [r["deployment"] for r in s.json("/api/status")[1]["routes"] if r["path"] == "/gated"][0]

        runs, waits = s.connect(), s.connect()
        runs.request("POST", "/gated", "1")
        while figures()["running"] != 1:
            time.sleep(0.01)
        status, _, answer = s.ask("/hurried", "9")
        check("past its deadline", (status, answer.getheader("Retry-After")), (503, "1"))
        waits.request("POST", "/gated", "2")
        check("too late", [c.getresponse().status for c in (runs, waits)], [504, 504])
        while figures()["cancelled"] != 2:  # the one that waited, and the one that runs, whose replica is told
            time.sleep(0.01)
        check("it runs on, for its method does not ask", [figures()[k] for k in ("queued", "running")], [0, 1])
        check("open", [s.json("/open", i) for i in (7, 8)], [(200, 7), (200, 8)])
        check("after that", s.json("/gated", 3), (200, 8))


def deaths():
    """Replicas' processes are killed, and one ends itself."""
    if not LAUNCHER:
        return
    with Server(deaths=1, launcher=LAUNCHER[:-1] + ["7"]) as s:
        def kill(path, news):
            os.kill(s.json(path, 0)[1], signal.SIGKILL)
            deadline = time.monotonic() + 30
            while s.text().count("is done elsewhere") < news and time.monotonic() < deadline:
                time.sleep(0.01)
            check("the death is known", s.text().count("is done elsewhere"), news)

        # an idle one: no request is lost, though this deployment repeats none
        kill("/once", 1)
        check("after the death of an idle replica", [s.json("/once", 0)[0] for _ in range(20)], [200] * 20)
        # under load, two of them
        codes, stop = [], threading.Event()

        def load():
            mine = s.connect()
            while not stop.is_set():
                codes.append(s.ask("/again", "5", connection=mine)[0])

        threads = [threading.Thread(target=load) for _ in range(8)]
        [t.start() for t in threads]
        for news in (2, 3):
            time.sleep(0.3)
            kill("/again", news)
        before = len(codes)
        while len(codes) < before + 20 and any(t.is_alive() for t in threads):  # some after the last death
            time.sleep(0.01)
        stop.set()
        [t.join() for t in threads]
        check("under load", set(codes), {200})
        # a request that ends its process is not tried until no rank is left
        status, answer = s.json("/again", -1)
        check("a deadly request", (status, "died with a request" in answer["error"]), (500, True))
        check("ranks are left", [s.json("/again", 1)[0], s.json("/once", 0)[0], s.json("/double", 4)], [200, 200, (200, 8)])
        status = {r["path"]: r["deployment"] for r in s.json("/api/status")[1]["routes"] if "deployment" in r}
        check("failed", (status["/once"]["failed"], status["/again"]["failed"], status["/again"]["retried"] >= 1), (0, 1, True))


def ends():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Server(ends=None) as s:
            c = s.connect()
            c.request("POST", "/here", "1")
            c.getresponse().read()
            slow = s.connect()
            slow.request("POST", "/double", "11")
            s.process.send_signal(number)
            answer = slow.getresponse()
            status, body = answer.status, answer.read()
            check("under way at the end", body if status not in (200, 503) else b"", b"")
            s.wait_for("no longer serving")
    for number in (signal.SIGTERM, signal.SIGINT):
        with Server(ends=number, second=1) as s:
            check("one of two servers of a rank", s.json("/double", 2), (200, 4))
        check("both have ended", s.text().count("no longer serving"), 2)


run((calls, streams, inference, mistakes, encrypted, python_models, pages, attacks, limits, late, deaths, ends))
