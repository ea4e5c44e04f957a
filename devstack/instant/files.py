"""Writes files that others read."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """A reader sees the whole file or none. Only we may read it."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.touch(mode=0o600)
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
