# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Trains fashion_mnist while its ranks are killed, of which each runs a worker and holds a shard of the parameters: it
reaches its accuracy all the same.

usage: training_test.py FASHION_MNIST
"""
import os
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../.."
LIMIT = 150  # seconds


def ranks_of(program):
    """Rank -> process."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            if os.readlink("/proc/%s/exe" % entry) == program:
                with open("/proc/%s/environ" % entry, "rb") as file:
                    variables = dict(v.split(b"=", 1) for v in file.read().split(b"\0") if b"=" in v)
                found[int(variables[b"OMPI_COMM_WORLD_RANK"])] = int(entry)
        except (OSError, KeyError):
            pass
    return found


def main(program):
    command = [ROOT + "/scripts/manta-run", "-n", "4", "--", program, "--epochs", "3", "--min-accuracy", "0.85"]
    job = subprocess.Popen(["timeout", str(LIMIT)] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, victims = "", [1, 3]
    for line in iter(job.stdout.readline, b""):
        output += line.decode(errors="replace")
        if (" images in " in output or "epoch 1 " in output) and victims:  # the training has begun
            time.sleep(0.5)
            os.kill(ranks_of(os.path.realpath(program))[victims.pop()], signal.SIGKILL)
    print(output)
    if job.wait() != 0 or victims or output.count("; what it had to do is done elsewhere") != 2 or ranks_of(os.path.realpath(program)):
        sys.exit("FAILED with status %d; %d ranks were still to be killed" % (job.returncode, len(victims)))


if __name__ == "__main__":
    main(sys.argv[1])
