"""A bank that is a folder of this machine: what it has survives whoever put it there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from networks.ach.sftp.errors import NameTaken, SourceDiffers


class Folder:
    """Keeps what `networks.ach.sftp.bank.Bank` promises. `fails` is asked at each step and may
    raise: `connect`, `written`, `noted`, `renamed`."""

    def __init__(self, place: Path, fails: Callable[[str], None] = lambda step: None) -> None:
        self.place = place
        self.fails = fails

    def deliver(
        self,
        folder: str,
        name: str,
        chunks: Iterable[bytes],
        *,
        size: int,
        sha256: str,
        before_rename: Callable[[str], None],
        vanished: Callable[[str], None],
        in_doubt: str,
        watch: Callable[[], None],
    ) -> bool:
        self.fails("connect")
        watch()
        final = self.place / name
        if final.exists():
            if hashlib.sha256(final.read_bytes()).hexdigest() != sha256:
                raise NameTaken
            return False
        data = b"".join(chunks)
        if (len(data), hashlib.sha256(data).hexdigest()) != (size, sha256):
            raise SourceDiffers
        temporary = self.place / f".{name}.part"
        temporary.write_bytes(data)
        self.fails("written")
        before_rename(temporary.name)
        self.fails("noted")
        watch()
        temporary.rename(final)
        self.fails("renamed")
        return True

    def names(self) -> list[str]:
        """Of the files that the bank takes."""
        return sorted(each.name for each in self.place.iterdir() if each.name[0] != ".")

    def content(self) -> list[bytes]:
        return [(self.place / name).read_bytes() for name in self.names()]
