# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# P1 with mpi4py.futures: a map in chunks of 100, which is its best (task_rate), and
# tasks submitted one by one (task_rate_singly).
#
#   mpirun -n 2 python3 -m mpi4py.futures bench/task_rate/mpi4py.py [repetitions]
import sys
import time

from mpi4py.futures import MPIPoolExecutor

TASKS = 5_000
CHUNKED = 200_000


def increment(x):
    return x + 1


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with MPIPoolExecutor() as pool:
        for repetition in range(-1, repetitions):
            begin = time.perf_counter()
            futures = [pool.submit(increment, i) for i in range(TASKS)]
            correct = [f.result() for f in futures] == list(range(1, TASKS + 1))
            singly = time.perf_counter() - begin
            begin = time.perf_counter()
            correct &= list(pool.map(increment, range(CHUNKED), chunksize=100)) == list(range(1, CHUNKED + 1))
            chunked = time.perf_counter() - begin
            if not correct:
                sys.exit("task_rate: a result is wrong")
            if repetition >= 0:
                print(f"task_rate_singly mpi4py {1e-6 * TASKS / singly:.4f} M/s")
                print(f"task_rate mpi4py {1e-6 * CHUNKED / chunked:.4f} M/s", flush=True)


if __name__ == "__main__":
    main()
