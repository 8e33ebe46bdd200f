#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
#
# Tasks that fail, hang or crash are kept, and run again alone, with the same arguments, id and seed.
#
#   kept.sh PROGRAM    tests/programs/kept.cpp, compiled
set -uo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failures=0 output="" code=0

# start COMMAND...: runs it, for a minute at most
start() {
  output=$(timeout --kill-after=5 60 "$@" 2>&1 </dev/null)
  code=$?
}
# expect WHAT COMMAND...: the command succeeds
expect() {
  local what=$1
  shift
  "$@" && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n%s\n' "$what" "$(sed 's/^/    /' <<<"$output")"
}
says() { grep -qF -- "$1" <<<"$output"; }
status() { [[ $code == "$1" ]]; }

ranks=(1)
command -v mpirun >/dev/null && ranks=(1 3)
for n in "${ranks[@]}"; do
  folder=$work/fails$n
  run=("$program")
  [[ $n == 1 ]] || run=(mpirun --oversubscribe --bind-to none -n "$n" "$program")
  start env MANTA_KEEP_FAILED="$folder" MANTA_SEED=99 "${run[@]}" fails
  expect "$n ranks, the program goes on" status 0
  first=$(grep '^solve.*attempt 1' <<<"$output")
  expect "$n ranks, the task has run" test -n "$first"
  output=$(ls "$folder"; cat "$folder/list")
  expect "$n ranks, one task is kept: the last attempt" test "$(find "$folder" -name '[0-9]*' | wc -l)" = 1
  expect "$n ranks, the list names function, task and reason" grep -q '^1: .*solve ("steel") .*no convergence$' "$folder/list"
  expect "$n ranks, the list says what is not kept" grep -q '^-: .*takes_future.*means nothing in another run' "$folder/list"
  expect "$n ranks, the list has failed methods" grep -q '^-: .*gauge::read .*needs its actor.*no pressure$' "$folder/list"

  start "$program" --manta-rerun="$folder/1"
  expect "$n ranks, it fails again" status 1
  expect "$n ranks, it is said which task it is" says "which ran on rank"
  expect "$n ranks, arguments, id and seed are the same" says "$first"
  expect "$n ranks, the reason is the same" says "no convergence"
  start env MANTA_RERUN="$folder/1" IS_MENDED=1 MANTA_KEEP_FAILED="$work/none" "$program"
  expect "$n ranks, mended it runs to its end" status 0
  expect "$n ranks, that is said" says "the task has run to its end"
  expect "$n ranks, a task that is run again is not kept" test ! -e "$work/none/1"
done

if [[ ${#ranks[@]} == 2 ]]; then  # alone, a program has no watchdog
  folder=$work/hangs
  start mpirun --oversubscribe --bind-to none -n 2 -x MANTA_KEEP_FAILED="$folder" -x MANTA_WATCHDOG=1 "$program" hangs
  expect "the watchdog ends a task that hangs" says "is taken for hung"
  expect "and keeps it" test -s "$folder/1"
  start env IS_MENDED=1 "$program" --manta-rerun="$folder/1"
  expect "it runs again" says "hangs 5"
  expect "and ends" status 0
fi

folder=$work/crashes
start env MANTA_KEEP_FAILED="$folder" "$program" crashes
expect "an isolated task that crashes is kept" test -s "$folder/1"
start env IS_MENDED=1 "$program" --manta-rerun="$folder/1"
expect "it runs in the program's own process" says "crashes 6"
expect "it ends" status 0
if command -v gdb >/dev/null; then
  start gdb -batch -ex run -ex backtrace --args "$program" --manta-rerun="$folder/1"
  expect "a debugger stops in the task" says "SIGABRT"
  expect "and has its frames" says "manta::exec::runner::invoke"
fi

echo nonsense >"$work/nonsense"
start "$program" --manta-rerun="$work/nonsense"
expect "a file that is no task is refused" status 1
expect "with its name" says "$work/nonsense"
start "$program" --manta-rerun="$work/missing"
expect "a file that is missing is refused" says "No such file"
head -c 300 "$work/fails1/1" >"$work/cut"
start "$program" --manta-rerun="$work/cut"
expect "a file that is cut is refused" says "too short"
if [[ ${#ranks[@]} == 2 ]]; then
  start mpirun --oversubscribe -n 2 "$program" --manta-rerun="$work/fails1/1"
  expect "several ranks are refused" says "runs one task in one process"
fi
start env MANTA_KEEP_FAILED=/dev/null/no "$program" fails
expect "a folder that cannot be is an error at the start" status 1

echo "$failures failed"
[[ $failures == 0 ]]
