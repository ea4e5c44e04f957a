"""A Chromium for the browser tests."""

from __future__ import annotations

import os
import shutil

from devstack import debian

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "no Chromium here: `apt-get install chromium` (`./run test` does it as root)"


def find() -> str | None:
    """The browser to test with: `BALLAST_CHROMIUM`, else the first one installed."""
    named = os.environ.get("BALLAST_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def ensure() -> None:
    """As root on Debian, install what is missing. Never fatal: the tests skip and say why."""
    if find() is None:
        debian.apt_install("chromium")
