# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What operators and clients meet around the calls themselves: a check for each promise of chapter 20, by its name.

usage: rims_test.py RANKS http_server -- LAUNCHER..
"""
import gzip
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from servers import FOLDER, LAUNCHER, Server, check, run

RANKS = int(sys.argv[1])
MANTA_SERVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/manta-serve")


def until(what, condition, seconds=20):
    """Waits for something that has to come."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return check(what, "has not come", "comes")
        time.sleep(0.01)


def route_of(s, name):
    """What the server says of the route of this deployment."""
    for route in s.json("/api/status")[1]["routes"]:
        if route.get("deployment", {}).get("name") == name:
            return route
    return {"deployment": None}


def report(s, name):
    """What a deployment says of itself."""
    return route_of(s, name)["deployment"]


def metric(s, line):
    """The number behind this name and these labels."""
    for each in s.ask("/metrics")[1].decode().splitlines():
        if each.startswith(line + " "):
            return float(each.rsplit(" ", 1)[1])
    return 0.0


def infer(s, name, *tensors, **more):
    return s.json(f"/v2/models/{name}/infer", dict(inputs=list(tensors), **more))


def tensor(kind, data, name="input0"):
    return {"name": name, "shape": [len(data)], "datatype": kind, "data": data}


# --- clients that leave, calls that hang


