"""The keys of one copy, made at the first start: the host's, another one to show by mistake, and
the customer's, for the product to sign in with."""

from __future__ import annotations

from pathlib import Path

import asyncssh

HOST, OTHER_HOST, CUSTOMER = "host_ed25519", "other_host_ed25519", "customer_ed25519"
AUTHORIZED = "authorized_keys"


def ensure(folder: Path) -> None:
    """Make what is missing; what is there stays."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (HOST, OTHER_HOST, CUSTOMER):
        if not (folder / name).exists():
            _make(folder / name)
    if not (folder / AUTHORIZED).exists():
        public = (folder / f"{CUSTOMER}.pub").read_text()
        (folder / AUTHORIZED).write_text(public)


def authorize(folder: Path, public: str) -> None:
    """Let another key sign in. Repeatable. Raises asyncssh.KeyImportError."""
    asyncssh.import_public_key(public)
    if public.strip() in (folder / AUTHORIZED).read_text().splitlines():
        return
    with (folder / AUTHORIZED).open("a") as file:
        file.write(f"{public.strip()}\n")


def public_key(folder: Path, name: str) -> str:
    return (folder / f"{name}.pub").read_text().strip()


def _make(path: Path) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519", comment=f"ballast stand-in {path.name}")
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.touch(mode=0o600)
    key.write_private_key(str(unfinished))
    key.write_public_key(str(path.with_name(f"{path.name}.pub")))
    unfinished.replace(path)
