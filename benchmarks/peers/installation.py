"""The peers' packages: pinned, hashed, in a folder of their own, installed when first needed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.errors import CannotMeasure

ROOT = Path(__file__).resolve().parent.parent.parent
REQUIREMENTS = ROOT / "requirements-bench.txt"
VENV = ROOT / ".run" / "bench-venv"
INSTALL_SECONDS = 180


def python() -> str:
    """The interpreter that knows the peers. Raises CannotMeasure when they cannot be installed."""
    interpreter, stamp = VENV / "bin" / "python", VENV / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        base = getattr(sys, "_base_executable", sys.executable)
        _uv("venv", "--quiet", "--allow-existing", f"--python={base}", str(VENV))
        # --python and not VIRTUAL_ENV: `python -m uv` would mean its own environment.
        _uv(
            *("pip", "sync", "--quiet", "--require-hashes"),
            *(f"--python={interpreter}", str(REQUIREMENTS)),
        )
        stamp.write_text(wanted)
    return str(interpreter)


def _uv(*arguments: str) -> None:
    program = Path(sys.executable).with_name("uv")
    environment = os.environ | {"UV_SYSTEM_CERTS": "1"}
    environment.pop("VIRTUAL_ENV", None)
    try:
        done = subprocess.run(  # noqa: S603  # our own command, no shell
            [program, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotMeasure(f"the peers could not be installed: {error}") from error
    if done.returncode != 0:
        raise CannotMeasure(f"the peers could not be installed:\n{done.stderr[-1000:]}")
