"""A dispatcher in this process, for receivers on loopback."""

from __future__ import annotations

import asyncio

from common.clock import utc_now
from common.engine.database_thread import DatabaseThread
from common.engine.http import urls
from common.engine.http.client import Client
from webhooks.dispatcher.loop import LINGER_SECONDS, Dispatcher


def deliver(
    *,
    clock=utc_now,
    total_seconds=15.0,
    slots=256,
    linger=LINGER_SECONDS,
    goes_on=lambda: True,
    database=None,
):
    """Run a dispatcher until nothing is due. `database`: its way to PostgreSQL, closed at the end;
    one like in production if None."""
    database = database or DatabaseThread()

    async def run():
        async with Client(urls.policy(), total_seconds=total_seconds) as client:
            dispatcher = Dispatcher(
                name=None,
                client=client,
                database=database,
                slots=slots,
                linger=linger,
                clock=clock,
            )
            await dispatcher.run(goes_on=goes_on, until_idle=True)
        await database.close()

    asyncio.run(run())


class Clock:
    def __init__(self):
        self.now = utc_now()

    def __call__(self):
        return self.now
