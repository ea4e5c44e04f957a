from __future__ import annotations

import pytest

from common.errors import Conflict, DomainError, ErrorKind, NotFound


def test_a_refusal_registers_itself_by_its_code():
    assert DomainError.registry["not_found"] is NotFound


def test_two_refusals_cannot_share_a_code():
    with pytest.raises(TypeError, match="not_found is the code of"):

        class Other(Conflict):
            code = "not_found"


def test_a_refusal_carries_what_the_reply_needs():
    refusal = NotFound("There is no such thing.", field="id", existing_id="x")

    assert str(refusal) == refusal.detail == "There is no such thing."
    assert (refusal.field, refusal.extra) == ("id", {"existing_id": "x"})
    assert refusal.kind is ErrorKind.NOT_FOUND
