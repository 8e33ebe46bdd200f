# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A header, or the definitions beside it (.ipp), includes only its own layer and those below it.

include/manta/README.md has the layers and the reasons.
"""
import os
import re
import sys

import compiler

# From the bottom up. "public" are the headers directly in include/manta.
LAYERS = ["base", "output", "report", "wire", "net", "graph", "store", "exec", "public"]
# Folders with the parts of public headers.
PARTS_OF_PUBLIC = {"call"}
# Libraries on the public interface: they may include public headers and themselves, neither each other nor what is below.
LIBRARIES = ["nn", "tune", "train", "rl", "serve", "torch"]
# Headers of libraries that are directly in include/manta under another name than the library's.
OTHER_NAMES = {"dashboard.hpp": "serve"}
# What a library may include of the others. A header that joins two libraries is named after both: tune/train.hpp, serve/rl.hpp.
SHARED = {"tune": {"output"}, "train": {"nn", "output"}, "rl": {"nn", "output"}, "serve": {"output"}, "torch": {"nn"}, "nn": set()}
# The folders of a layer, from the bottom up: a header includes its own folder and those below it. What stands in exec/ itself goes over all.
FOLDERS = {"exec": ["rank", "account", "state", "value", "work", "home", "loop", "isolation"],
           "rl": ["base", "environments", "worlds", "seats", "policies", "workers", "learning", "evolution", "planning", "models", "algorithms", "multi", "offline"]}
# What has the table of all that can be named.
NAMES_ALL = {"manta/rl/environments/environment.ipp"}
# The only places that may include mpi.h: net/, and the public headers that name MPI_Comm.
MPI_HEADERS = {"runtime.hpp", "run.hpp", "options.hpp", "team.hpp"}
# Plain data and plain bytes: no MPI, no threads, no clocks, no files.
PURE = ["graph", "wire"]
# What libraries may include of the layers below: the mode of the build, questions about numbers, and mixing of bits.
FOR_ALL = {"manta/base/config.hpp", "manta/base/demangle.hpp", "manta/base/number.hpp", "manta/base/hash.hpp", "manta/base/random.hpp", "manta/base/text.hpp", "manta/base/unknown_options.hpp", "manta/base/amounts.hpp", "manta/base/version.hpp"}
# The one source of a compiled program: it includes all there is.
EVERYTHING = "manta/src.hpp"
CLOCKS = {"manta/base/clock.hpp"}
IMPURE = {"mpi.h", "thread", "chrono", "mutex", "condition_variable", "future", "stop_token", "ctime", "time.h", "sys/time.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(header):
    """The folder of a header given as `manta/...`; "public" for those directly in manta/ and for the parts of these, but for a library's own."""
    parts = header.split("/")
    if parts[1] in PARTS_OF_PUBLIC:
        return "public"
    if len(parts) == 2 and parts[1].removesuffix(".hpp") in LIBRARIES:
        return parts[1].removesuffix(".hpp")
    if len(parts) == 2 and parts[1] in OTHER_NAMES:
        return OTHER_NAMES[parts[1]]
    return parts[1] if len(parts) > 2 else "public"


def allowed(layer):
    if layer in LIBRARIES:
        return {layer, "public"} | SHARED[layer]
    below = set(LAYERS[: LAYERS.index(layer) + 1])
    return below - {"net", "output", "report"} if layer in PURE else below


def joins(header):
    """What a header that joins two libraries may include besides: manta/tune/train.hpp is tune's and may include train."""
    parts = header.split("/")
    other = os.path.splitext(parts[-1])[0]
    return {other} | SHARED[other] if len(parts) > 2 and parts[1] in LIBRARIES and other in LIBRARIES else set()


def floor(header):
    """The number of a header's folder among those of its layer (FOLDERS); what stands in exec/ itself goes over all. None: no order."""
    parts = header.split("/")
    order = FOLDERS.get(parts[1], [])
    if header in NAMES_ALL or not order or len(parts) == 3 and parts[1] in LIBRARIES:
        return None
    return order.index(parts[2]) if len(parts) > 3 else len(order)


def complaints(header, everything):
    layer = layer_of(header)
    if layer not in LAYERS + LIBRARIES:
        yield 1, f"the folder {layer}/ is none of the layers"
        return
    with open(os.path.join(compiler.INCLUDE, header)) as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if not match or " " in match.group(2):  # a sentence, which stops the compiler (base/config.hpp)
                continue
            target = match.group(2)
            if match.group(1) == '"' and not target.startswith("manta/"):
                target = os.path.normpath(os.path.join(os.path.dirname(header), target))
            if target.startswith("manta/"):
                if target not in everything:
                    yield number, f"{target} does not exist"
                elif target == "manta/manta.hpp" and layer not in LIBRARIES and header != EVERYTHING:
                    yield number, "manta.hpp is for users: include what is used"
                elif layer_of(target) not in allowed(layer) | joins(header) and header != EVERYTHING and target not in FOR_ALL:
                    yield number, f"{layer} must not include {layer_of(target)} ({target})"
                elif layer == layer_of(target) and floor(header) is not None and (floor(target) or 0) > floor(header):
                    yield number, f"{os.path.dirname(header)}/ is below {target}"
                elif layer in PURE and target in CLOCKS:
                    yield number, f"{layer}/ knows no clocks: {target}"
            elif target == "mpi.h" and layer != "net" and not (layer == "public" and os.path.basename(header) in MPI_HEADERS):
                yield number, "only net/ includes mpi.h (and of the public headers " + ", ".join(sorted(MPI_HEADERS)) + ")"
            elif layer in PURE and target in IMPURE:
                yield number, f"{layer}/ knows no MPI, threads or clocks: <{target}>"


def main():
    headers = compiler.headers((".hpp", ".ipp"))
    failures = 0
    for header in headers:
        for number, text in complaints(header, set(headers)):
            failures += 1
            print(f"include/{header}:{number}: {text}")
    print(f"{len(headers)} headers: {failures} includes against the layers")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
