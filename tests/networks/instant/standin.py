"""A rail over HTTPS to the stand-in operator, as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from common import crypto
from common.clock import utc_now
from devstack.instant import client
from networks.instant import connecting
from networks.instant.models import InstantKey, InstantVersion
from networks.instant.network import InstantNetwork
from networks.instant.terms import Connection
from tests.devstack.instant.conftest import Operator, Participant, an_operator
from tests.networks.ach import witnessed
from tests.networks.instant.builders import RAIL, make_rail
from tests.networks.instant.life import hear, kinds, wait

ASK_AFTER = 30


def connect(operator: Operator, profile: str, *, name: str = RAIL) -> InstantVersion:
    """A rail whose terms and key are those of the operator's participant."""
    known = client.connection(operator.home)
    mine = known["networks"][profile]
    line = Connection(
        base_url=mine["base_url"], pins=tuple(known["pins"][:1]), timeout=timedelta(seconds=5)
    )
    version = make_rail(
        name=name,
        profile=profile,
        participant=mine["participant_id"],
        routing_number=mine["routing"],
        connection=line,
        account_number=mine["account"],
    )
    key = InstantKey(
        rail_id=name,
        certificate=Path(known["certificate"]).read_text(),
        fingerprint="0" * 64,
        created_by="ada@ballast.example",
        created_at=datetime(2026, 10, 1, tzinfo=UTC),
        used_since=datetime(2026, 10, 1, tzinfo=UTC),
    )
    private = Path(known["private_key"]).read_text()
    key.private_key_token = crypto.encrypt(private, context=key.encryption_context)
    key.save()
    witnessed.said(
        "rail.key_made", name, key.created_by, key.created_at, fingerprint=key.fingerprint
    )
    return version


@dataclass
class Life:
    """Our rail and its operator, over time."""

    operator: Operator
    we: Participant
    bank: InstantNetwork

    @property
    def profile(self) -> str:
        return self.we.name

    def hear_all(self) -> None:
        """Until nothing comes any more."""
        while hear():
            pass

    def pass_seconds(self, seconds: float) -> None:
        """Time passes at both ends."""
        self.operator.pass_seconds(seconds)
        wait(seconds)
        self.hear_all()

    def submit(self, told: Any) -> None:
        self.bank.submit_many([told], now=utc_now())
        self.hear_all()

    def kinds(self) -> list[str]:
        return kinds(self.bank)


@contextmanager
def a_life(profile: str, *arguments: str) -> Iterator[Life]:
    with an_operator(*arguments) as operator:
        connect(operator, profile)
        try:
            yield Life(operator, getattr(operator, profile), InstantNetwork(RAIL))
        finally:
            connecting.close()
