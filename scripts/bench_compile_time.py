# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Measures for scripts/bench how long the compiler takes."""
import os
import shlex
import subprocess
import sys

from bench_report import errors_in, first_line, progress


def compiler_flags():
    for option in ("--showme:compile", "-compile_info"):  # Open MPI, MPICH
        out = subprocess.run(["mpicxx", option], capture_output=True, text=True)
        if out.returncode == 0:
            return [word for word in shlex.split(out.stdout) if word.startswith(("-I", "-D", "-p"))]
    sys.exit("scripts/bench: mpicxx does not tell its flags")


def measure_compile_time(question, names, runs, root, build, samples):
    """Processor seconds of the compiler, its assembler included: of programs, or of headers alone."""
    eigen = shlex.split(first_line("pkg-config", "--cflags", "eigen3")) or ["-I/usr/include/eigen3"]
    flags = ["-std=c++20", "-O0", "-c", "-DOMPI_SKIP_MPICXX", f"-I{root}/include", *compiler_flags()]
    build.mkdir(exist_ok=True)
    broken = set()
    for run in range(-1, runs):  # -1 warms the file cache
        progress(f"{question}: " + (f"run {run + 1} of {runs}" if run >= 0 else "warm-up"))
        for name in names if run % 2 == 0 else reversed(names):
            if name in broken:
                continue
            source = ["-x", "c++", "-include", name, os.devnull] if question == "headers" else \
                [str(root / "bench" / question / name)]
            command = [os.environ.get("CXX", "g++"), *flags, *(eigen if "eigen" in name else []), *source, "-o", os.devnull]
            with open(build / "compile_time.log", "w+", encoding="utf-8") as log:
                process = subprocess.Popen(command, stdout=log, stderr=log)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                if process.returncode != 0:
                    log.seek(0)
                    samples.fail(f"{question}: {name} does not compile", errors_in(log.read()))
                    broken.add(name)
                elif run >= 0:
                    side = "limit" if name.startswith("mpi") else "manta"
                    samples.add(question, side, name, run, usage.ru_utime + usage.ru_stime)
