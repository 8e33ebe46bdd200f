# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""Ranks that die: scenario.cpp's scenarios, and survivor.cpp's graphs with ranks killed at random moments.

  survive_test.py SCENARIO SURVIVOR [words] [--rounds N] [--seed N] [--many N]

Each runs over shared memory or over TCP, in turn; over both where words are given or MANTA_TEST_LONG is set. With words
only scenarios whose name contains one of them, or the campaigns "chaos", "phases" and "beside", or "many".
Every start must end in time, with the right result or the error that a death explains, and leave no process and no file.
"""
import argparse
import atexit
import concurrent.futures
import fcntl
import glob
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

MANTA_RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "manta-run")
SCENARIOS = {"tasks": 4, "nested": 4, "twins": 6, "values": 4, "relay": 8, "forgotten": 3, "put": 3, "replicas": 4, "gifts": 4, "gifts-twice": 5, "gifts-cancelled": 4, "named": 8, "streams": 6, "shorter": 3, "last": 2, "near": 4, "queue": 3, "orphans": 4, "pinned": 3, "deadly": 6, "crash": 7, "exits": 8, "exits-retried": 6, "exits-nested": 5, "exits-last": 3, "forked": 3, "hung": 6, "saves": 8, "all": 3, "actor": 6, "isolated": 4, "gang": 8, "half-built": 8, "left-behind": 8, "led-twice": 4, "reserved": 4,
             "spare": 6, "stopped": 3}
MORE = {"hung": {"MANTA_WATCHDOG": "1"}, "spare": {"MANTA_SPARES": "3"}, "stopped": {"MANTA_HEARTBEAT": "1"}, "relay": {"MANTA_RANKS_PER_NODE": "1"}, "forgotten": {"MANTA_STORE_MEMORY": "8M", "MANTA_SPARES": "1"}}  # environment
DISTURBED = {"stopped": (1, signal.SIGSTOP), "spare": (3, signal.SIGKILL)}  # when it has printed "started"
TRANSPORTS = ["", "self,tcp"]
OPEN_MPI_5 = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
              "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none"}
LIMIT = 180  # seconds until a start counts as a hang
SCRATCH = tempfile.mkdtemp(prefix="manta-survive-")  # the launchers keep their folders there, apart from those of other tests
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
# Launchers that begin at the same time all make this folder, and the last one that ends removes it if it is empty: Open MPI
# fails where one does so between another's look and its mkdir.
for host in {socket.gethostname(), socket.gethostname().split(".")[0]}:
    os.makedirs(os.path.join(SCRATCH, "ompi.%s.%d" % (host, os.getuid()), "stays"))


def environment(transport, **more):
    env = dict(os.environ, MANTA_TEST_JOB=str(os.getpid()), TMPDIR=SCRATCH, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none", **OPEN_MPI_5, **more)
    if transport:
        env["OMPI_MCA_btl"] = transport
    return env


def ranks_of(program):
    """Rank -> process, of the processes of this test that run it now. Another test may run the same program beside it."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            if os.readlink("/proc/%s/exe" % entry) != program:
                continue
            with open("/proc/%s/status" % entry) as file:
                parent = re.search(r"PPid:\s*(\d+)", file.read()).group(1)
            if os.path.exists("/proc/%s/exe" % parent) and os.readlink("/proc/%s/exe" % parent) == program:
                continue  # a child of a rank, for isolated tasks
            with open("/proc/%s/environ" % entry, "rb") as file:
                words = file.read().split(b"\0")
            if b"MANTA_TEST_JOB=%d" % os.getpid() in words:
                for word in words:
                    if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                        found[int(word[21:])] = int(entry)
        except OSError:
            pass  # not a process, or it has ended meanwhile
    return found


def start(program, ranks, words, transport, **more):
    return subprocess.Popen([sys.executable, MANTA_RUN, "-n", str(ranks), "--", program] + words, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(transport, **more),
                            bufsize=0)  # what follows a line that has been read is left to communicate()


