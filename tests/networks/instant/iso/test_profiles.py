"""What the networks ask, and the names that we give to messages."""

from __future__ import annotations

import re
import uuid
from datetime import date
from typing import Any

import pytest
from lxml import etree

from networks.instant.iso import ids, validation
from networks.instant.iso.profiles import FEDNOW, PROFILES, RTP
from tests.networks.instant.iso.messages import KINDS, message_id, participant

DAY = date(2026, 11, 28)
_XS = {"xs": "http://www.w3.org/2001/XMLSchema"}


class TestIds:
    def test_of_rtp(self):
        of: dict[str, Any] = {"participant": "123456780T1", "day": DAY, "number": 7}

        assert ids.message_id(RTP, **of) == "M20261128123456780T1BBLS00000000007"
        assert ids.instruction_id(RTP, **of) == "20261128123456780T1BBLST00000000007"
        assert ids.business_id(RTP, message_id(RTP)) == "B20261128123456780T1BBLS00000000001"

    def test_of_fednow(self):
        of: dict[str, Any] = {"participant": "123456780", "day": DAY, "number": 7}

        assert ids.message_id(FEDNOW, **of) == "20261128123456780000000000000000007"
        assert ids.business_id(FEDNOW, message_id(FEDNOW)) == message_id(FEDNOW)

    @pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
    @pytest.mark.parametrize("make", [ids.message_id, ids.instruction_id])
    def test_are_as_long_as_an_id_may_be(self, profile, make):
        assert len(make(profile, participant=participant(profile), day=DAY, number=1)) == 35

    @pytest.mark.parametrize(
        ("profile", "who", "number"),
        [
            (RTP, "123456780", 1),
            (FEDNOW, "123456780T1", 1),
            (RTP, "123456780-1", 1),
            (RTP, "123456780T1", 10**11),
            (FEDNOW, "123456780", 10**18),
            (FEDNOW, "123456780", -1),
        ],
    )
    def test_what_does_not_fit_is_refused(self, profile, who, number):
        with pytest.raises(ValueError, match="has"):
            ids.message_id(profile, participant=who, day=DAY, number=number)

    def test_a_uetr_is_the_same_for_the_same_payment_and_of_version_4(self):
        assert ids.uetr("pay_1") == ids.uetr("pay_1") != ids.uetr("pay_2")
        assert uuid.UUID(ids.uetr("pay_1")).version == 4


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
class TestOneFactInTwoPlaces:
    """Schemas are read by others, too: they repeat what the profile says."""

    def test_statuses(self, profile):
        assert _allowed(profile, "pacs.002") == profile.payment_statuses
        assert _allowed(profile, "pain.014") == profile.request_statuses

    def test_versions(self, profile):
        found = {
            path.stem
            for path in (validation.OURS / profile.name).glob("*.*.*.*.xsd")
            if not path.name.startswith("head.")
        }

        assert found == {profile.full_name(kind) for kind in profile.versions}
        assert set(KINDS[profile.name]) == set(profile.versions)

    def test_participants(self, profile):
        (pattern,) = _tree(profile, f"head.001.{profile.header_version}").xpath(
            "//xs:simpleType[@name='ParticipantId']//xs:pattern/@value", namespaces=_XS
        )

        assert re.fullmatch(pattern, participant(profile))
        assert re.fullmatch(pattern, profile.operator)
        assert len(profile.operator) == profile.participant_length


def _allowed(profile, kind: str) -> set[str]:
    path = "//xs:element[@name='TxSts']//xs:enumeration/@value"
    return set(_tree(profile, profile.full_name(kind)).xpath(path, namespaces=_XS))


def _tree(profile, name: str):
    return etree.parse(validation.OURS / profile.name / f"{name}.xsd")
