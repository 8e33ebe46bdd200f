# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Deaths in a program's own phases, and what follows a run after a death: the cases of phases.cpp.

  phases_test.py PHASES [words]

No case may hang: whatever happens, the job ends within seconds, with the status that says why.
"""
import concurrent.futures
import os
import signal
import subprocess
import sys
import tempfile

import survive_test

LIMIT = 60  # seconds until a start counts as a hang

# Case, expected status of the job or several, texts in its output.
CASES = [("%s:%s" % (when, how), status, [text]) for when in ("before", "between", "after")
         for how, status, text in (("crash", 139, "was killed by SIGSEGV"), ("exit_3", 3, "ended with status 3"),
                                   ("exit_0", 1, "before its run or MPI was over"), ("abort", 9, "ended with status 9"))]
CASES += [("lost", 5, ["lost: manta: rank", "handles_deaths"]),
          ("handled", 0, ["handled 2"]),
          ("finalize", 0, ["handled 2", "each rank ends here, with status 0"]),
          ("again", 0, ["again: manta: runtime: rank", "has died in an earlier runtime", "alone: 36"]),
          ("own_init", 7, ["the program ends here, with status 7"]),
          ("after_run", 0, []),
          ("after_files", 0, ["the program goes on without it"]),
          ("end:barrier", 137, ["MPI, which the program ends, waits for a rank that has died"]),
          ("end:finalize", (0, 137), ["was killed by SIGKILL"]),
          ("end:main", 0, [])]


def start(program, words, **more):
    command = [sys.executable, survive_test.MANTA_RUN, "--grace", "0.5", "-n", "3", "--", program] + words
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env=survive_test.environment("", **more))


def play(program, case, status, texts):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "lines")
        process = start(program, [case, file])
        try:
            output = process.communicate(timeout=LIMIT)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            return "%s: hangs: %s" % (case, process.communicate()[0].decode(errors="replace"))
        right = status if isinstance(status, tuple) else (status,)
        if process.returncode not in right or not all(t in output for t in texts):
            return "%s: status %d, not %s with %s: %s" % (case, process.returncode, status, texts, output)
        if case == "after_run":
            with open(file) as lines:
                found = lines.read().split("\n")
            if found != ["driver", "main", "static destructor", "atexit", ""] and \
                    found != ["driver", "main", "atexit", "static destructor", ""]:
                return "%s: the file has %s" % (case, found)
    return None


def few_files(program):
    """A rank 0 that may open few files raises its limit as far as it can, and says what it needs where that is too little."""
    too_few = "rank 0 may open only 60 files, and needs 67 to notice deaths among 3 ranks"
    for soft, hard, status, said in ((40, 70, 0, ""), (40, 60, 128 + signal.SIGKILL, too_few)):  # a rank dies in both
        with tempfile.TemporaryDirectory() as folder:
            words = ["bash", "-c", 'ulimit -Sn %d; ulimit -Hn %d; exec "$0" "$@"' % (soft, hard), program, "after_run",
                     os.path.join(folder, "lines")]
            command = [sys.executable, survive_test.MANTA_RUN, "--recovery", "-n", "3", "--"] + words
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=survive_test.environment(""), timeout=LIMIT)
            output = done.stdout.decode(errors="replace")
            if done.returncode != status or ("may open only" in output) != bool(said) or said not in output:
                return "few_files: %d of %d: status %d: %s" % (soft, hard, done.returncode, output)
    return None


def suspended(program):
    """All processes of a job are stopped for longer than the heartbeat."""
    process = start(program, ["slow"], MANTA_HEARTBEAT="1")
    while process.stdout.readline().strip() != b"started":
        if process.poll() is not None:
            return "suspended: it did not start"
    survive_test.suspend(process, 2.5)
    output = process.communicate(timeout=LIMIT)[0].decode(errors="replace")
    if process.returncode != 0 or "has died" in output:
        return "suspended: status %d: %s" % (process.returncode, output)
    return None


def main():
    program, words = os.path.realpath(sys.argv[1]), sys.argv[2:]
    chosen = [c for c in CASES if not words or any(w in c[0] for w in words)]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = [pool.submit(play, program, *case) for case in chosen]
        if not words or "suspended" in words:
            results.append(pool.submit(suspended, program))
        if not words or "few_files" in words:
            results.append(pool.submit(few_files, program))
        wrong = [text for text in (r.result() for r in results) if text]
    for text in wrong:
        print(text)
    print("%d cases, %d wrong" % (len(results), len(wrong)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
