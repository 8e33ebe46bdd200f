# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""nvcc accepts a program with kernels, most of the interface, Eigen and tune (cuda.cu), and the program runs, with a
device or without: in the compiled mode where this build has libmanta.a, else, and in the long suite, header-only, which
takes nvcc a minute. Skipped where nvcc or mpicxx is missing."""
import glob
import os
import shutil
import tempfile

import compiler

SOURCE = os.path.join(compiler.ROOT, "tests", "compile", "cuda.cu")
LIBRARY = os.path.join(os.environ["MANTA_BUILD_ROOT"], "libmanta.a")


def find_nvcc():
    return shutil.which("nvcc") or next(iter(sorted(glob.glob("/usr/local/cuda*/bin/nvcc"), reverse=True)), None)


def nvcc_flags():
    """This build's flags in nvcc's spelling, but that which chooses the mode."""
    flags = []
    for flag in compiler.build_flags():
        if flag.startswith("-isystem") and flag != "-isystem":
            flags += ["-isystem", flag[len("-isystem"):]]
        elif flag not in ("-DMANTA_COMPILED", "-pthread"):
            flags.append(flag)
    return flags


def skip(why):
    print("skipped: " + why)
    return compiler.SKIP


def build_and_run(nvcc_call, program):
    """Alone and on two ranks; the first failure in words."""
    code, output = compiler.call(nvcc_call + ["-o", program])
    if code != 0:
        return "cuda.cu does not compile:\n" + "\n".join(output.splitlines()[:40])
    start = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n"]
    for command in [[program]] + ([start + ["2", program]] if shutil.which("mpirun") else []):
        code, output = compiler.call(command)
        if code != 0:
            return f"{' '.join(command)} ends with status {code}:\n{output}"
    return None


def main():
    nvcc = find_nvcc()
    if nvcc is None:
        return skip("nvcc is neither on the path nor in /usr/local/cuda*/bin")
    if shutil.which("mpicxx") is None:
        return skip("mpicxx, which nvcc is to use for the host's part, is not on the path")
    version = compiler.call([nvcc, "--version"])[1].strip().splitlines()
    print(nvcc + ": " + next((line for line in version if "release" in line), "of an unknown version"))

    nvcc_call = [nvcc, "-ccbin", "mpicxx"]
    with tempfile.TemporaryDirectory() as folder:
        empty = os.path.join(folder, "empty.cu")
        with open(empty, "w") as file:
            file.write("__global__ void kernel() {}\nint main() {}\n")
        code, output = compiler.call(nvcc_call + [empty, "-o", os.path.join(folder, "empty")])
        if code != 0:
            return skip("nvcc cannot compile an empty kernel here:\n" + output)

        # EIGEN_NO_CUDA: no Eigen inside kernels here, and none of its warnings.
        nvcc_call += ["-Xcompiler", "-pthread", "-O0", "-DEIGEN_NO_CUDA"] + nvcc_flags()
        modes = [["-DMANTA_COMPILED", LIBRARY]] if os.path.exists(LIBRARY) else []
        if compiler.LONG or not modes:
            modes.append([])
        for mode in modes:
            failure = build_and_run(nvcc_call + [SOURCE] + mode, os.path.join(folder, "program"))
            if failure is not None:
                print(f"{'compiled mode' if mode else 'header-only'}: {failure}")
                return 1
    print("compiled and run")
    return 0


raise SystemExit(main())
