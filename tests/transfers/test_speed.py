"""Same day: what is asked for, promised and handed to the bank."""

from __future__ import annotations

from datetime import date

import pytest
from django.db import DatabaseError

from funding.models import FundingTransaction
from funding.services import topups
from funding.services.lifecycle import TopUp
from networks import registry
from networks.ach import freezing
from networks.ach.models import AchEntry
from networks.ach.network import AchNetwork
from payments.models import Payment
from tenants.actors import SYSTEM
from tests.builders import make_source
from tests.funding import builders as funding
from tests.networks.ach.builders import FREEZE, NOON, RAIL, make_originator, make_rail
from tests.payments import builders as payments

TODAY, TOMORROW = date(2026, 11, 24), date(2026, 11, 25)
TOPUP, PAY = "/api/v1/balance/topup", "/api/v1/payments"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def source(acme):
    return make_source(acme)  # verified by the bank of the sandbox


@pytest.fixture
def bank(source):
    """A bank with a same-day window left at noon, for at most $1,000,000.00."""
    make_rail(dual_release=False, auto_release_below=10**10)
    make_originator()
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    yield
    undo()


def asked(source, *, amount=12_34, speed="same_day"):
    return topups.request(
        tenant_id=source.tenant_id,
        mode=source.tenant.mode,
        topup=TopUp(source_id=source.pk, amount=amount, speed=speed),
        actor=SYSTEM,
        now=NOON,
    )


class TestTopUps:
    def test_settle_on_the_day_and_are_promised_two_banking_days_later(self, bank, source):
        row = asked(source)
        usual = asked(source, speed="standard")
        funding.run_due(now=NOON)
        freezing.freeze_due(RAIL, now=FREEZE)

        fast, slow = (AchEntry.objects.get(instruction_id=each.pk) for each in (row, usual))

        assert (fast.same_day, fast.effective_date) == (True, TODAY)
        assert (slow.same_day, slow.effective_date) == (False, TOMORROW)
        # Thanksgiving is no banking day.
        assert row.expected_availability_date == date(2026, 11, 27)
        assert usual.expected_availability_date == date(2026, 11, 30)

    def test_above_the_limit_go_at_the_usual_speed_and_say_so(self, bank, source):
        make_rail(dual_release=False, auto_release_below=10**10, same_day_max=10_00)

        row = asked(source)

        assert (row.speed, row.expected_availability_date) == ("same_day", date(2026, 11, 30))

    def test_of_the_sandbox_bank_go_at_the_usual_speed(self, source):
        fast = asked(source)
        usual = asked(source, speed="standard")

        assert fast.expected_availability_date == usual.expected_availability_date

    def test_keep_their_speed(self, bank, source):
        row = asked(source)

        with pytest.raises(DatabaseError, match="permission denied"):
            FundingTransaction.objects.filter(pk=row.pk).update(speed="standard")


class TestTheInterface:
    def test_takes_and_shows_it_for_a_topup(self, acme, acme_api, source, bank):
        wish = {"amount": 12_34, "fundingSourceId": source.pk, "speed": "same_day"}

        data = acme_api.post_json(TOPUP, wish).json()["data"]

        row = FundingTransaction.objects.get(pk=data["id"])
        assert (data["speed"], row.speed) == ("same_day", "same_day")
        assert row.expected_availability_date.isoformat() == data["expectedAvailabilityDate"]

    def test_takes_and_shows_it_for_a_payment(self, acme, acme_api, source, bank):
        payments.fund(acme, 50_000)
        account = {
            "accountNumber": "000123456789",
            "routingNumber": "021000021",
            "accountHolderName": "Supplier LLC",
            "accountHolderType": "business",
            "accountType": "checking",
        }

        data = acme_api.post_json(
            PAY, {"amount": 20_000, "recipient": account, "speed": "same_day"}
        ).json()["data"]

        row = Payment.objects.get(pk=data["id"])
        assert (data["speed"], row.speed) == ("same_day", "same_day")

    def test_means_the_usual_speed_without_it(self, acme_api, source):
        wish = {"amount": 12_34, "fundingSourceId": source.pk}

        assert acme_api.post_json(TOPUP, wish).json()["data"]["speed"] == "standard"

    @pytest.mark.parametrize("speed", ["fast", "", None, 1, ["same_day"]])
    def test_names_the_two_there_are(self, acme_api, source, speed):
        wish = {"amount": 12_34, "fundingSourceId": source.pk, "speed": speed}

        response = acme_api.post_json(TOPUP, wish)

        assert response.status_code == 400
        (error,) = response.json()["errors"]
        assert error["field"] == "speed"
        assert not FundingTransaction.objects.exists()
