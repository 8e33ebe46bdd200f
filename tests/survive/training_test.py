# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Trains fashion_mnist while its ranks are killed, of which each runs a worker and holds a shard of the parameters: it
reaches its accuracy all the same.

usage: training_test.py FASHION_MNIST
"""
import os
import sys
import time

from survive_test import finish, killed, last_of, ranks_of, start


def main(program):
    process = start(program, 4, ["--epochs", "3", "--min-accuracy", "0.85"], None)
    while b" images in " not in process.stdout.readline():  # then the training begins
        if process.poll() is not None:
            sys.exit("it did not start")
    for victim in (3, 1):
        time.sleep(0.5)
        if not killed(ranks_of(program)[victim]):
            sys.exit("the training was over before rank %d was killed" % victim)
    output = finish(process, program)
    print(output)
    if process.returncode != 0 or output.count("; what it had to do is done elsewhere") != 2:
        sys.exit("FAILED with status %d\n%s" % (process.returncode, last_of(output)))


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]))
