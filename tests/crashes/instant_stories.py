"""Every action of staff on instant payments. Each try has money or a message of its own."""

from __future__ import annotations

from collections.abc import Callable

from tests.crashes import instants
from tests.crashes.bank_stories import WHY, at
from tests.crashes.desk_stories import send
from tests.crashes.every_call import Story
from tests.crashes.world import Act, World

Begin = Callable[[World], Act]


def resolve(world: World) -> Act:
    row = instants.stray()
    return send(world, at("conversation_resolve", row.pk), seen=row.review_code, **WHY)


def of_message(page: str) -> Begin:
    return lambda world: send(world, at(page, instants.faulty().pk), **WHY)


# By the address, and what of all that it does.
BEGINNINGS: dict[str, Begin] = {
    "conversation_resolve": resolve,
    "instant_message_resolve": of_message("instant_message_resolve"),
    "instant_message_read": of_message("instant_message_read"),
    "instant_message_reveal": of_message("instant_message_reveal"),
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
