"""Speaks to a running operator: for tests, the demo, and the command line."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 120
CONNECTION, SOCKET = "connection.json", "control.sock"


class Unavailable(Exception):
    """No operator runs there."""


class ControlError(Exception):
    """The operator refused a command; the text says why."""


def connection(home: Path) -> dict[str, Any]:
    """How the operator of a folder is reached: addresses, pins, and the files of our key."""
    try:
        found: dict[str, Any] = json.loads((home / CONNECTION).read_text())
    except FileNotFoundError:
        raise Unavailable(f"no operator has run in {home}") from None
    return found


def call(home: Path, command: str, **arguments: Any) -> Any:
    """Give one command. Raises Unavailable and ControlError."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(TIMEOUT_SECONDS)
        try:
            line.connect(connection(home)["control"])
        except OSError:
            raise Unavailable(f"no operator runs in {home}") from None
        line.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
        with line.makefile("rb") as answers:
            answer = json.loads(answers.readline())
    if not answer["ok"]:
        raise ControlError(answer["error"])
    return answer["result"]
