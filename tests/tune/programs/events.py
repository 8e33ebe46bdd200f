#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Reads a TensorBoard event file without any code of manta: frames, both checksums of each record, protocol buffers.

    events.py FILE...      prints "step tag value" of each scalar; non-zero if anything is wrong
    events.py --all FILE.. also the wall time in front of each, and what the plug-in HParams is told

The checksums are computed from the polynomial's definition (Castagnoli), and checked against the published check value.
"""
import struct
import sys

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        header = data[at : at + 12]
        if len(header) < 12:
            sys.exit(f"torn header at byte {at}")
        length, crc = struct.unpack("<QI", header)
        if masked(header[:8]) != crc:
            sys.exit(f"wrong checksum of the length at byte {at}")
        payload = data[at + 12 : at + 12 + length]
        if len(payload) < length or masked(payload) != struct.unpack("<I", data[at + 12 + length : at + 16 + length])[0]:
            sys.exit(f"wrong checksum of the payload at byte {at}")
        yield payload
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack("<d", data[at : at + 8])[0], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        elif kind == 5:
            value, at = struct.unpack("<f", data[at : at + 4])[0], at + 4
        else:
            sys.exit(f"wire type {kind}")
        yield tag >> 3, value


def value_of(message):
    """A google.protobuf.Value."""
    ((kind, value),) = fields(message)
    return {2: lambda: value, 3: lambda: value.decode(), 4: lambda: bool(value)}[kind]()


def hparams(summary):
    """What the plug-in's summaries say, by the field numbers of tensorboard/plugins/hparams/{plugin_data,api}.proto."""
    metadata = dict(fields(summary[9]))
    plugin = dict(fields(metadata[1]))
    if plugin[1] != b"hparams":
        sys.exit(f"a plug-in {plugin[1]}")
    content = dict(fields(plugin[2]))
    if content.get(1, 0) != 0 or len(content) != 1:
        sys.exit(f"plug-in data {content}")
    ((kind, message),) = content.items()
    result = []
    for key, value in fields(message):
        if kind == 2 and key == 4:
            info = dict(fields(value))
            where = [value_of(v) for _, v in fields(info[5])] if 5 in info else dict(fields(info[6])) if 6 in info else None
            result.append((info[1].decode(), {1: "text", 2: "truth", 3: "number"}[info[4]], where))
        elif kind == 2 and key == 5:
            result.append(dict(fields(dict(fields(value))[1]))[2].decode())
        elif kind == 3 and key == 1:
            entry = dict(fields(value))
            result.append((entry[1].decode(), value_of(entry[2])))
        elif kind == 4 and key == 1:
            result.append({1: "success", 2: "failure"}[value])
        elif (kind, key) in ((2, 3), (3, 5), (4, 2)):
            if not value > 1e9:
                sys.exit(f"time {value}")
        else:
            sys.exit(f"member {key} of {kind}")
    if {2: b"_hparams_/experiment", 3: b"_hparams_/session_start_info", 4: b"_hparams_/session_end_info"}[kind] != summary[1]:
        sys.exit(f"tag {summary[1]}")
    return {2: "experiment", 3: "begin", 4: "end"}[kind] + " " + repr(result)


def main():
    everything = sys.argv[1] == "--all"
    for path in sys.argv[1 + everything :]:
        with open(path, "rb") as file:
            data = file.read()
        for number, payload in enumerate(records(data)):
            event = dict(fields(payload))
            if number == 0:
                if event.get(3) != b"brain.Event:2":
                    sys.exit(f"{path}: the first record has no version")
                continue
            if not event[1] > 1e9:
                sys.exit(f"{path}: wall time {event[1]}")
            for key, value in fields(event[5]):
                if key == 1:
                    scalar = dict(fields(value))
                    if everything:
                        print(f"{event[1]:.1f}", end=" ")
                    if 9 in scalar:
                        text = hparams(scalar)
                        if everything:
                            print(text)
                        continue
                    print(event.get(2, 0), scalar[1].decode(), f"{scalar[2]:.6g}")


main()
