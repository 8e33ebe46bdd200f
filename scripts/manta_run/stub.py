# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""What the launcher starts for each rank: a shell, which takes a fiftieth of the memory of a process of Python.

That of the first rank of a node becomes the node's watcher (node.py). Each other one runs the program as its child and says
by a FIFO in the job's folder, which it opens when the watcher does, "started PROCESS" and "ended STATUS". The program stays
in the shell's process group, to which launchers send their signals; the shell itself does nothing when one comes.
"""
import signal

from .process import AGAIN

# Those that a shell's status above 128 can mean. Others do not end a process by themselves.
FATAL = set(range(1, signal.NSIG)) - {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
                                      signal.SIGURG, signal.SIGWINCH}

TEXT = r"""
[ "${OMPI_COMM_WORLD_LOCAL_RANK-${SLURM_LOCALID-0}}" = 0 ] && exec "$@"
shift @OURS@
manta_rank=${OMPI_COMM_WORLD_RANK-$SLURM_PROCID}
manta_folder=/dev/shm
[ -w /dev/shm ] || manta_folder=${TMPDIR:-/tmp}
manta_folder=$manta_folder/@JOB@${SLURMD_NODENAME:+-$SLURMD_NODENAME}
trap : HUP INT TERM USR1 USR2 PIPE
exec 4>&2 2>/dev/null
for manta_try in 1 2 3 4 5 6 7 8 9; do
  mkdir -p -m 700 "$manta_folder" && command exec 6<"$manta_folder" || continue
  flock -s 6  # until the watcher has come, which holds it as well; else another job might take the folder for a dead one's
  [ "$manta_folder" -ef /proc/self/fd/6 ] && printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$manta_folder/page-$manta_rank" &&
    mkfifo -m 600 "$manta_folder/rank-$manta_rank" && break
done
if ! [ -p "$manta_folder/rank-$manta_rank" ]; then
  echo "manta-run: rank $manta_rank cannot make files in $manta_folder" >&4
  exit 2
fi
exec 7<>"$manta_folder/page-$manta_rank" 5>"$manta_folder/rank-$manta_rank" 6<&-
PATH=${PATH#"$MANTA_RUN_SRUN:"}
unset MANTA_RUN MANTA_RUN_SRUN PMIX_OUTPUT_STDERR_FD
export MANTA_RUN_JOB=@JOB@ MANTA_RUN_PAGE=7
if [ -w /dev/shm ]; then
  export OMPI_MCA_btl_vader_backing_directory="${OMPI_MCA_btl_vader_backing_directory-$manta_folder}"
  export OMPI_MCA_btl_sm_backing_directory="${OMPI_MCA_btl_sm_backing_directory-$manta_folder}"
fi
@RECOVERY@
if command -v -- "$1" >/dev/null; then
  /bin/sh -c 'trap "" USR2; echo "started $$" >&5; exec "$@" 2>&4 4>&- 5>&-' sh "$@"
else
  echo missing >&5
  (exit 127)
fi
manta_status=$?
echo "ended $manta_status" >&5
@LEAVE@
exit 0
"""
# Where the launcher itself is to see how the program has ended.
LEAVE = """
case $manta_status in
  @FATAL@) ulimit -c 0; trap - HUP INT TERM USR1 USR2 PIPE; kill -$((manta_status - 128)) $$ ;;
esac
"""


def command(job, recovery):
    """The words before those of the program."""
    ours = AGAIN + ["--node"]
    parts = {"OURS": str(len(ours)), "JOB": job,
             "RECOVERY": 'export MANTA_RECOVERY="${MANTA_RECOVERY-1}"' if recovery else "",
             "LEAVE": "" if recovery else LEAVE.replace("@FATAL@", "|".join(str(128 + number) for number in sorted(FATAL)))}
    text = TEXT
    for name, part in parts.items():
        text = text.replace("@%s@" % name, part)
    return ["/bin/sh", "-c", text, "manta-run"] + ours
