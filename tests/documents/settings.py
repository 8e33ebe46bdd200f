#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The table of settings in scripts/settings.md says what include/manta/options.hpp says.

Without arguments: compares the two, and the names in options.hpp with each other. With --write: writes the table anew.
"""
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
HEADER = os.path.join(ROOT, "include", "manta", "options.hpp")
DEFINITIONS = HEADER.replace(".hpp", ".ipp")
PAGE = os.path.join(ROOT, "scripts", "settings.md")
BEGIN = "<!-- settings: made by tests/documents/settings.py --write -->"
END = "<!-- end of settings -->"
# Read from the environment, but no settings of a run: for trying things out, for the launcher, and for parts that stand apart
# from runs and describe their variable themselves (progress.hpp, process.hpp).
NO_SETTINGS = {"MANTA_HELP", "MANTA_RANKS_PER_NODE", "MANTA_RUN_FD", "MANTA_PROGRESS", "MANTA_PYTHON"}

MEMBER = re.compile(r"  (?P<type>[\w:]+) (?P<name>\w+) = (?P<value>.*);$")


def members(text, struct):
    """(name, default, meaning) of each member of a struct; a member without a comment of its own is a mistake."""
    body = re.search(r"^struct %s \{\n(.*?)^\};" % struct, text, re.M | re.S).group(1)
    found, comment = [], []
    for line in body.splitlines():
        member = MEMBER.match(line)
        if line.startswith("  /// "):
            comment.append(line[len("  /// "):])
        elif member and comment:
            found.append((member.group("name"), default(member), " ".join(comment)))
            comment = []
        else:
            sys.exit(f"options.hpp: in {struct}: '{line.strip()}' is no comment ('/// ...') and no member with a default "
                     "and a comment above it")
    return found


def default(member):
    value = member.group("value").replace("'", "")
    if value.endswith("()"):
        return "found out"
    return "empty" if value == "{}" else f"`{value}`"


def variable(name):
    return "MANTA_" + name.upper()


def option(name):
    return name.replace("_", "-")


def table(text):
    rows = ["| in code | environment | command line | default | meaning |", "|---|---|---|---|---|"]
    for struct, in_code in (("runtime_options", True), ("environment_options", False)):
        for name, value, meaning in members(text, struct):
            code = f"`{name}`" if in_code else "–"
            rows.append(f"| {code} | `{variable(name)}` | `--manta-{option(name)}=` | {value} | {meaning} |")
    return "\n".join(rows)


TEXTS = os.path.join(ROOT, "include", "manta", "setting_texts.ipp")


def texts(text):
    """The C++ table of --manta-help."""
    rows = []
    for struct in ("runtime_options", "environment_options"):
        for name, value, meaning in members(text, struct):
            words = "{} {}".format(value.strip("`"), meaning.replace("`", "'")).split(" ", 1)
            assert '"' not in meaning and "\\" not in meaning, name
            lines, now = [], ""
            for word in words[1].split(" "):
                if len(now) + len(word) > 90:
                    lines.append(now)
                    now = ""
                now += word + " "
            lines.append(now.rstrip())
            rows.append('    {"%s", "%s",\n%s},' % (option(name), words[0], "\n".join('     "%s"' % line for line in lines)))
    return """// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The settings for --manta-help: made of options.hpp by tests/documents/settings.py --write.
#pragma once

namespace manta::detail {

struct setting_text {
  const char *name, *otherwise, *meaning;
};

// clang-format off
inline constexpr setting_text setting_texts[] = {
%s
};
// clang-format on

}  // namespace manta::detail
""" % "\n".join(rows)


def complaints(text):
    """What disagrees within the code: every setting has to be read, and be known to the command line."""
    names = [name for struct in ("runtime_options", "environment_options") for name, _, _ in members(text, struct)]
    listed = re.search(r"setting_names\[\] = \{(.*?)\};", text, re.S).group(1)
    known = re.findall(r'"([\w-]+)"', listed)
    if known != [option(n) for n in names]:
        yield "options.hpp: setting_names is not the list of the members, in their order: " + ", ".join(map(option, names))
    for name in names:
        if f'"{variable(name)}"' not in text:
            yield f"options.hpp: nobody reads {variable(name)}"
    for folder, _, files in os.walk(os.path.join(ROOT, "include")):
        for file in files:
            if file.endswith((".hpp", ".ipp")):
                with open(os.path.join(folder, file)) as source:
                    for read in re.findall(r'(?:getenv|environment\w*)\("(MANTA_\w+)"', source.read()):
                        if read not in NO_SETTINGS and read not in map(variable, names):
                            yield f"{file} reads {read}, which has no member in options.hpp"


def main():
    with open(HEADER) as file, open(DEFINITIONS) as definitions:
        text = file.read() + definitions.read()
    with open(PAGE) as file:
        page = file.read()
    if BEGIN not in page or END not in page:
        sys.exit(f"scripts/settings.md lacks a line '{BEGIN}' or '{END}'")
    before, _, rest = page.partition(BEGIN)
    present, _, after = rest.partition(END)
    wanted = f"\n{table(text)}\n"
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w") as file:
            file.write(before + BEGIN + wanted + END + after)
        with open(TEXTS, "w") as file:
            file.write(texts(text))
        return 0
    found = list(complaints(text))
    if present != wanted:
        found.append("the settings in scripts/settings.md are not those of options.hpp; call tests/documents/settings.py --write")
    if not os.path.exists(TEXTS) or open(TEXTS).read() != texts(text):
        found.append("include/manta/setting_texts.ipp is not made of options.hpp; call tests/documents/settings.py --write")
    print("\n".join(found) or "the settings of options.hpp and scripts/settings.md agree")
    return 1 if found else 0


sys.exit(main())
