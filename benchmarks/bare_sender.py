"""The least that posts signed webhooks: one aiohttp session, the same bytes, nothing recorded.

`python -m benchmarks.bare_sender URL COUNT IN_FLIGHT LOOP` prints deliveries per second and CPU ms
each. LOOP is `asyncio` or `uvloop`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime

import aiohttp
import uvloop

from webhooks import signing

BODY = b"x" * 300  # as long as an event


async def main(url: str, count: int, in_flight: int) -> None:
    secret = signing.new_secret()
    numbers = iter(range(count))

    async def work(session: aiohttp.ClientSession) -> None:
        for _ in numbers:
            headers = signing.headers(
                event_id="evt_01m7ydhm7019y3t85ddgcfgher",
                body=BODY,
                secret=secret,
                previous_secret=None,
                now=datetime.now(UTC),
            )
            headers = {
                "Content-Type": "application/json",
                "User-Agent": "bare",
                "X-Webhook-Attempt": "1",
                **headers,
            }
            async with session.post(url, data=BODY, headers=headers) as response:
                await response.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work(session) for _ in range(in_flight)))
        took, spent = time.perf_counter() - began, time.process_time() - cpu
    sys.stdout.write(f"{count / took} {spent / count * 1000}\n")


if __name__ == "__main__":
    loops = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    with asyncio.Runner(loop_factory=loops[sys.argv[4]]) as runner:
        runner.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
