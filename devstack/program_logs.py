"""Where the lines of a running copy go: all of them into a file per program, and those that a
person should see to the terminal as well."""

from __future__ import annotations

import os
import re
from pathlib import Path

from devstack import console
from devstack.processes import open_log

LOG_BYTES_MAX = 10_000_000
# How structlog marks a line that reports ordinary work: on a terminal, and as JSON.
_ORDINARY = re.compile(r'\[(?:debug|info)\s*\]|"level": ?"(?:debug|info)"')


class ProgramLogs:
    """Writes each line to `<folder>/<program>.log`, and shows it unless it reports ordinary work,
    such as a request that was answered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, int] = {}

    def write(self, name: str, line: str) -> None:
        """One line of a program, or a remark of the stack itself."""
        self._keep(name, f"{line}\n".encode())
        if not _ORDINARY.search(line):
            console.write_line(console.prefixed(name, line))

    def close(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1])

    def _keep(self, name: str, line: bytes) -> None:
        """A file that has become too long is set aside, and the one set aside before it goes."""
        if name in self._files and os.fstat(self._files[name]).st_size > LOG_BYTES_MAX:
            os.close(self._files.pop(name))
        if name not in self._files:
            path = self.folder / f"{name}.log"
            self._files[name] = open_log(path, bytes_max=LOG_BYTES_MAX)
        os.write(self._files[name], line)
