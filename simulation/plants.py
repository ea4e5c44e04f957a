"""Bugs to plant, to see that the simulation finds them: the product's source, changed in memory, or
a function of the simulation's own database.

A process started with BALLAST_SIMULATION_PLANT=name imports the changed text instead of the file.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, ModuleType

VARIABLE = "BALLAST_SIMULATION_PLANT"


@dataclass(frozen=True)
class Plant:
    """`edits` has, per module, a text that its source contains exactly once, and what replaces it;
    `functions` has the same for functions of the database. `seed` is one that finds the bug with
    the theme `theme` (empty: the seed's own)."""

    says: str
    seed: int
    theme: str = ""
    edits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    functions: Mapping[str, tuple[str, str]] = field(default_factory=dict)


_SWALLOWED = """    except Exception:
        if outages.is_transaction_broken():
            raise
        log"""

_LOCKED = """available = available + available_delta,
        locked = locked + locked_delta,
        pending = pending + pending_delta,
"""
# A statement that waited for a row reads that row again, but not what it reads beside it.
_NOT_LOCKED = """(available, locked, pending) = (
            SELECT available + available_delta, locked + locked_delta, pending + pending_delta
            FROM balance WHERE tenant_id = tenant AND currency = 'USD'
        ),
"""

PLANTS: dict[str, Plant] = {
    "posting-lock": Plant(
        "a posting adds to a balance that it read without the row's lock (balance_post)",
        functions={"balance_post": (_LOCKED, _NOT_LOCKED)},
        seed=1,
    ),
    "set-closes-all": Plant(
        "a set closes messages that it did not apply (transfers/inbox/sets.py)",
        edits={
            "transfers.inbox.sets": (
                "_close({each.event.pk for each in free}, now)",
                "_close({event.pk for event in events}, now)",
            )
        },
        seed=1,
    ),
    "message-lock": Plant(
        "two workers may apply one message (transfers/inbox/queue.py)",
        edits={
            "transfers.inbox.queue": (" FOR UPDATE SKIP LOCKED", ""),
            "transfers.inbox.sets": ("due.select_for_update(skip_locked=True).all", "due.all"),
        },
        seed=1,
    ),
    "message-order": Plant(
        "a return does not wait for the settlement before it (transfers/inbox/queue.py)",
        edits={
            "transfers.inbox.queue": (
                "(ahead.next_attempt_at, ahead.id) < (event.next_attempt_at, event.id)",
                "false",
            ),
            "transfers.inbox.judging": (
                "return _is_young(event, now) and any(number < event.pk for number in first)",
                "return False",
            ),
        },
        seed=1,
        theme="returns",
    ),
    "decision-twice": Plant(
        "an approval that was answered is answered again (approvals/outcomes.py)",
        edits={
            "approvals.outcomes": (
                "filter(_in_time(status, now), decision=ApprovalStatus.OPEN)",
                "filter(_in_time(status, now))",
            )
        },
        seed=2,
    ),
    "expire-unasked": Plant(
        "a payment is given up whatever became of it meanwhile (payments/services/waiting.py)",
        edits={
            "payments.services.waiting": (
                "rows = _late(now).select",
                "rows = Payment.objects.select",
            )
        },
        seed=1,
        theme="expiry",
    ),
    "success-of-nothing": Plant(
        "auto-funding swallows a lost connection, and the block around it ends in silence",
        edits={
            "funding.services.auto_funding": (_SWALLOWED, "    except Exception:\n        log"),
            "common.engine.postgresql.wrapper": ("atomic.install()\n", "\n"),
        },
        seed=2,
    ),
    "lease-version": Plant(
        "who slept past its lease records its result all the same (common/leases.py)",
        edits={
            "common.leases": (
                "ON row.id = given.id AND row.lease_version = given.version",
                "ON row.id = given.id",
            )
        },
        seed=16,
        theme="hot balance",
    ),
    "answer-apart": Plant(
        "the answer of a request is kept in a transaction of its own (api/idempotency.py)",
        edits={
            "api.idempotency": (
                "            return _replay(request, key) or _kept(request, key, run)\n",
                "            if (replay := _replay(request, key)) is not None:\n"
                "                return replay\n"
                "            with deferring():\n"
                "                response = run()\n"
                "        with transaction.atomic():\n"
                "            _keep(request, key, response)\n"
                "        return response\n",
            )
        },
        seed=1,
    ),
    "acknowledged-first": Plant(
        "messages are acknowledged before they are stored (transfers/inbox/arrivals.py)",
        edits={
            "transfers.inbox.arrivals": (
                "    kept = _store(events, now)\n"
                "    network.acknowledge(event.id for event in kept)\n",
                "    network.acknowledge(event.id for event in events)\n"
                "    kept = _store(events, now)\n",
            )
        },
        seed=2,
        theme="dying workers",
    ),
}


def install(name: str) -> None:
    """Change the source of modules that are imported from now on. Raises KeyError for an unknown
    bug."""
    if name:
        sys.meta_path.insert(0, _Finder(PLANTS[name]))


def functions(name: str) -> Mapping[str, tuple[str, str]]:
    """What the bug changes in functions of the database."""
    return PLANTS[name].functions if name else {}


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._plant.edits:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None:
            raise ImportError(f"{name} is not there to be changed")
        spec.loader = _Loader(name, spec.origin, self._plant)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, plant: Plant) -> None:
        super().__init__(name, path)
        self._plant = plant

    def get_code(self, fullname: str) -> CodeType:
        text = self.get_data(self.path).decode()
        changed = planted(text, *self._plant.edits[fullname])
        return compile(changed, self.path, "exec", dont_inherit=True)


def planted(text: str, old: str, new: str) -> str:
    """The changed source. Raises ValueError unless `old` is in it exactly once."""
    if text.count(old) != 1:
        raise ValueError(f"found {text.count(old)} times: {old!r}")
    return text.replace(old, new)
