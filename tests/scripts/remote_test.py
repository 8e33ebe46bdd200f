# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""manta-slurm --on: a folder goes to a cluster, a job runs there, and its outputs come back, by rsync and a real ssh to
this machine. What stands for Slurm runs the batch script at once. Skipped where there is no sshd or no rsync.

usage: remote_test.py
"""
import getpass
import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

SCRIPTS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")
USER = getpass.getuser()
failures = []


def check(what, value):
    if not value:
        failures.append(what)
        print("FAILED " + what)


def write(path, text, mode=0o600):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def read(path):
    with open(path) as file:
        return file.read()


class Cluster:
    """An sshd whose sessions find commands that stand for Slurm, and an ssh that knows it as `login`."""

    def __init__(self, place):
        self.bin, self.home = os.path.join(place, "bin"), os.path.join(place, "home")
        os.mkdir(self.bin)
        os.mkdir(self.home)
        write(self.bin + "/sbatch", '#!/bin/bash\nbash "${@: -1}" > study-7.out 2>&1\necho $? > status-7\necho 7\n', 0o755)
        # A job with a file `runs` beside it runs still.
        write(self.bin + "/scontrol", '#!/bin/bash\nif [[ -e runs ]]; then state=RUNNING; elif [[ $(< status-7) == 0 ]]; then state=COMPLETED; '
              'else state=FAILED; fi\necho "JobId=7 JobState=$state ExitCode=$(< status-7):0 RunTime=00:00:01 TimeLimit=00:05:00 NodeList=node '
              'BatchHost=node StdOut=$PWD/study-7.out"\n', 0o755)
        for name in ("host", "mine"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(place, name)], check=True)
        port = free_port()
        keys = write(place + "/authorized", read(place + "/mine.pub"))
        write(place + "/sshd_config", "Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\n"
              "PermitRootLogin yes\nForceCommand cd %s && eval \"$SSH_ORIGINAL_COMMAND\"\nSetEnv PATH=%s:%s "
              "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
              % (port, place, keys, self.home, self.bin, os.environ["PATH"]))
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", place + "/sshd_config"], stderr=open(place + "/sshd.log", "w"))
        config = write(place + "/ssh_config", "Host login node\n  HostName 127.0.0.1\n  Port %d\n  User %s\n  IdentityFile %s/mine\n"
                       "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n" % (port, USER, place))
        write(self.bin + "/../ssh", "#!/bin/bash\nexec %s -F %s \"$@\"\n" % (shutil.which("ssh"), config), 0o755)
        os.environ["PATH"] = place + ":" + os.environ["PATH"]
        self.log = place + "/sshd.log"
        end = time.monotonic() + 30
        while subprocess.call(["ssh", "login", "true"], stderr=subprocess.DEVNULL) != 0 and time.monotonic() < end:
            time.sleep(0.05)

    def file(self, name):
        return os.path.join(self.home, name)


def slurm(*words, status=0):
    done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "manta-slurm")] + [str(w) for w in words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=120)
    if done.returncode != status:
        check("%s: status %d, not %d:\n%s" % (" ".join(map(str, words)), done.returncode, status, done.stdout), False)
    return done.stdout


def a_job(cluster):
    write("study.ini", "[job]\ntime = 5m\ncommand = bash -c 'cat table; echo result > made.csv'\n")
    write("table", "a table\n")
    write(".rsync-filter", "- secret\n")
    write("secret", "mine")
    os.mkdir(".git")
    output = slurm("--on", "login", "run", "study.ini", "--no-check")
    check("it ran, and its output is shown: " + output, "a table\n" in output and "job 7: completed" in output)
    check("the outputs are here", read("made.csv") == "result\n" and "a table" in read("study-7.out"))
    folder = os.path.basename(os.getcwd())
    check("what stays here", not any(os.path.exists(cluster.file(folder + "/" + name)) for name in ("secret", ".git")))
    check("the tools stay there", not os.path.exists(".manta-slurm") and os.path.exists(cluster.file(folder + "/.manta-slurm/manta-run")))
    # What is newer on one side stays.
    write("made.csv", "changed here\n")
    write(cluster.file(folder + "/late.csv"), "late\n")
    slurm("--on", "login", "fetch")
    check("a later output comes, a later change here stays", (read("late.csv"), read("made.csv")) == ("late\n", "changed here\n"))
    check("status", "job 7: completed" in slurm("--on=login", "status"))
    check("logs", "a table" in slurm("--on", "login", "logs"))
    write("bad.ini", "[job]\ntime = 5m\ncommand = bash -c 'exit 3'\n")
    check("a program that fails", "status 3" in slurm("--on", "login:its own/place", "run", "bad.ini", "--no-check", status=3))
    check("a folder with another name", os.path.exists(cluster.file("its own/place/bad.job")))


def a_tunnel(cluster):
    folder = os.path.basename(os.getcwd())
    check("nothing to reach", "does not run" in slurm("--on", "login", "forward", "80", status=1))
    write(cluster.file(folder + "/runs"), "")

    class Hello(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Hello)  # it listens on its own machine alone, as serve::http does
    threading.Thread(target=server.serve_forever, daemon=True).start()
    local = free_port()
    tunnel = subprocess.Popen([sys.executable, os.path.join(SCRIPTS, "manta-slurm"), "--on", "login", "forward", str(server.server_port), "--local", str(local)],
                              stderr=subprocess.PIPE, universal_newlines=True)
    line = tunnel.stderr.readline()
    check("what it says: " + line, "http://localhost:%d is port %d of node until Ctrl-C" % (local, server.server_port) in line)
    answer, end = b"", time.monotonic() + 30
    while answer != b"hello" and time.monotonic() < end and tunnel.poll() is None:
        try:
            answer = urllib.request.urlopen("http://127.0.0.1:%d" % local, timeout=10).read()
        except OSError:
            time.sleep(0.05)
    check("the tunnel", answer == b"hello")
    tunnel.terminate()
    tunnel.wait(30)
    server.shutdown()


def mistakes():
    check("no host", "it wants a host as ssh knows it" in slurm("--on", "", "status", status=2))
    check("a file elsewhere", "has to be in the folder that is copied" in slurm("--on", "login", "run", "../study.ini", status=2))
    check("fetch alone", "manta-slurm --on LOGIN fetch" in slurm("fetch", status=2))
    check("no such host", "ssh nowhere.invalid did not work" in slurm("--on", "nowhere.invalid", "status", status=1))


if not SSHD or not shutil.which("rsync") or not shutil.which("ssh-keygen"):
    print("left out: there is no sshd or no rsync")
    sys.exit(77)
place = tempfile.mkdtemp(prefix="manta-on-")
os.mkdir(place + "/my study")
os.chdir(place + "/my study")
the_cluster = Cluster(place)
try:
    for part in (a_job, a_tunnel):
        part(the_cluster)
    mistakes()
finally:
    the_cluster.sshd.terminate()
    the_cluster.sshd.wait(30)
    if failures:
        print(read(the_cluster.log)[-2000:])
    os.chdir("/")
    shutil.rmtree(place, ignore_errors=True)
print("passed" if not failures else "%d checks failed" % len(failures))
sys.exit(len(failures) != 0)
