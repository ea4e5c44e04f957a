"""`./run bench [PART …] [--quick | --full] [--pairs N] [--seconds S] [--rows N]
[--against DIR]`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType

import django

from benchmarks.errors import CannotMeasure
from benchmarks.options import Options

# In this order: the long history that `paging` makes is what `audit` and `memory` read.
# Seconds each may take in a run of several that is not a full one; all together, WHOLE_SECONDS.
PARTS = {
    "posting": 360,
    "operator_lines": 60,
    "api": 90,
    "server": 90,
    "wall": 240,
    "limits": 120,
    "complete": 480,
    "webhooks": 180,
    "topup": 240,
    "claims": 60,
    "fairness": 110,
    "paging": 150,
    "pages": 120,
    "audit": 120,
    "memory": 150,
    "sweeps": 60,
    "start": 120,
    "ach": 240,
    "matching": 120,
    "instant": 180,
}
WHOLE_SECONDS = 32 * 60
FULL_PART_SECONDS = 3600
MET, MISSED, NOT_MEASURED = 0, 1, 2


def main() -> int:
    arguments = _arguments()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    options = Options(
        pairs=arguments.pairs or (1 if arguments.quick else 5),
        seconds=arguments.seconds,
        rows=arguments.rows or _rows(arguments),
        quick=arguments.quick,
        full=arguments.full,
        tell=_tell,
        against=arguments.against,
    )
    return max(_run_all(arguments.part or list(PARTS), options), default=MET)


def _rows(arguments: argparse.Namespace) -> int:
    if arguments.full:
        return 10_000_000
    return 20_000 if arguments.quick else 2_000_000


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__)
    parser.add_argument("part", nargs="*", help=f"all of them, or some of: {', '.join(PARTS)}")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes; writes no RESULTS.md")
    size.add_argument("--full", action="store_true", help="the sizes of the aims; no time limit")
    parser.add_argument("--pairs", type=int, help="interleaved pairs (5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a slice (1)")
    parser.add_argument("--rows", type=int, help="of history for pages and audits")
    parser.add_argument(
        "--against",
        type=Path,
        help="another checkout with its .venv, for `complete`",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.part) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return arguments


def _run_all(names: Sequence[str], options: Options) -> Iterator[int]:
    began = time.monotonic()
    for name in names:
        left = WHOLE_SECONDS - (time.monotonic() - began)
        bounded = len(names) > 1 and not options.full
        seconds = min(PARTS[name], max(left, 1)) if bounded else FULL_PART_SECONDS
        yield _run(name, options, seconds=seconds)
    _tell(f"all of it took {time.monotonic() - began:.0f} s")


def _run(name: str, options: Options, *, seconds: float) -> int:
    """One part: its figures printed and, unless quick, written. A part that fails says so."""
    from benchmarks import machine, results

    _tell(f"── {name} ──")
    began = time.monotonic()
    try:
        with _at_most(seconds, name):
            machine.require_durable_server()
            section = import_module(f"benchmarks.{name}").measure(options)
    except Exception as problem:  # the other parts go on; this one is reported as failed
        if not isinstance(problem, CannotMeasure):
            traceback.print_exc()
        _tell(f"cannot measure {name}: {problem}")
        if not options.quick:
            results.write_section(name.capitalize(), f"Could not be measured: {problem}")
        return NOT_MEASURED
    _tell(section.markdown())
    _tell(f"{name} took {time.monotonic() - began:.0f} s")
    if not options.quick:
        results.write_section(section.title, f"{machine.description()}.\n{section.markdown()}")
    for figure in section.missed:
        _tell(f"missed: {figure.name}")
    return MISSED if section.missed else MET


@contextmanager
def _at_most(seconds: float, name: str) -> Iterator[None]:
    """Raises CannotMeasure within the block when its time is up."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise CannotMeasure(f"{name} needs more than {seconds:.0f} s here")

    former = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(max(1, int(seconds)))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
