"""Speaks to a running bank: for tests, the demo, and the command line."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 120
CONNECTION, CLOCK, SOCKET = "connection.json", "clock.json", "control.sock"


class Unavailable(Exception):
    """No bank runs there."""


class ControlError(Exception):
    """The bank refused a command; the text says why."""


def connection(home: Path) -> dict[str, Any]:
    """Where the bank of a folder listens, its host key, and the key to sign in with."""
    try:
        found: dict[str, Any] = json.loads((home / CONNECTION).read_text())
    except FileNotFoundError:
        raise Unavailable(f"no bank has run in {home}") from None
    return found


def call(home: Path, command: str, **arguments: Any) -> Any:
    """Give one command. Raises Unavailable and ControlError."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(TIMEOUT_SECONDS)
        try:
            line.connect(connection(home)["control"])
        except OSError:
            raise Unavailable(f"no bank runs in {home}") from None
        line.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
        with line.makefile("rb") as answers:
            answer = json.loads(answers.readline())
    if not answer["ok"]:
        raise ControlError(answer["error"])
    return answer["result"]
