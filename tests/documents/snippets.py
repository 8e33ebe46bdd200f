#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The code in README.md and in the guide is code that is compiled, and links lead somewhere.

Every C++ block of README.md and of examples/*.md is a copy of a piece of an example. The comment before the block says
which file and which pieces:

    <!-- examples/03_wait.cpp [split] [loop] -->

In the file, a piece begins after a line `// [split]` and ends before the next line `// [end]`. Its indentation is taken
away; several pieces are joined with an empty line.

    snippets.py             compares, prints a diff for each block that differs, and checks links and lengths
    snippets.py --write    copies the pieces into the documents
"""
import difflib
import os
import re
import subprocess
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONGEST_PAGE = 14_000  # bytes: a sign that a page tires, and wants to be divided

MARKER = re.compile(r"^\s*// \[(\w+)\]$")
SOURCE = re.compile(r"^<!-- (\S+)((?: \[\w+\])+) -->$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


class Mistake(Exception):
    """What is wrong with a document, in a sentence."""


def lines_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read().splitlines()


def pieces_of(path):
    """The pieces of a source file by name."""
    pieces, name, begin = {}, None, 0
    lines = lines_of(path)
    for number, line in enumerate(lines):
        found = MARKER.match(line)
        if not found:
            continue
        if (found[1] == "end") != (name is not None):
            raise Mistake("%s:%d: %s" % (path, number + 1, "[end] without a beginning" if name is None else "[%s] has no [end]" % name))
        if name is None:
            name, begin = found[1], number + 1
            if name in pieces:
                raise Mistake("%s:%d: there are two pieces [%s]" % (path, number + 1, name))
        else:
            pieces[name] = textwrap.dedent("\n".join(lines[begin:number])).splitlines()
            name = None
    if name is not None:
        raise Mistake("%s: [%s] has no [end]" % (path, name))
    return pieces


def quoted(comment, where):
    """The lines that the comment before a block asks for."""
    found = SOURCE.match(comment)
    if not found:
        raise Mistake("%s: a C++ block needs the line <!-- FILE [piece] --> before it, which says where the code is compiled" % where)
    path = found[1]
    if not os.path.exists(os.path.join(ROOT, path)):
        raise Mistake("%s: there is no file %s" % (where, path))
    if path.endswith(".cpp") and "'%s'" % os.path.basename(path)[:-4] not in "\n".join(lines_of("examples/meson.build")):
        raise Mistake("%s: %s is not built: add it to examples/meson.build" % (where, path))
    pieces, text = pieces_of(path), []
    for name in re.findall(r"\[(\w+)\]", found[2]):
        if name not in pieces:
            raise Mistake("%s: %s has no piece [%s]; it has %s" % (where, path, name, ", ".join(sorted(pieces)) or "none"))
        text += ([""] if text else []) + pieces[name]
    return text


def check_code(document, write):
    """The mistakes in the C++ blocks of a document; with `write` the blocks are replaced instead of compared."""
    mistakes, result = [], []
    lines = lines_of(document)
    number = 0
    while number < len(lines):
        result.append(lines[number])
        number += 1
        if result[-1] != "```cpp":
            continue
        begin = number
        while number < len(lines) and lines[number] != "```":
            number += 1
        where = "%s:%d" % (document, begin)
        block = lines[begin:number]
        try:
            wanted = quoted(lines[begin - 2] if begin > 1 else "", where)
            if not write and block != wanted:
                diff = difflib.unified_diff(wanted, block, lines[begin - 2][5:-4], where, lineterm="", n=2)
                mistakes.append("%s: the block differs from its source:\n    %s" % (where, "\n    ".join(diff)))
            block = wanted
        except Mistake as mistake:
            mistakes.append(str(mistake))
        result += block
    if write and result != lines:
        with open(os.path.join(ROOT, document), "w", encoding="utf-8") as file:
            file.write("\n".join(result) + "\n")
    return mistakes


def without_code(lines):
    """Lines by number, without code blocks and code in lines."""
    code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`", "", line)


def anchors_of(path):
    """What a link to a heading of the document may be called, by GitHub's rule."""
    anchors = set()
    for _, line in without_code([re.sub(r"`", "", line) if line.startswith("#") else line for line in lines_of(path)]):
        if line.startswith("#"):
            anchors.add(re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-"))
    return anchors


def check_links(document):
    mistakes = []
    for number, line in without_code(lines_of(document)):
        for link in (a or b for a, b in LINK.findall(line)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
            if not os.path.exists(os.path.join(ROOT, target)):
                mistakes.append("%s:%d: the link %s leads to no file" % (document, number, link))
            elif anchor and target.endswith(".md") and anchor not in anchors_of(target):
                mistakes.append("%s:%d: the link %s leads to no heading of %s" % (document, number, link, target))
    return mistakes


def check_commands(document):
    """Programs that the document starts by scripts/run exist."""
    for number, line in enumerate(lines_of(document), 1):
        for name in re.findall(r"scripts/run (\w+)", line):
            if not os.path.exists(os.path.join(ROOT, "examples", name + ".cpp")):
                yield "%s:%d: scripts/run %s: there is no such example" % (document, number, name)


def check_shape(document):
    """No page is too long, and no row of a table stands alone."""
    lines = lines_of(document)
    size = os.path.getsize(os.path.join(ROOT, document))
    if size > LONGEST_PAGE and document != "CHANGELOG.md":
        yield "%s has %d bytes; at most %d are wanted" % (document, size, LONGEST_PAGE)
    code = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            code = not code
        elif code or line.startswith("<!--"):
            continue
        elif line.startswith("|"):
            neighbours = [lines[n - 1] for n in (number - 1, number + 1) if 0 < n <= len(lines)]
            if not any(other.startswith("|") for other in neighbours):
                yield "%s:%d: a row outside of a table" % (document, number)


def documents():
    """All documents of the project: what git tracks or would track, else what lies in the folder."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            universal_newlines=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return sorted(path for path in set(listed.stdout.splitlines()) if os.path.exists(os.path.join(ROOT, path)))
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build"))]
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files if f.endswith(".md")]
    return sorted(found)


def main(write):
    mistakes = []
    everything = documents()
    guide = [d for d in everything if os.path.dirname(d) == "examples"]
    for document in ["README.md"] + guide:
        mistakes += check_code(document, write)
    for document in everything:
        mistakes += check_links(document)
        mistakes += check_commands(document)
    contents = "\n".join(lines_of("examples/README.md"))
    for document in everything:
        mistakes += check_shape(document)
    for document in guide:
        if re.match(r"examples/\d", document) and "(%s)" % os.path.basename(document) not in contents:
            mistakes.append("%s: examples/README.md does not list this chapter" % document)
    for mistake in mistakes:
        print(mistake)
    print("%d documents, %d mistakes%s" % (len(everything), len(mistakes), "" if write or not mistakes else
          "; where a source has changed on purpose, tests/documents/snippets.py --write copies it"))
    return 1 if mistakes else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:] == ["--write"]))
