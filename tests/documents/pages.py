#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The pages on how manta works are short, have one anatomy, name files that exist, and name every message. No page of
the project has wider prose than WIDEST. Each header that an example includes is named in the guide.

include/manta/README.md is the overview. Each folder below it has a page; exec/ has several. A page names a file relative
to its own folder, to include/manta, or to the top of the project.
"""
import glob
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TOP = os.path.join(ROOT, "include", "manta")
LONGEST = 150  # lines
WIDEST = 132  # columns of prose; tables and code may be wider
PARTS = ["What it owns", "States", "Messages", "What can fail", "Tried and rejected"]
# Folders without a page: base/ is a box of small tools, each explained at its head.
WITHOUT_PAGE = {"base"}

# A path in code quotes with one of the project's endings, or a folder: `net/bulk.hpp`, `graph/`.
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:hpp|ipp|cpp|py|md|sh|sbatch)|(?:[\w.-]+/)+)`")


def exists(path, page):
    return any(os.path.exists(os.path.join(folder, path)) for folder in (os.path.dirname(page), TOP, ROOT))


def complaints(page):
    with open(page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if len(lines) > LONGEST:
        yield f"has {len(lines)} lines; at most {LONGEST} are wanted"
    for number, line in enumerate(lines, 1):
        for path in NAMED.findall(line):
            if not exists(path, page):
                yield f"line {number}: there is no {path}"
    headings = [line[3:] for line in lines if line.startswith("## ")]
    if os.path.dirname(page) != TOP and headings != PARTS:
        yield "the headings are " + ", ".join(headings) + "; wanted are " + ", ".join(PARTS)


def too_wide(page):
    is_code = False
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if line.startswith("```"):
                is_code = not is_code
            if len(line) > WIDEST and not is_code and not line.startswith(("|", "<!--")):
                yield f"line {number} has {len(line)} columns; prose has at most {WIDEST}"


def messages():
    """The kinds of messages that ranks send each other, as the enumeration names them."""
    with open(os.path.join(TOP, "exec", "rank", "messages.hpp"), encoding="utf-8") as file:
        body = re.search(r"enum class message : [\w:]+ \{(.*?)\};", file.read(), re.S).group(1)
    return re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", body).replace(",", "\n"), re.M)


def headers_without_a_chapter():
    """The headers that examples include and that no page of the guide names."""
    used, guide = {}, ""
    for source in sorted(glob.glob(os.path.join(ROOT, "examples", "*.cpp"))):
        with open(source, encoding="utf-8") as file:
            for header in re.findall(r"#include <(manta/[\w/]+\.hpp)>", file.read()):
                used.setdefault(header, os.path.basename(source))
    for page in glob.glob(os.path.join(ROOT, "examples", "*.md")):
        with open(page, encoding="utf-8") as file:
            guide += file.read()
    return {header: source for header, source in used.items() if header not in guide}


def main():
    pages = sorted(glob.glob(os.path.join(TOP, "**", "*.md"), recursive=True))
    found = [f"{os.path.relpath(p, ROOT)}: {text}" for p in pages for text in complaints(p)]
    everywhere = glob.glob(os.path.join(ROOT, "*.md")) + pages
    for folder in ("bench", "examples", "scripts", "tests"):
        everywhere += glob.glob(os.path.join(ROOT, folder, "**", "*.md"), recursive=True)
    found += [f"{os.path.relpath(p, ROOT)}: {text}" for p in sorted(everywhere) for text in too_wide(p)]
    for folder in sorted(os.listdir(TOP)):
        if os.path.isdir(os.path.join(TOP, folder)) and folder not in WITHOUT_PAGE:
            if not os.path.exists(os.path.join(TOP, folder, "README.md")):
                found.append(f"include/manta/{folder}/ has no page: write its README.md")
    for header, source in headers_without_a_chapter().items():
        found.append(f"examples/{source} includes {header}, which no chapter names")
    explained = "\n".join(open(p, encoding="utf-8").read() for p in pages if "/exec/" in p)
    for kind in messages():
        if f"`{kind}`" not in explained:
            found.append(f"no page of include/manta/exec explains the message `{kind}`")
    print("\n".join(found) or f"{len(pages)} pages are in order")
    return 1 if found else 0


sys.exit(main())
