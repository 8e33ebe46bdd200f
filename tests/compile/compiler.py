# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""How the compile-time tests call a compiler: with the include folders and definitions of this build."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
INCLUDE = os.path.join(ROOT, "include")
LONG = bool(os.environ.get("MANTA_TEST_LONG"))
SKIP = 77  # the exit code by which meson knows a skipped test
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wsign-conversion", "-Werror"]


def build_flags():
    """-I, -isystem, -D and -pthread with which this build compiles tests/main.cpp."""
    build = os.environ["MANTA_BUILD_ROOT"]
    with open(os.path.join(build, "compile_commands.json")) as file:
        entry = next(e for e in json.load(file) if e["file"].endswith("tests/main.cpp"))
    words = shlex.split(entry["command"])
    flags = ["-std=c++20", "-I" + INCLUDE]
    for i, word in enumerate(words):
        if word == "-isystem":
            flags += ["-isystem", os.path.join(entry["directory"], words[i + 1])]
        elif word.startswith("-isystem"):
            flags.append("-isystem" + os.path.join(entry["directory"], word[len("-isystem"):]))
        elif word.startswith("-I"):
            flags.append("-I" + os.path.join(entry["directory"], word[2:]))
        elif word.startswith("-D") or word == "-pthread":
            flags.append(word)
    return flags


def needs_libtorch(header):
    return header in ("manta/torch.hpp", "manta/serve/torch.hpp") or header.startswith("manta/torch/")


def libtorch_flags():
    """With which this build compiles the headers on libtorch; None if it does not (-Dtorch=disabled)."""
    with open(os.path.join(os.environ["MANTA_BUILD_ROOT"], "compile_commands.json")) as file:
        entry = next((e for e in json.load(file) if e["file"].endswith("manta/torch/src.cpp")), None)
    words = shlex.split(entry["command"]) if entry else []
    folders = [word for word in words if word.endswith("torch/csrc/api/include")]
    return ["-isystem", folders[0]] if folders else None


def compilers():
    """The compiler of this build, by name; in the long suite also g++ and clang++ where they are installed."""
    found = {os.path.basename(shlex.split(os.environ["MANTA_CXX"])[-1]): shlex.split(os.environ["MANTA_CXX"])}
    for name in ["g++", "clang++"] if LONG else []:
        if name not in found and shutil.which(name):
            found[name] = [name]
    # `c++` is one of the two under another name.
    if "c++" in found and len(found) > 1:
        del found["c++"]
    return found


def call(command, text=None):
    """Runs a command; returns the exit code and what it printed."""
    environment = dict(os.environ, LC_ALL="C")
    done = subprocess.run(command, input=text, text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def in_parallel(function, items):
    """function(item) for each, as many at a time as there are cores; results in order."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, items))


def headers(endings=(".hpp",)):
    """Every header below include/, as it is written in an #include."""
    found = []
    for folder, _, files in os.walk(INCLUDE):
        found += [os.path.relpath(os.path.join(folder, f), INCLUDE) for f in files if f.endswith(endings)]
    return sorted(found)
