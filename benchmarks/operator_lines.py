"""What the operator's lines cost: credits as completed fundings post them, with the lines and
without, by the same client code, in turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks import books, clients, seeding
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options

TENANTS = 1_000
AT_ONCE = (1, 50)
# How many lines come with each credit: none, that of a funding told settled before, and both.
LINES = (0, 1, 2)
_TEXT = """{pairs} interleaved rounds of {seconds} s, one warm process, one commit per set. One
line: the funding was told settled before. Two: its settlement is implied."""


def measure(options: Options) -> Section:
    """Sets of both sizes. Raises CannotMeasure."""
    seeding.require_own_database()
    figures = [figure for at_once in AT_ONCE for figure in _completions(at_once, options)]
    books.start_over(1)
    text = _TEXT.format(pairs=options.pairs, seconds=options.seconds)
    return Section("Operator's lines", text, figures)


def _completions(at_once: int, options: Options) -> Iterator[Figure]:
    books.start_over(TENANTS)
    found: dict[int, list[float]] = {lines: [] for lines in LINES}
    with ExitStack() as started:
        crews = {
            lines: started.enter_context(
                clients.crew("benchmarks.books.completing", TENANTS, at_once, lines, clients=1)
            )
            for lines in LINES
        }
        for crew in crews.values():  # whoever comes first after a checkpoint pays for all
            crew.rate(options.seconds)
        for number in range(options.pairs):
            for lines in LINES if number % 2 == 0 else reversed(LINES):
                found[lines].append(crews[lines].rate(options.seconds) * at_once)
    books.require_clean()
    alone = found.pop(0)
    yield Figure(name=f"sets of {at_once}, no line: postings/s", values=alone)
    for lines, rates in found.items():
        name = f"sets of {at_once}, {lines} of the operator's lines each: ÷ no line"
        yield Figure(name=name, values=ratios(rates, alone))
