"""`RESULTS.md`: each benchmark owns one section and rewrites it whole."""

from __future__ import annotations

import re
from pathlib import Path

FILE = Path(__file__).parent / "RESULTS.md"
_HEAD = "# Measured\n\nWritten by `./run bench`; see `README.md` for the method.\n"


def write_section(title: str, text: str, *, file: Path = FILE) -> None:
    """Put `text` under `## title`, in place of what stood there."""
    known = file.read_text() if file.exists() else _HEAD
    section = f"## {title}\n\n{text.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    if pattern.search(known):
        known = pattern.sub(lambda _: section + "\n", known)
    else:
        known = f"{known.rstrip()}\n\n{section}"
    file.write_text(known.rstrip() + "\n")
