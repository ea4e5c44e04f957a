"""The first thing `./run` does, with any Python: make `.venv` what the requirements say.

Standard library only. Fast when nothing changed, safe when started twice at once. Ends by
becoming `python -m devstack` of the virtual environment.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from devstack import debian
from devstack.console import failure_of, report, run_step, show
from devstack.errors import DevstackError
from devstack.locks import FileLock

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "requirements-dev.txt"
STAMP = VENV / "ballast-requirements"
VERSION_CHECK = "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))"
# What pip says where no registry answers, by the libraries that it uses. Without retries it says
# only that there are no versions of what we pin.
NO_ANSWER = (
    "(from versions: none)",
    "Failed to establish a new connection",
    "Failed to resolve",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "RemoteDisconnected",
)
UNREACHABLE = (
    "no package registry that has the pinned packages can be reached from this machine. The first"
    " ./run of a copy, and the first one after requirements-dev.txt has changed, installs them;"
    " later ones need no network. Connect the machine, or name a mirror that it reaches in"
    " PIP_INDEX_URL and UV_INDEX_URL (a proxy in HTTPS_PROXY), and run it again."
)
COMMANDS_WITHOUT_PACKAGES = {"help", "-h", "--help"}


def main(arguments: list[str]) -> None:
    if arguments[:1] and arguments[0] in COMMANDS_WITHOUT_PACKAGES:
        os.execv(sys.executable, [sys.executable, "-m", "devstack", *arguments])
    try:
        ensure_environment()
    except DevstackError as problem:
        sys.exit(f"ballast: {problem}")
    except PermissionError as problem:
        sys.exit(f"ballast: cannot write {problem.filename}: it belongs to another account.")
    except KeyboardInterrupt:
        sys.exit("ballast: interrupted; run it again to go on")
    os.execv(PYTHON, [str(PYTHON), "-m", "devstack", *arguments])


def ensure_environment() -> None:
    """Create the virtual environment and install the pinned packages where that is not done."""
    wanted = _fingerprint()
    if _is_current(wanted):
        return
    (ROOT / ".run").mkdir(exist_ok=True)
    lock = FileLock(ROOT / ".run" / "setup.lock")
    if not lock.acquire(timeout=0):
        report("another ./run is setting up; waiting for it")
        lock.acquire()
    try:
        if not _is_current(wanted):
            _install(wanted)
    finally:
        lock.release()


def _install(wanted: str) -> None:
    if not _venv_works():
        report(f"creating the virtual environment with Python {sys.version.split()[0]}")
        debian.create_venv(VENV)
    STAMP.unlink(missing_ok=True)
    report("installing the pinned packages (about a minute the first time)")
    _install_uv()
    if not _sync_with_uv():
        report("uv could not do it; installing with pip, which takes longer")
        _pip_install(REQUIREMENTS)
    STAMP.write_text(wanted)
    report("packages are installed")


def _is_current(wanted: str) -> bool:
    return STAMP.exists() and STAMP.read_text() == wanted and _venv_works()


def _fingerprint() -> str:
    return hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()


def _venv_works() -> bool:
    try:
        check = subprocess.run([PYTHON, "-c", VERSION_CHECK], capture_output=True, check=False)
    except OSError:
        return False
    return check.returncode == 0


def _install_uv() -> None:
    """uv itself comes through pip, by the same pinned and hashed lines as everything else."""
    lines = VENV / "requirements-uv.txt"
    lines.write_text(requirement_lines(REQUIREMENTS.read_text(), "uv"))
    _pip_install(lines)


def requirement_lines(text: str, name: str) -> str:
    """One package's pin and hashes out of a compiled requirements file."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith(f"{name}=="):
            found = [line]
        elif found and line.startswith("    --hash"):
            found.append(line)
        elif found:
            break
    return "\n".join(found).removesuffix("\\") + "\n"


def _pip_install(requirements: Path) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"]
    command = [*debian.pip_for(PYTHON), "install", *options, "-r", str(requirements)]
    failure = failure_of(command)
    if failure is None:
        return
    if is_unreachable(failure):
        raise DevstackError(UNREACHABLE)
    show(failure)
    raise DevstackError(f"pip could not install {requirements.name}; its reason is above.")


def is_unreachable(output: str) -> bool:
    """Whether pip got no answer at all. Its last line says then that there is no such package."""
    return any(sign in output for sign in NO_ANSWER)


def _sync_with_uv() -> bool:
    environment = os.environ | {"VIRTUAL_ENV": str(VENV), "UV_SYSTEM_CERTS": "1"}
    if not os.access(Path.home(), os.W_OK):
        environment["UV_NO_CACHE"] = "1"
    command = [str(VENV / "bin" / "uv"), "pip", "sync", "--require-hashes", str(REQUIREMENTS)]
    return run_step(command, environment=environment)


if __name__ == "__main__":
    main(sys.argv[1:])
