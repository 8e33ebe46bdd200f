# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Every header compiles alone, without a warning; all of them together compile in one unit, and define nothing that a second
unit would define again. In both modes (include/manta/base/config.hpp). By default those headers are tried alone that users
include, directly in manta/, in the compiled mode. The long suite tries all headers in both modes, and all .ipp files,
alone, and all headers together in the opposite order too. Headers on libtorch are tried where this build has it.
"""
import itertools
import os
import re
import sys
import tempfile

import compiler

# For one unit of a program: libmanta.a has them.
SOURCES = {header for header in compiler.headers() if os.path.basename(header).startswith("src")}
MODES = {"compiled": ["-DMANTA_COMPILED"], "header-only": []}


def shown(text):
    lines = text.splitlines()
    return "\n".join("    " + line for line in lines[:25] + ([f"({len(lines) - 25} more lines)"] if len(lines) > 25 else []))


def strong_definitions(unit):
    """What this unit defines for the whole program, so that a second unit with the same text would not link with it."""
    names = compiler.call(["nm", "--defined-only", "--extern-only", "--demangle", "--format=posix", unit])[1].splitlines()
    return [name for name in names if re.search(r" [ABCDGRST] ", name)]


def is_tried_alone(header, mode):
    return compiler.LONG or (mode == "compiled" and header.count("/") == 1)


def to_try_alone(headers, parts):
    """Pairs of a file and a mode."""
    for mode in MODES:
        for header in headers:
            if is_tried_alone(header, mode):
                yield header, mode
    if compiler.LONG:
        for part in parts:
            yield part, "compiled"


def main():
    libtorch = compiler.libtorch_flags()
    there = [[h for h in compiler.headers((ending,)) if libtorch or not compiler.needs_libtorch(h)] for ending in (".hpp", ".ipp")]
    headers, parts = [h for h in there[0] if h not in SOURCES], there[1]
    if not headers:
        print("there are no headers yet")
        return compiler.SKIP
    flags = [flag for flag in compiler.build_flags() if flag not in MODES["compiled"]] + compiler.WARNINGS + (libtorch or [])
    found = compiler.compilers()
    name, cxx = next(iter(found.items()))
    failures = 0

    def alone(attempt):
        # Twice, so that a missing #pragma once is seen.
        header, mode = attempt
        text = f"#include <{header}>\n#include <{header}>\n"
        return compiler.call(cxx + flags + MODES[mode] + ["-fsyntax-only", "-x", "c++", "-"], text)

    attempts = list(to_try_alone(headers, parts))
    for (header, mode), (code, output) in zip(attempts, compiler.in_parallel(alone, attempts)):
        if code != 0:
            failures += 1
            print(f"{header} does not compile alone with {name}, {mode}:\n{shown(output)}")

    includes = [f"#include <{header}>\n" for header in headers]
    texts = {"in order": "".join(includes)}
    if compiler.LONG:
        texts["in the opposite order"] = "".join(reversed(includes))

    def together(attempt):
        compiler_name, mode, order = attempt
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "all.o")
            code, output = compiler.call(
                found[compiler_name] + flags + MODES[mode] + ["-O0", "-c", "-o", target, "-x", "c++", "-"], texts[order])
            return (code, output, []) if code != 0 else (code, output, strong_definitions(target))

    attempts_together = list(itertools.product(found, MODES, texts))
    for attempt, (code, output, strong) in zip(attempts_together, compiler.in_parallel(together, attempts_together)):
        if code != 0 or strong:
            failures += 1
            why = "do not compile" if code != 0 else "define what has to be inline"
            print(f"all headers {attempt[2]} in one unit {why} with {attempt[0]}, {attempt[1]}:\n"
                  + shown(output if code != 0 else "\n".join(strong)))

    print(f"{len(headers)} headers, {len(attempts)} times alone, {', '.join(found)}: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
