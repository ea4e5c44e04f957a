"""The command line of the simulation."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence

from celery import current_app
from django.db import connection

from simulation import history, plans, plants
from simulation.control import Control
from simulation.history import Outcome
from simulation.plans import Plan
from simulation.shrinking import shrink
from simulation.tally import Tally
from simulation.themes import THEMES

# The role that may end connections and empty tables. The product itself connects as DATABASE_URL
# says.
SUPERUSER_URL = "BALLAST_SIMULATION_SUPERUSER_URL"

_SHOWN_FINDINGS, _SHOWN_LINES = 20, 60
_SHRINK_TRIES = 40


def main(arguments: Sequence[str]) -> int:
    """Run the seeds that were asked for. Returns 0 if nothing was found, else 1."""
    options = parse(arguments)
    current_app.loader.import_default_modules()
    control = _control()
    try:
        with control.changed(plants.functions(os.environ.get(plants.VARIABLE, ""))):
            return _run(options, control)
    finally:
        control.close()


def _run(options: argparse.Namespace, control: Control) -> int:
    total, started, failed = Tally(), time.monotonic(), 0
    for number in range(options.seed, options.seed + options.seeds):
        plan = planned(str(number), options)
        outcome = history.live(plan, control)
        total.add(outcome.tally)
        verdict = "failed" if outcome.findings else "ok"
        _say(f"seed {number}: {outcome.digest} {verdict} ({plan.theme})")
        if outcome.findings:
            failed += 1
            _report(plan, outcome, options, control)
            if not options.keep_going:
                break
    seconds = time.monotonic() - started
    for line in total.lines():
        _say(line)
    each = seconds / max(total.seeds, 1)
    _say(f"{failed} of {total.seeds} seeds failed; {seconds:.1f} s, {each:.1f} s each")
    return 1 if failed else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser(prog="./run simulate")
    add = parser.add_argument
    add("--seeds", type=int, default=20, metavar="N", help="how many (20)")
    add("--seed", type=int, default=1, metavar="S", help="the first one (1)")
    add("--days", type=int, default=plans.DAYS, help="days of work per seed")
    add("--acts", type=int, default=plans.ACTS_PER_DAY, help="acts per day")
    add("--theme", choices=THEMES, help="what each seed is about, if it may not choose")
    add("--only", type=_numbers, metavar="1,2,…", help="these acts of the plan alone")
    add("--breaks", type=_places, metavar="1:5,…", help="with what breaks at these calls alone")
    add("--shrink", action="store_true", help="make a failing plan smaller")
    add("--trace", action="store_true", help="show the last steps of a failing seed")
    add("--once", action="store_true", help="do not repeat a seed that failed")
    add("--keep-going", action="store_true", help="go on behind a seed that failed")
    return parser.parse_args(arguments)


def _numbers(text: str) -> set[int]:
    return {int(number) for number in text.split(",") if number}


def _places(text: str) -> set[tuple[int, int]]:
    pairs = (place.split(":") for place in text.split(",") if place)
    return {(int(act), int(call)) for act, call in pairs}


def planned(seed: str, options: argparse.Namespace) -> Plan:
    """The plan to run: all of the seed, or only some of its acts and breaks."""
    plan = _made(seed, options)
    if options.only is not None:
        plan = plan.only(options.only)
    if options.breaks is not None:
        plan = plan.with_breaks([each for each in plan.breaks if each.place in options.breaks])
    return plan


def _made(seed: str, options: argparse.Namespace) -> Plan:
    return plans.make(seed, days=options.days, acts_per_day=options.acts, theme=options.theme)


def _control() -> Control:
    """A connection to the product's database. Nothing else may use that, because every seed empties
    it."""
    control = Control(os.environ[SUPERUSER_URL])
    control.prepare()
    connection.close()
    return control


def _report(plan: Plan, outcome: Outcome, options: argparse.Namespace, control: Control) -> None:
    _list(outcome.findings[:_SHOWN_FINDINGS])
    if not options.once:
        again = history.live(plan, control)
        same = "the same" if again.digest == outcome.digest else f"another one, {again.digest}"
        _say(f"  once more it is {same}")
    if options.shrink:
        smaller, outcome, tries = _shrunk(plan, outcome, control)
        acts = f"{len(smaller.acts)} of {len(plan.acts)} acts"
        breaks = f"{len(smaller.breaks)} of {len(plan.breaks)} breaks"
        _say(f"  {acts} and {breaks} are enough, found in {tries} tries: {outcome.digest}")
        plan = smaller
        _list(plan.words())
        _list(outcome.findings[:_SHOWN_FINDINGS])
    if options.trace:
        _list(list(outcome.trace.lines)[-_SHOWN_LINES:])
    _say(f"  again: {command_of(plan, options)}")


def _shrunk(plan: Plan, outcome: Outcome, control: Control) -> tuple[Plan, Outcome, int]:
    """A smaller plan with a finding of the same kind, its outcome, and the number of tries."""
    wanted = {finding.code for finding in outcome.findings}
    outcomes = {plan: outcome}

    def fails(candidate: Plan) -> bool:
        outcomes[candidate] = history.live(candidate, control)
        return bool(wanted & {finding.code for finding in outcomes[candidate].findings})

    smallest = shrink(plan, fails, tries=_SHRINK_TRIES)
    return smallest, outcomes[smallest], len(outcomes) - 1


def command_of(plan: Plan, options: argparse.Namespace) -> str:
    """The command that runs `plan` again."""
    command = f"./run simulate --seeds 1 --seed {plan.seed}"
    command += f" --days {options.days} --acts {options.acts}"
    if options.theme is not None:
        command += f" --theme '{options.theme}'"
    if plan == _made(plan.seed, options):
        return command
    acts = ",".join(str(act.number) for act in plan.acts)
    breaks = ",".join(f"{each.act}:{each.call}" for each in plan.breaks)
    return f"{command} --only {acts} --breaks '{breaks}'"


def _list(lines: Iterable[object]) -> None:
    for line in lines:
        _say(f"  {line}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
