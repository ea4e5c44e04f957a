"""Where the receiver of a copy listens, and the secret that signs for it.

One file of its folder is there while it runs, another one keeps both for the next run.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

FILE, KEPT = "connection.json", "kept.json"
HOOKS = "/hooks"  # of the demo tenant, whose secret the receiver knows
OTHERS = "/others"  # of everybody else's endpoints, whose secrets it does not know


@dataclass(frozen=True)
class Connection:
    """How the product reaches the receiver."""

    port: int
    secret: str

    @property
    def page(self) -> str:
        """Where people look at what was received."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def url(self) -> str:
        """Where the demo tenant's events go."""
        return f"http://127.0.0.1:{self.port}{HOOKS}"


def load(home: Path, name: str = FILE) -> Connection | None:
    """How the receiver of this folder is reached; None if none runs."""
    try:
        return Connection(**json.loads((home / name).read_text()))
    except FileNotFoundError:
        return None


def save(home: Path, connection: Connection) -> None:
    """Say how the receiver is reached, now and after a restart."""
    for name in (KEPT, FILE):
        _write_private(home / name, json.dumps(asdict(connection)))


def new_secret() -> str:
    """A signing secret as webhook endpoints have it."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def _write_private(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    unfinished.replace(path)
