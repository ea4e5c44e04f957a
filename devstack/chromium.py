"""What browser tests need: a Chromium, and the Node.js that Playwright brings, able to run."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

from devstack import debian

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Playwright's Node.js wants libatomic, which a small Debian does not have.
PACKAGES = ("chromium", "libatomic1")
ADVICE = f"`apt-get install {' '.join(PACKAGES)}` (`./run test` does it as root)"


def find() -> str | None:
    """The browser to test with: `BALLAST_CHROMIUM`, else the first one installed."""
    named = os.environ.get("BALLAST_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@functools.cache
def obstacle() -> str | None:
    """Why browser tests cannot run here, and what to do about it; None when they can."""
    if find() is None:
        return f"no Chromium here: {ADVICE}"
    if not _driver_runs():
        return f"Playwright's Node.js does not run here: {ADVICE}"
    return None


def ensure() -> None:
    """As root on Debian, install what is missing. Never fatal: the tests skip and say why."""
    if obstacle() is not None:
        debian.apt_install(*PACKAGES)


def _driver_runs() -> bool:
    spec = importlib.util.find_spec("playwright")
    if spec is None or spec.origin is None:
        return False
    node = Path(spec.origin).parent / "driver" / "node"
    try:
        check = subprocess.run([node, "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return check.returncode == 0
