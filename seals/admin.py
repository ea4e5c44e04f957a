"""Staff look at the seals here; nobody makes or changes one by hand."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from common.admin import ReadOnlyAdmin
from seals.models import Seal, SealRound


@admin.register(SealRound)
class SealRoundAdmin(ReadOnlyAdmin):
    list_display = ("number", "made_at", "seals", "chains", "key_id")
    search_fields = ("mac__exact",)
    search_help_text = "The digest that was published"
    ordering = ("-number",)


@admin.register(Seal)
class SealAdmin(ReadOnlyAdmin):
    list_display = ("id", "round", "chain", "number", "sequence", "key_id")
    search_fields = ("chain__exact",)
    search_help_text = "The id of the tenant"
    ordering = ("-id",)
    list_select_related = ("round",)

    def get_fields(self, request: HttpRequest, obj: object = None) -> tuple[str, ...]:
        return ("chain", "number", "round", "sequence", "covers", "previous", "key_id", "mac")