def begin(*words, **more):
    """Returns when the program has printed "started"."""
    process = start(*words, **more)
    while process.stdout.readline().strip() != b"started":
        if process.poll() is not None:
            raise AssertionError("it did not start")
    return process


def last_of(output, count=20):
    """For a report that may be cut: who died and why, and the last lines."""
    lines = [line for line in output.splitlines() if line.strip() and "PMIX ERROR" not in line]
    return "\n".join([line for line in lines[:-count] if "manta" in line or "wrong" in line][:20] + lines[-count:])


def is_held(path):
    """Do ranks that live hold a lock on manta-run's folder?"""
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError:
        return True  # gone meanwhile
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(folder)


def files():
    """Shared memory of programs that have ended, whichever, and launchers' folders of this test's."""
    found = {path for path in glob.glob("/dev/shm/manta-run-*") if not is_held(path)}
    for path in glob.glob(os.path.join(SCRATCH, "ompi.*", "pid.*")):
        if not os.path.exists("/proc/%s" % path.rsplit(".", 1)[1]):
            found.add(path)
    return found


BEFORE = files()


def finish(process, program, limit=LIMIT):
    """What it printed; fails if it hangs, or leaves a process or a file."""
    try:
        output = process.communicate(timeout=limit)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        for pid in ranks_of(program).values():
            os.kill(pid, signal.SIGABRT)  # the traces say where
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        output = process.communicate()[0].decode(errors="replace")
        raise AssertionError("it hangs\n" + last_of(output, 150))
    left = ranks_of(program)
    if left:
        raise AssertionError("processes are left: %s\n%s" % (left, last_of(output)))
    for _ in range(100):  # the launcher's own processes may still be ending
        if not files() - BEFORE:
            return output
        time.sleep(0.1)
    raise AssertionError("files are left: %s\n%s" % (sorted(files() - BEFORE), last_of(output)))


def killed(pid):
    """False: it had ended by itself meanwhile, as all ranks do that see rank 0 die."""
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def play(program, name, ranks, transport):
    folder = tempfile.mkdtemp(prefix="ms-")
    try:
        play_it = begin if name in DISTURBED else start
        process = play_it(program, ranks, [name, folder], transport, **MORE.get(name, {}))
        if name in DISTURBED:
            rank, number = DISTURBED[name]
            os.kill(ranks_of(program)[rank], number)
        output = finish(process, program)
        if process.returncode != 7 or "as expected" not in output:
            raise AssertionError("status %d\n%s" % (process.returncode, last_of(output)))
        if name == "crash" and (" was in abort < crash(int)" not in output or "received signal" in output):
            raise AssertionError("the stack is not said, or Open MPI has said it too\n%s" % last_of(output))
        if name == "gang" and "rank 0 has had it end" in output:
            raise AssertionError("each member that is ended is said, not all at once\n%s" % last_of(output))
    finally:
        shutil.rmtree(folder)


def zero(program, transport):
    """Rank 0 is killed: one other rank says so, all end, and manta-run ends as rank 0 did."""
    folder = tempfile.mkdtemp(prefix="ms-")
    try:
        process = start(program, 4, ["zero", folder], transport)
        output = finish(process, program)
        said = output.count("rank 0 has died, and with it the job")
        if process.returncode != 128 + signal.SIGKILL or said != 1 or "as expected" in output:
            raise AssertionError("status %d, said %d times\n%s" % (process.returncode, said, last_of(output)))
    finally:
        shutil.rmtree(folder)


def early(program, transport, name):
    """Rank 0 ends with status 0 before its driver has returned: that is said, and no success."""
    folder = tempfile.mkdtemp(prefix="ms-")
    try:
        process = start(program, 3, [name, folder], transport)
        output = finish(process, program)
        said = {"exits-zero": "manta: exit(0) in the driver", "leaves-zero": "before its run or MPI was over, which counts as 1"}[name]
        if process.returncode != 1 or said not in output or "as expected" in output:
            raise AssertionError("status %d\n%s" % (process.returncode, last_of(output)))
    finally:
        shutil.rmtree(folder)


