"""The rows of instant rails, to look at. What staff do with them is on the desk's own pages."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, dollars
from networks.instant import models


@admin.register(models.InstantRail)
class InstantRailAdmin(ReadOnlyAdmin):
    list_display = ("name", "profile", "created_at")
    ordering = ("name",)


@admin.register(models.InstantVersion)
class InstantVersionAdmin(ReadOnlyAdmin):
    list_display = ("rail", "number", "status", "proposed_by", "proposed_at", "decided_by")
    list_filter = ("status",)


@admin.register(models.InstantKey)
class InstantKeyAdmin(ReadOnlyAdmin):
    list_display = ("rail", "fingerprint", "created_at", "retired_at")


@admin.register(models.InstantLine)
class InstantLineAdmin(ReadOnlyAdmin):
    list_display = ("rail", "trouble", "trouble_since", "heard_until", "next_attempt_at")
    ordering = ("rail",)


@admin.register(models.Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    desk_page = "desk:conversation"
    list_display = (
        "created_at",
        "rail",
        "kind",
        dollars("amount"),
        "status",
        "code",
        "review_code",
        "settlement_date",
    )
    list_filter = ("kind", "status")
    search_fields = ("instruction_id__exact", "end_to_end_id__exact")
    search_help_text = "The id of a funding or payment, or the end-to-end id"


@admin.register(models.Message)
class MessageAdmin(ReadOnlyAdmin):
    desk_page = "desk:instant_message"
    list_display = ("created_at", "rail", "direction", "name", "said", "status", "fault", "copies")
    list_filter = ("direction", "status")
    search_fields = ("message_id__exact",)
    search_help_text = "The id that the message has in the network"


@admin.register(models.ParticipantList)
class ParticipantListAdmin(ReadOnlyAdmin):
    list_display = ("profile", "banks", "imported_at", "imported_by", "replaced_at")
    list_filter = ("profile",)


@admin.register(models.Participant)
class ParticipantAdmin(ReadOnlyAdmin):
    list_display = (
        "routing_number",
        "name",
        "takes_payments",
        "takes_requests",
        "takes_returns",
        "since",
        "until",
    )
    list_select_related = ("list",)
    search_fields = ("routing_number__exact",)
    search_help_text = "A routing number"


@admin.register(models.Position)
class PositionAdmin(ReadOnlyAdmin):
    list_display = ("rail", dollars("balance"), dollars("reserved"))
    ordering = ("rail",)


@admin.register(models.PositionMove)
class PositionMoveAdmin(ReadOnlyAdmin):
    list_display = ("rail", dollars("amount"), "bank", "status", "proposed_by", "decided_by")
    list_filter = ("status",)


@admin.register(models.ReturnAsk)
class ReturnAskAdmin(ReadOnlyAdmin):
    desk_page = "desk:return_ask"
    list_display = ("id", "rail", dollars("amount"), "code", "status", "proposed_by", "decided_by")
    list_filter = ("status",)
    search_fields = ("id__exact",)
    search_help_text = "The id of the request"


@admin.register(models.InstantEvent)
class InstantEventAdmin(ReadOnlyAdmin):
    list_display = (
        "instruction_id",
        "kind",
        "code",
        dollars("amount"),
        "settlement_date",
        "due_at",
        "acknowledged",
        "voided_at",
    )
    list_filter = ("kind", "acknowledged")
    search_fields = ("conversation__instruction_id__exact",)
    search_help_text = "The id of a funding or payment"
