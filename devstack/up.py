"""`./run up`: a whole copy in this terminal until Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Mapping

from devstack import console, copies, environment, paths
from devstack.errors import AlreadyRunning
from devstack.servers import Pair, already_running_sentence
from devstack.signals import Stopped, stop_once

BANNER_WIDTH = 72
PLACES = {
    "Dashboard": "/dashboard/",
    "Guide": "/docs/guide",
    "API reference": "/api/docs",
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
        with copies.running(pair, port=port, sink=_show, recipe=recipe) as copy:
            console.write_line(banner(copy, pair.profile.name))
            try:
                copy.supervisor.run_while(lambda: True)
            finally:
                console.report("stopping …")
    finally:
        pair.close()


def _show(name: str, line: str) -> None:
    console.write_line(console.prefixed(name, line))


def banner(copy: copies.Copy, profile: str) -> str:
    """Where everything is, how to get in, how to stop."""
    places = {label: copy.address + path for label, path in PLACES.items()}
    lines = [*_rows(places), "", *_rows(_logins(copy.demo)), *_live(copy), ""]
    title = f" Ballast is running (profile {profile}) "
    return "\n".join(
        ["", title.center(BANNER_WIDTH, "─"), *lines, "  Ctrl-C stops it.", "─" * BANNER_WIDTH, ""]
    )


def _logins(demo: Mapping[str, str]) -> dict[str, str]:
    if not demo:
        return {}
    return {
        "Demo login": f"{demo['email']}  {demo['password']}",
        "Staff login": f"{demo['adminEmail']}  {demo['adminPassword']}",
        "API key": demo["apiKey"],
    }


def _live(copy: copies.Copy) -> list[str]:
    """Who moves money through the stand-in bank; their password is the one above."""
    demo = copy.demo
    if "liveEmail" not in demo:
        return []
    rows = {
        "Live tenant": f"{demo['liveEmail']}  (the stand-in bank, same password)",
        "Releasers": f"{demo['operatorEmail']}, {demo['releaserEmail']}",
        "Files": f"{copy.address}{FILES}",
    }
    return ["", *_rows(rows)]


def _rows(values: Mapping[str, str]) -> list[str]:
    return [f"  {label:<14} {value}" for label, value in values.items()]