def locked(program, transport):
    """Nothing can go on: stderr says why, and SIGTERM ends it."""
    folder = tempfile.mkdtemp(prefix="ms-")
    try:
        process = start(program, 3, ["locked", folder], transport, MANTA_TERM_GRACE="1")
        output = b""
        while b"stood in a lock" not in output and process.poll() is None:
            output += process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        output = output.decode() + finish(process, program)
        if process.returncode != 128 + signal.SIGTERM or "hold_and_wait' waits for" not in output or "MANTA_TERM_GRACE" not in output:
            raise AssertionError("status %d\n%s" % (process.returncode, last_of(output)))
    finally:
        shutil.rmtree(folder)


def leave(program, transport, number):
    """Asked to end, and started again by somebody else: status 85."""
    folder = tempfile.mkdtemp(prefix="ms-")
    try:
        process = begin(program, 4, ["leave", folder], transport)
        process.send_signal(number)
        output = finish(process, program)
        if process.returncode != 85 or "nothing more is started" not in output or "saved" not in output:
            raise AssertionError("status %d\n%s" % (process.returncode, last_of(output)))
    finally:
        shutil.rmtree(folder)


def study(program, rng, transport):
    """With a journal: asked to end, killed, and finished by other numbers of ranks, as if nothing had happened."""
    sums, lines = [], lambda folder: open(folder + "/ran").read().split() if os.path.exists(folder + "/ran") else []
    for disturbed in (False, True):
        folder = tempfile.mkdtemp(prefix="ms-")
        try:
            for ending in [signal.SIGUSR1, signal.SIGKILL, signal.SIGUSR1, signal.SIGKILL] if disturbed else []:
                process = begin(program, rng.choice([1, 2, 4]), ["study", folder], transport, MANTA_JOURNAL=folder + "/journal")
                time.sleep(0.2 + 1.2 * rng.random())
                if ending == signal.SIGUSR1:
                    process.send_signal(ending)
                else:
                    for pid in ranks_of(program).values():
                        killed(pid)
                finish(process, program)
            before = len(lines(folder))
            process = start(program, 3, ["study", folder], transport, MANTA_JOURNAL=folder + "/journal")
            output = finish(process, program)
            sums.append([line for line in output.splitlines() if line.startswith("sum ")])
            if process.returncode != 7 or not sums[-1]:
                raise AssertionError("status %d\n%s" % (process.returncode, last_of(output)))
            ran = lines(folder)
            known = int((re.search(r"journal: (\d+) results were known already", output) or [0, 0])[1])
            if disturbed and (known == 0 or known + len(ran) - before != 300 or set(ran) != set(map(str, range(300)))):
                raise AssertionError("%d ran before the last start and %d in it, which knew %d" % (before, len(ran) - before, known))
        finally:
            shutil.rmtree(folder)
    if sums[0] != sums[1]:
        raise AssertionError("undisturbed %s, else %s" % tuple(sums))


def with_children(process):
    """The process, and all that descend from it."""
    found = [process]
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/stat" % entry) as file:
                if int(file.read().rpartition(")")[2].split()[1]) == process:
                    found += with_children(int(entry))
        except (OSError, ValueError, IndexError):
            pass  # not a process, or it has ended meanwhile
    return found


def suspend(process, seconds):
    """All processes of a job are stopped, and go on one after the other, as Slurm does it."""
    stopped = with_children(process.pid)
    for number, pause in ((signal.SIGSTOP, 0), (signal.SIGCONT, 0.05)):
        for each in stopped:
            try:
                os.kill(each, number)
            except ProcessLookupError:
                pass
            time.sleep(pause)
        time.sleep(seconds if number == signal.SIGSTOP else 0)


def is_open_mpis_crash(output):
    """Open MPI 4.1 frees the output of processes twice that die at the same moment."""
    return "mpirun was killed by SIGSEGV" in output and "iof_hnp_read_local_handler" in output


