"""A virtual environment with a pip in reach, even where Debian left both out.

Debian puts `ensurepip` into `python3-venv`. Root installs that; anybody else takes Debian's own
signed pip wheel with `apt-get download`, which needs no rights.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from devstack.console import report, run_step
from devstack.errors import DevstackError

WHEEL_PACKAGE = "python3-pip-whl"


def create_venv(venv: Path) -> None:
    """Make `venv` with pip inside, or at least with pip beside it."""
    if _venv(venv):
        return
    if os.geteuid() == 0 and apt_install(_venv_package()) and _venv(venv):
        return
    if not _venv(venv, "--without-pip"):
        raise DevstackError(_advice())
    _fetch_pip(venv)


def pip_for(python: Path) -> list[str]:
    """A command that is pip, working on the environment of `python`."""
    wheel = _fetched_wheel(python.parent.parent)
    if wheel is not None:
        return [str(python), str(wheel / "pip")]
    return [str(python), "-m", "pip"]


def apt_install(*packages: str) -> bool:
    """Install Debian packages as root. False where that is impossible or fails."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    report(f"installing {' '.join(packages)} with apt-get")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages]
    steps = (["apt-get", "update", "-qq"], install)
    return all(run_step(step, environment=environment) for step in steps)


def _venv(venv: Path, *options: str) -> bool:
    command = [sys.executable, "-m", "venv", "--clear", *options, str(venv)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _venv_package() -> str:
    """The system's own Python is served by the plain name, another one by its version."""
    if Path(sys.executable).name == "python3":
        return "python3-venv"
    return f"python{sys.version_info.major}.{sys.version_info.minor}-venv"


def _fetch_pip(venv: Path) -> None:
    """Unpack Debian's pip wheel into the environment, with package lists of our own."""
    folder = venv / "debian-pip"
    lists, cache = folder / "lists", folder / "cache"
    for needed in (lists / "partial", cache / "archives" / "partial"):
        needed.mkdir(parents=True)
    report(f"fetching {WHEEL_PACKAGE} with apt-get")
    apt = ["apt-get", "-qq", "-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={cache}"]
    steps = (
        [*apt, "update"],
        [*apt, "download", WHEEL_PACKAGE],
        ["sh", "-c", "dpkg-deb --extract *.deb ."],
    )
    if not all(run_step(step, folder=folder) for step in steps):
        raise DevstackError(_advice())
    shutil.rmtree(lists)
    shutil.rmtree(cache)


def _fetched_wheel(venv: Path) -> Path | None:
    folder = venv / "debian-pip" / "usr" / "share" / "python-wheels"
    return next(folder.glob("pip-*.whl"), None)


def _advice() -> str:
    return (
        f"this Python cannot make a virtual environment with pip: install {_venv_package()} "
        f"(on Debian: `sudo apt-get install {_venv_package()}`) and run this again."
    )
