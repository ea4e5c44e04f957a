"""Bugs to plant, to see that the simulation finds them: the product's source, changed in memory.

A process started with BALLAST_SIMULATION_PLANT=name imports the changed text instead of the file.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType

VARIABLE = "BALLAST_SIMULATION_PLANT"


@dataclass(frozen=True)
class Plant:
    """`edits`: per module, a text that stands in its source exactly once and what takes its place.
    `seeds`: within how many the simulation finds it; 0: it has not found it yet."""

    says: str
    edits: Mapping[str, tuple[str, str]]
    seeds: int = 10


_SWALLOWED = """    except Exception:
        if outages.is_transaction_broken():
            raise
        log"""

PLANTS: dict[str, Plant] = {
    "posting-attempts": Plant(
        "a posting tries twice, not ten times (balance/posting.py)",
        {"balance.posting": ("ATTEMPTS = 10\n", "ATTEMPTS = 2\n")},
        seeds=0,
    ),
    "message-lock": Plant(
        "two workers may apply one message (networks/inbox/messages.py)",
        {
            "networks.inbox.messages": (
                'its row allowed it."""\n    event = inbox.waiting().select_for_update'
                "(skip_locked=True)",
                'its row allowed it."""\n    event = inbox.waiting()',
            )
        },
    ),
    "message-order": Plant(
        "a return does not wait for the settlement before it (networks/inbox/messages.py)",
        {
            "networks.inbox.messages": (
                "return _is_young(event, now) and first.filter(pk__lt=event.pk).exists()",
                "return False",
            )
        },
        seeds=0,
    ),
    "decision-twice": Plant(
        "a question that was decided is decided again (approvals/outcomes.py)",
        {
            "approvals.outcomes": (
                "filter(_in_time(decision, now), decision=Decision.OPEN)",
                "filter(_in_time(decision, now))",
            )
        },
    ),
    "expire-unasked": Plant(
        "a payment is given up whatever became of it meanwhile (payments/services/waiting.py)",
        {
            "payments.services.waiting": (
                "rows = _late(now).select",
                "rows = Payment.objects.select",
            )
        },
        seeds=0,
    ),
    "success-of-nothing": Plant(
        "auto-funding swallows a lost connection, and the block around it ends in silence",
        {
            "funding.services.auto_funding": (_SWALLOWED, "    except Exception:\n        log"),
            "common.postgresql.base": ("atomic.install()\n", "\n"),
        },
        seeds=20,
    ),
    "lease-version": Plant(
        "who slept past its lease records its result all the same (common/leases.py)",
        {
            "common.leases": (
                "filter(pk=row.pk, lease_version=row.lease_version)",
                "filter(pk=row.pk)",
            )
        },
    ),
    "answer-apart": Plant(
        "the answer of a request is kept in a transaction of its own (api/idempotency.py)",
        {
            "api.idempotency": (
                "            return _replay(request, key) or _kept(request, key, run)\n",
                "            if (replay := _replay(request, key)) is not None:\n"
                "                return replay\n"
                "            with ending():\n"
                "                response = run()\n"
                "        with transaction.atomic():\n"
                "            _keep(request, key, response)\n"
                "        return response\n",
            )
        },
    ),
    "acknowledged-first": Plant(
        "messages are acknowledged before they are stored (networks/inbox/arrivals.py)",
        {
            "networks.inbox.arrivals": (
                "    kept = _store(events, now)\n"
                "    network.acknowledge(event.id for event in kept)\n",
                "    network.acknowledge(event.id for event in events)\n"
                "    kept = _store(events, now)\n",
            )
        },
        seeds=0,
    ),
}


def install(name: str) -> None:
    """Change what is imported from now on. Raises KeyError for a bug that nobody described."""
    if name:
        sys.meta_path.insert(0, _Finder(PLANTS[name]))


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
    """The changed source. Raises ValueError where `old` is not there exactly once."""
    if text.count(old) != 1:
        raise ValueError(f"found {text.count(old)} times: {old!r}")
    return text.replace(old, new)
