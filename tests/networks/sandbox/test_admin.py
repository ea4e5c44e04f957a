from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxEvent, SandboxInstruction
from tests.builders import enter_as, make_staff
from tests.networks.asking import submit
from tests.networks.sandbox.builders import instruction

NOW = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    enter_as(client, make_staff("staff@example.com", password="not used here"))
    submit(SandboxBank(), instruction(), now=NOW)
    return client


@pytest.mark.parametrize("model", [SandboxInstruction, SandboxEvent])
class TestBooksOfTheBank:
    def test_can_be_read_and_searched(self, staff, model):
        listed = staff.get(_path(model, "changelist"), {"q": "ftx_1"})
        shown = staff.get(_path(model, "change", model.objects.first().pk))

        assert (listed.status_code, shown.status_code) == (200, 200)
        assert listed.context["cl"].result_count == model.objects.count()

    def test_cannot_be_written(self, staff, model):
        row = model.objects.first()

        answers = [
            staff.post(_path(model, "add"), {}),
            staff.post(_path(model, "change", row.pk), {"amount": 1}),
            staff.post(_path(model, "delete", row.pk), {"post": "yes"}),
        ]

        assert [answer.status_code for answer in answers] == [403, 403, 403]
        assert model.objects.filter(pk=row.pk, amount=25_000).exists()


def _path(model: type, page: str, *args: object) -> str:
    return reverse(f"admin:sandbox_bank_{model.__name__.lower()}_{page}", args=args)
