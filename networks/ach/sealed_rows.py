"""What seals cover of ACH: what was agreed with a bank and by whom, what each entry says, and the
digests of the files both ways.

Not sealed by themselves: batches (a file's bytes hold them), records (they are read from a file's
bytes) and events (the messages that they become are sealed when they come in).
"""

from __future__ import annotations

from common.sealed import DatedRows
from networks.ach.models import (
    AchEntry,
    AchKey,
    AchProposal,
    AchRail,
    AchReply,
    AchReversal,
    Correction,
    InFile,
    Originator,
    OutFile,
    RailSwitch,
    RailVersion,
    SpokenAnswer,
)

_OF_NO_TENANT = "NULL::text"
# What a file says of its work, and of what became of it.
_WORK = "next_attempt_at leased_until lease_version attempts status"
_BUILT = (
    "rail_id version_id kind immediate_origin file_date file_time modifier cutoff_at created_at"
    " batch_count entry_count entry_hash debit_total credit_total size chunk_count sha256"
    " remote_name built_at built_by"
)
_SENT = "first_released_at first_released_by released_at released_by released_how sent_at"
_LATER = (
    "missed faults temporary_name stuck_code stuck_at held_at held_by held_why"
    " acknowledgment_due_at acknowledged_at answered_how answer_digest"
    f" withdrawn_at withdrawn_by withdrawn_why {_WORK}"
)

RAILS = (
    DatedRows(
        name="ach_rails",
        label="banks of ACH",
        model=AchRail,
        tenant=_OF_NO_TENANT,
        layouts=("name created_at",),
    ),
    DatedRows(
        name="ach_versions",
        label="decided terms of a bank",
        model=RailVersion,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id number terms by_command proposed_by proposed_at reason decided_by"
            " decided_at",
        ),
        left_out="offset_account_token status superseded_at",
    ),
    DatedRows(
        name="ach_keys",
        label="keys for banks",
        model=AchKey,
        tenant=_OF_NO_TENANT,
        layouts=("id rail_id slot public_key fingerprint created_by created_at",),
        left_out="private_key_token used_since retired_by retired_at",
    ),
    DatedRows(
        name="ach_key_ends",
        label="ends of keys",
        model=AchKey,
        at="retired_at",
        tenant=_OF_NO_TENANT,
        layouts=("id retired_by retired_at",),
        left_out=(
            "rail_id slot private_key_token public_key fingerprint created_by created_at used_since"
        ),
    ),
    DatedRows(
        name="ach_switches",
        label="stops of a bank",
        model=RailSwitch,
        at="engaged_at",
        tenant=_OF_NO_TENANT,
        layouts=("id rail_id part reason engaged_by engaged_at",),
        left_out="release_reason released_by released_at",
    ),
    DatedRows(
        name="ach_switch_ends",
        label="ends of stops",
        model=RailSwitch,
        at="released_at",
        tenant=_OF_NO_TENANT,
        layouts=("id release_reason released_by released_at",),
        left_out="rail_id part reason engaged_by engaged_at",
    ),
    DatedRows(
        name="ach_originators",
        label="originators",
        model=Originator,
        layouts=("id rail_id tenant_id created_at",),
        left_out=(
            "company_name company_id daily_debit_max daily_credit_max exposure_max"
            " debits_stopped_at debits_stopped_why debits_released_at ended_at"
        ),
    ),
)
SENT = (
    DatedRows(
        name="ach_entries",
        label="entries for banks",
        model=AchEntry,
        layouts=(
            "id instruction_id rail_id originator_id tenant_id purpose is_debit sec payment_type"
            " transaction_code routing_number account_fingerprint account_last4 name individual_id"
            " company_name company_id description amount speed original_id replaces_id first_number"
            " terms_digest created_at",
        ),
        left_out=(
            "account_token same_day effective_date promised_on settlement_date batch_id"
            " trace_number status waits_for missed code frozen_at sent_at accepted_at final_due_at"
            " ended_at"
        ),
    ),
    DatedRows(
        name="ach_files",
        label="built files",
        model=OutFile,
        at="built_at",
        tenant=_OF_NO_TENANT,
        layouts=(f"id {_BUILT}",),
        left_out=f"{_SENT} {_LATER}",
    ),
    DatedRows(
        name="ach_files_sent",
        label="releases of sent files",
        model=OutFile,
        at="sent_at",
        tenant=_OF_NO_TENANT,
        layouts=(f"id {_SENT}",),
        left_out=f"{_BUILT} {_LATER}",
    ),
)
CAME_BACK = (
    DatedRows(
        name="ach_in_files",
        label="files from banks",
        model=InFile,
        at="received_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id folder name size sha256 chunk_count received_at",
            "id rail_id folder name size sha256 chunk_count received_at uploaded_by",
            "id rail_id folder name size sha256 chunk_count received_at uploaded_by by_command",
        ),
        left_out=(
            f"faults answers_id parsed_at applied_at resolved_at resolved_by resolution {_WORK}"
        ),
    ),
    DatedRows(
        name="ach_corrections",
        label="corrections by banks",
        model=Correction,
        tenant=_OF_NO_TENANT,
        layouts=("id record_id entry_id code due_on created_at",),
        left_out=(
            "old_token corrected_token status refusal_code decided_by decided_at decided_why"
            " outcome outcome_at outcome_note"
        ),
    ),
    DatedRows(
        name="ach_replies",
        label="replies to banks",
        model=AchReply,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id record_id kind code information due_on decided_by decided_at decided_why",
        ),
        left_out="status batch_id trace_number bank_code ended_at",
    ),
    DatedRows(
        name="ach_reversals",
        label="decided reversals",
        model=AchReversal,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id entry_id reason note discovered_at proposed_by proposed_at decided_by decided_at",
        ),
        left_out="status refusal effective_at",
    ),
    DatedRows(
        name="ach_spoken_answers",
        label="answers by telephone",
        model=SpokenAnswer,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id file_id verdict code batches said_by reason status proposed_by proposed_at"
            " decided_by decided_at",
        ),
    ),
    DatedRows(
        name="ach_proposals",
        label="decided proposals about rails",
        model=AchProposal,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id kind subject tenant_id before after reason status proposed_by proposed_at"
            " decided_by decided_at",
        ),
    ),
)
KINDS = (*RAILS, *SENT, *CAME_BACK)
