"""Virtual environments beside ours, each of what one compiled requirements file names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from devstack import console
from devstack.errors import DevstackError
from devstack.paths import ROOT


def sync(folder: Path, requirements: Path, *, purpose: str) -> None:
    """Make `folder` an environment with exactly these packages. Quick when it is. Raises
    DevstackError, which says `purpose`."""
    environment = os.environ | {"UV_SYSTEM_CERTS": "1"}
    uv = [sys.executable, "-m", "uv"]
    into = ["--quiet", f"--python={folder / 'bin' / 'python'}", "--require-hashes"]
    for command in (
        [*uv, "venv", "--quiet", "--allow-existing", f"--python={sys.executable}", str(folder)],
        [*uv, "pip", "sync", *into, str(requirements)],
    ):
        if not console.run_step(command, environment=environment, folder=ROOT):
            raise DevstackError(f"{purpose} could not be installed; see above.")
