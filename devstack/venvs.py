"""Virtual environments beside ours, each of what one compiled requirements file names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from devstack import console
from devstack.errors import DevstackError
from devstack.paths import ROOT

# What uv says where no registry answers that it trusts.
NO_ANSWER = ("client error (Connect)", "operation timed out")


class NoIndex(DevstackError):
    """No package registry can be reached."""


def sync(folder: Path, *requirements: Path, purpose: str) -> None:
    """Make `folder` an environment with exactly the packages of these files. Quick when it is.
    Raises NoIndex, and DevstackError for any other failure, which say `purpose`."""
    environment = os.environ | {"UV_SYSTEM_CERTS": "1"}
    uv = [sys.executable, "-m", "uv"]
    into = ["--quiet", f"--python={folder / 'bin' / 'python'}", "--require-hashes"]
    for command in (
        [*uv, "venv", "--quiet", "--allow-existing", f"--python={sys.executable}", str(folder)],
        [*uv, "pip", "sync", *into, *map(str, requirements)],
    ):
        failure = console.failure_of(command, environment=environment, folder=ROOT)
        if failure is None:
            continue
        console.show(failure)
        if is_unreachable(failure):
            raise NoIndex(f"no package registry can be reached, so {purpose} is not installed.")
        raise DevstackError(f"{purpose} could not be installed; see above.")


def is_unreachable(output: str) -> bool:
    """Whether uv got no answer."""
    return any(sign in output for sign in NO_ANSWER)
