from __future__ import annotations

import json
from io import StringIO
from itertools import chain

import pytest
from django.core.management import CommandError, call_command

from networks.rails.models import Route
from tenants.models import AuditEvent

pytestmark = pytest.mark.django_db

WHO = ("--operator", "Olga", "--reason", "the bank asked")
RTP = ("--mode", "sandbox", "--method", "rtp_credit")


def set_route(*arguments):
    out = StringIO()
    call_command("set_route", *arguments, *WHO, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_closes_a_route_and_opens_it_again():
    route = Route.objects.get(mode="sandbox", method="rtp_credit")
    told = {
        "routeId": route.pk,
        "mode": "sandbox",
        "method": "rtp_credit",
        "rail": "sandbox_rtp",
        "development": False,
    }

    assert set_route(*RTP, "--close") == told | {"isOpen": False}
    assert set_route(*RTP, "--rail", "sandbox_rtp") == told | {"isOpen": True}

    lines = AuditEvent.objects.filter(subject_id=route.pk)
    assert sorted(line.action for line in lines) == ["route.closed", "route.opened"]
    assert {(line.details["operator"], line.staff_note) for line in lines} == {
        ("Olga", "the bank asked")
    }


@pytest.mark.parametrize("missing", ["--operator", "--reason"])
def test_asks_who_and_why(missing):
    given = dict(zip(WHO[::2], WHO[1::2], strict=True))
    del given[missing]

    with pytest.raises(CommandError, match=missing):
        call_command("set_route", *RTP, "--close", *chain.from_iterable(given.items()))

    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*RTP, "--rail", "gone"), "route_refused: There is no rail gone."),
        ((*RTP, "--close", "--development"), "--development belongs to --rail"),
        ((*RTP,), "one of the arguments --rail --close is required"),
        ((*RTP, "--close", "--rail", "sandbox"), "not allowed with argument"),
    ],
)
def test_says_why_it_refuses(arguments, words):
    with pytest.raises(CommandError, match=words):
        set_route(*arguments)

    assert not AuditEvent.objects.exists()
