# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The two ways to build (base/config.hpp): both work, a missing source is one undefined symbol, mixing them is refused."""
import os
import subprocess
import sys
import tempfile

import compiler

PROGRAM = """
#include <manta/manta.hpp>
struct counter { int n = 0; int add(int k) { return n += k; } };
int twice(int x) { return 2 * x; }
std::vector<double> zeros(int n) { return std::vector<double>(static_cast<std::size_t>(n)); }
int sum(const std::vector<double>& v) { return static_cast<int>(v.size()); }
manta::future<int> more(int x);
int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    auto a = manta::spawn<counter>({.name = "one"});
    auto c = manta::async<&counter::add>(a, 3);
    auto futures = manta::map<twice>(std::vector<int>{1, 2});
    auto [ready, pending] = manta::wait(futures, {.count = 1});
    manta::promise<int> p;
    p.set_value(1);
    return manta::async<sum>(manta::async<zeros>(5000)).get() + c.get() + more(1).get() == 5005 && !ready.empty() ? 0 : 1;
  });
}
"""
OTHER = """
#include <manta/manta.hpp>
int once(int x) { return x; }
manta::future<int> more(int x) { return manta::async<once>({.cpus = 1, .retries = 1}, x + 1); }
"""
MARKER = "manta::one_source_of_this_program_has_to_include_manta_src_hpp_or_link_libmanta_of_version_"


def main():
    flags = [flag for flag in compiler.build_flags() if flag != "-DMANTA_COMPILED"] + ["-O0"]
    cxx = next(iter(compiler.compilers().values()))
    failures = []

    with tempfile.TemporaryDirectory() as folder:
        def compiled(job):
            name, text, mode = job
            target = os.path.join(folder, f"{name}.o")
            source = os.path.join(folder, f"{name}.cpp")
            with open(source, "w") as file:
                file.write(text)
            code, output = compiler.call(cxx + flags + mode + ["-c", "-o", target, source])
            if code != 0:
                failures.append(f"{name} does not compile:\n{output}")
            return target

        in_library = ["-DMANTA_COMPILED"]
        jobs = [("main_headers", PROGRAM, []), ("other_headers", OTHER, []), ("main_compiled", PROGRAM, in_library),
                ("other_compiled", OTHER, in_library)]
        source = os.path.join(os.environ["MANTA_BUILD_ROOT"], "libmanta.a")
        if os.path.exists(source):
            main_headers, other_headers, main_compiled, other_compiled = compiler.in_parallel(compiled, jobs)
        else:
            jobs.append(("source", "#include <manta/src.hpp>\n", in_library))
            main_headers, other_headers, main_compiled, other_compiled, source = compiler.in_parallel(compiled, jobs)
        if failures:
            print("\n".join(failures))
            return 1

        def linked(*objects):
            program = os.path.join(folder, "program")
            code, output = compiler.call(["mpicxx", "-o", program, *objects, "-pthread"])
            return program if code == 0 else None, output

        def run(program):
            return subprocess.run([program], capture_output=True, text=True, timeout=60)

        for name, objects in {"header-only": (main_headers, other_headers),
                              "compiled": (main_compiled, other_compiled, source)}.items():
            program, output = linked(*objects)
            if program is None:
                failures.append(f"the {name} program does not link:\n{output}")
            elif run(program).returncode != 0:
                failures.append(f"the {name} program fails:\n{run(program).stderr}")

        _, output = linked(main_compiled, other_compiled)
        missing = {line.split("undefined reference to ")[1] for line in output.splitlines() if "undefined reference to " in line}
        if len(missing) != 1 or MARKER not in str(missing):
            failures.append(f"without the source exactly {MARKER} should be undefined, not\n  " + "\n  ".join(sorted(missing)))

        # The headers of another version.
        newer, = compiler.in_parallel(compiled, [("newer", "#include <manta/base/version.hpp>\n#undef MANTA_VERSION\n#define "
                                                 "MANTA_VERSION 999999\n" + OTHER, in_library)])
        _, output = linked(main_compiled, newer, source)
        if MARKER + "999999" not in output or output.count("undefined reference to ") != 1:
            failures.append(f"headers of version 999999 and a library of another should be told by the linker:\n{output}")

        for name, objects in {"the main unit": (main_headers, other_compiled, source),
                              "the other unit": (main_compiled, other_headers, source)}.items():
            program, output = linked(*objects)
            ended = run(program) if program else None
            if ended is None or ended.returncode == 0 or "was compiled without MANTA_COMPILED" not in ended.stderr:
                failures.append(f"{name} alone header-only should be refused at start:\n{output if ended is None else ended.stderr}")

    print("\n".join(failures) or "both modes, a missing source and mixed modes: passed")
    return 1 if failures else 0


sys.exit(main())
