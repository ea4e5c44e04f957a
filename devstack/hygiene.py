"""Tracked files name no package registry and no path that exists on one machine only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from devstack.paths import ROOT

REGISTRIES = (
    r"pypi\.org",
    r"pythonhosted\.org",
    r"npmjs\.(?:org|com)",
    r"registry\.yarnpkg\.com",
    r"proxy\.golang\.org",
    r"rubygems\.org",
    r"^\s*--?(?:extra-)?index-url\b",
    r"^\s*--(?:find)-links\b",
)
HOME_FOLDERS = (r"/(?:root)/\w", r"/(?:home|Users)/\w+/", r"[A-Z]:\\Users\\")


def check() -> tuple[bool, str]:
    """Whether all tracked files are clean, and the lines that are not."""
    found = list(findings(ROOT, tracked_files(ROOT)))
    return not found, "\n".join(found)


def findings(root: Path, files: list[Path]) -> Iterator[str]:
    """`file:line: text` for each line that names a registry or a machine's own path."""
    pattern = re.compile("|".join((*REGISTRIES, *HOME_FOLDERS, re.escape(f"{root}/"))))
    for path in files:
        for number, line in enumerate(_lines(path), start=1):
            if pattern.search(line):
                yield f"{path.relative_to(root)}:{number}: {line.strip()[:120]}"


def tracked_files(root: Path) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    paths = (root / name for name in listing.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def _lines(path: Path) -> list[str]:
    """The lines of a text file; none of a binary one."""
    content = path.read_bytes()
    return [] if b"\0" in content else content.decode(errors="replace").splitlines()
