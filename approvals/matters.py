"""What people are asked about. An app says here what its questions are and what an answer does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db.models import QuerySet

from approvals.models import MagicLink, Question
from common.ids import is_id
from tenants.actors import Actor


@dataclass(frozen=True, kw_only=True)
class Decider:
    """Who answers: the holder of a link, or a person who is signed in."""

    email: str
    actor: Actor


class Stop(Protocol):
    def __call__(
        self, question: Any, *, code: str, message: str, actor: Actor, now: datetime
    ) -> None: ...


def _never_stale(_question: Any, _now: datetime) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Matter:
    """One kind of question. The callables run in the transaction that decides.

    `questions` come with their tenant, subject and account. `lock_subject` takes the row lock that
    comes first in the lock order. `allow` raises what forbids an approval. `withdraw_if_stale`
    closes a question whose terms nobody wants any more, and says whether it did. `approvers` are
    those who would be asked now.
    """

    kind: str
    subject: str
    subject_prefix: str
    questions: Callable[[], QuerySet[Any]]
    links: type[MagicLink]
    lock_subject: Callable[[str], None]
    approvers: Callable[[Any], list[str]]
    allow: Callable[[Any, Decider, datetime], None]
    go_ahead: Callable[[Any, Actor, datetime], None]
    stop: Stop
    withdraw_if_stale: Callable[[Any, datetime], bool] = _never_stale

    def about(self, *, tenant_id: str, subject_id: str) -> Question | None:
        """The question about one funding or payment of the tenant; None for a malformed id."""
        if not is_id(subject_id, self.subject_prefix):
            return None
        rows = self.questions().filter(tenant_id=tenant_id, **{f"{self.subject}_id": subject_id})
        found: Question | None = rows.first()
        return found


_matters: dict[str, Matter] = {}


def register(matter: Matter) -> None:
    """Make its questions known to links, mails and pages."""
    _matters[matter.kind] = matter


def get(kind: str) -> Matter:
    """Raises KeyError."""
    return _matters[kind]


def every() -> Iterator[Matter]:
    """All of them, in the order of registration."""
    yield from _matters.values()
