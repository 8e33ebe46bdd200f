# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Every header compiles alone, without a warning; all of them together compile in one unit, and define nothing that a second
unit would define again. In both modes (include/manta/base/config.hpp). The long suite tries all headers in both modes, and all
.ipp files, alone, and all headers together in the opposite order too. By default those headers are tried alone, in the compiled
mode, that stand directly in manta/ and that manta.hpp does not include; and header-only, those that use Eigen are left out, whose
templates take a minute and four gigabytes, and no code is made of the others. That no .ipp file lacks a MANTA_DECL is seen in their text.
Headers on libtorch are tried where this build has it.
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
# How a line of an .ipp file begins that defines a function which two units may have, or that defines none.
MARKED = re.compile(r"(\[\[[\w:, ]+\]\] )?(MANTA_DECL|inline|constexpr|template|static_assert|namespace|using|struct|class|enum)\b")
# Libraries whose headers use Eigen throughout.
EIGEN = {"eigen", "nn", "train", "rl", "torch"}


def shown(text):
    lines = text.splitlines()
    return "\n".join("    " + line for line in lines[:25] + ([f"({len(lines) - 25} more lines)"] if len(lines) > 25 else []))


def strong_definitions(unit):
    """What this unit defines for the whole program, so that a second unit with the same text would not link with it."""
    names = compiler.call(["nm", "--defined-only", "--extern-only", "--demangle", "--format=posix", unit])[1].splitlines()
    return [name for name in names if re.search(r" [ABCDGRST] ", name)]


def definitions_without_mark(part):
    """Where an .ipp file defines a function that is neither a template nor inline, so that two units would define it."""
    with open(os.path.join(compiler.INCLUDE, part)) as file:
        text = re.sub(r'R"(\w*)\(.*?\)\1"', lambda raw: "\n" * raw.group().count("\n"), file.read(), flags=re.DOTALL)
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        starts = re.match(r"[A-Za-z_:~\[]", line) and "(" in line and not line.endswith(";")
        if starts and not MARKED.match(line) and not re.match(r"(template|requires)\b", before):
            yield f"{part}:{number}"
        before = line


def included_by(header, flags, cxx):
    """The headers of manta that this one includes, itself among them."""
    code, output = compiler.call(cxx + flags + MODES["compiled"] + ["-M", "-x", "c++", "-"], f"#include <{header}>\n")
    assert code == 0, output
    return {os.path.relpath(word, compiler.INCLUDE) for word in output.split() if word.startswith(compiler.INCLUDE)}


def stands_on_eigen(header):
    """By its place: its folder, or the library that it joins to another (serve/rl.hpp)."""
    return not EIGEN.isdisjoint(header.removesuffix(".hpp").split("/"))


def to_try_alone(headers, parts, core):
    """Pairs of a file and a mode."""
    for mode in MODES:
        for header in headers:
            directly = header.count("/") == 1 and (header not in core or header == "manta/manta.hpp")
            if compiler.LONG or (mode == "compiled" and directly):
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

    for place in itertools.chain.from_iterable(definitions_without_mark(part) for part in parts):
        failures += 1
        print(f"{place}: this function needs MANTA_DECL, or two units of a program define it")

    attempts = list(to_try_alone(headers, parts, included_by("manta/manta.hpp", flags, cxx)))
    for (header, mode), (code, output) in zip(attempts, compiler.in_parallel(alone, attempts)):
        if code != 0:
            failures += 1
            print(f"{header} does not compile alone with {name}, {mode}:\n{shown(output)}")

    orders = {"in order": headers}
    if compiler.LONG:
        orders["in the opposite order"] = headers[::-1]

    def together(attempt):
        compiler_name, mode, order = attempt
        tried = [h for h in orders[order] if compiler.LONG or mode == "compiled" or not stands_on_eigen(h)]
        text = "".join(f"#include <{header}>\n" for header in tried)
        command = found[compiler_name] + flags + MODES[mode] + ["-x", "c++", "-"]
        if mode == "header-only" and not compiler.LONG:
            return *compiler.call(command + ["-fsyntax-only"], text), []
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "all.o")
            code, output = compiler.call(command + ["-O0", "-c", "-o", target], text)
            return (code, output, []) if code != 0 else (code, output, strong_definitions(target))

    attempts_together = list(itertools.product(found, MODES, orders))
    for attempt, (code, output, strong) in zip(attempts_together, compiler.in_parallel(together, attempts_together)):
        if code != 0 or strong:
            failures += 1
            why = "do not compile" if code != 0 else "define what has to be inline"
            print(f"all headers {attempt[2]} in one unit {why} with {attempt[0]}, {attempt[1]}:\n"
                  + shown(output if code != 0 else "\n".join(strong)))

    print(f"{len(headers)} headers, {len(attempts)} times alone, {', '.join(found)}: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
