"""`manage.py set_payment_approval`"""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from payments.models import PaymentSettings


def run(*words):
    out = StringIO()
    call_command("set_payment_approval", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_sets_and_lifts_the_limit(acme):
    assert run("--tenant", acme.pk, "--above", "10000")["approvalThreshold"] == 10_000
    assert PaymentSettings.objects.get().approval_threshold == 10_000

    assert run("--tenant", acme.pk)["approvalThreshold"] is None
    assert PaymentSettings.objects.get().approval_threshold is None


@pytest.mark.parametrize("words", [("--tenant", "ten_nowhere", "--above", "1")])
def test_refuses_an_unknown_tenant(db, words):
    with pytest.raises(CommandError):
        run(*words)


@pytest.mark.parametrize("above", ["-1", "10000000000000000"])
def test_refuses_what_is_no_amount(acme, above):
    """Found: it ended with an AttributeError."""
    with pytest.raises(CommandError, match="invalid_payment_rule: Not an amount"):
        run("--tenant", acme.pk, f"--above={above}")

    assert not PaymentSettings.objects.exists()
