#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# Starts tests/programs/program.cpp in the ways that need a process of their own, and checks exit codes and output.
#
#   run.sh PROGRAM OTHER    the programs, linked without and with other.cpp
#   run.sh                  builds them first, with $MANTA_CXX (mpicxx) and $MANTA_CXXFLAGS
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for name in $(compgen -e MANTA_); do
  case $name in MANTA_CXX | MANTA_CXXFLAGS | MANTA_TEST_*) ;; *) unset "$name" ;; esac
done

if [[ $# -ge 2 ]]; then
  program=$1 other=$2
else
  read -r -a cxx <<<"${MANTA_CXX:-mpicxx} -std=c++20 ${MANTA_CXXFLAGS:--O1} -DOMPI_SKIP_MPICXX -I$here/../../include"
  program=$work/program other=$work/other
  "${cxx[@]}" "$here/program.cpp" -o "$program" || exit 1
  "${cxx[@]}" "$here/program.cpp" "$here/other.cpp" -o "$other" || exit 1
fi

if command -v mpirun >/dev/null; then mpirun=(mpirun --oversubscribe --bind-to none); else mpirun=(); fi
limit=${MANTA_TEST_PROGRAM_TIMEOUT:-60}  # seconds until a start counts as a hang
failures=0 checks=0
output="" code=0 what=""

# start WHAT COMMAND...: runs it to its end, or to the limit
start() {
  what=$1
  shift
  output=$(timeout --kill-after=5 "$limit" "$@" 2>&1 </dev/null)
  code=$?
}
complain() {
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n%s\n' "$what" "$1" "$(sed 's/^/    /' <<<"$output")"
}
expect_code() {
  checks=$((checks + 1))
  if [[ $code == 124 || $code == 137 ]]; then
    complain "it hangs (ended after $limit s)"
  elif [[ $code != "$1" ]]; then
    complain "exit code $code instead of $1"
  fi
}
# expect_lines COUNT TEXT: so many lines of the output contain the text
expect_lines() {
  checks=$((checks + 1))
  local count
  count=$(grep -cF -- "$2" <<<"$output")
  [[ $count == "$1" ]] || complain "$count lines with \"$2\" instead of $1"
}

# Ranks that were killed leave nothing in the folder for values.
expect_nothing_left() {
  checks=$((checks + 1))
  local left
  left=$(find "$work" -name 'manta*')
  [[ -z $left ]] || complain "left behind: $left"
}

# The isolated tasks and actors whose processes were printed have ended.
expect_processes_gone() {
  checks=$((checks + 1))
  local pid pids
  pids=$(sed -n 's/.*process \([0-9]*\) of .*/\1/p' <<<"$output")
  [[ -n $pids ]] || complain "no process was printed"
  for _ in {1..50}; do
    local alive=""
    for pid in $pids; do
      [[ -e /proc/$pid/stat && $(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null) != Z ]] && alive+=" $pid"
    done
    [[ -z $alive ]] && return
    sleep 0.1
  done
  complain "still there:$alive"
}

if ((${#mpirun[@]})); then
  start "the state as JSON" env MANTA_STATE="$work/state.json" "${mpirun[@]}" -n 3 "$program" asks-for-state
  expect_code 0
  expect_lines 1 "manta: state at"
  output=$(python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
tasks = [t["name"] for r in s["ranks"] for t in r["tasks"]]
print(s["why"], len(s["ranks"]), "the asker" in tasks, s["status"]["failed"])' "$work/state.json" 2>&1)
  expect_lines 1 "asked for by SIGUSR2 3 True 0"
fi

# Without mpirun: a world of one rank.
start "alone" "$program" answer
expect_code 0
expect_lines 1 "sum 5050 on 1 ranks"
start "alone, the driver returns 7" "$program" seven
expect_code 7
start "alone, the driver throws" "$program" throws
expect_code 1
expect_lines 1 "the reactor is out of coolant"
start "alone, a failure that nobody looked at" "$program" unobserved
expect_code 0
expect_lines 1 "failure that nobody looked at"
expect_lines 1 "valve 1 is stuck"
start "alone, a run inside a run" "$program" nested
expect_code 0
start "alone, a deadlock of which only dropped futures would tell" "$program" deadlock-unobserved
expect_code 0
expect_lines 1 "manta: deadlock: nothing runs"
start "alone, a second manta::run" "$program" twice
expect_code 1
expect_lines 1 "MPI has ended"
start "alone, a setting without a value" "$program" answer --manta-journal
expect_code 1
expect_lines 1 "lacks its value"
start "alone, futures that outlive the program's main" "$program" immortal
expect_code 0
start "alone, an option that does not exist" "$program" answer --manta-speed=11
expect_code 1
expect_lines 1 "--manta-speed=11"
start "alone, killed with values on the disk" env MANTA_STORE_MEMORY=1M MANTA_SPILL_FOLDER="$work" "$program" killed
expect_lines 1 "some spilled"
expect_nothing_left
start "alone, isolated tasks" "$program" isolated
expect_code 0
expect_lines 1 "printed once"
expect_lines 1 "before"
start "alone, killed with an isolated actor" "$program" isolated-killed
expect_processes_gone
start "alone, MPI_THREAD_SINGLE" "$program" single
expect_code 0 # no helper is needed on one rank

if [[ ${#mpirun[@]} -eq 0 ]]; then
  echo "mpirun is not installed: only the programs on one rank were tested"
else
  if [[ -n ${MANTA_TEST_LONG:-} ]]; then ranks=(1 2 4); else ranks=(1 4); fi
  for n in "${ranks[@]}"; do
    start "$n ranks" "${mpirun[@]}" -n $n "$program" answer
    expect_code 0
    expect_lines 1 "sum 5050 on $n ranks"
    start "$n ranks, the driver returns 7" "${mpirun[@]}" -n $n "$program" seven
    expect_code 7
    start "$n ranks, the driver throws" "${mpirun[@]}" -n $n "$program" throws
    expect_code 1
    expect_lines 1 "the reactor is out of coolant"
    start "$n ranks, the driver throws a number" "${mpirun[@]}" -n $n "$program" throws-a-number
    expect_code 1
    expect_lines 1 "not a std::exception"
    start "$n ranks, the driver lets a task's error out" "${mpirun[@]}" -n $n "$program" task-throws
    expect_code 1
    expect_lines 1 "valve 3 is stuck"
    expect_lines 0 "nobody looked at"
    start "$n ranks, an exception that nobody catches is said once" "${mpirun[@]}" -n $n "$program" uncaught
    expect_code 1
    expect_lines 1 "valve 4 is stuck"
    expect_lines 1 "nobody has caught this exception"
    expect_lines 0 "rank 0 has died"
    if ((n > 1)); then
      start "$n ranks, an exception of the constructor on all ranks" "${mpirun[@]}" -n $n "$program" uncaught-single
      expect_code 1
      expect_lines 1 "MPI was initialised with MPI_THREAD_SINGLE"
      expect_lines 0 "terminate called"
    fi
    start "$n ranks, the help has all settings, and nothing runs" "${mpirun[@]}" -n $n "$program" seven --manta-help
    expect_code 0
    expect_lines 1 "--manta-max-queued="
    start "$n ranks, a deadlock of which only dropped futures would tell" "${mpirun[@]}" -n $n "$program" deadlock-unobserved
    expect_code 0
    expect_lines 1 "manta: deadlock: nothing runs"
    start "$n ranks, a failure that nobody looked at" "${mpirun[@]}" -n $n "$program" unobserved
    expect_code 0
    expect_lines 1 "failure that nobody looked at"
    expect_lines 1 "valve 1 is stuck"
    start "$n ranks, a failure that somebody looked at" "${mpirun[@]}" -n $n "$program" observed
    expect_code 0
    expect_lines 0 "stuck"
    start "$n ranks, futures that outlive the program's main" "${mpirun[@]}" -n $n "$program" immortal
    expect_code 0
    start "$n ranks, a run that could not start, and then one that can" "${mpirun[@]}" -n $n "$program" again
    expect_code 0
    expect_lines 1 "MANTA_STACK_KIB"
    expect_lines 1 "sum 5050 on $n ranks"
    start "$n ranks, isolated tasks" "${mpirun[@]}" -n $n "$program" isolated
    expect_code 0
    expect_lines 1 "printed once"
    start "$n ranks, killed with isolated tasks and actors" "${mpirun[@]}" -n $n "$program" isolated-killed
    expect_processes_gone
    start "$n ranks, a run inside a run" "${mpirun[@]}" -n $n "$program" nested
    expect_code 0
    expect_lines 1 "manta::run was called in the middle of a run"
  done

  start "3 ranks, killed with shared values and values on the disk" \
    "${mpirun[@]}" -n 3 -x MANTA_STORE_MEMORY=1M -x MANTA_SPILL_FOLDER="$work" "$program" killed
  expect_lines 1 "some shared, some spilled"
  expect_nothing_left

  start "a gang waits for a gang that needs its ranks" "${mpirun[@]}" -n 3 "$program" gang-in-gang
  expect_code 0
  expect_lines 1 "::inner' waits for ranks"

  limit=60 start "a member that waits in MPI for one that has thrown" "${mpirun[@]}" -n 3 "$program" left-behind
  expect_code 1
  expect_lines 1 "a member of a gang of 2 failed, and 1 others have not ended"
  expect_lines 1 "has not come back from a gang of which another member failed"
  expect_lines 1 "the driver goes on"

  # One rank runs another program.
  start "another program on rank 1" "${mpirun[@]}" -n 1 "$program" answer : -n 1 "$other" answer
  expect_code 1
  expect_lines 1 "not all ranks run the same program"
  expect_lines 1 "only_in_the_other_program"
  start "another program on rank 0" "${mpirun[@]}" -n 1 "$other" answer : -n 2 "$program" answer
  expect_code 1
  expect_lines 1 "not all ranks run the same program"
  expect_lines 1 "only_in_the_other_program"
  start "the other program alone" "${mpirun[@]}" -n 2 "$other" answer
  expect_code 0

  # The caller's own MPI.
  for level in single funneled; do
    start "MPI_THREAD_${level^^}" "${mpirun[@]}" -n 2 "$program" $level
    if grep -q "^skipped" <<<"$output"; then echo "$what: $(grep -m 1 "^skipped" <<<"$output")"; continue; fi
    expect_code 1
    expect_lines 1 "MPI_THREAD_${level^^}"
    expect_lines 1 "progress_thread = false"
    start "MPI_THREAD_${level^^} without the helper" "${mpirun[@]}" -n 2 "$program" $level-without-helper
    expect_code 0
    expect_lines 1 "sum 5050 on 2 ranks"
    start "MPI_THREAD_${level^^} without the helper, by the environment" \
      "${mpirun[@]}" -n 2 -x MANTA_PROGRESS_THREAD=0 "$program" $level
    expect_code 0
  done
  start "MPI_THREAD_SERIALIZED" "${mpirun[@]}" -n 2 "$program" serialized
  expect_code 0
  expect_lines 1 "sum 5050 on 2 ranks"
  start "a gang with MPI_THREAD_SERIALIZED" "${mpirun[@]}" -n 3 "$program" gang-serialized
  expect_code 1
  expect_lines 1 "ask MPI_Init_thread for that level"
  start "a gang with MPI_THREAD_MULTIPLE" "${mpirun[@]}" -n 3 "$program" gang-multiple
  expect_code 0

  # Settings that are wrong, on all ranks and on one: one message, and no rank waits for another.
  for wrong in MANTA_SEED=abc MANTA_CPUS=many MANTA_RESOURCES=gpu MANTA_RANK0_TASKS=perhaps MANTA_PROGRESS_THREAD=perhaps \
    MANTA_STACK_KIB=tall MANTA_STORE_MEMORY=much MANTA_RANKS_PER_NODE=0 MANTA_SPILL_FOLDER=/dev/null/nowhere; do
    name=${wrong%%=*}
    start "$wrong on all ranks" "${mpirun[@]}" -n 2 -x "$wrong" "$program" answer
    expect_code 1
    expect_lines 1 "$name"
    start "$wrong on rank 1" "${mpirun[@]}" -n 1 "$program" answer : -n 1 -x "$wrong" "$program" answer
    expect_code 1
    expect_lines 1 "$name"
  done
  start "an option that does not exist, on all ranks" "${mpirun[@]}" -n 2 "$program" answer --manta-speed=11
  expect_code 1
  expect_lines 1 "--manta-speed=11"
  start "an option that does not exist, on rank 1" \
    "${mpirun[@]}" -n 1 "$program" answer : -n 1 "$program" answer --manta-speed=11
  expect_code 1
  expect_lines 1 "--manta-speed=11"
  start "the helper off on rank 1 only, with MPI_THREAD_SINGLE" \
    "${mpirun[@]}" -n 1 "$program" single : -n 1 "$program" single-without-helper
  expect_code 1
  expect_lines 1 "MPI_THREAD_SINGLE"
fi

echo "$checks checks, $failures failed"
[[ $failures == 0 ]]
