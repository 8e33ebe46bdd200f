# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The shape of the code: how large classes, files and functions are, who reaches into whom, and how it is written.

Each measure has a ceiling, which is only ever lowered, and a goal. The test fails where a measure is above its ceiling,
and names the places. It reads text alone.

  shape.py          prints the table, and what is above its ceiling
  shape.py 5        lists the places of the measures of check 5 as well
  shape.py lower    writes into this file the ceilings that the code has earned
"""
import collections
import os
import re
import statistics
import sys

import cpp_text
from compiler import INCLUDE, ROOT
from layers import FOLDERS

TOP = os.path.join(INCLUDE, "manta")
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 400, 60, 6
MOST_MEMBERS, MOST_FUNCTIONS = 25, 45  # of a class
LONGEST_LINE = 120

# name: (ceiling, goal). A ceiling may only fall.
LIMITS = {
    "1 data members, engine":                                      (15, 15),
    "1 data members, largest other class":                         (26, 25),
    "1 classes with more than 25 members":                         (1, 0),
    "2 functions, engine":                                         (70, 70),
    "2 functions, largest other class":                            (45, 45),
    "2 classes with more than 45 functions":                       (0, 0),
    "3 files that name one private member":                        (2, 2),
    "3 private members named in more than two files":              (0, 0),
    "4 longest header or .ipp":                                    (400, 400),
    "4 headers and .ipp longer than 400 lines":                    (0, 0),
    "4 median length":                                             (200, 200),
    "4 longest script":                                           (400, 400),
    "5 longest function":                                          (60, 60),
    "5 functions longer than 60 lines":                            (0, 0),
    "5 most parameters":                                           (6, 6),
    "5 functions with more than 6 parameters":                     (0, 0),
    "6 functions in the largest call cycle across parts":          (0, 0),
    "6 calls to a higher floor":                                   (0, 0),
    "8 friends other than operators and detail::access":           (0, 0),
    "9 kinds of messages handled in a switch":                     (0, 0),
    "9 kinds of messages handled in two places":                   (0, 0),
    "10 ids passed as plain integers in exec/":                    (0, 0),
    "11 casts between pointers and integers in exec/, graph/":     (0, 0),
    "12 graph:: in public headers":                                (15, 15),
    "12 store:: in public headers":                                (5, 5),
    "13 lines longer than 120 columns":                            (0, 0),
    "13 comments with an unclear phrase":                          (0, 0),
    "13 functions of exec/ declared without a comment":            (0, 0),
}

# A part of exec/ calls parts of its own folder and of those below. What stands in exec/ itself goes over all parts.
FLOORS = FOLDERS["exec"] + [""]

# Functions of containers and pointers too: a call by an object says nothing of whose it is.
COMMON_NAMES = {"get", "for_each"}

PLAIN_INTEGER = re.compile(r"\b(?:int|unsigned|(?:std::)?u?int(?:8|16|32|64)_t|(?:std::)?size_t)\s*&?\s*$")
ID_NAME = re.compile(r"^(?:\w+_)?(?:rank|index|slot|function|type)$")
POINTER_CAST = re.compile(r"reinterpret_cast<\s*(?:const\s+)?(?:std::)?u?int(?:ptr|64)_t\s*>|"
                          r"reinterpret_cast<[^<>()]*\*>\s*\(\s*(?:\w+(?:\.|->))*(?:at|find|value|index|id|number)\b")
# Sentences without a subject, and phrases that need what is said elsewhere.
UNCLEAR = re.compile(r"\b(?:[Hh]ow manieth|[Ss]o many|[Ss]o much|[Hh]ad better)\b|^(?:The same|Of|Who|Whoever|Those|There\.)(?!\S)")


class Measures:
    """What was found: a number for each measure, and the places that a reader would change first."""

    def __init__(self):
        self.found = {}

    def count(self, name, places):
        places = list(places)
        self.found[name] = (len(places), places)

    def largest(self, name, sizes):
        """sizes: (number, place)."""
        sizes = sorted(sizes, key=lambda s: -s[0])
        self.found[name] = (sizes[0][0], [sizes[0][1]]) if sizes else (0, [])


def floor_of(path):
    """The number of a file's floor; None: it is none of exec/."""
    parts = path.split("manta/exec/")
    return FLOORS.index(os.path.dirname(parts[1])) if len(parts) > 1 else None


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def classes_and_functions(m, files):
    classes = [c for f in files for c in f.classes]
    functions = [f for file in files for f in file.functions]
    engine = [c for c in classes if c.name == "engine" and "/exec/" in c.path]
    others = [c for c in classes if c not in engine]
    place = lambda c: f"{c.path}:{c.line} {c.name}"
    # What a class hides is what its members tell each other. A struct of plain data, such as the options of an algorithm, has
    # as many members as there are things to say.
    hides = lambda c: any(n.endswith("_") for n in c.members)
    for group, found in (("engine", engine), ("largest other class", others)):
        m.largest(f"1 data members, {group}", ((len(c.members), place(c)) for c in found if hides(c)))
        m.largest(f"2 functions, {group}", ((len(c.functions), place(c)) for c in found))
    m.count(f"1 classes with more than {MOST_MEMBERS} members", (place(c) for c in classes if hides(c) and len(c.members) > MOST_MEMBERS))
    m.count(f"2 classes with more than {MOST_FUNCTIONS} functions", (place(c) for c in others if len(c.functions) > MOST_FUNCTIONS))

    place = lambda f: f"{f.path}:{f.line} {f.name}"
    m.largest("5 longest function", ((f.lines, place(f)) for f in functions))
    m.count(f"5 functions longer than {LONGEST_FUNCTION} lines", (place(f) for f in functions if f.lines > LONGEST_FUNCTION))
    m.largest("5 most parameters", ((len(f.parameters), place(f)) for f in functions))
    m.count(f"5 functions with more than {MOST_PARAMETERS} parameters",
            (place(f) for f in functions if len(f.parameters) > MOST_PARAMETERS))

    # Who names a private member: the functions of its class, file by file.
    private = {c.name: (c, {n for n in c.members if n.endswith("_")}) for c in classes}
    users = collections.defaultdict(set)
    for f in functions:
        owner, members = private.get(f.owner, (None, ()))
        if members:
            for word in members.intersection(f.words()):
                users[owner.name, word].update((owner.path, f.path))
    m.largest("3 files that name one private member", ((len(paths), f"{c}::{word}") for (c, word), paths in users.items()))
    m.count("3 private members named in more than two files", (f"{c}::{word}" for (c, word), p in users.items() if len(p) > 2))


