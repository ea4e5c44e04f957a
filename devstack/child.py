"""Become another program that dies with its parent. Run as a file, never imported.

    python -I -S child.py PARENT_PID DEATH_SIGNAL UID GID PROGRAM [ARGUMENT …]

A step of its own rather than a `preexec_fn`, which is not safe in a process with threads.
UID and GID are -1 to stay who we are.
"""

from __future__ import annotations

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def become(parent: int, death_signal: int, *, uid: int, gid: int, command: list[str]) -> None:
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After the change of account, which would clear it.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent ended before this program began")
    os.execvp(command[0], command)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:5]]
    become(numbers[0], numbers[1], uid=numbers[2], gid=numbers[3], command=sys.argv[5:])
