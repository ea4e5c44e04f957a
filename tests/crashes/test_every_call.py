"""Whatever dies at whichever database call: nobody is told what is not so.

Every operation that changes something has a story; the first tests complain about one that has
none. `-m slow` tries each ninety-seventh point of all (fewer where many rows make many calls), from
another first one in each, and more points of a few operations; `./run test --nightly tests/crashes`
tries every point of all.
"""

from __future__ import annotations

from collections import Counter
from zlib import crc32

import pytest

from balance import invariants
from common.clock import utc_now
from tests.crashes import (
    account_stories,
    api_stories,
    bank_stories,
    command_stories,
    desk_stories,
    instant_stories,
    instant_terms_stories,
    page_stories,
    set_stories,
    work_stories,
)
from tests.crashes.bomb import Bomb
from tests.crashes.every_call import Explorer, Story, Tally
from tests.crashes.stored import Stored
from tests.crashes.world import World
from tests.receivers import ALLOWED, Receiver
from webhooks.dispatcher import loop, runs
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db(transaction=True)

ALL = {
    str(story): story
    for part in (
        api_stories,
        page_stories,
        account_stories,
        desk_stories,
        bank_stories,
        instant_stories,
        instant_terms_stories,
        command_stories,
        work_stories,
        set_stories,
    )
    for story in part.STORIES
}
EVERY = 97  # odd, so that calls die before and after PostgreSQL has heard of them
OF_SETS = "several "  # so begin the names of `set_stories`
EVERY_OF_SETS = 289
LATEST_FIRST = 16  # short operations have one point at least
SAMPLE = {
    "POST payments": 3,
    "staff balance.adjustmentproposal approve": 11,
    "task payments.run_waiting": 11,
}


@pytest.fixture(autouse=True)
def others(settings, monkeypatch, plaid, connect, tmp_path):
    """Who is outside: a bank, a receiver of webhooks, Plaid, the file that seals are told to, and a
    system that watches the audit log. A dispatcher rests shortly after an outage, and nobody tries
    to sign in too often."""
    settings.SEAL_FILE = str(tmp_path / "seals")
    settings.ACCOUNT_RATE_LIMITS = dict.fromkeys(settings.ACCOUNT_RATE_LIMITS, "1000000/m/ip")
    settings.MFA_RATE_LIMITS = {"webauthn_login": "1000000/m/ip"}
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True
    monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.01)
    monkeypatch.setattr(World, "plaid", plaid, raising=False)
    connect(set_stories.Bank())
    with Receiver() as receiver, Receiver() as watching:
        monkeypatch.setattr(World, "receiver", receiver, raising=False)
        settings.AUDIT_STREAM_URL = watching.url()
        yield


def explored(story: Story, bomb: Bomb, stored: Stored, *, every: int, first: int = 1) -> Tally:
    explorer = Explorer(story, bomb, stored)
    tally = explorer.explore(is_keyed=False, first=first, every=every)
    if story.takes_key:
        tally += explorer.explore(is_keyed=True, first=first, every=every)
    counts = f"{tally.points} points, told {dict(tally.told)}, {len(tally.faults)} faults"
    print(f"\nCRASHES {story}: {counts}")  # noqa: T201  # the whole run is counted from these lines
    return tally


# Stories of webhooks send events of fundings that nobody made.
EXPECTED = {"funding_vanished"}


def assert_sound(tally: Tally) -> None:
    """No lies, no unexpected answers, nothing half done, and books that are right."""
    findings = invariants.check(now=utc_now(), full=True).findings
    found = [str(finding) for finding in findings if finding.code not in EXPECTED]
    faults = "\n".join([*tally.faults[:5], *found[:5]])
    assert not faults, faults


class TestEverythingThatChangesSomethingHasAStory:
    def test_operations_of_the_api(self):
        assert set(api_stories.BEGINNINGS) == api_stories.operations()

    def test_forms_wherever_they_are(self):
        told = {name.split()[0] for name in [*page_stories.BEGINNINGS, *account_stories.BEGINNINGS]}
        assert told | set(account_stories.EXEMPT) == account_stories.forms()

    def test_actions_of_staff(self):
        told = bank_stories.actions() | instant_stories.actions() | instant_terms_stories.actions()
        assert set(desk_stories.BEGINNINGS) | told == desk_stories.actions()

    def test_commands_of_the_desk(self):
        told = {name.split()[0] for name in command_stories.BEGINNINGS}
        assert told | command_stories.EXEMPT == command_stories.commands()

    def test_periodic_tasks(self):
        assert set(work_stories.BEGINNINGS) == work_stories.tasks()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_a_few_points(name, bomb, stored):
    tally = explored(ALL[name], bomb, stored, every=SAMPLE[name])

    assert_sound(tally)
    assert tally.points >= 4
    assert tally.told["503"] >= 1 or ALL[name].is_work


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", ALL)
def test_all_that_changes_something(request, name, bomb, stored):
    is_of_sets = name.startswith(OF_SETS)
    every = EVERY_OF_SETS if is_of_sets else EVERY
    first = 1 + crc32(name.encode()) % LATEST_FIRST
    if request.config.getoption("--nightly"):
        every = first = 1

    assert_sound(explored(ALL[name], bomb, stored, every=every, first=first))
    if is_of_sets:
        assert_delivered_once()


def assert_delivered_once():
    """Of all that the points have left behind, each event comes once to whoever is to have it."""
    runs.burst(seconds=60)
    arrived = Counter(request.headers["webhook-id"] for request in World.receiver.requests)
    told = WebhookEvent.objects.exclude(receivers=[])
    assert arrived == Counter(told.values_list("pk", flat=True))
