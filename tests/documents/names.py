#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""A name with an underscore that a page puts in backticks exists in the code, and `engine::f` in the engine.

In a table that compares manta with other libraries, only the column with the head "here" or "manta" is looked at.
"""
import glob
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TOPS = ("include", "scripts", "tests", "examples", "bench")
CODE = (".hpp", ".ipp", ".cpp", ".py", ".sh", ".cu", ".build", ".in", ".js", ".txt")
OWNERS = {"engine": "exec/engine.hpp", "scheduler": "graph/scheduler.hpp"}
# Names that are not manta's: parts of programs, files of users, and what meson or a Python module calls something.
FOREIGN = {"my_class", "my_network", "my_player", "last_week", "games_test", "levent_openssl",
           "pistonball_v6", "n_pistons", "agent_id"}
FOREIGN_FORMS = re.compile(r"^(bench_\w+_manta|serve_\w+_1)$")
WORD = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?\b|\b[a-z]\w*_\b")


def names_of_code():
    words = set()
    for top in TOPS:
        for folder, _, files in os.walk(os.path.join(ROOT, top)):
            for name in files:
                if name.endswith(CODE) or "." not in name:
                    with open(os.path.join(folder, name), errors="replace", encoding="utf-8") as file:
                        words.update(re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", file.read())))
    return words


def own_columns(head):
    """Which cells of the rows below this one are manta's; None: all."""
    cells = [c.strip() for c in head.strip("|").split("|")]
    own = {i for i, c in enumerate(cells) if c in ("here", "manta")}
    return own or None


def texts_of(page):
    """(line, text in backticks) of what a page says itself, outside of blocks of code and of foreign columns."""
    is_code, own, was_table = False, None, False
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if line.startswith("```"):
                is_code = not is_code
            if is_code:
                continue
            is_table = line.startswith("|")
            if is_table and not was_table:
                own = own_columns(line)
            was_table = is_table
            if is_table and own is not None:
                line = "|".join(c for i, c in enumerate(line.strip("|").split("|")) if i in own)
            for text in re.findall(r"`([^`]+)`", line):
                yield number, text


def main():
    words = names_of_code() | FOREIGN
    found = []
    pages = glob.glob(os.path.join(ROOT, "*.md"))
    for top in TOPS:
        pages += glob.glob(os.path.join(ROOT, top, "**", "*.md"), recursive=True)
    pages = sorted(os.path.relpath(page, ROOT) for page in pages if os.path.basename(page) != "CHANGELOG.md")
    for page in pages:
        for number, text in texts_of(os.path.join(ROOT, page)):
            for word in WORD.findall(text):
                if word not in words and not FOREIGN_FORMS.match(word):
                    found.append(f"{page}:{number}: there is no {word}")
            for owner, name in re.findall(r"\b(engine|scheduler)::(\w+)", text):
                with open(os.path.join(ROOT, "include", "manta", OWNERS[owner]), encoding="utf-8") as file:
                    if not re.search(rf"\b{name}\b", file.read()):
                        found.append(f"{page}:{number}: {OWNERS[owner]} has no {name}")
    print("\n".join(found) or f"{len(pages)} pages: every name exists")
    return 1 if found else 0


sys.exit(main())