def lengths(m, files):
    sizes = [(f.text.count("\n"), f.path) for f in files]
    m.largest("4 longest header or .ipp", sizes)
    m.count(f"4 headers and .ipp longer than {LONGEST_FILE} lines", (p for n, p in sizes if n > LONGEST_FILE))
    m.found["4 median length"] = (int(statistics.median(n for n, _ in sizes)), [])
    scripts = os.path.join(ROOT, "scripts")
    found = []
    for folder, _, names in os.walk(scripts):
        for name in names:
            if not name.endswith((".md", ".pyc")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    found.append((sum(1 for _ in file), os.path.relpath(path, ROOT)))
    m.largest("4 longest script", found)


def cycles(calls):
    """The sets of functions each of which leads to all others (Tarjan, without recursion)."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in calls:
        if root in order:
            continue
        work = [(root, iter(calls[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            f, rest = work[-1]
            for g in rest:
                if g not in order:
                    order[g] = low[g] = len(order)
                    stack.append(g)
                    on_stack.add(g)
                    work.append((g, iter(calls[g])))
                    break
                if g in on_stack:
                    low[f] = min(low[f], order[g])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[f])
                if low[f] == order[f]:
                    together = set(stack[stack.index(f):])
                    del stack[stack.index(f):]
                    on_stack -= together
                    found.append(together)
    return found


def calls_between_parts(m, files):
    """Calls are found by name: of the own class, or by an object if one class of exec/ alone has a function so called.
    A hook is no call: by these a part tells others, which it does not know, what has happened."""
    functions = collections.defaultdict(list)  # (class, name): where it is defined
    bodies = []
    for file in files:
        if "/exec/" in file.path:
            for f in file.functions:
                if f.owner:
                    functions[f.owner, f.short].append(f)
                    bodies.append(f)
    owners = collections.defaultdict(set)
    for owner, name in functions:
        owners[name].add(owner)
    calls = {key: set() for key in functions}
    upward = []
    for f in bodies:
        for by_object, name in f.calls():
            if (f.owner, name) in functions and not by_object:
                target = (f.owner, name)
            elif by_object and len(owners[name]) == 1 and name in owners and name not in COMMON_NAMES:
                target = (next(iter(owners[name])), name)
            else:
                continue
            calls[f.owner, f.short].add(target)
            mine, other = floor_of(f.path), floor_of(functions[target][0].path)
            if mine is not None and other is not None and other > mine:
                upward.append(f"{f.path}:{f.line} {f.name} calls {name} of {functions[target][0].path}")
    across = []
    for cycle in cycles(calls):
        parts = {stem(f.path) for key in cycle for f in functions[key]}
        if len(parts) > 1:
            across.append((len(cycle), f"{len(parts)} parts: " + " ".join(sorted(name for _, name in cycle))))
    m.largest("6 functions in the largest call cycle across parts", across)
    m.count("6 calls to a higher floor", sorted(set(upward)))


def messages(m, files):
    """A kind of message is dispatched by a table; what is left of the switch is counted."""
    kinds, handled = [], collections.Counter()
    for file in files:
        if file.path.endswith("exec/rank/messages.hpp"):
            body = re.search(r"enum class message : [\w:]+ \{(.*?)\};", file.code, re.S)
            kinds = re.findall(r"\w+", body.group(1)) if body else []
        if "/exec/" in file.path:
            handled.update(re.findall(r"\bcase message::(\w+)", file.code))
    m.count("9 kinds of messages handled in a switch", sorted(handled))
    m.count("9 kinds of messages handled in two places", (k for k, n in sorted(handled.items()) if n > 1))
    if not kinds:
        m.found["9 kinds of messages handled in a switch"] = (sys.maxsize, ["exec/rank/messages.hpp: no list of kinds found"])


def ids_and_pointers(m, files):
    raw, casts, friends = [], [], []
    for file in files:
        if "/exec/" in file.path:
            for f in file.functions + file.declarations:
                for p in f.parameters:
                    words = re.match(r"(.*?)(\w+)\s*(?:=.*)?$", p.strip(), re.S)
                    if words and ID_NAME.match(words.group(2)) and PLAIN_INTEGER.search(words.group(1)):
                        raw.append(f"{file.path}:{f.line} {f.name}({p.strip()})")
        for number, line in enumerate(file.code.split("\n"), 1):
            if ("/exec/" in file.path or "/graph/" in file.path) and POINTER_CAST.search(line):
                casts.append(f"{file.path}:{number}")
            if re.match(r"\s*(?:template\s*<.*>\s*)?friend\b", line) and not re.search(r"\boperator\b|\bdetail::access\b", line):
                friends.append(f"{file.path}:{number}")
    m.count("8 friends other than operators and detail::access", friends)
    m.count("10 ids passed as plain integers in exec/", raw)
    m.count("11 casts between pointers and integers in exec/, graph/", casts)


def public_headers(m, files):
    """An .ipp file is compiled once and no header: what stands there is hidden from programs in the compiled mode."""
    for name in ("graph", "store"):
        m.count(f"12 {name}:: in public headers",
                (f"{f.path}:{n}" for f in files if f.path.endswith(".hpp") and os.path.dirname(f.path) in ("include/manta", "include/manta/call")
                 for n, line in enumerate(f.code.split("\n"), 1) for _ in re.findall(rf"\b{name}::", line)))


def words(m, files):
    wide, unclear, bare = [], [], []
    for file in files:
        for number, line in enumerate(file.text.split("\n"), 1):
            if len(line) > LONGEST_LINE:
                wide.append(f"{file.path}:{number}")
            comment = line.partition("//")[2] if "//" in line else ""
            if comment and UNCLEAR.search(comment.lstrip("/< ")):
                unclear.append(f"{file.path}:{number}")
        if "/exec/" in file.path:
            bare += [f"{file.path}:{d.line} {d.name}" for d in file.declarations if d.owner and not d.explained]
    m.count(f"13 lines longer than {LONGEST_LINE} columns", wide)
    m.count("13 comments with an unclear phrase", unclear)
    m.count("13 functions of exec/ declared without a comment", bare)


def measure():
    files = []
    for folder, _, names in sorted(os.walk(TOP)):
        files += [cpp_text.File(os.path.join(folder, n), ROOT) for n in sorted(names) if n.endswith((".hpp", ".ipp"))]
    m = Measures()
    classes_and_functions(m, files)
    lengths(m, files)
    calls_between_parts(m, files)
    ids_and_pointers(m, files)
    messages(m, files)
    public_headers(m, files)
    words(m, files)
    return m.found


def lower(found):
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    for name, (value, _) in found.items():
        ceiling, goal = LIMITS[name]
        now = max(value, goal)
        if now < ceiling:
            text = re.sub(rf'("{re.escape(name)}": +)\({ceiling}, {goal}\)', rf"\g<1>({now}, {goal})", text)
    with open(__file__, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    found = measure()
    if sys.argv[1:] == ["lower"]:
        return lower(found)
    listed = sys.argv[1] if len(sys.argv) > 1 else None  # shape.py 5: where the measures of check 5 stand
    failures = 0
    print(f"{'measure':<58} {'now':>6} {'ceiling':>8} {'goal':>6}")
    for name in sorted(found, key=lambda n: int(n.split()[0])):
        value, places = found[name]
        ceiling, goal = LIMITS.get(name, (0, 0))
        note = "  ABOVE THE CEILING" if value > ceiling else "  lower the ceiling" if goal < value < ceiling else ""
        print(f"{name:<58} {value:>6} {ceiling:>8} {goal:>6}{note}")
        if listed == name.split()[0]:
            print("\n".join("    " + p for p in places))
    for name, (value, places) in found.items():
        ceiling, goal = LIMITS.get(name, (0, 0))
        if value > ceiling:
            failures += 1
            where = "; ".join(places[:20]) + ("; ..." if len(places) > 20 else "")
            print(f"\n{name}: {value}, at most {ceiling} are allowed and {goal} wanted. Make it smaller; do not raise the ceiling.\n  {where}")
    for name in set(LIMITS) - set(found):
        failures += 1
        print(f"\n{name} has a ceiling, but nothing measures it")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
