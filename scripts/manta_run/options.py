# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The command line of manta-run."""
import mmap
import os
import shutil
import sys

from .process import give_up


USAGE = """\
usage: manta-run [options] [options of mpirun or srun] -- program [arguments]
       manta-run [options] [-n ranks] program [arguments]

  manta-run -n 4 ./program                       four ranks on this machine
  manta-run -- ./program                         in a Slurm job: all its ranks
  manta-run --map-by node -n 8 -- ./program -x   mpirun's own options
  manta-run --launcher srun -N 2 -- ./program    srun's

Starts the program by mpirun (Open MPI 4.1 or newer) or srun so that it can survive the death of a rank (outside of jobs
also more ranks than there are cores; one rank or two are not bound to one core each, unless --bind-to says so), and

  - ends with rank 0's exit status, 128 + n if signal n killed it. Where a rank fails and the program has not said that
    it survives this, the whole job is ended, with the status of that rank unless rank 0's is other than 0. For a rank
    that is lost, perhaps with its node, that is 75: another start may help;
  - says which rank died where and of what;
  - passes SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGUSR2 on to all ranks. A second SIGTERM or SIGINT half a
    second later ends the job, and so does the end of the time that the ranks have after the first: $MANTA_TERM_GRACE
    seconds (30; 0: any number) and 5 more;
  - ends what lingers when rank 0 has ended, and leaves no process, no shared memory and no file behind.

options:
  --launcher NAME   mpirun or srun; default: $MANTA_LAUNCHER, else mpirun if there is one, else srun
  --recovery        the launcher lets the job go on when a rank dies: --enable-recovery of Open MPI 4.1, --with-ft ulfm
                    of 5. Default: if the program's file has the name MANTA_RUN_FD in it
  --no-recovery     the launcher ends the job itself, as without manta-run
  --grace SECONDS   how long rank 0 may go on when another rank has ended with a status other than 0 (5)
  --linger SECONDS  how long other ranks and the launcher may go on when rank 0 has ended (10)
  --verbose         prints the launcher's command
  --help            prints this

$MPIRUN names another mpirun. All MANTA_* variables reach all ranks.

A program tells that it survives the death of ranks other than 0 by writing the line "survives" to the socket whose number
is in MANTA_RUN_FD, on rank 0; "survives kills" if it does only where a signal has killed the rank, "survives end" if it only
ends MPI, which may wait for that rank, "survives nothing" if a death ends the job from now on. From the first of these lines on
it can read there how other ranks have ended: "died RANK SIGNAL STATUS MEMORY TASK", the signal -1 if nobody knows, MEMORY 1 if
the kernel has killed for want of memory, and TASK, in hexadecimal, the first eight bytes of the page whose file descriptor is
in MANTA_RUN_PAGE. A rank that ends with status 0 while the next eight are not 0 has ended with 1. Where the program is a script or a library does the telling, add --recovery.
"""


def contains(path, text):
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(text) >= 0

class Options:
    def __init__(self, words):
        self.launcher = os.environ.get("MANTA_LAUNCHER", "")
        self.recovery, self.verbose, self.grace, self.linger = None, False, 5.0, 10.0
        self.pass_through = []
        if "--" in words:
            split = words.index("--")
            words, self.program = words[:split], words[split + 1:]
            simple = False
        else:
            self.program, simple = [], True
        while words:
            word, _, value = words.pop(0).partition("=")

            def argument():
                if not value and not words:
                    give_up("%s needs a value; see manta-run --help" % word)
                return value or words.pop(0)

            if word in ("-h", "--help"):
                sys.stdout.write(USAGE)
                sys.exit(0)
            elif word == "--launcher":
                self.launcher = argument()
            elif word in ("--recovery", "--no-recovery"):
                self.recovery = word == "--recovery"
            elif word == "--verbose":
                self.verbose = True
            elif word in ("--grace", "--linger"):
                text = argument()
                try:
                    setattr(self, word[2:], float(text))
                except ValueError:
                    give_up("%s wants a number of seconds, not '%s'" % (word, text))
            elif not simple:
                self.pass_through.append(word + (_ + value if _ else ""))
            elif word in ("-n", "-np"):
                self.pass_through += ["-n", argument()]
            elif word.startswith("-"):
                give_up("'%s' is no option of manta-run. For one of the launcher's put -- between its options and the "
                        "program: manta-run %s ... -- program" % (word, word))
            else:
                self.program, words = [word + (_ + value if _ else "")] + words, []
        if not self.program:
            give_up("there is no program to start: manta-run -n 4 ./program; see manta-run --help")
        file = shutil.which(self.program[0])
        if not file:
            why = "it is not executable" if os.path.isfile(self.program[0]) else "there is no such file"
            if os.sep not in self.program[0]:
                why = "it is not in PATH (a program of this folder is ./%s)" % self.program[0]
            give_up("cannot start '%s' in %s: %s" % (self.program[0], os.getcwd(), why), 127)
        if self.recovery is None:
            # With recovery nobody but the program notices a rank that leaves without MPI_Finalize, say by Fortran's STOP.
            self.recovery = contains(file, b"MANTA_RUN_FD")
