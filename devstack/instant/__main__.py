"""python -m devstack.instant serve --home FOLDER [--port N] [--clock INSTANT] [--term NAME=VALUE]
python -m devstack.instant ctl --home FOLDER COMMAND [NAME=VALUE ...]

The first runs the operator. The second gives a running one one of the commands of `control`:

    ctl --home FOLDER status
    ctl --home FOLDER answer_request end_to_end_id=20261129124000313T1BSTDI00000000001
    ctl --home FOLDER pay profile=rtp amount=12500
    ctl --home FOLDER fault name=close_after times=1
    ctl --home FOLDER clock next=true
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from devstack.instant import client

_TEXTS = frozenset(
    {"account", "code", "content", "end_to_end_id", "message_id", "payer_account"}
    | {"payer_routing", "reference", "routing", "rtp_account", "fednow_account"}
)


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    home = options.home.resolve()
    if options.action == "ctl":
        return _control(home, options.command, options.arguments)
    from devstack.instant import server

    server.serve(
        home,
        port=options.port,
        control=options.control,
        clock=datetime.fromisoformat(options.clock) if options.clock else None,
        statements=options.statements,
        first_terms=dict(map(_argument, options.term)),
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m devstack.instant", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    serve = actions.add_parser("serve")
    serve.add_argument("--home", type=Path, required=True)
    serve.add_argument("--port", type=int, default=0, help="0: the one of before, or any free one")
    serve.add_argument("--control", type=Path, help="the unix socket; default in the folder")
    serve.add_argument("--statements", type=Path, help="where files of cycle days are put")
    serve.add_argument("--clock", help="where the clock of a new operator starts")
    serve.add_argument("--term", action="append", default=[], help="NAME=VALUE for a new operator")
    ctl = actions.add_parser("ctl")
    ctl.add_argument("--home", type=Path, required=True)
    ctl.add_argument("command")
    ctl.add_argument("arguments", nargs="*", help="NAME=VALUE")
    return parser


def _control(home: Path, command: str, arguments: Sequence[str]) -> int:
    try:
        result = client.call(home, command, **dict(map(_argument, arguments)))
    except (client.ControlError, client.Unavailable) as problem:
        sys.stderr.write(f"operator: {problem}\n")
        return 1
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


def _argument(text: str) -> tuple[str, Any]:
    """NAME=VALUE; a value that is JSON is what it says, any other is text. Account numbers, codes
    and ids are text although they look like numbers."""
    name, _, value = text.partition("=")
    if name in _TEXTS:
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
