"""The same Idempotency-Key many times at once: one effect, one answer, never an error."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from api.models import IdempotencyRecord
from tenants.models import AuditEvent
from tests.api.machinery import NOTES
from tests.builders import ApiClient, make_key
from tests.races.together import rounds, together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("machinery")]

WORKERS = 32


def post(key, idempotency_key, amount=100, path=NOTES):
    api = ApiClient(key)
    return api.post_json(path, {"amount": amount}, **{"Idempotency-Key": idempotency_key})


def notes(action="note") -> int:
    return AuditEvent.objects.filter(action=action).count()


@pytest.mark.parametrize("path", [NOTES, f"{NOTES}/link"])
@rounds(5)
def test_32_identical_requests_have_one_effect(acme, path, round_):
    key, idempotency_key = make_key(acme), f"k{round_}"

    answers = together(lambda _worker: post(key, idempotency_key, path=path), workers=WORKERS)

    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {201, 409}
    assert statuses[201] >= 1
    assert notes() == 1
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    for answer in answers:
        if answer.status_code == 409:
            assert answer.json()["code"] == "idempotency_in_progress"
            assert answer["Retry-After"] == "1"
    (stored,) = IdempotencyRecord.objects.all()
    assert stored.status == 201


def test_32_identical_requests_ask_somebody_elses_server_once(acme):
    key = make_key(acme)

    def ask(idempotency_key, _worker):
        return post(key, idempotency_key, path=f"{NOTES}/link")

    for number in range(5):
        together(partial(ask, f"k{number}"), workers=WORKERS)

    assert notes("asked") == 5


def test_32_different_bodies_under_one_key_have_one_effect(acme):
    key = make_key(acme)

    answers = together(lambda worker: post(key, "k1", amount=worker + 1), workers=WORKERS)

    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {201, 409, 422}
    assert statuses[201] == 1
    assert notes() == 1


def test_two_tenants_with_the_same_key_do_not_meet(acme, rival):
    keys = [make_key(acme), make_key(rival)]

    answers = together(lambda worker: post(keys[worker % 2], "k1"), workers=WORKERS)

    assert notes() == 2
    by_tenant = [
        {answer.content for answer in answers[side::2] if answer.status_code == 201}
        for side in (0, 1)
    ]
    assert [len(contents) for contents in by_tenant] == [1, 1]
    assert by_tenant[0] != by_tenant[1]


def test_clients_that_retry_all_end_with_the_same_answer(acme):
    key = make_key(acme)

    def until_answered(_worker):
        for _ in range(200):
            answer = post(key, "k1")
            if answer.status_code != 409:
                return answer
        raise AssertionError("never answered")

    answers = together(until_answered, workers=8)

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert notes() == 1
