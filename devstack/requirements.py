"""`./run lock`: compile requirements*.in to pinned, hashed files without any address."""

from __future__ import annotations

import os
import subprocess
import sys

from devstack.console import report
from devstack.paths import ROOT

OPTIONS = [
    "--quiet",
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-header",
    "--no-emit-index-url",
    "--no-emit-find-links",
]


LOCKED: tuple[tuple[str, list[str]], ...] = (
    ("requirements", []),
    ("requirements-dev", ["requirements.txt"]),
    ("requirements-saml", ["requirements-dev.txt"]),
    ("requirements-bench", ["requirements.txt"]),
    ("requirements-node", []),
)


def lock(*options: str) -> int:
    """Compile all files; `--upgrade` moves the pins. The others follow the first."""
    for name, constraints in LOCKED:
        report(f"compiling {name}.txt")
        command = [sys.executable, "-m", "uv", "pip", "compile", f"{name}.in"]
        command += [f"--output-file={name}.txt", *OPTIONS, *options]
        command += [f"--constraints={file}" for file in constraints]
        environment = os.environ | {"UV_SYSTEM_CERTS": "1"}
        result = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False
        )
        if result.returncode != 0:
            return result.returncode
    return 0
