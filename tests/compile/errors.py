# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Users' mistakes are refused in one readable sentence (errors/expectations.txt), which stands near the top of the
compiler's output; the same program without mistakes compiles.

  errors.py [mistake...]   prints the whole output for these
"""
import os
import re
import sys
import tempfile

import compiler

FOLDER = os.path.join(compiler.ROOT, "tests", "compile", "errors")
SOURCE = os.path.join(FOLDER, "mistakes.cpp")
LINES_BEFORE = 10


def expectations():
    with open(os.path.join(FOLDER, "expectations.txt")) as file:
        lines = [line.strip() for line in file]
    return [tuple(part.strip() for part in line.split("|", 1)) for line in lines if line and not line.startswith("#")]


def main():
    if not os.path.exists(os.path.join(compiler.INCLUDE, "manta", "manta.hpp")):
        print("there is no manta.hpp yet")
        return compiler.SKIP
    wanted = expectations()
    with open(SOURCE) as file:
        sections = re.findall(r"^#(?:el)?if defined\((\w+)\)", file.read(), re.MULTILINE)
    if sections != [mistake for mistake, _ in wanted]:
        print("mistakes.cpp and expectations.txt do not have the same mistakes in the same order:")
        print("  ", set(sections) ^ {mistake for mistake, _ in wanted})
        return 1
    if len(sys.argv) > 1:
        wanted = [w for w in wanted if w[0] in sys.argv[1:]]

    # A static_assert in a function template is only seen where the template is instantiated, so code is generated.
    flags = compiler.build_flags() + ["-O0"]
    found = compiler.compilers()
    cases = [(name, mistake, sentence) for name in found for mistake, sentence in [("", "")] + wanted]

    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "prefix.hpp")  # manta.hpp, precompiled once for each compiler
        with open(prefix, "w") as file:
            file.write("#include <manta/manta.hpp>\n")

        def precompile(name):
            target = os.path.join(folder, name + ".pch") if "clang" in name else prefix + ".gch"
            code, output = compiler.call(found[name] + flags + ["-x", "c++-header", prefix, "-o", target])
            if code != 0:
                print(f"{name}: manta.hpp does not compile\n{output[:3000]}")
                return None
            return ["-include-pch", target] if "clang" in name else ["-include", prefix]

        precompiled = dict(zip(found, compiler.in_parallel(precompile, found)))
        if None in precompiled.values():
            return 1

        def compile_case(case):
            name, mistake, _ = case
            define = ["-D" + mistake] if mistake else []
            return compiler.call(found[name] + flags + precompiled[name] + define + ["-S", "-o", os.devnull, SOURCE])

        results = compiler.in_parallel(compile_case, cases)

    failures = 0
    for (name, mistake, sentence), (code, output) in zip(cases, results):
        lines = output.splitlines()
        above = next((i for i, line in enumerate(lines) if sentence in line), None)
        if not mistake:
            problem = None if code == 0 else "the program without mistakes does not compile"
        elif code == 0:
            problem = "compiles, but should not"
        elif above is None:
            problem = f'is refused without the sentence "{sentence}"'
        elif above > LINES_BEFORE:
            problem = f"{above} lines of output stand before the sentence, more than {LINES_BEFORE}"
        else:
            problem = None
        label = f"{name:8} {mistake or '(none)'}"
        if problem:
            failures += 1
            print(f"{label}: {problem}")
        else:
            print(f"{label}: ok" + (f", line {above + 1} of {len(lines)}" if mistake else ""))
        if problem or len(sys.argv) > 1:
            shown = lines if len(sys.argv) > 1 else lines[:20]
            print("\n".join("    " + line for line in shown))
    print(f"{len(cases)} compilations: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
