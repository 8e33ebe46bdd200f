# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Classes and functions of a C++ file, found in its text by matching braces: no compiler, and no macro is expanded."""
import bisect
import os
import re

# What is no code: it becomes blanks, so that places stay.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|\bR"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\[^\']*|[^\'\\\n])\'|^[ \t]*#(?:[^\n\\/]|/(?!/)|\\[^\n]|\\\n)*',
    re.S | re.M)
TOKEN = re.compile(r"[{};()]|\b(?:public|private|protected)\s*:(?!:)")
WORD = re.compile(r"[A-Za-z_]\w*")
CALL = re.compile(r"(\.|->|::)?\s*\b([A-Za-z_]\w*)\s*\(")
HOOK = re.compile(r"\b(?:others|duties)_\.\w+")
ANGLES = re.compile(r"<[^<>{};]*>")
LIST_OF_MEMBERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_angles(head):
    """Template arguments become blanks, the innermost first; `operator<` and `->` stay apart."""
    head = re.sub(r"operator\s*(?:<=>|<<|>>|<=|>=|<|>)", lambda m: "operator" + "_" * (len(m.group(0)) - 8), head)
    head = head.replace("->", "--").replace("<=", "__").replace(">=", "__")
    while True:
        shorter = ANGLES.sub(blank, head)
        if shorter == head:
            return head
        head = shorter


