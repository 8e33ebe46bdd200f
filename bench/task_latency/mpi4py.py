# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# P2 with mpi4py.futures: submit and result, one after the other.
#
#   mpirun -n 2 python3 -m mpi4py.futures bench/task_latency/mpi4py.py [repetitions]
import sys
import time

from mpi4py.futures import MPIPoolExecutor

ROUND_TRIPS = 1_000


def increment(x):
    return x + 1


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with MPIPoolExecutor() as pool:
        for repetition in range(-1, repetitions):
            value = 0
            begin = time.perf_counter()
            for _ in range(ROUND_TRIPS):
                value = pool.submit(increment, value).result()
            seconds = time.perf_counter() - begin
            if value != ROUND_TRIPS:
                sys.exit("task_latency: a result is wrong")
            if repetition >= 0:
                print(f"task_latency mpi4py {1e6 * seconds / ROUND_TRIPS:.1f} us", flush=True)


if __name__ == "__main__":
    main()
