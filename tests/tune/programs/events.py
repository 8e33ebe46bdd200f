#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Reads a TensorBoard event file without any code of manta: frames, both checksums of each record, protocol buffers.

    events.py FILE...      prints "step tag value" of each scalar; non-zero if anything is wrong

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


def main():
    for path in sys.argv[1:]:
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
                    print(event.get(2, 0), scalar[1].decode(), f"{scalar[2]:.6g}")


main()
