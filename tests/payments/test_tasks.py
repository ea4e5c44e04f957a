"""Celery's doors: the sweeps carry a payment from its order to its end on their own."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from config.beat import SCHEDULE
from payments import tasks
from tests.payments.builders import fund, pay, status_of


@pytest.fixture
def payment(acme):
    return pay(acme, 100, wait=True, now=utc_now())


def test_the_sweeps_carry_a_waiting_payment_to_its_end(acme, payment):
    fund(acme, 100)

    for door, status in (
        (tasks.run_waiting, "created"),
        (tasks.submit_due, "processing"),
        (tasks.process_network_events, "completed"),
    ):
        door()
        assert status_of(payment) == status


def test_workers_take_arguments_of_newer_publishers(payment):
    for door in (
        tasks.submit_due,
        tasks.process_network_events,
        tasks.run_waiting,
        tasks.expire_waiting,
        tasks.sweep_confirmations,
    ):
        door(something_new=1)

    assert status_of(payment) == "waiting_for_funds"


def test_every_door_is_on_the_beat():
    ticking = {entry["task"] for entry in SCHEDULE.values()}

    assert {
        "payments.submit_due",
        "payments.process_network_events",
        "payments.run_waiting",
        "payments.expire_waiting",
        "payments.sweep_confirmations",
    } <= ticking
