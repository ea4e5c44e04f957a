from __future__ import annotations

from dataclasses import replace
from datetime import time, timedelta

import pytest
from django.conf import settings

from networks import schemes
from networks.base import (
    ANSWERS_WITHIN_MAX,
    AccountType,
    BankAccount,
    Capabilities,
    Cutoff,
    HolderType,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    Method,
    Purpose,
    Speed,
)
from transfers.batches import OURS
from transfers.submission import RUN_SECONDS_MAX

ACME_ACCOUNT = BankAccount(
    routing_number="021000021",
    account_number="000123456789",
    holder_name="Acme Inc",
    holder_type=HolderType.BUSINESS,
    account_type=AccountType.CHECKING,
)


class TestBankAccount:
    def test_keeps_number_and_holder_out_of_repr_alone_and_inside_an_instruction(self):
        instruction = Instruction(
            id="ftx_1",
            method=Method.ACH_DEBIT,
            amount=100,
            account=ACME_ACCOUNT,
            purpose=Purpose.TOPUP,
        )

        for text in (repr(ACME_ACCOUNT), str(ACME_ACCOUNT), repr(instruction), f"{instruction}"):
            assert "021000021" in text
            assert "123456789" not in text
            assert "Acme" not in text


class TestInstruction:
    def test_keeps_its_individual_id_short(self):
        with pytest.raises(ValueError, match="at most 15"):
            Instruction(
                id="ftx_1",
                method=Method.ACH_DEBIT,
                amount=1,
                account=ACME_ACCOUNT,
                purpose=Purpose.TOPUP,
                individual_id="X" * 16,
            )

    @pytest.mark.parametrize(
        ("purpose", "original"),
        [(Purpose.RETRY, ""), (Purpose.REVERSAL, ""), (Purpose.TOPUP, "ftx_0")],
    )
    def test_names_its_original_where_it_has_one(self, purpose, original):
        with pytest.raises(ValueError, match="names its original"):
            Instruction(
                id="ftx_1",
                method=Method.ACH_DEBIT,
                amount=1,
                account=ACME_ACCOUNT,
                purpose=purpose,
                original_id=original,
            )

    @pytest.mark.parametrize("amount", [0, -1])
    def test_refuses_to_move_nothing(self, amount):
        with pytest.raises(ValueError, match="at least one cent"):
            Instruction(
                id="ftx_1",
                method=Method.ACH_DEBIT,
                amount=amount,
                account=ACME_ACCOUNT,
                purpose=Purpose.TOPUP,
            )

    def test_refuses_other_currencies(self):
        with pytest.raises(ValueError, match="US dollars"):
            Instruction(
                id="ftx_1",
                method=Method.ACH_DEBIT,
                amount=1,
                currency="EUR",
                account=ACME_ACCOUNT,
                purpose=Purpose.TOPUP,
            )


class TestCapabilities:
    capabilities = Capabilities(
        methods={Method.ACH_DEBIT: replace(schemes.ACH_DEBIT, amount_min=5, amount_max=100)}
    )

    @pytest.mark.parametrize(("amount", "supported"), [(4, False), (5, True), (100, True)])
    def test_have_a_smallest_and_a_largest_amount(self, amount, supported):
        assert self.capabilities.supports(Method.ACH_DEBIT, amount=amount) is supported
        assert not self.capabilities.supports(Method.ACH_DEBIT, amount=101)

    def test_name_their_methods(self):
        assert not self.capabilities.supports(Method.RTP_CREDIT, amount=50)

    @pytest.mark.parametrize("together", [0, 1_001])
    def test_hand_over_a_thousand_together_at_most(self, together):
        with pytest.raises(ValueError, match="1 to 1000 instructions"):
            Capabilities(methods={}, together=together)

    @pytest.mark.parametrize("seconds", [0, 60.1])
    def test_answer_before_a_worker_would_be_ended(self, seconds):
        soft = timedelta(seconds=settings.CELERY_TASK_SOFT_TIME_LIMIT)
        with pytest.raises(ValueError, match="given up within"):
            Capabilities(methods={}, answers_within=timedelta(seconds=seconds))
        assert soft > ANSWERS_WITHIN_MAX + OURS + timedelta(seconds=RUN_SECONDS_MAX)


class TestTerms:
    def test_have_cut_offs_that_ascend(self):
        for times in [(time(14), time(10)), (time(10), time(10))]:
            with pytest.raises(ValueError, match="ascend"):
                schemes.ach_debit([Cutoff(at) for at in times])

    @pytest.mark.parametrize(("same_day", "most"), [(True, 0), (False, 1)])
    def test_promise_the_same_day_by_a_cut_off_and_a_limit(self, same_day, most):
        with pytest.raises(ValueError, match="or neither"):
            schemes.ach_credit([Cutoff(time(10), same_day=same_day)], same_day_max=most)

    @pytest.mark.parametrize(
        ("asked", "amount", "given"),
        [
            (Speed.SAME_DAY, 100_000_000, Speed.SAME_DAY),
            (Speed.SAME_DAY, 100_000_001, Speed.STANDARD),
            (Speed.STANDARD, 1, Speed.STANDARD),
        ],
    )
    def test_are_as_fast_as_was_asked_up_to_their_limit(self, asked, amount, given):
        terms = schemes.ach_debit([Cutoff(time(10), same_day=True)], same_day_max=100_000_000)

        assert terms.speed(asked, amount=amount) is given
        assert schemes.ACH_DEBIT.speed(asked, amount=amount) is Speed.STANDARD


def test_only_ach_methods_are_ach():
    assert [method for method in Method if method.is_ach] == [Method.ACH_DEBIT, Method.ACH_CREDIT]


def test_a_conflict_is_no_refusal_because_the_first_instruction_stands():
    assert not issubclass(InstructionConflict, InstructionRefused)
