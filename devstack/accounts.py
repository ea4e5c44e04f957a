"""The unprivileged account that owns the embedded servers when we are root.

PostgreSQL refuses to run as root. We borrow `nobody`, which every system has, so that nothing
is added to the machine's accounts and no directory's mode is ever loosened.
"""

from __future__ import annotations

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Account:
    uid: int
    gid: int


def server_account() -> Account | None:
    """The account to run servers as, or None when we already are unprivileged."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def servers_can_enter(path: Path) -> bool:
    """Whether the server account may walk down to `path`."""
    if server_account() is None:
        return True
    resolved = path.resolve()
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (resolved, *resolved.parents))


def own_folder(folder: Path) -> None:
    """Create `folder` for the server account's eyes only (root may always enter)."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = server_account()
    if account is not None:
        os.chown(folder, account.uid, account.gid)
    folder.chmod(0o700)
