"""Whatever a payment says that it may say is written, valid, and read as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.instant.iso import ids
from networks.instant.iso.messages import Account, CreditTransfer, RequestForPayment
from networks.instant.iso.profiles import PROFILES, RTP
from networks.instant.iso.writer import duplicate
from tests.networks.instant.iso.messages import came, message, written

SUMMER = datetime(2026, 7, 1, tzinfo=UTC)  # no hour comes twice until autumn
ASCII = st.characters(min_codepoint=33, max_codepoint=126)
IDS = st.text(ASCII, min_size=1, max_size=35)
NAMES = st.lists(st.text(ASCII, min_size=1, max_size=20), min_size=1, max_size=6).map(" ".join)
MOMENTS = st.integers(0, 100 * 24 * 3600).map(lambda seconds: SUMMER + timedelta(seconds=seconds))
AMOUNTS = st.integers(1, 99_999_999_999_999)
ACCOUNTS = st.builds(
    Account,
    routing_number=st.from_regex(r"[0-9]{9}", fullmatch=True),
    account_number=st.text(ASCII, min_size=1, max_size=34),
    name=NAMES,
)


def transfers(profile):
    return st.builds(
        CreditTransfer,
        message_id=IDS,
        created_at=MOMENTS,
        instruction_id=IDS,
        end_to_end_id=IDS,
        transaction_id=IDS if profile is RTP else st.just(""),
        uetr=st.just("") if profile is RTP else st.text(max_size=9).map(ids.uetr),
        amount=AMOUNTS,
        settlement_date=MOMENTS.map(profile.settlement_date),
        debtor=ACCOUNTS,
        creditor=ACCOUNTS,
        remittance=st.just("") | NAMES,
        returns_of=st.just("") | IDS if profile is RTP else st.just(""),
    )


def requests(_profile):
    return st.builds(
        RequestForPayment,
        message_id=IDS,
        created_at=MOMENTS,
        instruction_id=IDS,
        end_to_end_id=IDS,
        amount=AMOUNTS,
        debtor=ACCOUNTS,
        creditor=ACCOUNTS,
        execute_at=MOMENTS,
        expires_at=MOMENTS,
        remittance=st.just("") | NAMES,
    )


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize("made", [transfers, requests])
def test_everything_comes_back(profile, made):
    @given(made(profile))
    def comes_back(sent):
        content = written(sent, profile)

        assert came(content, profile) == sent
        assert came(duplicate(content, profile), profile) == sent

    comes_back()


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_names_come_back_in_plain_letters(profile):
    sent = message("pacs.008", profile)
    debtor = replace(sent.debtor, name="  Café\u00a0 Ørsted, Łoś & Weiß “GmbH” ")

    there = came(written(replace(sent, debtor=debtor), profile), profile)

    assert there.debtor.name == 'Cafe Orsted, Los & Weiss "GmbH"'


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_long_names_are_cut(profile):
    sent = message("pacs.008", profile)
    debtor = replace(sent.debtor, name="N" * 200)

    assert came(written(replace(sent, debtor=debtor), profile), profile).debtor.name == "N" * 140