def a_client_that_leaves_is_noticed():
    with Server() as s:
        clients = [s.connect() for _ in range(6)]
        clients[0].request("POST", "/gated", "0")
        until("the first call runs", lambda: report(s, "gated")["running"] == 1)
        for c in clients[1:]:
            c.request("POST", "/gated", "0")
        until("the others wait", lambda: report(s, "gated")["queued"] == 5)
        begin = time.monotonic()
        for c in clients[1:]:
            c.close()
        until("their calls leave the queue", lambda: report(s, "gated")["cancelled"] == 5)
        check("soon", time.monotonic() - begin < 2, True)
        check("they count as 499", metric(s, 'manta_http_answers_total{route="/gated",code="499"}'), 5)
        s.json("/open", 7)
        check("the one that waits is answered", clients[0].getresponse().read(), b"7")
    with Server(unix=False) as s:  # over TCP the end of what a client sends is not the end of the client
        check("a client that only sends nothing more", s.raw(b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n200", half_close=True)[-3:], b"200")
        gone = s.connect()
        gone.request("POST", "/gated", "0")
        until("its call runs", lambda: report(s, "gated")["running"] == 1)
        gone.close()
        until("it is noticed", lambda: metric(s, 'manta_http_answers_total{route="/gated",code="499"}') == 1)
        s.json("/open", 1)


def a_hanging_call_ends(s):
    """One of several calls does not return: it is answered, the others go on, and its replica is replaced."""
    check("a good call", s.json("/hang", 1), (200, 1))
    status, answer = s.json("/hang", 13)
    check("a hanging call", (status, "300 ms" in answer["error"]), (504, True))
    check("others go on", [s.json("/hang", i) for i in (1, 2, 3)], [(200, 1), (200, 2), (200, 3)])
    until("its replica is replaced", lambda: report(s, "impatient")["replicas"] == 2)


def a_call_that_does_not_return_ends_with_504_beside_its_queue():
    if RANKS > 1:
        return
    with Server(hang=1) as s:
        a_hanging_call_ends(s)
        check("calls beside one that hangs", sorted(at_once(s, "/hang", [13] + [1] * 6)), [200] * 6 + [504])


def what_does_not_answer_is_shown_with_its_age():
    if RANKS < 4:
        return
    with Server(away=1) as s:
        check("it answers", s.json("/away", 4), (200, 8))
        check("its figures", (report(s, "away")["served"], metric(s, 'manta_deployment_up{deployment="away"}')), (1, 1))
        end = os.path.join(FOLDER, "end_of_hold")
        s.json("/hold", end)
        until("it does not answer any more", lambda: route_of(s, "away").get("age_seconds", 0) > 0.5)
        its = route_of(s, "away")
        check("what it said last", (its["deployment"]["served"], "s old: the rank of its queue is busy" in its["problem"]), (1, True))
        check("metrics say so", metric(s, 'manta_deployment_up{deployment="away"}'), 0)
        check("by command", "s old" in manta_serve("status", s.socket, token="")[1], True)
        open(end, "w").close()
        until("it answers again", lambda: "problem" not in route_of(s, "away"))


def a_call_that_does_not_return_ends_with_504():
    if RANKS < 4:
        return
    with Server(hang=1) as s:
        a_hanging_call_ends(s)
        its = report(s, "impatient")
        check("the status says so", (its["overdue"], "does not return on rank" in its["problem"]), (1, True))
        until("the call returns after all", lambda: report(s, "impatient")["problem"] == "")


def at_once(s, path, bodies):
    """The statuses of these requests, sent at the same time."""
    statuses = [None] * len(bodies)

    def send(i):
        statuses[i] = s.json(path, bodies[i])[0]

    threads = [threading.Thread(target=send, args=(i,)) for i in range(len(bodies))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return statuses


def the_time_of_a_call_begins_when_it_runs():
    if RANKS < 4:
        return
    with Server(hang=1) as s:
        for path in ("/hang", "/hang/eager"):
            check("calls that wait for others at their replica", at_once(s, path, [100] * 16), [200] * 16)
        check("calls beside one that hangs", at_once(s, "/hang", [13] + [1] * 12), [504] + [200] * 12)
        until("that call returns", lambda: report(s, "impatient")["problem"] == "")
        check("calls behind it", at_once(s, "/hang/eager", [13] + [1] * 24), [504] + [200] * 24)


def a_value_that_does_not_come_ends_its_stream():
    if RANKS < 4:
        return
    with Server(rims=1) as s:
        check("values in time", s.ask("/write", '["p", 5, 100]')[1].count(b"\n"), 5)
        lines = s.ask("/write", '["p", 2, 3000]')[1].splitlines()
        check("a value that is late", [b"300 ms" in line for line in lines], [True])
        check("others go on", s.ask("/write", '["p", 2, 0]')[1], b'"p0w"\n"p1w"\n')


# --- updates, places, starts


def an_update_never_stops_the_deployment():
    if RANKS < 4:
        return
    os.environ.pop("MANTA_SERVE_TOKEN", None)
    with Server(load=700, replicas=3) as s:  # on each rank that works
        answers, slow, stop = [], [], threading.Event()

        def load():
            mine = s.connect()
            while not stop.is_set():
                answers.append((time.monotonic(), s.ask("/loaded", "1", connection=mine)[:2]))

        def probe():
            mine = s.connect()
            while not stop.is_set():
                begin = time.monotonic()
                s.ask("/v2/health/live", connection=mine)
                slow.append(time.monotonic() - begin)

        threads = [threading.Thread(target=load) for _ in range(4)] + [threading.Thread(target=probe)]
        [t.start() for t in threads]
        time.sleep(0.3)
        begin = time.monotonic()
        seen = []
        updating = threading.Thread(target=lambda: seen.append(s.ask("/api/deployments/loaded/update", "")[:2]))
        updating.start()
        while updating.is_alive():
            seen.append(report(s, "loaded")["change"])
            time.sleep(0.05)
        end = time.monotonic()
        stop.set()
        [t.join() for t in threads]
        check("it is done", seen[-1] if isinstance(seen[-1], tuple) else [x for x in seen if isinstance(x, tuple)][-1], (200, b'{"deployment":"loaded","done":"update"}'))
        check("what happens is in the status", any("version 2" in str(x) for x in seen), True)
        times = [t for t, _ in answers if begin < t < end]
        gaps = [b - a for a, b in zip([begin] + times, times + [end])]
        check("it answers throughout", max(gaps) < 0.5, True)
        check("no request fails", {status for _, (status, _) in answers}, {200})
        check("the server answers throughout", max(slow) < 0.5, True)
        ranks = {json.loads(s.ask("/loaded", "20")[1])[1] for _ in range(20)}
        check("no replica lives beside the server", 0 in ranks, False)
        check("version", report(s, "loaded")["version"], 2)


def a_constructor_that_fails_is_tried_with_pauses():
    missing = os.path.join(FOLDER, "no_weights")
    with Server(weights=missing) as s:
        check("it works", s.json("/weights", 1), (200, 1))
        check("ready", s.ask("/v2/models/weights/ready")[0], 200)
        open(missing, "w").close()
        s.json("/weights", 13)
        status, answer = s.json("/weights", 1)
        check("none can be made", (status, "no weights" in answer["error"], "/home" in answer["error"]), (503, True, False))
        check("not ready", [s.ask(path)[0] for path in ("/v2/models/weights/ready", "/v2/health/ready", "/v2/health/live")], [503, 503, 200])
        problems = s.json("/v2/health/ready")[1]["problems"]
        check("readiness says why", ("no weights" in problems["weights"], "/home" in problems["weights"]), (True, False))
        os.unlink(missing)
        until("it comes back", lambda: s.ask("/weights", "1")[0] == 200)


def a_deployment_may_have_no_replica_until_somebody_asks():
    with Server(sleepy=1) as s:
        check("the first request", s.json("/sleepy", 2), (200, 4))
        until("none is left", lambda: report(s, "sleepy")["replicas"] == 0)
        check("it is ready", (report(s, "sleepy")["ready"], s.ask("/v2/models/sleepy/ready")[0]), (True, 200))
        check("a later one", s.json("/sleepy", 3), (200, 6))


# --- streams


def deployments_stream():
    with Server(rims=1) as s:
        body = json.dumps({"prompt": "p", "count": 3, "pause": 0})
        status, data, answer = s.ask("/write", body)
        check("lines", (status, data, answer.getheader("Content-Type")), (200, b'"p0w"\n"p1w"\n"p2w"\n', "application/x-ndjson"))
        check("events", s.ask("/write", body, {"Accept": "text/event-stream"})[1], b'data: "p0w"\n\ndata: "p1w"\n\ndata: "p2w"\n\nevent: end\ndata:\n\n')
        check("none", s.ask("/write", '["p", 0, 0]')[:2], (200, b""))
        check("many", len(s.ask("/write", '["p", 20000, 0]')[1].splitlines()), 20000)
        lines = s.ask("/write", '["fail", 2, 0]')[1].splitlines()
        check("what it throws is the last line", (lines[:2], b"no more words" in lines[2]), ([b'"fail0w"', b'"fail1w"'], True))
        check("a value that does not fit", s.ask("/write", '["p", "x", 0]')[0], 400)
        # values come while the others are made
        c = s.connect()
        begin = time.monotonic()
        c.request("POST", "/write", '["p", 4, 150]')
        answer = c.getresponse()
        first = answer.readline()
        at_first = time.monotonic() - begin
        rest = answer.read()
        check("the first value comes first", (first, len(rest.splitlines()), at_first < 0.75 * (time.monotonic() - begin)), (b'"p0w"\n', 3, True))
        # the client goes, and the generator with it
        before = report(s, "writer")["served"]
        gone = s.connect()
        gone.request("POST", "/write", '["p", 100000, 5]')
        answer = gone.getresponse()
        answer.readline()
        check("it counts as running", report(s, "writer")["running"], 1)
        answer.close()
        gone.close()
        until("the generator ends", lambda: report(s, "writer")["running"] == 0)
        its = report(s, "writer")
        check("it was not answered", (its["served"], its["cancelled"]), (before, 1))


# --- tensors


def a_tensor_is_one_request():
    with Server() as s:
        rows = 6000
        status, answer = infer(s, "double", tensor("INT32", list(range(rows))))
        check("rows", (status, answer["outputs"][0]["data"] == [2 * i for i in range(rows)]), (200, True))
        its = report(s, "double")
        check("counted once", (its["served"], its["queued"], its["running"]), (1, 0, 0))
        x = {"name": "x", "shape": [3000, 2], "datatype": "FP32", "data": [1] * 6000}
        check("a batched method", len(infer(s, "linear", x)[1]["outputs"][0]["data"]), 6000)
        check("in slices of .max_batch", report(s, "linear")["batches"], 3000 // 8)
        big = s.connect()
        big.request("POST", "/v2/models/wait/infer", json.dumps({"inputs": [tensor("INT32", [1] * 600)]}))
        until("it runs", lambda: any(r["under_way"] for r in s.json("/api/status")[1]["routes"] if r["path"] == "/wait"))
        check("another route beside it", s.json("/double", 4), (200, 8))
        check("it is answered", big.getresponse().status, 200)


def what_does_not_fit_is_400():
    with Server() as s:
        for what, path, body in (
            ("a number", "/add", '[1e400, 1]'),
            ("in an array", "/linear", "[1, 1e39]"),
            ("nested", "/rows", "[[1, 1e39], [1, 2]]"),
            ("below", "/linear", "[-1e39, 1]"),
        ):
            check(what + " is too large for its type", s.ask(path, body)[0], 400)
        check("in a tensor", infer(s, "linear", {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 1e39]})[0], 400)
        for kind, number in (("INT8", 300), ("INT8", -129), ("UINT8", -1), ("UINT8", 256), ("INT16", 40000), ("INT32", 2**40)):
            check(f"{number} is no {kind}", infer(s, "double", tensor(kind, [number]))[0], 400)
        x = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": [[1, 2], [3, 4], [5, 6]]}
        check("nested data of another form", infer(s, "linear", x)[0], 400)
        x = {"name": "x", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3], "parameters": None}
        status, answer = infer(s, "linear", x, id=None, outputs=None, parameters=None)
        check("members that are null count as absent", (status, "id" in answer), (200, False))
        check("no rows", infer(s, "linear", dict(x, shape=[0, 3], data=[]))[1]["outputs"][0]["shape"][0], 0)
        s.ask("/api/deployments/double/update", "")
        status, answer = infer(s, "double", tensor("INT32", [4]))
        check("the version is the deployment's", (answer["model_version"], s.json("/v2/models/double")[1]["versions"]), ("2", ["2"]))
        check("an old version", infer(s, "double/versions/1", tensor("INT32", [4]))[0], 404)
        check("the present one", infer(s, "double/versions/2", tensor("INT32", [4]))[0], 200)


# --- who may ask


def pages_of_other_sites_are_refused():
    with Server(unix=False, hosts="proxy.example") as s:
        ours = f"http://localhost:{s.port}"
        for origin, status in (
            (ours, 200),
            (f"http://127.0.0.1:{s.port}", 200),
            ("http://proxy.example", 200),
            ("null", 403),
            ("http://203.0.113.9", 403),
            ("http://evil.example", 403),
            (f"http://localhost:{s.port + 1}", 403),
            (f"https://localhost:{s.port}", 403),
            ("http://[::1].evil.example", 403),
            (f"http://localhost.evil.example:{s.port}", 403),
        ):
            check("Origin: " + origin, s.ask("/double", "1", {"Origin": origin})[0], status)
        for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
            check("GET with Sec-Fetch-Site: " + site, s.ask("/greet", headers={"Sec-Fetch-Site": site})[0], status)
        check("a link to a page", s.ask("/status", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})[0], 200)
    with Server(unix=False, cors="https://app.example") as s:
        origin = {"Origin": "https://app.example"}
        status, _, answer = s.ask("/double", "4", origin)
        check("CORS", (status, answer.getheader("Access-Control-Allow-Origin")), (200, "https://app.example"))
        asked = dict(origin, **{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"})
        status, _, answer = s.ask("/double", None, asked, method="OPTIONS")
        check("preflight", (status, answer.getheader("Access-Control-Allow-Methods"), answer.getheader("Access-Control-Allow-Headers")), (204, "POST, OPTIONS", "content-type"))
        check("others", s.ask("/double", "4", {"Origin": "https://other.example"})[0], 403)


def health_and_metrics_need_no_token():
    paths = ("/v2/health/live", "/v2/health/ready", "/metrics", "/v2/models/double/ready")
    with Server(token="tea") as s:
        check("open", [s.ask(p)[0] for p in paths], [200] * 4)
        check("others need it", [s.ask(p)[0] for p in ("/greet", "/api/status", "/status", "/v2", "/openapi.json")], [401] * 5)
    with Server(token="tea", closed_health=1) as s:
        check("closed by an option", [s.ask(p)[0] for p in paths], [401] * 4)


# --- what handlers can say and read


def handlers_say_statuses():
    with Server(rims=1) as s:
        status, data, answer = s.ask("/refuse", "-1")
        check("http_error", (status, json.loads(data)["error"], answer.getheader("X-Reason")), (422, "the amount is below 0", "amount"))
        status, answer = s.json("/refuse", 12)
        check("an exception with a status", (status, answer["error"]), (404, "there is no item 12 in shop.db"))
        check("neither", s.json("/refuse", 3), (200, 3))
        check("path and query", [s.ask(p)[1] for p in ("/items/7", "/items/7?k=3")], [b'"7:-"', b'"7:3"'])
        check("a path that does not fit", s.ask("/items/seven")[0], 400)
        status, data, answer = s.ask("/whole?k=%20v", b"\0\xff", {"X-Colour": "red"})
        check("the whole request", (status, data, answer.getheader("X-Answer")), (202, b"POST /whole red  v 2", "yes"))
        check("other methods", s.ask("/whole", method="DELETE")[:2], (202, b"DELETE /whole   0"))
        boundary = "xyz"
        form = "".join(f'--{boundary}\r\nContent-Disposition: form-data; name="{n}"{more}\r\n\r\n{data}\r\n' for n, more, data in (("a", "", "1"), ("f", '; filename="p.png"\r\nContent-Type: image/png', "\x89PNG")))
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        check("a form with a file", json.loads(s.ask("/form", (form + f"--{boundary}--\r\n").encode("latin-1"), kind)[1]), ["a///1", "f/p.png/image/png/4"])
        check("a form of pairs", json.loads(s.ask("/form", "a=1&b=x%20y", {"Content-Type": "application/x-www-form-urlencoded"})[1]), ["a///1", "b///3"])
        check("no form", s.ask("/form", "{}", {"Content-Type": "application/json"})[0], 415)
        check("a form without an end", s.ask("/form", form.encode("latin-1"), kind)[0], 400)
        status, data, answer = s.ask("/picture")
        check("a picture", (status, data, answer.getheader("Content-Type")), (200, b"\x89PNG\0\n", "image/png"))
        check("a thrown int", [s.ask(p, "3")[0] for p in ("/number", "/number/here")], [500, 500])
        check("the server goes on", s.ask("/v2/health/live")[0], 200)


def answers_that_cannot_be_sent_are_500():
    with Server(rims=1) as s:
        def status_and_error(*values):
            status, data, answer = s.ask("/answer", json.dumps(values))
            check("no field of the value's", answer.getheader("X-Other"), None)
            return status, data.decode()

        check("one that can", s.ask("/answer", json.dumps([299, "X-Mine", "a\tb"]))[0], 299)
        for values, words in (
            ((100, "X", "y"), "the status 100; those of an answer are 200 to 599"),
            ((-5, "X", "y"), "the status -5"),
            ((200, "X", "y\r\nX-Other: 1"), 'the header field \\"X\\", whose value has a line break'),
            ((200, "X Y", "y"), 'the header field \\"X Y\\", whose name is none'),
            ((200, "content-length", "7"), "the header field Content-Length, which the server sets"),
        ):
            status, text = status_and_error(*values)
            check(f"{values}", (status, words in text), (500, True))
        check("the rest of a path", s.ask("/users/B%C3%B6/7?x=1")[:2], (200, '"Bö/7"'.encode()))


def operations_have_ids_of_their_own():
    with Server(rims=1) as s:
        ids = [operation["operationId"] for path in s.json("/openapi.json")[1]["paths"].values() for operation in path.values()]
        check("each once", sorted(set(ids)), sorted(ids))


def a_circle_of_deployments_ends_after_the_answer_time():
    with Server(rims=1, answer_time=400) as s:
        check("as long as there is room", s.json("/round", 1), (200, 1))
        check("a circle", s.json("/round", 5)[0], 504)
        check("goes on", s.json("/round", 1), (200, 1))


def tasks_change_deployments():
    with Server(load=1) as s:
        check("a task finds it", s.json("/update", "loaded"), (200, "loaded"))
        check("a new version", report(s, "loaded")["version"], 2)
        check("no such deployment", s.json("/update", "nobody")[0], 500)
    if RANKS < 4:
        return
    with Server(load=1) as s:  # what one rank gave a version is there when that rank has died
        def place():
            status, answer = s.json("/loaded", 0)
            return tuple(answer) if status == 200 else (0, 0)  # its process, and its rank

        rank = place()[1]
        os.kill(s.json("/update/from", rank)[1], signal.SIGKILL)
        until("answered elsewhere", lambda: place()[1] not in (0, rank))
        process, there = place()
        os.kill(process, signal.SIGKILL)
        until("made again", lambda: place()[1] not in (0, rank, there))


def an_update_is_taken_back_when_its_caller_goes():
    if RANKS < 4:
        return
    file = os.path.join(FOLDER, "held")
    open(file, "w").close()
    with Server(held=file) as s:
        os.remove(file)
        gone = s.connect()
        gone.request("POST", "/api/deployments/held/update")
        until("the constructor runs", lambda: "version 2" in report(s, "held")["change"])
        gone.close()
        until("the update has ended", lambda: report(s, "held")["change"] == "")
        check("answered", s.json("/held", 0)[0], 200)
        open(file, "w").close()  # the constructor returns, and its rank takes replicas again
        check("another update", s.ask("/api/deployments/held/update", "")[0], 200)
        check("a new version", report(s, "held")["version"], 2)


def no_replica_lives_beside_a_server_that_takes_none():
    if RANKS < 4:
        return
    with Server(no_replicas=1, load=1, replicas=5) as s:
        until("all live elsewhere", lambda: 0 not in {each["rank"] for each in report(s, "loaded")["each"]})
        check("they answer", {s.json("/loaded", 0)[1][1] for _ in range(20)} & {0}, set())


def what_is_under_way_has_the_drain_time():
    with Server(rims=1, drain_time=300) as s:
        c = s.connect()
        c.request("POST", "/write", '["slow", 1000, 20]')
        c.getresponse().read(10)
        begin = time.monotonic()
        s.process.send_signal(signal.SIGTERM)
        s.wait_for("still answered")
        until("the server ends", lambda: s.process.poll() is not None)
        check("soon", time.monotonic() - begin < 15, True)


def the_end_of_the_allocation_ends_the_server():
    if RANKS > 1:
        return
    os.environ.update(MANTA_END_TIME=str(int(time.time()) + 6), MANTA_END_MARGIN="60")  # of which a tenth counts
    with Server(ends=None) as s:
        del os.environ["MANTA_END_TIME"], os.environ["MANTA_END_MARGIN"]
        check("serves", s.json("/double", 2), (200, 4))
        s.wait_for("no longer serving")


def requests_have_ids_and_lines_in_the_log():
    log = os.path.join(FOLDER, "access.log")
    with Server(rims=1, access_log=log, token="tea") as s:
        status, _, answer = s.ask("/double?token=tea", "1", {"X-Request-Id": "abc-1"})
        check("the client's id", (status, answer.getheader("X-Request-Id")), (200, "abc-1"))
        status, data, answer = s.ask("/fail?token=tea", "1", {"X-Request-Id": "abc-2"})
        check("in errors", (status, json.loads(data)["request_id"]), (500, "abc-2"))
        first, second = (s.ask("/double?token=tea", "1")[2].getheader("X-Request-Id") for _ in range(2))
        check("an id of the server's", (len(first) > 8, first != second), (True, True))
        bad = s.ask("/double?token=tea", "1", {"X-Request-Id": 'a"b c'})[2].getheader("X-Request-Id")
        check("an id that could break the log", bad == 'a"b c', False)
        s.ask("/double?a=1&token=tea", "1")
    with open(log) as file:
        lines = file.read().splitlines()
    check("lines", (len(lines), '"POST /double?token=... HTTP/1.1" 200 ' in lines[0], " abc-1" in lines[0]), (6, True, True))
    check("what was thrown", "no luck with 1" in lines[1], True)
    check("the token is in none", any("tea" in line for line in lines), False)
    with Server(access_log=log + ".json", log_as_json=1) as s:
        s.ask("/double", "21")
    with open(log + ".json") as file:
        entry = json.loads(file.readline())
    check("as JSON", (entry["path"], entry["status"], entry["bytes"]), ("/double", 200, 2))


def errors_tell_no_places():
    with Server() as s:
        text = s.json("/fail", 3)[1]["error"]
        check("short", text, "no luck with 3")
    with Server(detailed_errors=1) as s:
        check("on request", "on rank" in s.json("/fail", 3)[1]["error"], True)


def metrics_have_queues_and_replicas():
    with Server() as s:
        s.json("/double", 1)
        s.ask("/nothing")
        text = s.ask("/metrics")[1].decode()
        for name in ("replicas", "replicas_wanted", "queue", "running", "served_total", "failed_total", "refused_total", "batches_total", "ready"):
            check(name, f'manta_deployment_{name}{{deployment="double"}}' in text, True)
        check("served", metric(s, 'manta_deployment_served_total{deployment="double"}'), 1)
        check("404s", metric(s, 'manta_http_answers_total{route="",code="404"}'), 1)


# --- messages


def gzip_is_read_and_written():
    with Server() as s:
        packed = gzip.compress(b"21")
        status, data, _ = s.ask("/double", packed, {"Content-Encoding": "gzip"})
        if status == 415:
            return check("built without zlib", "gzip" in json.loads(data)["error"], True)
        check("a body", (status, data), (200, b"42"))
        check("broken", s.ask("/double", packed[:-4], {"Content-Encoding": "gzip"})[0], 400)
        check("another coding", s.ask("/double", b"21", {"Content-Encoding": "br"})[0], 415)
        check("too long when expanded", s.ask("/shout", gzip.compress(b" " * (1 << 21)), {"Content-Encoding": "gzip"})[0], 413)
        long = json.dumps("x" * 5000)
        status, data, answer = s.ask("/shout", long, {"Accept-Encoding": "gzip"})
        check("an answer", (answer.getheader("Content-Encoding"), len(data) < 500, gzip.decompress(data)[:3]), ("gzip", True, b'"xx'))
        check("who does not ask", s.ask("/shout", long)[2].getheader("Content-Encoding"), None)


def messages_have_one_meaning():
    host = b"Host: localhost\r\n"
    post = b"POST /double HTTP/1.1\r\n" + host

    def codes(data):
        return [int(part[:3]) for part in s.raw(data, half_close=True).split(b"HTTP/1.1 ")[1:]]

    with Server() as s:
        for size in (b"0x2", b"+2", b" 2", b"2_0", b"-2", b""):
            check(f"a chunk of {size}", codes(post + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\n21\r\n0\r\n\r\n"), [400])
        check("a chunk with an extension", codes(post + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n21\r\n0\r\n\r\n"), [200])
        check("a folded field", codes(post + b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n21"), [400])
        check("close in a list", codes((post + b"Connection: keep-alive, close\r\nContent-Length: 2\r\n\r\n21") * 2), [200])
        check("an empty line before a request", codes(b"\r\n" + post + b"Content-Length: 2\r\n\r\n21"), [200])
        got = s.raw(b"CONNECT localhost:1 HTTP/1.1\r\n" + host + b"\r\n")  # and closes
        check("CONNECT", (got[9:12], b"{" in got), (b"501", True))
        check("a proxy's probe", s.raw(b"GET /v2/health/ready HTTP/1.0\r\n\r\n")[9:12], b"200")
        check("a zero in a field", codes(post + b"X: a\0b\r\nContent-Length: 2\r\n\r\n21"), [400])
        check("a zero behind the JSON", s.ask("/double", b"21\0")[0], 400)
        got = s.raw(b"GET / HTTP/3.7\r\n\r\n", half_close=True)
        check("errors have one form", json.loads(got.split(b"\r\n\r\n")[1]).keys() >= {"error"}, True)
        check("an expectation", codes(post + b"Expect: magic\r\nContent-Length: 2\r\n\r\n21"), [417])


def limits_hold():
    with Server(max_connections=20, max_body=3_000_000, max_bodies=8_000_000) as s:
        idle = [s.connect() for _ in range(40)]
        [c.connect() for c in idle]
        begin = time.monotonic()
        check("the longest idle connection gives way", s.json("/double", 4), (200, 8))
        check("at once", time.monotonic() - begin < 5, True)
        [c.close() for c in idle]
        half = [s.connect() for _ in range(8)]
        for c in half:
            c.connect()
            c.sock.sendall(b"POST /double HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2500000\r\n\r\n")
        answers = 0
        for c in half:
            try:
                c.sock.sendall(b" " * 2_000_000)
            except OSError:
                answers += 1  # refused while it still sends
        time.sleep(0.3)
        check("bodies of all together", s.json("/double", 4), (200, 8))
        for c in half:
            c.sock.settimeout(0.2)
            try:
                answers += b" 503 " in c.sock.recv(100)
            except OSError:
                pass
        check("some are refused", answers >= 3, True)
        [c.close() for c in half]
    with Server(max_body=20_000_000) as s:
        before = memory_of(s)
        begin = time.monotonic()
        check("many small arrays for an int", s.ask("/double", b"[" + b"[]," * 6_000_000 + b"1]")[0], 400)
        check("soon", time.monotonic() - begin < 5, True)
        check("without much memory", memory_of(s) - before < 200, True)


def memory_of(s):
    """The largest process of the server, in MiB."""
    found = 0
    for pid in subprocess.run(["pgrep", "-f", s.socket], stdout=subprocess.PIPE, text=True).stdout.split():
        try:
            with open(f"/proc/{pid}/status") as file:
                found = max(found, max(int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM")))
        except (OSError, ValueError):
            pass
    return found


def files_are_only_files():
    folder = os.path.join(FOLDER, "served")
    os.makedirs(os.path.join(folder, ".git"))
    os.mkfifo(os.path.join(folder, "pipe"))
    for name in (".env", ".git/HEAD", "a.txt"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("x")
    os.mkdir(os.path.join(folder, "sub"))
    with open(os.path.join(folder, "sub", "index.html"), "w") as file:
        file.write("<h1>sub</h1>")
    with Server(files=folder) as s:
        check("files", [s.ask("/" + p)[0] for p in ("a.txt", "pipe", ".env", ".git/HEAD")], [200, 404, 404, 404])
        status, data, answer = s.ask("/a.txt", method="HEAD")
        check("HEAD", (status, data, answer.getheader("Content-Length")), (200, b"", "1"))
        check("a part of a file is answered with the whole", s.ask("/a.txt", headers={"Range": "bytes=0-0"})[:2], (200, b"x"))
        status, _, answer = s.ask("/sub?a=1")
        check("a folder", (status, answer.getheader("Location"), s.ask("/sub/")[1]), (301, "/sub/?a=1", b"<h1>sub</h1>"))
        for path in ("/a.txt", "/status", "/metrics"):
            status, _, answer = s.ask(path, "x")
            check("POST of " + path, (status, answer.getheader("Allow")), (405, "GET, HEAD"))
        check("the server goes on", s.ask("/v2/health/live")[0], 200)


# --- several servers


def told_by_command(port):
    """The exit status of `manta-serve status`, and how many servers it names."""
    status, text = manta_serve("status", str(port), token="")
    return status, text.count("http://127.0.0.1:")


def three_ports_in_a_row():
    """The first of three free ports, below those that the system gives to whoever asks for any port."""
    while True:
        first = random.randrange(20000, 30000)
        try:
            for port in range(first, first + 3):
                with socket.socket() as free:
                    free.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass


def servers_on_several_ranks_have_the_same_routes():
    if RANKS < 4:
        return
    port = three_ports_in_a_row()
    with Server(unix=False, ranks=1, port=port) as s:
        check("what cannot be sent is refused", "what /mine calls cannot be sent to the servers on other ranks" in s.text(), True)
        ports = [port, port + 1, port + 2]
        urls = [(rank, "http://127.0.0.1:%d" % each) for rank, each in enumerate(ports)]
        # A status does not wait for a server whose rank is slow to answer.
        until("ranks, and ports that follow the first one",
              lambda: [(each["rank"], each["url"]) for each in s.json("/api/status")[1]["servers"]] == urls)
        for i, each in enumerate(ports):
            c = http.client.HTTPConnection("127.0.0.1", each, timeout=30)
            check("a deployment", s.ask("/double", "21", connection=c)[:2], (200, b"42"))
            check("a function", s.ask("/add", "[1, 2]", connection=c)[:2], (200, b"3"))
            check("a stream", s.ask("/count", "2", connection=c)[:2], (200, b"0\n1\n"))
            check("a lambda", s.ask("/here", "5", connection=c)[:2], (200, b"5"))
            check("tensors", s.ask("/v2/models/double/infer", json.dumps({"inputs": [tensor("INT32", [4])]}), connection=c)[0], 200)
            check("an error", s.ask("/fail", "3", connection=c)[0], 500)
            c.close()
        until("one status for all", lambda: told_by_command(port) == (0, 3))
        until("each has answered", lambda: [each["answered"] > 0 for each in s.json("/api/status")[1]["servers"]] == [True] * 3)
        until("no replica lives beside a server", lambda: {r["rank"] for r in report(s, "double")["each"]} == {3})


# --- by hand


def manta_serve(*arguments, token="tea"):
    environment = dict(os.environ, MANTA_SERVE_TOKEN=token)
    done = subprocess.run([sys.executable, MANTA_SERVE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, timeout=60)
    return done.returncode, done.stdout + done.stderr


def the_command_line_changes_deployments():
    with Server(unix=False, token="tea") as s:
        at = str(s.port)
        status, text = manta_serve("status", at)
        check("status", (status, "double: ready, version 1, 1 of 1 replica" in text), (0, True))
        check("update", manta_serve("update", at, "double"), (0, "double: update: done\n"))
        check("a canary", manta_serve("update", "--weight", "0.5", f"http://127.0.0.1:{at}", "double")[0], 0)
        check("in the status", "version 3 has 50 % of the requests" in manta_serve("status", at)[1], True)
        check("its part", manta_serve("canary", "--weight", "0.25", at, "double")[0], 0)
        check("as JSON", json.loads(manta_serve("status", "--json", at)[1])["routes"][0]["deployment"]["versions"][1]["weight"], 0.25)
        check("promote", manta_serve("promote", at, "double")[0], 0)
        status, text = manta_serve("rollback", at, "double")
        check("rollback without a canary", (status, "it has no canary" in text), (1, True))
        check("no such deployment", manta_serve("drain", at, "nobody")[0], 1)
        check("which one", (manta_serve("drain", at)[0], manta_serve("canary", at, "double")[0]), (2, 2))
        check("drain", manta_serve("drain", at, "double")[0], 0)
        check("it takes no more", (s.ask("/double?token=tea", "1")[0], manta_serve("status", at)[0]), (503, 1))
        check("a wrong token", manta_serve("status", at, token="coffee")[0], 1)
    check("nobody there", manta_serve("status", at)[0], 3)
    with Server(unix=False) as s:
        status, text = manta_serve("update", str(s.port), "double", token="")
        check("without a token anybody could", (status, "need a server with a .token" in text), (1, True))
    with Server() as s:
        check("on a Unix socket", manta_serve("check", s.socket, "double"), (0, "double: check: done\n"))


def an_application_from_a_file():
    path = os.path.join(FOLDER, "application.json")
    with open(path, "w") as file:
        json.dump({"http": {"idle_time_ms": 5000, "max_body": 100}, "deployments": [{"name": "double", "replicas": 2}]}, file)
    with Server(application=path) as s:
        check("its limit", s.ask("/shout", json.dumps("x" * 200))[0], 413)
    with open(path, "w") as file:
        json.dump({"http": {"max_bodi": 100}}, file)
    done = subprocess.run([sys.argv[2], "application=" + path], stderr=subprocess.PIPE, text=True, timeout=60)
    check("a mistake in it", 'there is no option "max_bodi"; there are port, address' in done.stderr, True)


run((
    a_client_that_leaves_is_noticed,
    a_call_that_does_not_return_ends_with_504,
    a_call_that_does_not_return_ends_with_504_beside_its_queue,
    what_does_not_answer_is_shown_with_its_age,
    the_time_of_a_call_begins_when_it_runs,
    a_value_that_does_not_come_ends_its_stream,
    an_update_never_stops_the_deployment,
    a_constructor_that_fails_is_tried_with_pauses,
    a_deployment_may_have_no_replica_until_somebody_asks,
    deployments_stream,
    a_tensor_is_one_request,
    what_does_not_fit_is_400,
    pages_of_other_sites_are_refused,
    health_and_metrics_need_no_token,
    handlers_say_statuses,
    answers_that_cannot_be_sent_are_500,
    operations_have_ids_of_their_own,
    a_circle_of_deployments_ends_after_the_answer_time,
    tasks_change_deployments,
    an_update_is_taken_back_when_its_caller_goes,
    no_replica_lives_beside_a_server_that_takes_none,
    what_is_under_way_has_the_drain_time,
    requests_have_ids_and_lines_in_the_log,
    the_end_of_the_allocation_ends_the_server,
    errors_tell_no_places,
    metrics_have_queues_and_replicas,
    gzip_is_read_and_written,
    messages_have_one_meaning,
    limits_hold,
    files_are_only_files,
    servers_on_several_ranks_have_the_same_routes,
    the_command_line_changes_deployments,
    an_application_from_a_file,
))
