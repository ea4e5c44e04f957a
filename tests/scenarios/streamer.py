"""The worker that sends the audit log on, as a process of its own that can be killed.

`python -m tests.scenarios.streamer`: it looks all the time, instead of when beat says so.
"""

from __future__ import annotations

import time

import django


def main() -> None:
    django.setup()
    from common.clock import utc_now
    from seals import streaming

    while True:
        streaming.send_due(now=utc_now())
        time.sleep(0.05)


if __name__ == "__main__":
    main()
