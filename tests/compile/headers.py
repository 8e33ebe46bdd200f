# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Every header compiles alone, without a warning; all of them together link from two translation units."""
import os
import sys
import tempfile

import compiler


def shown(text):
    lines = text.splitlines()
    return "\n".join("    " + line for line in lines[:25] + ([f"({len(lines) - 25} more lines)"] if len(lines) > 25 else []))


def main():
    headers = compiler.headers()
    if not headers:
        print("there are no headers yet")
        return compiler.SKIP
    flags = compiler.build_flags() + compiler.WARNINGS
    found = compiler.compilers()
    name, cxx = next(iter(found.items()))
    failures = 0

    def alone(header):
        # Twice, so that a missing #pragma once is seen.
        text = f"#include <{header}>\n#include <{header}>\n"
        return compiler.call(cxx + flags + ["-fsyntax-only", "-x", "c++", "-"], text)

    for header, (code, output) in zip(headers, compiler.in_parallel(alone, headers)):
        if code != 0:
            failures += 1
            print(f"{header} does not compile alone with {name}:\n{shown(output)}")

    everything = "".join(f"#include <{header}>\n" for header in headers)
    with tempfile.TemporaryDirectory() as folder:
        for name, cxx in found.items():
            sources = {"one": everything + "int main() {}\n", "two": everything + "int other() { return 0; }\n"}

            def unit(stem):
                target = os.path.join(folder, stem + ".o")
                return compiler.call(cxx + flags + ["-O0", "-c", "-o", target, "-x", "c++", "-"], sources[stem])

            results = compiler.in_parallel(unit, sources)
            if any(code != 0 for code, _ in results):
                failures += 1
                print(f"all headers in one unit do not compile with {name}:\n{shown(results[0][1])}")
                continue
            # Undefined references are not asked about: this is about what is defined twice.
            objects = [os.path.join(folder, stem + ".o") for stem in sources]
            code, output = compiler.call(cxx + ["-r", "-nostdlib", "-o", os.path.join(folder, "both.o")] + objects)
            if code != 0:
                failures += 1
                print(f"two units with all headers do not link with {name}:\n{shown(output)}")

    print(f"{len(headers)} headers, {', '.join(found)}: {failures} failures")
    return 1 if failures else 0


sys.exit(main())
