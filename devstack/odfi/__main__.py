"""python -m devstack.odfi serve --home FOLDER [--port N] [--clock INSTANT] [--term NAME=VALUE]
python -m devstack.odfi ctl --home FOLDER COMMAND [NAME=VALUE ...]

The first runs the bank. The second gives a running bank one of the commands of `control`:

    ctl --home FOLDER status
    ctl --home FOLDER clock banking_days=1
    ctl --home FOLDER terms day_seconds=5
    ctl --home FOLDER fault name=drop_upload value=4000 times=1
    ctl --home FOLDER send_back trace=124000310000001 code=R10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from devstack.odfi import client


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    home = options.home.resolve()
    if options.action == "ctl":
        return _control(home, options.command, options.arguments)
    # asyncssh would load what security keys need, a third of the time that a start takes.
    cast("dict[str, object]", sys.modules)["fido2"] = None
    from devstack.odfi import server

    asyncio.run(
        server.serve(
            home,
            port=options.port,
            control=options.control,
            clock=datetime.fromisoformat(options.clock) if options.clock else None,
            first_terms=dict(map(_argument, options.term)),
        )
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m devstack.odfi", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    serve = actions.add_parser("serve")
    serve.add_argument("--home", type=Path, required=True)
    serve.add_argument("--port", type=int, default=0, help="0: the one of before, or any free one")
    serve.add_argument("--control", type=Path, help="the unix socket; default in the folder")
    serve.add_argument("--clock", help="where the clock of a new bank starts")
    serve.add_argument("--term", action="append", default=[], help="NAME=VALUE for a new bank")
    ctl = actions.add_parser("ctl")
    ctl.add_argument("--home", type=Path, required=True)
    ctl.add_argument("command")
    ctl.add_argument("arguments", nargs="*", help="NAME=VALUE")
    return parser


def _control(home: Path, command: str, arguments: Sequence[str]) -> int:
    try:
        result = client.call(home, command, **dict(map(_argument, arguments)))
    except (client.ControlError, client.Unavailable) as problem:
        sys.stderr.write(f"bank: {problem}\n")
        return 1
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


def _argument(text: str) -> tuple[str, Any]:
    """NAME=VALUE; a value that is JSON is what it says, any other is text. Trace numbers and codes
    are text although they look like numbers."""
    name, _, value = text.partition("=")
    if name in {"trace", "code", "corrected", "file_name", "key"}:
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
