"""What the demo uses beside the API client: the command line and the approver's mailbox."""

from __future__ import annotations

import email
import email.policy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from demo.story.console import StoryError

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8000")


def manage(*words: str) -> dict[str, Any]:
    """Run a management command with `--json` and return its object."""
    done = subprocess.run(  # noqa: S603  # our own manage.py, our own words
        [sys.executable, "manage.py", *words, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise StoryError(f"manage.py {words[0]} failed:\n{done.stdout}{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def mailed_link(to: str, *, about: str, below: str) -> str | None:
    """The link below this path in the newest message to this address that says `about`, or
    None."""
    folder = Path(os.environ["BALLAST_RUN_DIR"]) / "mail"
    for path in sorted(folder.glob("*.log"), key=lambda item: item.stat().st_mtime, reverse=True):
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        body = message.get_body(("plain",))
        text = body.get_content() if body else ""
        link = re.search(rf"https?://\S+{re.escape(below)}\S+", text)
        if link and about in text and to in str(message["To"]):
            return link[0]
    return None
