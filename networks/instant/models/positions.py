"""The money that lies prefunded at the network of a rail, and what two people moved there."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import NEVER_TRUNCATED
from common.database.rights import Rights
from common.fields import PrefixedIdField
from common.money import AMOUNT_MAX, format_cents
from networks import columns
from networks.instant.models.rails import InstantRail
from networks.instant.states import MOVE_STATES, MoveStatus


class Position(models.Model):
    """One per rail, in cents. `balance` is what lies at the network by what it told us, and by what
    people moved there. `reserved` of it is ordered by payments of which the network has not said
    how they end.

    The triggers of conversations and of moves keep both (`position_triggers`), so the row agrees
    with them in every transaction; nobody else writes it. Whoever decides what may leave locks it.
    """

    rail = models.OneToOneField(
        InstantRail, on_delete=models.PROTECT, primary_key=True, related_name="position"
    )
    balance = models.BigIntegerField()
    reserved = models.BigIntegerField()

    class Meta:
        verbose_name = "position"
        constraints = (
            models.CheckConstraint(condition=Q(reserved__gte=0), name="position_reserves_money"),
        )
        triggers = (NEVER_TRUNCATED, columns.NEVER_DELETED)

    def __str__(self) -> str:
        return f"{format_cents(self.free)} free at {self.rail_id}"

    @property
    def free(self) -> int:
        """What may still be ordered."""
        return self.balance - self.reserved


class PositionMove(models.Model):
    """Money of ours that goes to the network of a rail (cents above zero) or comes back from it.

    `bank` is the rail whose settlement account at a bank it comes from or goes to; empty: an
    account that is not in the books. One person proposes it, another one approves it, or an
    operator's command does both (`by_command`). People tell the bank; this is what they told it.
    """

    id = PrefixedIdField("ipm")
    rail = models.ForeignKey(InstantRail, on_delete=models.PROTECT, related_name="moves")
    amount = models.BigIntegerField()
    bank = models.CharField(max_length=columns.RAIL_LENGTH_MAX, blank=True)
    reason = columns.reason()
    status = models.CharField(max_length=8, choices=MoveStatus, default=MoveStatus.PROPOSED)
    by_command = models.BooleanField(default=False)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()
    refusal = columns.reason()

    app_rights = Rights(update=("status", "decided_by", "decided_at", "refusal"))

    class Meta:
        verbose_name = "move of a position"
        verbose_name_plural = "moves of positions"
        permissions = (
            ("propose_positionmove", "Can propose to move money to or from an instant network"),
            ("approve_positionmove", "Can approve what others propose to move"),
        )
        constraints = (
            columns.one_of("status", MoveStatus, "position_move_status_known"),
            models.CheckConstraint(
                condition=~Q(amount=0) & Q(amount__gte=-AMOUNT_MAX, amount__lte=AMOUNT_MAX),
                name="position_move_moves_money",
            ),
            models.CheckConstraint(condition=~Q(bank=F("rail")), name="position_move_is_between"),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(reason=""), name="position_move_says_why"
            ),
            models.CheckConstraint(
                condition=Q(by_command=True) | ~Q(decided_by=F("proposed_by")),
                name="position_move_decided_by_another",
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (~Q(status="proposed") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="position_move_decided_iff_dated",
            ),
            models.UniqueConstraint(
                fields=("rail",),
                condition=Q(status="proposed"),
                name="one_proposed_position_move",
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            MOVE_STATES.trigger("position_move_moves"),
            pgtrigger.ReadOnly(
                name="position_move_never_changes",
                exclude=("status", "decided_by", "decided_at", "refusal"),
            ),
            pgtrigger.Trigger(
                name="position_move_counts",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func="""
                    IF NEW.status = 'approved' AND (
                        TG_OP = 'INSERT' OR OLD.status IS DISTINCT FROM NEW.status
                    ) THEN
                        UPDATE instant_position SET balance = balance + NEW.amount
                        WHERE rail_id = NEW.rail_id;
                    END IF;
                    RETURN NULL;
                """,
            ),
        )

    def __str__(self) -> str:
        way = "to" if self.amount > 0 else "from"
        return f"{format_cents(abs(self.amount))} {way} {self.rail_id}"

    @property
    def is_open(self) -> bool:
        """Whether another person has to decide."""
        return self.status == MoveStatus.PROPOSED
