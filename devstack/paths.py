"""Where a copy ("profile") keeps its files. Looking up a path starts nothing."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from devstack.accounts import server_account, servers_can_enter
from devstack.errors import DevstackError
from devstack.locks import FileLock

ROOT = Path(__file__).resolve().parent.parent
CLIENT = ROOT / "clients" / "python"
TYPESCRIPT_CLIENT = ROOT / "clients" / "typescript"
DEFAULT_PROFILE = "dev"

# The roles of an embedded PostgreSQL (`devstack.roles` makes them).
SUPERUSER = "ballast"
OWNER_ROLE = "ballast_owner"
APPLICATION_ROLE = "ballast_app"
API_ROLE = "ballast_api"
DISPATCHER_ROLE = "ballast_dispatcher"
AUDIT_ROLE = "ballast_audit"
WORKER_ROLE = "ballast_worker"
DESK_ROLE = "ballast_desk"
# Of the jobs that have a login of their own, by the setting that names it.
JOB_ROLES = {
    "DATABASE_DISPATCHER_URL": DISPATCHER_ROLE,
    "DATABASE_AUDIT_URL": AUDIT_ROLE,
    "DATABASE_WORKER_URL": WORKER_ROLE,
    "DATABASE_DESK_URL": DESK_ROLE,
}

PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
# A unix socket address holds 107 bytes on Linux and 103 elsewhere.
SOCKET_PATH_MAX = 100
LONGEST_SOCKET_NAME = ".s.PGSQL.5432.lock"


@dataclass(frozen=True)
class Profile:
    """One copy of the product: its own data, sockets, secrets, logs and mail."""

    name: str
    home: Path

    @property
    def sockets(self) -> Path:
        """The folder of both sockets; a short stand-in when the natural path is too long."""
        natural = self.home / "sockets"
        if len(str(natural / LONGEST_SOCKET_NAME)) <= SOCKET_PATH_MAX:
            return natural
        digest = hashlib.sha256(str(natural).encode()).hexdigest()[:12]
        # Not tempfile.gettempdir(): commands with different TMPDIR must agree on one place.
        return Path(os.sep, "tmp", f"ballast-{digest}")

    @property
    def valkey_socket(self) -> Path:
        return self.sockets / "valkey.sock"

    @property
    def postgres_data(self) -> Path:
        return self.home / "postgres"

    @property
    def valkey_data(self) -> Path:
        return self.home / "valkey"

    @property
    def bank(self) -> Path:
        """Of the stand-in bank: its books, keys, folders, and where it listens."""
        return self.home / "bank"

    @property
    def bank_connection(self) -> Path:
        """Where the bank says how it is reached; there while it runs."""
        return self.bank / "connection.json"

    @property
    def bank_clock(self) -> Path:
        """Where the bank says what its clock shows."""
        return self.bank / "clock.json"

    @property
    def operator(self) -> Path:
        """Of the stand-in operator of instant payments: its record, keys, and where it listens."""
        return self.home / "instant"

    @property
    def operator_connection(self) -> Path:
        """Where the operator says how it is reached; there while it runs."""
        return self.operator / "connection.json"

    @property
    def operator_socket(self) -> Path:
        return self.sockets / "operator.sock"

    @property
    def receiver(self) -> Path:
        """Of the webhook receiver: its secret, and where it listens."""
        return self.home / "receiver"

    @property
    def receiver_connection(self) -> Path:
        """Where the receiver says how it is reached; there while it runs."""
        return self.receiver / "connection.json"

    @property
    def bank_socket(self) -> Path:
        return self.sockets / "bank.sock"

    @property
    def state(self) -> Path:
        """What we know about the data; thrown away with it."""
        return self.home / "state"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def database_url(self) -> str:
        """For the product: a role that owns nothing."""
        return self._database_url(APPLICATION_ROLE)

    @property
    def api_database_url(self) -> str:
        """For requests of the API: a role that sees one tenant at a time."""
        return self._database_url(API_ROLE)

    @property
    def job_database_urls(self) -> dict[str, str]:
        """For jobs, each a role that may do what the job needs: by the name of the setting."""
        return {name: self._database_url(role) for name, role in JOB_ROLES.items()}

    @property
    def owner_database_url(self) -> str:
        """For migrations and grants: the role that owns every table."""
        return self._database_url(OWNER_ROLE)

    @property
    def superuser_database_url(self) -> str:
        """For what the stack itself and tests do to the server; no process of the product."""
        return self._database_url(SUPERUSER)

    def _database_url(self, role: str) -> str:
        return f"postgresql://{role}@/ballast?host={self.sockets}"

    def redis_url(self, number: int = 0) -> str:
        return f"unix://{self.valkey_socket}?db={number}"


def profile(name: str | None = None) -> Profile:
    """The named profile, else the one `BALLAST_PROFILE` names, else `dev`."""
    name = name or os.environ.get("BALLAST_PROFILE") or DEFAULT_PROFILE
    if not PROFILE_NAME.fullmatch(name):
        raise DevstackError(
            f"{name!r} is not a profile name: use up to 32 of a-z, 0-9 and -, not - first."
        )
    home = state_root() / name
    _make_enterable(home)
    if not servers_can_enter(home):
        raise DevstackError(f"The account `nobody`, which runs PostgreSQL, cannot enter {home}.")
    return Profile(name, home)


def derived_profile_name(purpose: str) -> str:
    """The profile for `test`, `demo` or `bench` beside the chosen one."""
    chosen = os.environ.get("BALLAST_PROFILE")
    return f"{chosen}-{purpose}" if chosen else purpose


def state_root() -> Path:
    """The folder of all profiles: `BALLAST_STATE_DIR`, else `.run` where servers can reach it."""
    if named := os.environ.get("BALLAST_STATE_DIR"):
        folder = Path(named).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    local = ROOT / ".run"
    _make_enterable(local)
    if servers_can_enter(local):
        return local
    with FileLock(local / "elsewhere.lock"):
        return _folder_elsewhere(local / "elsewhere")


def _make_enterable(folder: Path) -> None:
    """Make a folder of our own that the servers may pass through but not list."""
    folder.mkdir(exist_ok=True)
    if server_account() is not None:
        folder.chmod(0o711)


def _folder_elsewhere(pointer: Path) -> Path:
    """A checkout in a private folder (such as root's home) keeps its data outside of it.

    The pointer lives in the checkout, so a new clone at the same path starts with new data.
    """
    if pointer.exists():
        folder = Path(pointer.read_text())
        if folder.is_dir() and folder.stat().st_uid == os.geteuid():
            return folder
    base = Path(os.sep, "var", "lib", "ballast-dev")
    base.mkdir(mode=0o711, exist_ok=True)
    _forget_deleted_checkouts(base)
    folder = Path(tempfile.mkdtemp(dir=base, prefix="checkout-"))
    folder.chmod(0o711)
    (folder / "pointer").write_text(str(pointer))
    pointer.write_text(str(folder))
    return folder


def _forget_deleted_checkouts(base: Path) -> None:
    for folder in base.glob("checkout-*"):
        in_use = any(FileLock.is_held(lock) for lock in folder.glob("*/servers.lock"))
        if not in_use and not _is_pointed_at(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_pointed_at(folder: Path) -> bool:
    try:
        pointer = Path((folder / "pointer").read_text())
        return pointer.read_text() == str(folder)
    except FileNotFoundError:
        return False
