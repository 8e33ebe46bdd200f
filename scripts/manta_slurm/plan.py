# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The file that says what is wanted, with defaults, and the mistakes in it."""
import configparser
import difflib
import math
import os
import re
import shlex

from .slurm import clock, give_up, mebibytes, seconds


KEYS = {
    "job": ["command", "time", "nodes", "ranks_per_node", "cpus_per_rank", "gpus_per_rank", "memory_per_rank",
            "memory_per_node", "partition", "account", "name", "array", "folder", "output", "launcher", "mpi",
            "launch_options", "sbatch_options", "environment"],
    "requeue": ["status", "before_end", "at_most"],
    "stage": ["in", "out", "to", "scratch"],
}

class Plan:
    """What the file says, with defaults, and what is wrong with it."""

    def __init__(self, path, changes=()):
        self.path, self.mistakes = path, []
        self.base = os.path.splitext(path)[0]
        try:
            with open(path) as file:
                self.text = file.read()
        except OSError as e:
            give_up("%s: %s; manta-slurm --help shows what such a file has in it" % (path, e.strerror))
        parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=("#", ";"))
        try:
            parser.read_string(self.text)
        except configparser.Error as e:
            give_up("%s: %s" % (path, " ".join(e.message.split())))
        for change in changes:
            key, equal, value = change.partition("=")
            section, dot, name = key.strip().rpartition(".")
            section = section or "job"
            if not equal:
                give_up("--set %s: it wants key=value, or section.key=value" % change)
            if not parser.has_section(section):
                parser.add_section(section)
            parser.set(section, name, value.strip())
        self.values = {s: dict(parser.items(s)) for s in parser.sections()}
        self.read()

    def mistake(self, key, text, section="job"):
        """What, where, what to do."""
        where = self.path
        line = self.line(section, key)
        self.mistakes.append("%s: %s" % ("%s:%d" % (where, line) if line else where, text))

    def line(self, section, key):
        current = None
        for number, text in enumerate(self.text.splitlines(), 1):
            match = re.match(r"\s*\[([^]]+)\]", text)
            if match:
                current = match.group(1)
                if key is None and current == section:
                    return number
            elif current == section and key is not None and re.match(r"%s\s*[=:]" % re.escape(key), text):
                return number
        return None

    def get(self, key, default="", section="job"):
        return self.values.get(section, {}).get(key, default).strip()

    def number(self, key, default, section="job", least=1, whole=True):
        text = self.get(key, str(default), section)
        try:
            value = int(text) if whole else float(text)
            if value >= least:
                return value
        except ValueError:
            pass
        self.mistake(key, "%s is '%s', and has to be a %snumber of at least %d" % (key, text, "whole " if whole else "", least), section)
        return default

    def period(self, key, default, section):
        text = self.get(key, default, section)
        value = seconds(text)
        if value is None or value <= 0:
            self.mistake(key, "%s is '%s', and has to be a time like 90m, 2h, 1:30:00 or 1-12" % (key, text), section)
            return seconds(default or "1h")
        return value

    def read(self):
        for section, values in self.values.items():
            if section not in KEYS:
                self.mistake(None, "there is no section [%s]; there are [job], [requeue] and [stage]" % section, section)
                continue
            for key in values:
                if key not in KEYS[section]:
                    near = difflib.get_close_matches(key, KEYS[section], 1)
                    homes = [s for s in KEYS if key in KEYS[s]]
                    hint = "it belongs into [%s]" % homes[0] if homes else "is it '%s'?" % near[0] if near else "see manta-slurm --help"
                    self.mistake(key, "[%s] has no '%s'; %s" % (section, key, hint), section)
        self.command = self.get("command")
        if not self.command:
            self.mistake("command", "[job] needs a command: command = ./program arguments")
        elif "\n" in self.command:
            self.mistake("command", "the command has to be one line; put what comes before it into 'environment'")
        if not self.get("time"):
            self.mistake("time", "[job] needs a time limit: time = 1:00:00")
        self.time = self.period("time", "", "job") if self.get("time") else 3600
        self.nodes = self.number("nodes", 1)
        self.ranks = self.number("ranks_per_node", 1)
        self.cpus = self.number("cpus_per_rank", 1)
        self.gpus = math.ceil(self.number("gpus_per_rank", 0, least=0, whole=False) * self.ranks - 1e-9)
        self.memory = self.read_memory()
        self.partition, self.account, self.array = self.get("partition"), self.get("account"), self.get("array")
        if self.array and not re.match(r"^\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*(%[1-9]\d*)?$", self.array):
            self.mistake("array", "array is '%s', and has to be like 0-9, 1,3,7 or 0-99%%10" % self.array)
        self.name = self.get("name", os.path.basename(self.base))
        if not re.match(r"^[\w.+-]+$", self.name):
            self.mistake("name", "the name '%s' has to be of letters, digits and . _ + -" % self.name)
        self.launcher, self.mpi = self.get("launcher", "mpirun"), self.get("mpi", "pmix")
        if self.launcher not in ("mpirun", "srun"):
            self.mistake("launcher", "launcher is '%s', and has to be mpirun or srun" % self.launcher)
        self.folder = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(self.path)), self.get("folder", ".")))
        self.output = self.get("output", self.name + ("-%A_%a.out" if self.array else "-%j.out"))
        self.lines = [line.strip() for line in self.get("environment").splitlines() if line.strip()]
        self.requeue = "requeue" in self.values
        self.status = self.number("status", 85, "requeue")
        self.before_end = self.period("before_end", "%ds" % min(300, self.time // 4), "requeue")
        self.at_most = self.number("at_most", 20, "requeue", least=0)
        if self.requeue and self.status > 255:
            self.mistake("status", "status is %d, and exit statuses end at 255" % self.status, "requeue")
        if self.requeue and self.before_end >= self.time:
            self.mistake("before_end", "before_end (%s) leaves nothing of the time limit (%s): lower the one or raise the other"
                         % (clock(self.before_end), clock(self.time)), "requeue")
        self.stage = "stage" in self.values
        try:
            self.stage_in, self.stage_out = (shlex.split(self.get(k, "", "stage")) for k in ("in", "out"))
        except ValueError as e:
            self.stage_in = self.stage_out = []
            self.mistake(None, "[stage]: %s" % e, "stage")
        if self.stage and not (self.stage_in or self.stage_out):
            self.mistake(None, "[stage] says neither what goes in nor what comes out: in = files, out = patterns", "stage")

    def read_memory(self):
        """MiB of a node, 0 for all, None for the cluster's default."""
        rank, node = self.get("memory_per_rank"), self.get("memory_per_node")
        if rank and node:
            self.mistake("memory_per_node", "memory_per_rank and memory_per_node say the same in two ways: leave one out")
        key, text = ("memory_per_rank", rank) if rank else ("memory_per_node", node)
        if not text:
            return None
        if key == "memory_per_node" and text == "all":
            return 0
        value = mebibytes(text)
        if value is None or value == 0:
            self.mistake(key, "%s is '%s', and has to be like 512M, 2G or 1.5T" % (key, text))
            return None
        return value * self.ranks if rank else value
