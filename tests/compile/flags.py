# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Every compiler that is installed compiles, links and runs a program with a bit of everything (flags.cpp), with
-ffast-math too. A language that is too old, or has no exceptions, stops it at one sentence."""
import os
import shutil
import subprocess
import sys
import tempfile

import compiler

SOURCE = os.path.join(compiler.ROOT, "tests", "compile", "flags.cpp")
REFUSED = [
    (["-std=c++17"], "manta needs C++20: compile with -std=c++20"),
    (["-fno-exceptions"], "manta needs exceptions: compile without -fno-exceptions"),
    (["-fno-rtti"], "manta needs the types of objects at run time: compile without -fno-rtti"),
]
MOST_LINES = 12  # of the whole output of a refusal


def run_everywhere(program):
    """Alone and on two ranks; the first failure in words."""
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"]
    for command in [[program]] + ([start + [program]] if shutil.which("mpirun") else []):
        code, output = compiler.call(command)
        if code != 0:
            return f"{' '.join(command)} ends with status {code}:\n{output}"
    return None


def main():
    flags = [flag for flag in compiler.build_flags() if flag != "-DMANTA_COMPILED"]
    found = compiler.compilers()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, cxx in found.items():
            for options, sentence in REFUSED:
                for header in ["manta/manta.hpp", "manta/tune.hpp", "manta/eigen.hpp", "manta/async.hpp"]:
                    text = f"#include <{header}>\nint main(int c, char** v) {{ return manta::run(c, v, [] {{}}); }}\n"
                    code, output = compiler.call(cxx + flags + options + ["-fsyntax-only", "-x", "c++", "-"], text)
                    if code == 0 or sentence not in output or len(output.splitlines()) > MOST_LINES:
                        failures.append(f"{name} {' '.join(options)} {header}: not \"{sentence}\" alone:\n{output[:2000]}")

        def build_and_run(case):
            name, options = case
            program = os.path.join(folder, name + "".join(options))
            # The link flags of MPI are those of its wrapper, around this compiler.
            wrapped = dict(os.environ, OMPI_CXX=found[name][-1], MPICH_CXX=found[name][-1], LC_ALL="C")
            done = subprocess.run(["mpicxx"] + flags + compiler.WARNINGS + options + [SOURCE, "-o", program], env=wrapped, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode != 0:
                return f"{name} {' '.join(options)}: flags.cpp does not compile:\n{done.stdout[:3000]}"
            problem = run_everywhere(program)
            return problem and f"{name} {' '.join(options)}: {problem}"

        if shutil.which("mpicxx"):
            # What the compiler assumes with -ffast-math does not depend on -O: comparisons with NaN are folded at -O0 too.
            ways = [["-O1"], ["-O2", "-ffast-math"]] if compiler.LONG else [["-O0", "-ffast-math"]]
            cases = [(name, options) for name in found for options in ways]
            failures += filter(None, compiler.in_parallel(build_and_run, cases))
        else:
            print("mpicxx is not on the path: nothing is linked and run")
    for failure in failures:
        print(failure)
    print(f"{', '.join(found)}: {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