def split(text):
    """At the commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    flat = without_angles(text)
    for i, c in enumerate(flat):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p for p in (part.strip() for part in parts) if p and p != "void"]


class Class:
    def __init__(self, name, path, line):
        self.name, self.path, self.line = name, path, line
        self.members = []    # names of data members that are no constants
        self.functions = []  # names of those declared or defined in the class


class Function:
    """A definition (code: its body), or a declaration (code: empty)."""

    def __init__(self, name, owner, parameters, path, line, lines, code, explained):
        self.name, self.owner, self.parameters = name, owner, parameters
        self.path, self.line, self.lines, self.code, self.explained = path, line, lines, code, explained
        self.short = name.rpartition("::")[2]

    def words(self):
        return set(WORD.findall(self.code))

    def calls(self):
        """(by an object, name) for each name before a bracket, but for hooks."""
        return {(before in (".", "->"), name) for before, name in CALL.findall(HOOK.sub("", self.code)) if before != "::"}


class File:
    def __init__(self, path, root):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.path = os.path.relpath(path, root)
        self.code = NO_CODE.sub(blank, self.text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        self.classes, self.functions, self.declarations = [], [], []
        self.scan()

    def line(self, place):
        return bisect.bisect_right(self.starts, place)

    def scan(self):
        scopes = []       # of namespaces (None), classes (Class), enumerations (False)
        start = 0         # of the statement
        tokens = list(TOKEN.finditer(self.code))
        i, rounds = 0, 0  # rounds: open round brackets
        while i < len(tokens):
            token, at = tokens[i].group(0), tokens[i].start()
            if token in "()":
                rounds += 1 if token == "(" else -1
            elif token[0] == "p":
                if rounds == 0:
                    start = tokens[i].end()
            elif rounds > 0:
                if token == "{":
                    i = self.end_of_braces(tokens, i)
            elif token == "{":
                kind, scope = self.opens(self.code[start:at], start)
                if kind == "scope":
                    scopes.append(scope)
                    start = tokens[i].end()
                else:
                    end = self.end_of_braces(tokens, i)
                    if kind == "function":
                        self.add_function(start, at, tokens[end].end() if end < len(tokens) else len(self.code), scopes)
                        start = tokens[end].end() if end < len(tokens) else len(self.code)
                    i = end  # of an initialiser: the statement goes on
            elif token == "}":
                if scopes:
                    scopes.pop()
                start = tokens[i].end()
            else:
                self.add_statement(start, at, scopes)
                start = tokens[i].end()
            i += 1

    @staticmethod
    def end_of_braces(tokens, i):
        depth = 0
        while i < len(tokens):
            token = tokens[i].group(0)
            depth += 1 if token == "{" else -1 if token == "}" else 0
            if depth == 0:
                return i
            i += 1
        return i

    def opens(self, head, start):
        """What a brace after `head` opens, outside of functions."""
        flat = re.sub(r"\[\[.*?\]\]", blank, without_angles(head), flags=re.S)
        if re.match(r"\s*(?:inline\s+)?namespace\b", flat) or re.match(r"\s*extern\s*$", flat):
            return "scope", None
        if re.match(r"\s*(?:typedef\s+)?enum\b", flat):
            return "initialiser", None
        plain = re.sub(r"^\s*(?:template\s*)+", "", flat)
        plain = re.sub(r"\balignas\s*\([^()]*\)", " ", plain)
        named = re.search(r"(?:^|\s)(?:class|struct|union)\s+(?:\w+::)*(\w+)?", plain)
        if named and "(" not in plain.split(":")[0].partition("requires")[0] and "=" not in plain:
            found = Class(named.group(1) or "", self.path, self.line(start + len(head) - len(head.lstrip())))
            self.classes.append(found)
            return "scope", found
        if "(" not in plain or self.assigns(plain):
            return "initialiser", None
        before = plain.rstrip()
        if LIST_OF_MEMBERS.search(plain) and re.search(r"[\w>]$", before) and not re.search(r"\)\s*(?:const|noexcept|override)$", before):
            return "initialiser", None  # of a member, in a constructor's list
        return "function", None

    @staticmethod
    def assigns(flat):
        """Is there a `=` outside of round brackets that is no operator's name?"""
        flat = re.sub(r"\boperator\s*[^\s\w(]+", "operator", flat)
        while re.search(r"\([^()]*\)", flat):
            flat = re.sub(r"\([^()]*\)", " ", flat)
        return re.search(r"(?<![=!<>])=(?!=)", flat) is not None

    def signature(self, head):
        """Name and parameters of a function, or None. The name may have classes before it."""
        flat = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", blank, without_angles(head), flags=re.S)
        flat = re.sub(r"\b(?:explicit|noexcept|requires|decltype)\s*\([^()]*\)", blank, flat)
        match = re.search(r"((?:~?\w+\s*::\s*)*(?:operator\s*(?:\(\s*\)|[^\s\w(]+|\"\"\s*\w+|[\w:]+(?:\s*[*&])?)|~?\w+))\s*\(", flat)
        if not match:
            return None
        depth, i = 1, match.end()
        while i < len(flat) and depth:
            depth += 1 if flat[i] == "(" else -1 if flat[i] == ")" else 0
            i += 1
        return re.sub(r"\s+", "", match.group(1)), split(head[match.end():i - 1])

    def add_function(self, start, brace, end, scopes):
        found = self.signature(self.code[start:brace])
        if not found:
            return
        begin = start + len(self.code[start:brace]) - len(self.code[start:brace].lstrip())
        name, parameters = found
        scope = scopes[-1] if scopes else None
        owner = scope.name if scope else name.rpartition("::")[0].rpartition("::")[2]
        # What only refuses a mistake in words, as a deleted function does, is none of the functions of its class.
        is_refusal = re.match(r"\{\s*static_assert\s*\(\s*sizeof", self.code[brace:end])
        if scope and not is_refusal:
            scope.functions.append(name)
        line = self.line(begin)
        self.functions.append(Function(f"{owner}::{name}" if scope else name, owner, parameters, self.path, line,
                                       self.line(end) - line + 1, self.code[brace:end], self.is_explained(begin, brace)))

    def add_statement(self, start, end, scopes):
        scope = scopes[-1] if scopes else None
        head = self.code[start:end]
        begin = start + len(head) - len(head.lstrip())
        text = head.strip()
        if not scope or not text or re.match(r"(?:using|typedef|friend|static_assert|enum)\b", text):
            return
        if re.search(r"=\s*(?:delete|default)$", text):
            return
        text = re.sub(r"^(?:template\s*$)", "", re.sub(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)", " ", without_angles(text), flags=re.S)).strip()
        text = re.sub(r"^(?:template\s+)+", "", text)
        if re.match(r"(?:friend|using)\b", text) or re.match(r"(?:class|struct|union)\s+\w+$", text):
            return
        plain = re.split(r"(?<![=!<>])=(?!=)", re.sub(r"\boperator\s*[^\s\w(]+", "operator", text))[0]
        pointer = re.search(r"\(\s*(?:\w+::)?\*\s*(\w+)", plain)
        if "(" in plain and not (pointer and plain.index("(") == pointer.start()):
            found = self.signature(head)
            if found:
                scope.functions.append(found[0])
                self.declarations.append(Function(f"{scope.name}::{found[0]}", scope.name, found[1], self.path,
                                                  self.line(begin), 0, "", self.is_explained(begin, end)))
            return
        if re.match(r"(?:inline\s+)?(?:static\s+)?(?:inline\s+)?constexpr\b|(?:static\s+)?const(?:expr|init)?\s+\w.*=", text) and "static" in text:
            return
        if pointer:
            scope.members.append(pointer.group(1))
            return
        plain = re.sub(r"\{.*", "", plain, flags=re.S) if "," not in plain else re.sub(r"\{[^{}]*\}", "", plain)
        for part in split(plain):
            words = WORD.findall(re.sub(r"\[[^\]]*\]|:.*", "", part.replace("::", "__"), flags=re.S))
            if words:
                scope.members.append(words[-1])

    def is_explained(self, begin, end):
        """Has the declaration a comment in its lines, or in the line before it?"""
        first, last = self.line(begin), self.line(end)
        lines = self.text.split("\n") if not hasattr(self, "lines_") else self.lines_
        self.lines_ = lines
        before = lines[first - 2].strip() if first > 1 else ""
        return before.startswith("//") or any("//" in l for l in lines[first - 1:last])
