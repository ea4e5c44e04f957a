"""Documents typeset by a program of its own, one at a time in each web process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

_PRINTER = Path(__file__).with_name("printer.py")
# Beside the templates of pages. The program reads nothing outside this folder.
_FOLDER = Path(settings.BASE_DIR, "templates", "typst")
PRINTING_SECONDS_MAX = 20  # less than a proxy waits for an answer

_one_at_a_time = threading.BoundedSemaphore()


class TooBusy(Exception):
    """The process makes a document for somebody else, or this one took too long."""


class NotPrinted(Exception):
    """The program ended without a document: a mistake of ours."""


def typeset(template: str, content: Mapping[str, Any], *, at: datetime) -> bytes:
    """The PDF file that `template` makes of `content`; `at` is when it was created. The same three
    make the same bytes.

    It takes seconds, so call it outside transactions. Waits for no other document: each one who
    waits would hold a thread of the web process. Raises TooBusy and NotPrinted.
    """
    name = template.partition(".")[0]
    if not _one_at_a_time.acquire(blocking=False):
        raise TooBusy
    try:
        return _printed([template, name, str(int(at.timestamp()))], json.dumps(content).encode())
    finally:
        _one_at_a_time.release()


def _printed(arguments: list[str], content: bytes) -> bytes:
    """What the program writes. It gets none of our environment, where secrets are."""
    try:
        done = subprocess.run(  # noqa: S603  # our own program; what people typed is its input only
            [sys.executable, "-I", str(_PRINTER), str(_FOLDER), *arguments],
            input=content,
            capture_output=True,
            env={},
            timeout=PRINTING_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TooBusy from error
    if done.returncode != 0:
        raise NotPrinted(done.stderr.decode(errors="replace")[-2000:])
    return done.stdout
