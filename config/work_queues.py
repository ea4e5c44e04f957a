"""The queues of the broker. A worker takes from all of them in turn.

Submitting and applying have a queue each, so that a backlog of one makes no other task wait: each
gets every third turn at least (decision 0140).
"""

from __future__ import annotations

from kombu import Exchange, Queue

SUBMIT = "submit"
APPLY = "apply"
BANKS = "banks"  # files that go over a line: such a task may take minutes

QUEUES = tuple(
    Queue(name, Exchange(name), routing_key=name) for name in ("celery", SUBMIT, APPLY, BANKS)
)
ROUTES = {
    "funding.submit_due": {"queue": SUBMIT},
    "payments.submit_due": {"queue": SUBMIT},
    "funding.process_network_events": {"queue": APPLY},
    "payments.process_network_events": {"queue": APPLY},
    "networks.send_ach_files": {"queue": BANKS},
    "networks.fetch_ach_files": {"queue": BANKS},
}
