"""The audit compares what is in force of instant rails with what the audit log says."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from desk.rails.instant import acts
from networks.instant.models import InstantRail
from tests.corruption import found, tamper
from tests.crashes import instant_rails

pytestmark = pytest.mark.django_db


@pytest.fixture
def rail(db) -> InstantRail:
    """With terms in force, a key that was retired, one in use and a second one."""
    rail, olga = instant_rails.in_force(), instant_rails.olga()
    for act in (acts.make_key, acts.make_key, acts.switch_key, acts.retire_key, acts.make_key):
        act(rail=rail.pk, reason="First bank", doer=olga, now=utc_now())
    return rail


def test_what_people_did_is_borne_out(rail):
    assert found() == set()


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE instant_instantversion SET decided_by = 'usr_eve'", "instant_version_unwitnessed"),
        ("UPDATE instant_instantversion SET number = 7", "instant_version_unwitnessed"),
        ("UPDATE instant_instantkey SET created_by = 'usr_eve'", "instant_key_unwitnessed"),
        (
            "UPDATE instant_instantkey SET retired_by = 'usr_eve' WHERE retired_at IS NOT NULL",
            "instant_key_unwitnessed",
        ),
        (
            "UPDATE instant_instantkey SET used_since = now() + interval '1 day'"
            " WHERE used_since IS NULL AND retired_at IS NULL",
            "instant_key_in_use",
        ),
        ("UPDATE instant_instantkey SET used_since = NULL", "instant_key_in_use"),
    ],
)
def test_what_one_hand_changed_is_found(rail, statement, code):
    tamper(statement)

    assert code in found()
