# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The srun that mpirun finds in place of Slurm's when it starts its daemons."""
import fcntl
import glob
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from .process import AGAIN, SRUN_FOLDER, die_with_parent, forget_launcher, say
from .shared_memory import SharedMemory


class Daemons:
    """Stands in for srun when mpirun starts its daemons on the other nodes of a Slurm job with it.

    mpirun takes the end of srun for that of the job, and Slurm ends all that srun has started when one of its nodes dies.
    So a program that survives that gets an srun which does not mind, and which does not end before rank 0.
    """

    @staticmethod
    def prepare():
        """The folder for srun, the first of the path from now on; None where nobody needs it. It is locked as long as this
        process runs, and what others that were killed have left is taken away."""
        real = shutil.which("srun")
        if real is None or int(os.environ.get("SLURM_JOB_NUM_NODES") or 1) < 2:
            return None
        prefix = "manta-run.%d." % os.getuid()
        try:
            for path in glob.glob(os.path.join(tempfile.gettempdir(), prefix + "*")):
                SharedMemory.remove_unless_held(path)
            folder = tempfile.mkdtemp(prefix=prefix)
            fcntl.flock(os.open(folder, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX)
            with open(os.path.join(folder, "srun"), "w") as file:
                words = AGAIN + ["--daemons", folder, real]
                file.write("#!/bin/sh\nexec " + " ".join(shlex.quote(w) for w in words) + ' "$@"\n')
            os.chmod(file.name, 0o700)
        except OSError as e:
            say("nothing can be written for temporary files (%s), so the loss of a node will end the job when Slurm notices it; "
                "set TMPDIR to a folder that can" % e)
            return None
        os.environ[SRUN_FOLDER] = folder
        os.environ["PATH"] = folder + ":" + os.environ["PATH"]
        return folder

    @staticmethod
    def survives(folder):
        """The file that is there as long as rank 0 runs, in a program that has said that it survives."""
        return os.path.join(folder, "survives")

    @classmethod
    def note(cls, folder, rank_0_runs):
        try:
            if rank_0_runs:
                open(cls.survives(folder), "w").close()
            else:
                os.unlink(cls.survives(folder))
        except OSError:
            pass  # somebody has tidied up, and srun ends as it would without us

    @classmethod
    def run(cls, folder, program, *arguments):
        parent = os.getppid()
        forget_launcher()
        srun = subprocess.Popen([program, "--no-kill"] + list(arguments))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda n, _: srun.send_signal(n))
        status = srun.wait()
        die_with_parent(signal.SIGKILL, parent)
        while os.path.exists(cls.survives(folder)):
            time.sleep(0.05)
        return 128 - status if status < 0 else status
