"""Run a command that dies with its parent process: `tether.py PARENT_PID COMMAND...`.

`kproxy.local_kafka.processes.spawn` starts every child process through it. This is a separate script, run with
`python -I -S`, because a `preexec_fn` is unsafe in a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask the kernel for SIGKILL at the parent's death, then become the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the line above
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
