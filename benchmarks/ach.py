"""NACHA files: the codec by itself, then what workers do with entries and returns."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import ach_files
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from benchmarks.processes import ROOT

_AIMS = {"write": 150_000, "read": 80_000, "judge": None}
_WORDS = {"write": "written", "read": "read", "judge": "judged by the validator"}
_FEW = 10_000


@dataclass(frozen=True)
class Pass:
    """One pass over a file in a process of its own."""

    rate: float  # entries per second of CPU
    peak_mib: float


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    many = options.scaled(200_000, 20_000, 1_000_000)
    turns = range(min(options.pairs, 3))
    with tempfile.TemporaryDirectory() as folder:
        few_file, many_file = Path(folder, "few.ach"), Path(folder, "many.ach")
        few = {what: [run(what, few_file, _FEW) for _ in turns] for what in _AIMS}
        most = {what: [run(what, many_file, many) for _ in turns] for what in _AIMS}
    figures = [figure for what in _AIMS for figure in _figures(what, few[what], most[what])]
    alone = median(one.rate for one in most["write"])
    files, more = ach_files.measure(options, write_rate=alone)
    text = (
        f"Codec: files of {_FEW:,} and of {many:,} debits in batches of 100,000, each pass a "
        "process without Django. A rate is of the larger file, per second of CPU on one core, and "
        "includes making or handing over the typed records. `--full` takes the 1,000,000 entries "
        f"that the aim speaks of. {files}"
    )
    return Section("Ach", text, [*figures, *more])


def run(what: str, path: Path, count: int) -> Pass:
    """Raises CannotMeasure when not every entry came through."""
    command = [sys.executable, "-m", "benchmarks.ach_codec", what, str(path), str(count)]
    done = subprocess.run(  # noqa: S603  # our own command, no shell
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CannotMeasure(f"the codec could not {what}: {done.stderr[-500:]}")
    found = json.loads(done.stdout)
    if found["entries"] != count:
        raise CannotMeasure(f"{found['entries']:,} of {count:,} entries came through ({what})")
    return Pass(rate=count / found["cpu_seconds"], peak_mib=found["peak_mib"])


def _figures(what: str, few: Sequence[Pass], many: Sequence[Pass]) -> list[Figure]:
    words = _WORDS[what]
    peaks = [one.peak_mib for one in many]
    growth = ratios(peaks, [one.peak_mib for one in few])
    return [
        Figure(name=f"entries {words}, per second", values=[p.rate for p in many], aim=_AIMS[what]),
        Figure(name=f"{words}: peak memory", unit="MiB", values=peaks, aim=64, at_most=True),
        Figure(
            name=f"{words}: peak memory ÷ that of {_FEW:,} entries",
            values=growth,
            aim=1.2,
            at_most=True,
        ),
    ]
