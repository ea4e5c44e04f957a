"""`FINGERPRINT_KEY` changes, and an account is known as before.

First every process learns the new key, as a fallback, and then the two change places."""

from __future__ import annotations

import pytest

from balance import invariants
from common import crypto
from funding.errors import DuplicateFundingSource
from funding.models import AccountBackOff, FundingSource
from funding.services import sources
from networks.base import InstructionConflict
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from payments.caps import CapScope, Window
from payments.errors import DuplicateRecipient, PaymentLimitReached
from payments.models import PaymentTotal, Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.builders import NOW, make_linked_source, make_source
from tests.funding.builders import run_due, top_up
from tests.networks.asking import submit
from tests.networks.sandbox.builders import instruction
from tests.payments.builders import account, fund, pay
from tests.payments.test_limits import limit

OLD, NEW, NEWER = "the former key", "the new key", "the newest key"
EMPTY = "10001"  # leads to R01

pytestmark = pytest.mark.django_db


def keys(settings, first, *others):
    settings.FINGERPRINT_KEY, settings.FINGERPRINT_KEY_FALLBACKS = first, list(others)


@pytest.fixture(autouse=True)
def _old(settings):
    keys(settings, OLD)


@pytest.fixture
def changed(settings):
    """Has the new key take the place of the old one."""

    def change():
        keys(settings, NEW, OLD)

    return change


def save(tenant, number="000123456789"):
    return recipients.save(tenant_id=tenant.pk, details=account(number), actor=SYSTEM, now=NOW)


class TestABankAccount:
    def test_is_not_added_twice(self, acme, changed):
        source = make_source(acme)
        changed()

        with pytest.raises(DuplicateFundingSource) as refused:
            make_source(acme)

        assert refused.value.extra == {"existing_id": source.pk}
        assert FundingSource.objects.count() == 1

    def test_that_a_provider_knows_is_not_added_twice(self, acme, changed):
        source = make_linked_source(acme)
        changed()

        with pytest.raises(DuplicateFundingSource) as refused:
            make_linked_source(acme)

        assert refused.value.extra == {"existing_id": source.pk}

    def test_is_added_once_by_processes_of_both_steps(self, acme, settings):
        keys(settings, NEW, OLD)
        source = make_source(acme)
        keys(settings, OLD, NEW)

        with pytest.raises(DuplicateFundingSource) as refused:
            make_source(acme)

        assert refused.value.extra == {"existing_id": source.pk}

    def test_keeps_its_name_and_its_failures_when_it_is_added_again(self, acme, changed):
        source = make_source(acme, account_number=EMPTY)
        fund(acme, 100_000)
        top_up(acme, source=source)
        run_due()
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)
        changed()

        again = make_source(acme, account_number=EMPTY)

        assert again.pk != source.pk
        assert again.fingerprint == source.fingerprint
        assert AccountBackOff.objects.get().fingerprint == again.fingerprint

    def test_that_is_new_is_known_by_the_new_key_alone(self, acme, rival, settings, changed):
        make_source(acme)
        changed()

        new = [make_source(rival), make_source(acme, account_number="000777000123")]

        keys(settings, NEW)
        assert [each.is_recognized_as(each.in_clear()) for each in new] == [True, True]

    def test_goes_on_over_two_changes(self, acme, settings, changed):
        source = make_source(acme)
        changed()
        keys(settings, NEWER, NEW, OLD)

        with pytest.raises(DuplicateFundingSource):
            make_source(acme)

        assert FundingSource.objects.get() == source


class TestARecipient:
    def test_is_not_saved_twice(self, acme, changed):
        recipient = save(acme)
        changed()

        with pytest.raises(DuplicateRecipient) as refused:
            save(acme)

        assert refused.value.extra == {"existing_id": recipient.pk}
        assert Recipient.objects.count() == 1

    def test_has_one_limit(self, acme, changed):
        """Whether it is saved or comes with each payment."""
        fund(acme, 100_000)
        limit(acme, CapScope.RECIPIENT, Window.DAY, amount=10_000)
        pay(acme, 6_000)
        changed()

        with pytest.raises(PaymentLimitReached):
            pay(acme, 6_000)

        pay(acme, 4_000)
        scopes = PaymentTotal.objects.filter(scope__startswith="recipient:")
        assert [(row.payments, row.amount) for row in scopes] == [(2, 10_000)]
        save(acme)
        assert len(set(Recipient.objects.values_list("fingerprint", flat=True))) == 1


class TestAnInstruction:
    def test_is_the_same_when_it_comes_again(self, changed):
        bank = SandboxBank()
        first = submit(bank, instruction(), now=NOW)
        changed()

        assert submit(bank, instruction(), now=NOW) == first
        assert SandboxInstruction.objects.get().submissions == 2

    def test_is_another_one_with_other_terms(self, changed):
        bank = SandboxBank()
        submit(bank, instruction(), now=NOW)
        changed()

        with pytest.raises(InstructionConflict):
            submit(bank, instruction("30002"), now=NOW)


def test_what_is_stored_stays_sealed_and_sound(acme, changed):
    make_source(acme)
    save(acme)
    changed()
    save(acme, "000777000123")

    assert invariants.check(now=NOW, full=True).findings == []


def test_a_name_stays_that_of_the_longest_known_key(settings):
    keys(settings, NEW, OLD)
    new, old = crypto.fingerprints("x", purpose="account")

    assert crypto.lasting((new, old), lambda _: {old}) == old
    assert crypto.lasting((new, old), lambda _: {new}) == new
    assert crypto.lasting((new, old), lambda _: {new, old}) == old
    assert crypto.lasting((new, old), lambda _: ()) == new
    keys(settings, OLD)
    assert crypto.fingerprint("x", purpose="account") == old
