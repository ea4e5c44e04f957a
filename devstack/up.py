"""`./run up`: a whole copy in this terminal until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from devstack import console, copies, environment, paths, preparation
from devstack.errors import AlreadyRunning, DevstackError
from devstack.paths import Profile
from devstack.program_logs import ProgramLogs
from devstack.servers import Pair, already_running_sentence, owner_note
from devstack.signals import Stopped, stop_once

BANNER_WIDTH = 72
PLACES = {
    "Dashboard": "/dashboard/",
    "Guide": "/docs/guide",
    "API reference": "/docs/api",
    "Mail inbox": "/dev/inbox/",
    "Admin": "/admin/",
}
FILES = "/admin/desk/files/"


def up(
    *, port: int | None = None, profile: str | None = None, recipe: copies.Recipe = copies.PRODUCT
) -> int:
    """Run until a signal comes. Raises DevstackError where it cannot start."""
    chosen = paths.profile(profile)
    os.environ["BALLAST_PROFILE"] = chosen.name
    port = port if port is not None else environment.DEFAULT_PORT
    try:
        with stop_once():
            _run(Pair(chosen, durable=True), port=port or copies.free_port(), recipe=recipe)
    except Stopped as stopped:
        console.report(f"stopped ({stopped}); nothing is left running")
    return 0


def _run(pair: Pair, *, port: int, recipe: copies.Recipe) -> None:
    address = environment.address(port)
    if not pair.claim(purpose="`./run up`", address=address):
        raise AlreadyRunning(already_running_sentence(pair.profile))
    try:
        copies.require_free_port(port, profile=pair.profile)
        with (
            contextlib.closing(ProgramLogs(pair.profile.logs)) as logs,
            copies.running(pair, port=port, sink=logs.write, recipe=recipe) as copy,
        ):
            console.write_line(
                banner(address, pair.profile, demo=copy.demo, stop="Ctrl-C stops it.")
            )
            try:
                copy.supervisor.run_while(lambda: True)
            finally:
                console.report("stopping …")
    finally:
        pair.close()


def info(*, profile: str | None = None) -> int:
    """Show the banner of a copy that runs. Raises DevstackError where none does."""
    chosen = paths.profile(profile)
    note = owner_note(chosen)
    if note is None or not note.address:
        raise DevstackError(
            f"Profile {chosen.name!r} is not running: start it with `./run`, "
            "or name another one with `--profile NAME`."
        )
    stop = f"`kill {note.pid}` stops it."
    console.write_line(banner(note.address, chosen, demo=preparation.known(chosen), stop=stop))
    return 0


def banner(address: str, profile: Profile, *, demo: Mapping[str, str], stop: str) -> str:
    """Where everything is, how to get in, how to stop. `demo` has the logins, if any were made."""
    places = {label: address + path for label, path in PLACES.items()}
    files = {"Logs": str(profile.logs), "Shown again by": "./run info"}
    lines = [
        *_rows(places),
        "",
        *_rows(_logins(demo)),
        *_live(address, demo),
        *_receiver(demo),
        "",
        *_rows(files),
        "",
    ]
    title = f" Ballast is running (profile {profile.name}) "
    return "\n".join(
        ["", title.center(BANNER_WIDTH, "─"), *lines, f"  {stop}", "─" * BANNER_WIDTH, ""]
    )


def _logins(demo: Mapping[str, str]) -> dict[str, str]:
    if not demo:
        return {}
    return {
        "Demo login": f"{demo['email']}  {demo['password']}",
        "Staff login": f"{demo['adminEmail']}  {demo['adminPassword']}",
        "API key": demo["apiKey"],
    }


def _live(address: str, demo: Mapping[str, str]) -> list[str]:
    """Who moves money through the stand-ins, by files and instantly; their password is the one
    above."""
    if "liveEmail" not in demo:
        return []
    rows = {
        "Live tenant": f"{demo['liveEmail']}  (stand-in banks, same password)",
        "Releasers": f"{demo['operatorEmail']}, {demo['releaserEmail']}",
        "Files": f"{address}{FILES}",
    }
    if payers_bank := demo.get("payersBank"):
        rows["Payer's bank"] = f"{payers_bank}  (approve its top-ups by RTP here)"
    return ["", *_rows(rows)]


def _receiver(demo: Mapping[str, str]) -> list[str]:
    """Where the demo tenant's webhooks can be watched."""
    if "receiverAddress" not in demo:
        return []
    return ["", *_rows({"Webhooks": f"{demo['receiverAddress']}  (what was received)"})]


def _rows(values: Mapping[str, str]) -> list[str]:
    return [f"  {label:<14} {value}" for label, value in values.items()]
