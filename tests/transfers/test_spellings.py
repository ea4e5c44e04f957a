"""One bank account has one name, however its number is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from balance import invariants
from common import crypto
from funding.errors import DuplicateFundingSource
from funding.models import AccountBackOff, FundingSource
from funding.services import drafts, linking, sources
from networks.bank_details import bank_account
from networks.base import AccountType, BankAccount, HolderType
from networks.links.base import LinkedAccount
from payments.caps import CapScope, Window
from payments.errors import DuplicateRecipient, PaymentLimitReached
from payments.models import PaymentTotal, Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.builders import NOW, make_source
from tests.funding.builders import run_due, top_up
from tests.payments.builders import account, fund, pay
from tests.payments.test_limits import limit
from transfers.accounts import unsound

SPELLINGS = ("AB12-34", "ab12-34", "Ab12-34", "aB 12 34", "AB1234", "ab-1234", " a b 1 2 3 4 ")
ROUTING = "021000021"


pytestmark = pytest.mark.django_db


@pytest.fixture
def sound():
    """After the story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


def save(tenant, number):
    return recipients.save(tenant_id=tenant.pk, details=account(number), actor=SYSTEM, now=NOW)


def clear(number):
    """The account with the number as earlier releases kept it: as it was typed."""
    return BankAccount(
        routing_number=ROUTING,
        account_number=number,
        holder_name="Supplier LLC",
        holder_type=HolderType.BUSINESS,
        account_type=AccountType.CHECKING,
    )


def name_before(number, kind):
    """What an earlier release called it."""
    return crypto.fingerprint(f"{ROUTING}:{number}", purpose=kind.encrypted_as)


def saved_before(tenant, number):
    """A recipient that an earlier release saved."""
    row = Recipient(tenant=tenant, is_saved=True, bank_name="", created_at=NOW)
    row.fill(clear(number))
    row.fingerprint = name_before(number, Recipient)
    row.save(force_insert=True)
    return row


class TestARecipient:
    def test_is_saved_once(self, acme):
        first = save(acme, "AB12-34")

        for number in SPELLINGS:
            with pytest.raises(DuplicateRecipient) as refused:
                save(acme, number)
            assert refused.value.extra == {"existing_id": first.pk}

        assert Recipient.objects.count() == 1

    def test_has_one_limit(self, acme, sound):
        fund(acme, 100_000)
        limit(acme, CapScope.RECIPIENT, Window.DAY, amount=10_000)
        pay(acme, 6_000, to="AB12-34")

        for number in SPELLINGS:
            with pytest.raises(PaymentLimitReached):
                pay(acme, 6_000, to=number)

        pay(acme, 4_000, to="ab1234")
        scopes = PaymentTotal.objects.filter(scope__startswith="recipient:")
        assert [(row.payments, row.amount) for row in scopes] == [(2, 10_000)]

    def test_is_kept_as_it_goes_into_a_file(self, acme):
        assert save(acme, " ab 12-34 ").in_clear().account_number == "AB12-34"


class TestAnAccountThatMoneyComesFrom:
    def test_is_added_once(self, acme):
        first = make_source(acme, account_number="AB12-34")

        for number in SPELLINGS:
            with pytest.raises(DuplicateFundingSource) as refused:
                make_source(acme, account_number=number)
            assert refused.value.extra == {"existing_id": first.pk}

        assert FundingSource.objects.count() == 1

    def test_keeps_its_failures_when_it_is_added_in_another_spelling(self, acme, sound):
        source = make_source(acme, account_number="10001")  # leads to R01
        fund(acme, 100_000)
        top_up(acme, source=source)
        run_due()
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        again = make_source(acme, account_number="1-0001")

        assert AccountBackOff.objects.get().fingerprint == again.fingerprint

    def test_that_a_provider_links_is_the_one_that_was_typed(self, acme):
        typed = make_source(acme, account_number="AB12")
        linked = LinkedAccount(
            account_id="acc_1",
            routing_number=ROUTING,
            account_number="ab 12",
            account_type=AccountType.CHECKING,
            holder_type=HolderType.BUSINESS,
            bank_name="",
        )
        draft = drafts.of_linked(linked, mode=acme.mode, account_id="acc_1", holder_name="Acme Inc")

        with pytest.raises(DuplicateFundingSource) as refused:
            linking.add(tenant_id=acme.pk, draft=draft, actor=SYSTEM, now=NOW)

        assert refused.value.extra == {"existing_id": typed.pk}


class TestAnAccountOfBefore:
    """Its name stays, because it is sealed."""

    @pytest.mark.parametrize("number", ["ab12-34", "AB12-34", "aB12-34"])
    def test_is_recognized(self, acme, number):
        former = saved_before(acme, number)

        with pytest.raises(DuplicateRecipient) as refused:
            save(acme, "AB12-34")

        assert refused.value.extra == {"existing_id": former.pk}
        assert unsound(former, is_typed=True) == ""

    def test_keeps_its_name_when_it_comes_with_a_payment(self, acme, sound):
        fund(acme, 100_000)
        former = saved_before(acme, "aB12-34")
        limit(acme, CapScope.RECIPIENT, Window.DAY, amount=10_000)
        pay(acme, 6_000, to="AB12-34")

        with pytest.raises(PaymentLimitReached):
            pay(acme, 6_000, to="ab12-34")

        assert set(Recipient.objects.values_list("fingerprint", flat=True)) == {former.fingerprint}

    def test_of_former_keys_as_well(self, acme, settings):
        settings.FINGERPRINT_KEY, settings.FINGERPRINT_KEY_FALLBACKS = "the old key", []
        former = saved_before(acme, "ab12")
        settings.FINGERPRINT_KEY = "the new key"
        settings.FINGERPRINT_KEY_FALLBACKS = ["the old key"]

        with pytest.raises(DuplicateRecipient) as refused:
            save(acme, "AB12")

        assert refused.value.extra == {"existing_id": former.pk}


LETTERS = st.text(alphabet="0123456789abcxyzABCXYZ", min_size=4, max_size=12)


@given(LETTERS, st.data())
def test_every_spelling_has_one_name(number, data):
    """Blanks and hyphens anywhere, letters of either size."""

    def spelled():
        gaps = data.draw(st.lists(st.sampled_from(["", "", " ", "-"]), max_size=5))
        sizes = data.draw(st.lists(st.booleans(), min_size=len(number), max_size=len(number)))
        letters = [
            each.upper() if big else each.lower() for each, big in zip(number, sizes, strict=True)
        ]
        return "".join(
            letter + (gaps[place] if place < len(gaps) else "")
            for place, letter in enumerate(letters)
        )

    if set(number) == {"0"}:
        return
    accounts = [bank_account(account(spelled())) for _ in range(2)]

    first, second = (Recipient().fingerprints_of(each)[0] for each in accounts)
    assert first == second


@given(LETTERS, LETTERS)
def test_two_accounts_have_two_names(one, other):
    if one.upper() == other.upper():
        return
    names = [Recipient().fingerprints_of(clear(each))[0] for each in (one, other)]
    assert names[0] != names[1]


@pytest.mark.parametrize("number", ["0012345", "12345"])
def test_leading_zeros_belong_to_the_number(acme, number):
    save(acme, "012345")

    assert save(acme, number).in_clear().account_number == number
