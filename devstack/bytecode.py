"""Compiled Python is kept between processes, also for a caller who wants none in the checkout."""

from __future__ import annotations

import os
import sys

from devstack.paths import ROOT


def keep() -> None:
    """For this process and its children; else each compiles the product and its packages anew."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        folder = os.environ.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".run" / "bytecode"))
        sys.dont_write_bytecode = False
        sys.pycache_prefix = folder
