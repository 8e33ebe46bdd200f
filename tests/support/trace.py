# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Reads a trace back, with nothing but Python's json (or google.protobuf), and checks what holds for every trace.

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


# Perfetto's messages, as far as manta writes them: fields by number. A name with `*` is repeated.
SCHEMA = {
    "Trace": {1: "*packet Packet"},
    "Packet": {8: "timestamp uint64", 10: "sequence uint32", 11: "event Event", 12: "interned Interned", 13: "flags uint32",
               60: "track Track"},
    "Event": {4: "*arguments Argument", 9: "type int32", 10: "name uint64", 11: "track uint64", 44: "value double",
              47: "*flows fixed64", 48: "*last_flows fixed64"},
    "Argument": {2: "flag bool", 3: "number uint64", 5: "real double", 6: "text string", 7: "pointer uint64", 10: "name string"},
    "Interned": {2: "*names Name"},
    "Name": {1: "number uint64", 2: "text string"},
    "Track": {1: "id uint64", 2: "name string", 3: "process Process", 4: "thread Thread", 5: "parent uint64", 8: "counter Counter"},
    "Process": {1: "pid int32", 6: "name string"},
    "Thread": {1: "pid int32", 2: "tid int32", 5: "name string"},
    "Counter": {},
}


def perfetto_messages():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="trace.proto", package="t")
    for name, fields in SCHEMA.items():
        message = file.message_type.add(name=name)
        for number, text in fields.items():
            field_name, kind = text.lstrip("*").split()
            label = 3 if text.startswith("*") else 1
            field = message.field.add(name=field_name, number=number, label=label)
            if kind in SCHEMA:
                field.type, field.type_name = 11, ".t." + kind
            else:
                field.type = {"double": 1, "uint64": 4, "int32": 5, "fixed64": 6, "bool": 8, "string": 9, "uint32": 13}[kind]
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("t.Trace"))


def value_of(argument):
    return next(value for field, value in argument.ListFields() if field.name != "name")


class Perfetto:
    """Reads a trace in Perfetto's format as if it were JSON."""

    def __init__(self, path):
        with open(path, "rb") as file:
            packets = perfetto_messages().FromString(file.read()).packet
        self.rows, self.tracks, self.names, self.open, self.events, self.about = {}, {}, {}, {}, [], None
        for packet in packets:
            for name in packet.interned.names:
                assert name.number not in self.names
                self.names[name.number] = name.text
            if packet.HasField("track"):
                self.add_track(packet.track)
            if packet.HasField("event"):
                self.add_event(packet, packet.event)
        assert not self.open, "a slice has no end"
        self.events.sort(key=lambda e: e.get("ts", -1))

    def add_track(self, track):
        assert track.id not in self.tracks
        self.tracks[track.id] = track
        if track.HasField("thread"):
            self.rows[track.id] = {"pid": track.thread.pid, "tid": track.thread.tid}
            self.events.append({"ph": "M", "name": "thread_name", **self.rows[track.id], "args": {"name": track.thread.name}})
        elif track.HasField("process"):
            self.events.append({"ph": "M", "name": "process_name", "pid": track.process.pid, "args": {"name": track.process.name}})

    def add_event(self, packet, event):
        assert packet.sequence == 1 and packet.flags & 2
        row, ts = self.rows.get(event.track, {}), packet.timestamp / 1000
        if event.type == 1:
            args = {a.name: value_of(a) for a in event.arguments}
            self.open[event.track] = {"ph": "X", "name": self.names[event.name], "ts": ts, "args": args, **row}
            for number in event.last_flows:
                self.events.append({"ph": "f", "id": number, "ts": ts, **row})
            self.open[event.track]["flows"] = list(event.flows)
        elif event.type == 2:
            slice_ = self.open.pop(event.track)
            if row:
                self.events.append({**slice_, "dur": ts - slice_["ts"]})
            for number in slice_.pop("flows"):
                self.events.append({"ph": "s", "id": number, "ts": ts, **row})
        elif event.type == 3 and self.names[event.name] == "about this trace":
            self.about = json.loads(event.arguments[0].text)
        elif event.type == 3:
            self.events.append({"ph": "i", "ts": ts, "name": self.names[event.name], **row})
        else:
            assert event.type == 4 and event.HasField("value") and self.tracks[event.track].HasField("counter")

    def trace(self):
        return {"traceEvents": self.events, "otherData": self.about}


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
    if path.endswith(".pftrace"):
        trace = Perfetto(path).trace()
    else:
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
