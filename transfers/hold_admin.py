"""Holding, releasing, stopping and withdrawing transfers in Django's admin: one row on its page, or
rows chosen in a list."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from common import staff_actions
from common.admin import ReadOnlyAdmin
from common.clock import utc_now
from tenants import actors
from transfers import holds
from transfers.contract import Transfer
from transfers.rows import TransferRow

_ACTS = MappingProxyType[str, tuple[Callable[..., None], str, str, str]](
    {
        "hold": (
            holds.hold,
            "Hold for a look",
            "It is not sent until somebody releases it. The tenant's people are told that we look"
            " at it, not why.",
            "is held.",
        ),
        "release": (
            holds.release,
            "Release",
            "It goes on as if nothing had happened, within seconds. The tenant's people are told.",
            "is released.",
        ),
        "stop": (
            holds.stop,
            "Stop for good",
            "It fails, and nothing is sent. The tenant's people are told; this cannot be undone.",
            "is stopped.",
        ),
        "withdraw": (
            holds.withdraw,
            "Withdraw from its network",
            "Its network is asked to give it back. If nothing was sent, no money moves and it fails"
            " as soon as the network says so, within seconds; the tenant's people see who failed"
            " it. If it is too late, you are told and nothing changes.",
            "is withdrawn, and fails in a moment.",
        ),
    }
)


def possible_acts(transfer: Transfer[Any], row: TransferRow) -> set[str]:
    """Which of hold, release, stop and withdraw staff can do to this row now."""
    if row.is_unsent:
        return {"release", "stop"} if row.held_at else {"hold"}
    return {"withdraw"} if getattr(row, "status", "") == transfer.taken_over_status else set()


class TransferAdmin(ReadOnlyAdmin):
    """The list of the transfers of one direction, and the pages that ask for a reason. The desk's
    page of a transfer offers which of these are possible."""

    transfer: ClassVar[Transfer[Any]]
    actions = ("hold_chosen", "release_chosen", "stop_chosen")
    actions_detail = ("hold", "release", "stop", "withdraw")

    def has_hold_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        change = f"{self.opts.app_label}.change_{self.opts.model_name}"
        return bool(request.user.has_perm(change))

    @staff_actions.own_page_action("Hold for a look", permission="hold")
    def hold(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask_about_one(request, object_id, "hold")

    @staff_actions.own_page_action("Release", permission="hold")
    def release(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask_about_one(request, object_id, "release")

    @staff_actions.own_page_action("Stop for good", permission="hold")
    def stop(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask_about_one(request, object_id, "stop")

    @staff_actions.own_page_action("Withdraw from its network", permission="hold")
    def withdraw(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask_about_one(request, object_id, "withdraw")

    @admin.action(description="Hold for a look", permissions=["hold"])
    def hold_chosen(self, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        return staff_actions.ask_about_chosen(
            self, request, list(rows), self._staff_action(request, "hold")
        )

    @admin.action(description="Release", permissions=["hold"])
    def release_chosen(self, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        release = self._staff_action(request, "release")
        return staff_actions.ask_about_chosen(self, request, list(rows), release)

    @admin.action(description="Stop for good", permissions=["hold"])
    def stop_chosen(self, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        return staff_actions.ask_about_chosen(
            self, request, list(rows), self._staff_action(request, "stop")
        )

    def _ask_about_one(self, request: HttpRequest, object_id: str, act: str) -> HttpResponse:
        row = get_object_or_404(self.model, pk=object_id)
        return staff_actions.ask_about_one(self, request, row, self._staff_action(request, act))

    def _staff_action(self, request: HttpRequest, name: str) -> staff_actions.StaffAction:
        act, title, consequences, done = _ACTS[name]

        def carry_out(row: TransferRow, reason: str) -> None:
            actor = actors.staff(str(request.user.pk))
            act(self.transfer, row.pk, reason=reason, actor=actor, now=utc_now())

        return staff_actions.StaffAction(
            title=title, consequences=consequences, button=title, done=done, act=carry_out
        )
