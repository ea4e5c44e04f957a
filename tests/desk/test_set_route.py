from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from networks.rails.models import Route
from tenants.models import AuditEvent

pytestmark = pytest.mark.django_db

RTP = ("--mode", "sandbox", "--method", "rtp_credit")


def set_route(*arguments):
    out = StringIO()
    call_command("set_route", *arguments, "--reason", "the bank asked", "--json", stdout=out)
    return json.loads(out.getvalue())


def test_closes_a_route_and_opens_it_again():
    route = Route.objects.get(mode="sandbox", method="rtp_credit")
    told = {
        "routeId": route.pk,
        "mode": "sandbox",
        "method": "rtp_credit",
        "rail": "sandbox",
        "development": False,
    }

    assert set_route(*RTP, "--close") == told | {"isOpen": False}
    assert set_route(*RTP, "--rail", "sandbox") == told | {"isOpen": True}

    actions = AuditEvent.objects.filter(subject_id=route.pk).values_list("action", flat=True)
    assert sorted(actions) == ["route.closed", "route.opened"]


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
