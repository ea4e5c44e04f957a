"""Every action of staff on instant payments. Each try has money or a message of its own."""

from __future__ import annotations

from collections.abc import Callable

from common.clock import utc_now
from desk.instant import asks
from tests.crashes import instants
from tests.crashes.bank_stories import WHY, ann, at
from tests.crashes.desk_stories import send
from tests.crashes.every_call import Story
from tests.crashes.world import Act, World

Begin = Callable[[World], Act]


def resolve(world: World) -> Act:
    row = instants.stray()
    return send(world, at("conversation_resolve", row.pk), seen=row.review_code, **WHY)


def of_message(page: str) -> Begin:
    return lambda world: send(world, at(page, instants.faulty().pk), **WHY)


def decide(decision: str, answer: str = asks.GIVES) -> Begin:
    def begin(world: World) -> Act:
        ask = instants.asked_back()
        asks.propose(ask=ask, answer=answer, reason="They called", doer=ann(), now=utc_now())
        ask.refresh_from_db()
        where = at("return_ask_decide", ask.pk)
        return send(world, where, decision=decision, seen=ask.proposal)

    return begin


def propose(world: World) -> Act:
    where = at("return_ask_propose", instants.asked_back().pk)
    return send(world, where, answer=asks.GIVES, **WHY)


def take_back(world: World) -> Act:
    ask = instants.asked_back()
    send(world, at("return_ask_propose", ask.pk), answer=asks.GIVES, **WHY)({})
    ask.refresh_from_db()
    return send(world, at("return_ask_take_back", ask.pk), seen=ask.proposal)


# By the address, and what of all that it does.
BEGINNINGS: dict[str, Begin] = {
    "conversation_resolve": resolve,
    "instant_message_resolve": of_message("instant_message_resolve"),
    "instant_message_read": of_message("instant_message_read"),
    "instant_message_reveal": of_message("instant_message_reveal"),
    "return_ask_propose": propose,
    "return_ask_take_back": take_back,
    "return_ask_decide give": decide("approve"),
    "return_ask_decide keep": decide("approve", "CUST"),
    "return_ask_decide reject": decide("reject"),
}
# They show a message.
SHOWS = {"instant_message_read", "instant_message_reveal"}

STORIES = [
    Story(f"instant {name}", begin, leads_on=name not in SHOWS, finish=World.finish)
    for name, begin in BEGINNINGS.items()
]


def actions() -> set[str]:
    """What has a story, as `desk_stories.actions` calls it."""
    return {f"desk {name.split()[0]}" for name in BEGINNINGS}
