# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Slurm's commands, and its notations of times and sizes."""
import math
import os
import re
import subprocess
import sys


PROGRAM = os.path.abspath(sys.argv[0])  # manta-run is beside it

def give_up(text, status=2):
    sys.stderr.write("manta-slurm: %s\n" % text)
    sys.exit(status)

def call(*command):
    """(status, output, errors) of a command."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)
    except FileNotFoundError:
        give_up("there is no '%s' on this machine: this needs Slurm's own commands; go to a login node of the cluster" % command[0])
    return done.returncode, done.stdout, done.stderr.strip()

def ask(*command):
    """The output of a command of Slurm that has to succeed."""
    status, output, errors = call(*command)
    if status != 0:
        give_up("%s: %s" % (command[0], errors or "it failed with status %d" % status))
    return output

def fields(line):
    """`A=1 B=2` as scontrol prints it."""
    return dict(re.findall(r"(?:^| )([A-Za-z][\w:/]*)=(.*?)(?= [A-Za-z][\w:/]*=|$)", line.strip()))

def seconds(text):
    """Slurm's notations of a time, and 90s, 5m, 2h, 1d; None if it is none of them."""
    text = text.strip()
    match = re.match(r"(\d+) ?([smhd])$", text)
    if match:
        return int(match.group(1)) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[match.group(2)]
    match = re.match(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$", text)
    if not match:
        return None
    days, a, b, c = match.groups()
    a, b0, c0 = int(a), int(b or 0), int(c or 0)
    if days is not None:
        return int(days) * 86400 + a * 3600 + b0 * 60 + c0
    if c is not None:
        return a * 3600 + b0 * 60 + c0
    return a * 60 + b0  # minutes, or minutes:seconds

def clock(total):
    days, rest = divmod(int(total), 86400)
    text = "%02d:%02d:%02d" % (rest // 3600, rest % 3600 // 60, rest % 60)
    return "%d-%s" % (days, text) if days else text

def mebibytes(text):
    match = re.match(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$", text.strip(), re.IGNORECASE)
    if not match:
        return None
    return math.ceil(float(match.group(1)) * {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1 << 20}[match.group(2).upper()])
