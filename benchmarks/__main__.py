"""`./run bench [PART] [--pairs N] [--seconds S]`."""

from __future__ import annotations

import argparse
import os
import sys

import django

from benchmarks.errors import CannotMeasure


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=["posting"], default="posting")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from benchmarks import posting

    try:
        met = posting.main(pairs=options.pairs, seconds=options.seconds, tell=_tell)
    except CannotMeasure as problem:
        _tell(f"cannot measure: {problem}")
        return 2
    if not met:
        _tell("an aim was missed")
    return 0 if met else 1


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
