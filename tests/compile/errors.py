# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Users' mistakes are refused in one readable sentence (errors/expectations.txt), and the compiler's whole output is a
dozen lines; the same program without mistakes compiles.

  errors.py [mistake...]   prints the whole output for these
"""
import os
import re
import sys
import tempfile

import compiler

FOLDER = os.path.join(compiler.ROOT, "tests", "compile", "errors")
# Each is compiled behind headers that are precompiled once.
SOURCES = {"mistakes.cpp": ["manta/manta.hpp"],
           "mistakes_in_training.cpp": ["manta/train.hpp", "manta/train/picture_folder.hpp"]}
MOST_LINES = 12  # of the whole output


def expectations():
    with open(os.path.join(FOLDER, "expectations.txt")) as file:
        lines = [line.strip() for line in file]
    return [parsed(line) for line in lines if line and not line.startswith("#")]


def parsed(line):
    """Mistake, sentence, and where it is said in a third column, more lines than usual."""
    parts = [part.strip() for part in line.split("|")]
    return parts[0], parts[1], int(parts[2]) if len(parts) > 2 else MOST_LINES


def main():
    if not os.path.exists(os.path.join(compiler.INCLUDE, "manta", "manta.hpp")):
        print("there is no manta.hpp yet")
        return compiler.SKIP
    wanted = expectations()
    source_of = {}
    for source in SOURCES:
        with open(os.path.join(FOLDER, source)) as file:
            found = re.findall(r"^#(?:el)?if defined\(mistake_(\w+)\)", file.read(), re.MULTILINE)
        source_of.update((mistake, source) for mistake in found)
    if list(source_of) != [mistake for mistake, *_ in wanted]:
        print("the sources and expectations.txt do not have the same mistakes in the same order:")
        print("  ", set(source_of) ^ {mistake for mistake, *_ in wanted})
        return 1
    if len(sys.argv) > 1:
        wanted = [w for w in wanted if w[0] in sys.argv[1:]]

    # A static_assert in a function template is only seen where the template is instantiated, so code is generated.
    flags = compiler.build_flags() + ["-O0"]
    found = compiler.compilers()
    cases = [(name, "", "", 0, source) for name in found for source in SOURCES]
    cases += [(name, *mistake, source_of[mistake[0]]) for name in found for mistake in wanted]

    with tempfile.TemporaryDirectory() as folder:
        def precompile(what):
            name, source = what
            prefix = os.path.join(folder, source + ".prefix.hpp")
            with open(prefix, "w") as file:
                file.writelines(f"#include <{header}>\n" for header in SOURCES[source])
            target = os.path.join(folder, f"{source}.{name}.pch") if "clang" in name else prefix + ".gch"
            code, output = compiler.call(found[name] + flags + ["-x", "c++-header", prefix, "-o", target])
            if code != 0:
                print(f"{name}: {prefix} does not compile\n{output[:3000]}")
                return None
            return ["-include-pch", target] if "clang" in name else ["-include", prefix]

        prefixes = [(name, source) for name in found for source in SOURCES]
        precompiled = dict(zip(prefixes, compiler.in_parallel(precompile, prefixes)))
        if None in precompiled.values():
            return 1

        def compile_case(case):
            name, mistake, source = case[0], case[1], case[-1]
            define = ["-Dmistake_" + mistake] if mistake else []
            return compiler.call(found[name] + flags + precompiled[name, source] + define +
                                 ["-S", "-o", os.devnull, os.path.join(FOLDER, source)])

        results = compiler.in_parallel(compile_case, cases)

    failures = 0
    for (name, mistake, sentence, most, source), (code, output) in zip(cases, results):
        # The precompiled header is this test's own, and lines about it are not what a user sees.
        lines = [line for line in output.splitlines() if "prefix.hpp" not in line and "<built-in>" not in line]
        if not mistake:
            problem = None if code == 0 else "the program without mistakes does not compile"
        elif code == 0:
            problem = "compiles, but should not"
        elif not any(sentence in line for line in lines):
            problem = f'is refused without the sentence "{sentence}"'
        elif len(lines) > most:
            problem = f"{len(lines)} lines of output, more than {most}"
        else:
            problem = None
        label = f"{name:8} {mistake or '(none of ' + source + ')'}"
        if problem:
            failures += 1
            print(f"{label}: {problem}")
        else:
            print(f"{label}: ok" + (f", {len(lines)} lines" if mistake else ""))
        if problem or len(sys.argv) > 1:
            shown = lines if len(sys.argv) > 1 else lines[:30]
            print("\n".join("    " + line for line in shown))
    print(f"{len(cases)} compilations: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