def chaos(program, rng, transport):
    """Graphs for a second; returns how many ranks died, and how many results were right and lost."""
    ranks, seed = rng.choice([3, 4, 5, 8]), rng.getrandbits(32)
    world = rng.choice([{}, {}, {"MANTA_STORE_MEMORY": "400000"}, {"MANTA_RANKS_PER_NODE": "2"}, {"MANTA_SPARES": str(ranks // 2 - 1)}])
    is_suspended = rng.random() < 0.4
    if is_suspended:
        world = dict(world, MANTA_HEARTBEAT="1")
    process = begin(program, ranks, [str(seed), "1"], transport, **world)
    deaths = 0
    if is_suspended:
        time.sleep(rng.random() * 0.3)
        suspend(process, 2.5)
    for _ in range(rng.randint(1, max(1, ranks - 2))):
        time.sleep(rng.random() * 0.6)
        there = ranks_of(program)
        workers = [pid for rank, pid in sorted(there.items()) if rank != 0]
        if len(workers) > 1 and 0 in there:
            deaths += killed(rng.choice(workers))
    output = finish(process, program)
    if is_open_mpis_crash(output):
        return chaos(program, rng, transport)
    told = re.search(r"right (\d+), lost (\d+), wrong 0", output)
    if process.returncode != 0 or not told or "did not answer" in output:
        raise AssertionError("%d ranks, seed %d, %s: status %d\n%s" % (ranks, seed, world, process.returncode, last_of(output)))
    return deaths, int(told.group(1)), int(told.group(2))


def phases(program, rng, transport):
    """Ranks die in runs and in the program's own phases between them: the job ends, with the status that says why."""
    ranks, seed, is_killed = rng.choice([2, 3, 4, 8]), rng.getrandbits(32), rng.random() < 0.5
    process = begin(program, ranks, [str(seed), "1", "phases"], transport)
    if is_killed:
        time.sleep(rng.random() * 1.2)
        there = list(ranks_of(program).values())
        is_killed = bool(there) and killed(rng.choice(there))
    output = finish(process, program)
    if is_open_mpis_crash(output):
        return phases(program, rng, transport)
    by_itself = re.search(r"ends by (\d)", output)
    expected = {1: 3, 0: 1, 2: 137, 3: 134, 4: 59}
    right = [expected[int(by_itself.group(1))]] if by_itself else [] if is_killed else [0]
    if is_killed:
        right += [5, 137]
    if process.returncode not in right or (process.returncode == 5 and "rank_lost: " not in output) or re.search("wrong [1-9]", output):
        raise AssertionError("%d ranks, seed %d: status %d, not one of %s\n%s" % (ranks, seed, process.returncode, right, last_of(output)))
    told = [(int(right), int(lost)) for right, lost in re.findall(r"right (\d+), lost (\d+)", output)]
    return 1 if is_killed or by_itself else 0, sum(right for right, _ in told), sum(lost for _, lost in told)


def beside(program, rng, transport):
    """Two jobs share a journal, and each has an actor of the same name, made with an argument of its own. Both are ended
    again and again, in one way or the other, at any moment."""
    folder = tempfile.mkdtemp(prefix="ms-")
    seeds = [rng.getrandbits(32), rng.getrandbits(32)]

    def job(width):
        own, deaths = random.Random(seeds[width - 1]), 0
        for ending in [signal.SIGUSR1, signal.SIGKILL, None]:
            process = start(program, own.choice([1, 2, 3]), [str(width), "0.6", "beside"], transport, MANTA_JOURNAL=folder)
            if ending is not None:
                time.sleep(1 + own.random())
                for each in [process.pid] if ending == signal.SIGUSR1 else with_children(process.pid)[1:]:
                    try:
                        os.kill(each, ending)
                    except ProcessLookupError:
                        pass
                deaths += 1
            output = process.communicate(timeout=LIMIT)[0].decode(errors="replace")
            if "wrong" in output or (ending is None and (process.returncode != 0 or "walked %d" % (60 * width) not in output)):
                raise AssertionError("job %d, after %s: status %d\n%s" % (width, ending, process.returncode, last_of(output)))
        return deaths

    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return sum(pool.map(job, [1, 2])), 2, 0
    finally:
        shutil.rmtree(folder)


def many(program, ranks):
    """Graphs on far more ranks than there are cores, on nodes of 16: a rank is killed, and then all those of a node."""
    process = begin(program, ranks, ["7", "5"], "", MANTA_RANKS_PER_NODE="16")
    there = ranks_of(program)
    if len(there) != ranks:
        raise AssertionError("%d ranks have begun" % len(there))
    killed(there[3])
    time.sleep(1)
    first = ranks // 32 * 16
    for rank in range(first, first + 16):
        killed(there[rank])
    output = finish(process, program, 20 * LIMIT)
    told = re.search(r"right (\d+), lost (\d+), wrong 0", output)
    silent = [rank for rank in [3, first] if "rank %d has died" % rank not in output]
    if process.returncode != 0 or not told or int(told.group(1)) == 0 or silent:
        raise AssertionError("status %d, silent %s\n%s" % (process.returncode, silent, last_of(output)))
    return int(told.group(1)), int(told.group(2))


def scenarios(scenario, rng):
    """All of them, and how each is played over a transport."""
    for name, ranks in SCENARIOS.items():
        yield name, lambda by, name=name, ranks=ranks: play(scenario, name, ranks, by)
    yield "zero", lambda by: zero(scenario, by)
    for number in (signal.SIGUSR1, signal.SIGTERM):
        yield "leave on " + signal.Signals(number).name, lambda by, number=number: leave(scenario, by, number)
    for name in ("exits-zero", "leaves-zero"):
        yield name, lambda by, name=name: early(scenario, by, name)
    yield "locked", lambda by: locked(scenario, by)
    yield "study", lambda by: study(scenario, rng, by)


def main():
    is_long = bool(os.environ.get("MANTA_TEST_LONG"))
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("survivor")
    parser.add_argument("--rounds", type=int, default=12 if is_long else 2)
    parser.add_argument("--many", type=int, default=256, help="ranks of the start that only --long, or the word many, makes")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    scenario, survivor = os.path.realpath(options.scenario), os.path.realpath(options.survivor)
    wanted = lambda name: not options.words or any(word in name for word in options.words)
    rng = random.Random(options.seed)
    failed = 0
    for number, (name, attempt) in enumerate(scenarios(scenario, rng)):
        if not wanted(name):
            continue
        for transport in TRANSPORTS if is_long or options.words else TRANSPORTS[number % 2:][:1]:
            by, begin = transport or "shared memory", time.monotonic()
            try:
                attempt(transport)
                print("ok   %s over %s, %.1f s" % (name, by, time.monotonic() - begin), flush=True)
            except AssertionError as why:
                failed += 1
                print("FAIL %s over %s: %s" % (name, by, why), flush=True)
    for campaign, rounds in ((chaos, options.rounds), (phases, options.rounds), (beside, max(1, options.rounds // 3))):
        transports = TRANSPORTS[:1] if campaign is beside and not (is_long or options.words) else TRANSPORTS
        for transport in transports if wanted(campaign.__name__) else []:
            by, sums = transport or "shared memory", [0, 0, 0]
            for _ in range(rounds):
                try:
                    sums = [a + b for a, b in zip(sums, campaign(survivor, rng, transport))]
                except AssertionError as why:
                    failed += 1
                    print("FAIL %s over %s: %s" % (campaign.__name__, by, why), flush=True)
            print("%s over %s, --seed %d: %d runs, %d deaths, %d results right, %d lost" % (campaign.__name__, by, options.seed, rounds, *sums), flush=True)
    if wanted("many") and (is_long or options.words):
        begin = time.monotonic()
        try:
            right, lost = many(survivor, options.many)
            print("ok   %d ranks, %d results right, %d lost, %.1f s" % (options.many, right, lost, time.monotonic() - begin), flush=True)
        except AssertionError as why:
            failed += 1
            print("FAIL %d ranks: %s" % (options.many, why), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    # Open MPI's files of this test lie in a folder of its own, apart from those of other tests that run beside it.
    with tempfile.TemporaryDirectory(prefix="ms-") as own_folder:
        tempfile.tempdir = os.environ["TMPDIR"] = own_folder
        sys.exit(main())
