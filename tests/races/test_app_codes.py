"""One code of an app, typed in many browsers at one moment."""

from __future__ import annotations

from collections import Counter

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.db import transaction

from common.clock import utc_now
from tenants import app_codes
from tests.builders import make_member
from tests.dashboard.account.test_second_factor import SECRET, code_of
from tests.races.together import together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def app(acme):
    return TOTP.activate(make_member(acme, email="lee@acme.example"), SECRET).instance


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_of_8_that_type_it_one_is_let_in(app, steps):
    code = code_of(steps=steps)

    def type_it(_worker):
        row = Authenticator.objects.get(pk=app.pk)
        with transaction.atomic():
            return app_codes.take(row, code=code, now=utc_now())

    assert Counter(together(type_it, workers=8)) == {True: 1, False: 7}


def test_a_code_that_let_nobody_in_counts_still(app):
    """The sign-in was undone, so the person types the same code again."""

    code = code_of()
    with transaction.atomic():
        assert app_codes.take(app, code=code, now=utc_now())
        transaction.set_rollback(True)

    assert app_codes.take(app, code=code, now=utc_now())
