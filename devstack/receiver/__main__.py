"""python -m devstack.receiver --home FOLDER: run the webhook receiver until a signal ends it."""

from __future__ import annotations

import argparse
from pathlib import Path

from devstack.receiver import server


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m devstack.receiver", description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    server.serve(parser.parse_args().home.resolve())


if __name__ == "__main__":
    main()
