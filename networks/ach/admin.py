"""The rows of ACH, to look at. What staff do with them is on the desk's own pages."""

from __future__ import annotations

from django.contrib import admin

from common.admin import ReadOnlyAdmin, dollars
from networks.ach import models


@admin.register(models.AchRail)
class AchRailAdmin(ReadOnlyAdmin):
    list_display = ("name", "created_at")
    ordering = ("name",)


@admin.register(models.RailVersion)
class RailVersionAdmin(ReadOnlyAdmin):
    list_display = ("rail", "number", "status", "proposed_by", "proposed_at", "decided_by")
    list_filter = ("status",)


@admin.register(models.AchKey)
class AchKeyAdmin(ReadOnlyAdmin):
    list_display = ("rail", "slot", "fingerprint", "created_at", "used_since", "retired_at")


@admin.register(models.RailLine)
class RailLineAdmin(ReadOnlyAdmin):
    list_display = ("rail", "trouble", "trouble_since", "fetched_at", "next_attempt_at")
    ordering = ("rail",)


@admin.register(models.RailSwitch)
class RailSwitchAdmin(ReadOnlyAdmin):
    list_display = ("rail", "part", "reason", "engaged_by", "engaged_at", "released_at")
    list_filter = ("part",)


@admin.register(models.Originator)
class OriginatorAdmin(ReadOnlyAdmin):
    list_display = (
        "company_name",
        "rail",
        "tenant_id",
        dollars("daily_debit_max"),
        dollars("daily_credit_max"),
        dollars("exposure_max"),
        "debits_stopped_at",
        "ended_at",
    )
    search_fields = ("tenant_id__exact", "company_name__istartswith")
    search_help_text = "The id of the tenant, or how the name begins"


@admin.register(models.OutFile)
class OutFileAdmin(ReadOnlyAdmin):
    list_display = (
        "rail",
        "cutoff_at",
        "remote_name",
        "status",
        "entry_count",
        dollars("debit_total"),
        dollars("credit_total"),
        "released_by",
        "sent_at",
    )
    list_display_links = ("cutoff_at",)
    list_filter = ("status", "kind")
    search_fields = ("id__exact", "remote_name__exact")
    search_help_text = "The id or the name of a file"


@admin.register(models.AchBatch)
class AchBatchAdmin(ReadOnlyAdmin):
    list_display = (
        "company_name",
        "batch_number",
        "sec",
        "description",
        "effective_date",
        "entry_count",
        dollars("debit_total"),
        dollars("credit_total"),
        "status",
    )
    list_filter = ("status", "sec")
    search_fields = ("file__id__exact",)
    search_help_text = "The id of a file"


@admin.register(models.InFile)
class InFileAdmin(ReadOnlyAdmin):
    list_display = ("rail", "received_at", "folder", "name", "size", "status")
    list_display_links = ("received_at",)
    list_filter = ("status", "folder")
    search_fields = ("id__exact",)
    search_help_text = "The id of a file"


@admin.register(models.InRecord)
class InRecordAdmin(ReadOnlyAdmin):
    list_display = (
        "file",
        "line",
        "kind",
        "code",
        "original_trace",
        dollars("amount"),
        "status",
        "due_on",
    )
    list_filter = ("status", "kind")
    search_fields = ("original_trace__exact",)
    search_help_text = "The trace number of our entry"


@admin.register(models.Correction)
class CorrectionAdmin(ReadOnlyAdmin):
    list_display = ("id", "code", "entry", "status", "due_on", "decided_by")
    list_filter = ("status",)
    list_select_related = ("entry",)
    search_fields = ("id__exact",)
    search_help_text = "The id of the correction"


@admin.register(models.AchReply)
class AchReplyAdmin(ReadOnlyAdmin):
    list_display = ("id", "record", "kind", "code", "status", "due_on", "decided_by")
    list_filter = ("status", "kind")
    list_select_related = ("record",)
    search_fields = ("id__exact",)
    search_help_text = "The id of the reply"


@admin.register(models.AchReversal)
class AchReversalAdmin(ReadOnlyAdmin):
    list_display = ("id", "entry", "reason", "status", "proposed_by", "decided_by")
    list_filter = ("status", "reason")
    list_select_related = ("entry",)
    search_fields = ("id__exact",)
    search_help_text = "The id of the reversal"


@admin.register(models.SpokenAnswer)
class SpokenAnswerAdmin(ReadOnlyAdmin):
    list_display = ("id", "file", "verdict", "status", "said_by", "proposed_by", "decided_by")
    list_filter = ("status", "verdict")
    list_select_related = ("file",)
    search_fields = ("id__exact", "file__id__exact")
    search_help_text = "The id of the answer, or of its file"


@admin.register(models.AchProposal)
class AchProposalAdmin(ReadOnlyAdmin):
    list_display = ("id", "rail", "kind", "subject", "status", "proposed_by", "decided_by")
    list_filter = ("status", "kind")
    list_select_related = ("rail",)
    search_fields = ("id__exact", "subject__exact")
    search_help_text = "The id of the proposal, or of its file or originator"


@admin.register(models.AchEvent)
class AchEventAdmin(ReadOnlyAdmin):
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
    search_fields = ("entry__trace_number__exact",)
    search_help_text = "The trace number of the entry"
