# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What manta-run has been called for: the job, one of its nodes, or mpirun's daemons on other nodes.

Each includes what it needs alone: every node of a job reads this.
"""
import signal

from .process import FORWARDED


def main(words):
    if words[:1] == ["--node"]:
        from .node import Node
        return Node(words[1:]).run()
    elif words[:1] == ["--daemons"]:
        from .daemons import Daemons
        return Daemons.run(*words[1:])
    else:
        from .job import Job
        from .options import Options
        job = Job(Options(words))
        try:
            status = job.run()
        finally:
            job.clean()
    for number in FORWARDED:
        signal.signal(number, signal.SIG_IGN)  # all is over: one that comes now must not change the status
    return status
