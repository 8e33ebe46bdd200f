# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""manta-slurm --on LOGIN: the verbs of manta-slurm on a cluster, from a machine that only reaches it by ssh.

The folder that the user stands in is copied to the cluster by rsync, with manta-slurm and manta-run in it. There the verb
runs, in an ssh of the user's own settings, and what has come of it is copied back.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from .slurm import PROGRAM, give_up


TOOLS = ".manta-slurm"  # the folder on the cluster with manta-slurm and manta-run
SENDS = ("check", "script", "submit", "run")  # verbs that need the files of this folder
FETCHES = ("run", "status", "logs", "cancel", "fetch")  # verbs after which there may be new files


class Cluster:
    """The folder on the other side. All connections share one, so that the user logs in once."""

    def __init__(self, place):
        self.host, colon, folder = place.partition(":")
        self.folder = folder or os.path.basename(os.getcwd())
        if not self.host or self.host.startswith("-") or not self.folder or self.folder.startswith("-"):
            give_up("--on %s: it wants a host as ssh knows it, and the folder there if it has another name: user@login:folder" % place)
        for tool in ("ssh", "rsync"):
            if not shutil.which(tool):
                give_up("there is no %s on this machine, which --on needs" % tool)
        self.private = tempfile.mkdtemp(prefix="manta-")
        self.ssh = ["ssh", "-o", "ControlMaster=auto", "-o", "ControlPersist=600", "-o", "ControlPath=%s/login" % self.private]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.call(self.ssh + ["-O", "exit", self.host], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.private, ignore_errors=True)

    def rsync(self, *words):
        command = ["rsync", "-rlptsz", "--update", "-e", " ".join(map(shlex.quote, self.ssh))] + list(words)
        status = subprocess.call(command)
        if status in (12, 127):  # the other side has not answered rsync
            give_up("is rsync there on %s? The copy ended with status %d" % (self.host, status), 1)
        if status != 0:
            give_up("the copy between this machine and %s ended with status %d" % (self.host, status), 1)

    def there(self):
        return "%s:%s/" % (self.host, self.folder)

    def send(self):
        folder, name = os.path.split(PROGRAM)
        tools = [os.path.join(folder, t) for t in (name, name.replace("-", "_"), "manta-run", "manta_run")]
        self.command("mkdir -p %s" % shlex.quote(self.folder + "/" + TOOLS))
        self.rsync("--exclude=__pycache__", *([t for t in tools if os.path.exists(t)] + [self.there() + TOOLS]))
        self.rsync("-F", "--exclude=.git", "./", self.there())

    def fetch(self):
        self.rsync("-F", "--exclude=.git", "--exclude=/" + TOOLS, self.there(), "./")

    def command(self, text, **more):
        """Its status. Ctrl-C reaches it where somebody sits before a terminal."""
        terminal = ["-t"] if sys.stdin.isatty() and not more else []
        done = subprocess.run(self.ssh + terminal + [self.host, text], **more)
        if done.returncode == 255:
            give_up("ssh %s did not work: try it by itself" % self.host, 1)
        return done

    def verb(self, words, **more):
        text = "cd %s && exec python3 %s/%s %s" % (shlex.quote(self.folder), TOOLS, os.path.basename(PROGRAM),
                                                   " ".join(map(shlex.quote, words)))
        return self.command(text, **more)


def run(place, arguments, words):
    """The verb, with these words of the command line, on the cluster."""
    verb = arguments.verb
    file = getattr(arguments, "file", None)
    if file is not None and (os.path.isabs(file) or os.path.normpath(file).startswith("..")):
        give_up("%s: with --on, the file has to be in the folder that is copied, which is this one" % file)
    with Cluster(place) as cluster:
        if verb in SENDS:
            cluster.send()
        if verb == "forward":
            return forward(cluster, words)
        status = 0 if verb == "fetch" else cluster.verb(words).returncode
        if verb in FETCHES:
            cluster.fetch()
        return status


def forward(cluster, words):
    """A tunnel from this machine through the login node to the node of the job."""
    done = cluster.verb([w for w in words if w != "--open"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    found = re.search(r"-L (\d+):localhost:(\d+) (?:\S+@)?(\S+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        sys.stderr.write(done.stderr)
        return done.returncode or 1
    local, port, node = found.groups()
    user = cluster.host.rpartition("@")[0]
    sys.stderr.write("manta-slurm: http://localhost:%s is port %s of %s until Ctrl-C\n" % (local, port, node))
    jump = " ".join(map(shlex.quote, cluster.ssh + ["-W", "%h:%p", cluster.host]))
    try:
        return subprocess.call(["ssh", "-N", "-o", "ProxyCommand=" + jump, "-L", "%s:localhost:%s" % (local, port),
                                (user + "@" if user else "") + node])
    except KeyboardInterrupt:
        return 0
