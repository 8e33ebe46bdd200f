# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Reads a trace back, with nothing but Python's json, and checks what holds for every trace.

  trace.py FILE [NAME=NUMBER...]

The numbers that the file has to have: `tasks`, `arrows`, `ranks`, `nodes`, `rows` (with tasks), `failures`, and
`tasks:FUNCTION`, the tasks of one function, whose name ends so; `calls:NAME`, the slices in the rows of the actor of
this name; `gangs`, those in the rows of gangs; `across`, the arrows from one rank to another. `most_bytes` is the size that it may have at most.
Prints what is wrong, a line each.
"""
import collections
import json
import os
import sys


def nanoseconds(microseconds):
    return round(1000 * microseconds)


def rows_of(events):
    rows = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            rows[e["pid"], e["tid"]].append(e)
    return rows


def mistakes_of_slices(rows):
    for (pid, tid), slices in rows.items():
        end = 0
        for s in slices:
            begin = nanoseconds(s["ts"])
            if begin < end:
                yield f"{s['name']} of row {tid} of node {pid} begins {end - begin} ns before the slice before it ends"
            end = begin + nanoseconds(s["dur"])


def mistakes_of_arrows(events, rows):
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    if begins.keys() != ends.keys():
        yield f"{len(begins)} arrows begin, {len(ends)} end"
    for number, s in begins.items():
        if number in ends and s["ts"] > ends[number]["ts"]:
            yield f"arrow {number} goes back in time"
    for e in list(begins.values()) + list(ends.values()):
        at = nanoseconds(e["ts"])
        inside = lambda x: nanoseconds(x["ts"]) <= at <= nanoseconds(x["ts"]) + nanoseconds(x["dur"])
        if not any(inside(x) for x in rows[e["pid"], e["tid"]]):
            yield f"arrow {e['id']} ends outside of any task"


def is_of_rank(row):
    return row.startswith("rank ") and "wait" not in row


def found_in(trace, path):
    events = trace["traceEvents"]
    found = collections.Counter()
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    begins = {e["id"]: e["tid"] for e in events if e["ph"] == "s"}
    found["across"] = sum(e["tid"] != begins.get(e["id"]) for e in events if e["ph"] == "f")
    for e in events:
        name = names.get((e["pid"], e.get("tid")), "") if e["ph"] == "X" else ""
        found["gangs"] += name.startswith("gangs")
        if name.startswith("actor "):
            found["calls:" + name.split("'")[1]] += 1
        if e["ph"] == "X" and e["tid"] % 2 == 1:
            tasks = e.get("args", {}).get("tasks", 1)
            found["tasks"] += tasks
            found["tasks:" + e["name"].removesuffix(" (many)").split("::")[-1]] += tasks
        found["arrows"] += e["ph"] == "s"
        found["failures"] += e["ph"] == "i"
        found["ranks"] += e["ph"] == "M" and e["name"] == "thread_name" and is_of_rank(e["args"]["name"])
        found["nodes"] += e["ph"] == "M" and e["name"] == "process_name"
    found["rows"] = len({(e["pid"], e["tid"]) for e in events if e["ph"] == "X" and e["tid"] % 2 == 1})
    found["bytes"] = os.path.getsize(path)
    return found


def main(path, wanted):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    times = [e["ts"] for e in events if "ts" in e]
    mistakes = [] if times == sorted(times) else ["the events are not in order of time"]
    rows = rows_of(events)
    mistakes += mistakes_of_slices(rows)
    mistakes += mistakes_of_arrows(events, rows)
    found = found_in(trace, path)
    if found["tasks"] != trace["otherData"]["tasks"]:
        mistakes.append(f"{found['tasks']} tasks in the slices, {trace['otherData']['tasks']} in the sum")
    for name, number in (w.rsplit("=", 1) for w in wanted):
        if name == "most_bytes" and found["bytes"] > int(number):
            mistakes.append(f"{found['bytes']} bytes, and not at most {number}")
        elif name != "most_bytes" and found[name] != int(number):
            mistakes.append(f"{name} is {found[name]} and not {number}")
    print("\n".join(mistakes[:20]), end="")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
