# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""mpirun or srun: its command line, and what has to be kept from the user of what it says."""
import os
import re
import shutil
import socket
import subprocess

from .process import NOISE_FILE, give_up


class Launcher:
    """mpirun or srun: its command line and what it calls itself."""

    def __init__(self, options):
        mpirun = os.environ.get("MPIRUN", "mpirun")
        name = options.launcher or ("mpirun" if shutil.which(mpirun) else "srun")
        if name not in ("mpirun", "srun"):
            give_up("there is no launcher '%s': --launcher (or MANTA_LAUNCHER) is mpirun or srun" % name)
        self.name = name
        program = mpirun if name == "mpirun" else "srun"
        if not shutil.which(program):
            give_up("there is no program '%s' on %s: load the module of Open MPI or Slurm that has it, or name the other "
                    "launcher with --launcher" % (program, socket.gethostname()))
        self.options = (self.for_mpirun if name == "mpirun" else self.for_srun)(program, options)
        self.command = [program] + self.options + options.pass_through

    @staticmethod
    def for_mpirun(program, options):
        done = subprocess.run([program, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        version = re.search(r"Open MPI\)?\s+v?(\d+)\.(\d+)", done.stdout)
        if not version:
            give_up("%s is not Open MPI's, which manta needs; it calls itself '%s'"
                    % (shutil.which(program), (done.stdout.splitlines() or ["nothing"])[0]))
        result = []
        if options.recovery:
            result = ["--enable-recovery"] if int(version.group(1)) < 5 else ["--with-ft", "ulfm"]
        if not any(job in os.environ for job in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")):  # nobody else's cores
            os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
            os.environ.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        words = options.pass_through
        counts = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-n", "-np", "--np", "-c")]
        if counts and counts[-1] in ("1", "2"):  # these Open MPI binds to one core each, which all threads of a rank share
            os.environ.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
            os.environ.setdefault("PRTE_MCA_hwloc_default_binding_policy", "none")
        for variable in sorted(os.environ):
            if variable.startswith("MANTA_") and variable != "MANTA_LAUNCHER":
                result += ["-x", variable]
        return result

    @staticmethod
    def for_srun(_, options):
        result = []
        if "SLURM_MPI_TYPE" not in os.environ and not any(o.startswith("--mpi") for o in options.pass_through):
            result.append("--mpi=pmix")
        if options.recovery:
            result += ["--kill-on-bad-exit=0", "--no-kill"]
        return result

class Noise:
    """What PMIx says in mpirun, line by line, but for an error that it reports of itself whenever a rank ends with recovery
    (Open MPI 4.1 and PMIx 4.2): Ctrl-C gave one for each rank. Only where mpirun's environment stays on this machine, for the
    number of a file means nothing elsewhere."""

    LINE = re.compile(rb"\[[^]]*\] PMIX ERROR: BAD-PARAM in file \S*pmix_event_notification\.c at line \d+\s*$")

    def __init__(self):
        self.file, self.its_end = os.pipe()
        os.set_blocking(self.file, False)
        self.buffer = b""

    @staticmethod
    def is_wanted(daemons):
        many = int(os.environ.get("SLURM_JOB_NUM_NODES") or 1) > 1 or "PBS_JOBID" in os.environ or "LSB_JOBID" in os.environ
        return NOISE_FILE not in os.environ and (daemons or not many)

    def launched(self):
        os.close(self.its_end)
        os.environ.pop(NOISE_FILE)

    def hear(self):
        """False when there will be nothing more."""
        try:
            data = os.read(self.file, 4096)
        except BlockingIOError:
            return True
        *whole, self.buffer = (self.buffer + data).split(b"\n") if data else (self.buffer, b"")
        for line in whole:
            if line and not self.LINE.match(line):
                os.write(2, line + b"\n")
        return bool(data)
