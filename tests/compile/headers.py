# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Every header compiles alone, without a warning; all of them together link from two units, of which one includes them in
the opposite order. In both modes (include/manta/base/config.hpp). By default those headers are tried alone that users
include, directly in manta/; header-only, where each takes seconds, one of each library. The long suite tries all headers in
both modes, and all .ipp files, alone. Headers on libtorch are tried where this build has it.
"""
import os
import sys
import tempfile

import compiler

# For one unit of a program: libmanta.a has them.
SOURCES = {header for header in compiler.headers() if os.path.basename(header).startswith("src")}
MODES = {"compiled": ["-DMANTA_COMPILED"], "header-only": []}


def shown(text):
    lines = text.splitlines()
    return "\n".join("    " + line for line in lines[:25] + ([f"({len(lines) - 25} more lines)"] if len(lines) > 25 else []))


def is_tried_alone(header, mode):
    if compiler.LONG:
        return True
    is_public = header.count("/") == 1
    is_library = header == "manta/manta.hpp" or header.removesuffix(".hpp") + "/src.hpp" in SOURCES
    return is_library or (is_public and mode == "compiled")


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

    everything = [f"#include <{header}>\n" for header in headers]
    units = {"one": "".join(everything) + "int main() {}\n", "two": "".join(reversed(everything)) + "int other() { return 0; }\n"}

    def unit(work):
        _, cxx, mode, text, target = work
        return compiler.call(cxx + flags + MODES[mode] + ["-O0", "-c", "-o", target, "-x", "c++", "-"], text)

    with tempfile.TemporaryDirectory() as folder:
        work = [(name, cxx, mode, text, os.path.join(folder, f"{name}-{mode}-{stem}.o"))
                for name, cxx in found.items() for mode in MODES for stem, text in units.items()]
        results = compiler.in_parallel(unit, work)
        for name, cxx in found.items():
            for mode in MODES:
                mine = [(w[-1], result) for w, result in zip(work, results) if w[0] == name and w[2] == mode]
                broken = [output for _, (code, output) in mine if code != 0]
                if broken:
                    failures += 1
                    print(f"all headers in one unit do not compile with {name}, {mode}:\n{shown(broken[0])}")
                    continue
                # Undefined references are not asked about: this is about what is defined twice.
                objects = [target for target, _ in mine]
                code, output = compiler.call(cxx + ["-r", "-nostdlib", "-o", os.path.join(folder, "both.o")] + objects)
                if code != 0:
                    failures += 1
                    print(f"two units with all headers do not link with {name}, {mode}:\n{shown(output)}")

    print(f"{len(headers)} headers, {len(attempts)} times alone, {', '.join(found)}: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
