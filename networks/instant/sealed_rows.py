"""What seals cover of instant rails: what was agreed with an operator and by whom, what each
conversation is about, and the digest of every message both ways.

Not sealed by themselves: events (the messages that they become are sealed when they come in).
"""

from __future__ import annotations

from common.sealed import DatedRows
from networks.instant.models import (
    Conversation,
    InstantKey,
    InstantRail,
    InstantVersion,
    Message,
    ParticipantList,
    PositionMove,
    ReturnAsk,
)

_OF_NO_TENANT = "NULL::text"

KINDS = (
    DatedRows(
        name="instant_rails",
        label="instant rails",
        model=InstantRail,
        tenant=_OF_NO_TENANT,
        layouts=("name profile created_at",),
    ),
    DatedRows(
        name="instant_versions",
        label="decided terms of instant rails",
        model=InstantVersion,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id number terms by_command proposed_by proposed_at reason decided_by"
            " decided_at",
        ),
        left_out="account_token status superseded_at",
    ),
    DatedRows(
        name="instant_keys",
        label="keys for instant networks",
        model=InstantKey,
        tenant=_OF_NO_TENANT,
        layouts=("id rail_id slot certificate fingerprint created_by created_at",),
        left_out="private_key_token signing_request used_since retired_by retired_at",
    ),
    DatedRows(
        name="instant_key_ends",
        label="ends of keys for instant networks",
        model=InstantKey,
        at="retired_at",
        tenant=_OF_NO_TENANT,
        layouts=("id retired_by retired_at",),
        left_out=(
            "rail_id slot private_key_token certificate fingerprint signing_request created_by"
            " created_at used_since"
        ),
    ),
    DatedRows(
        name="instant_conversations",
        label="conversations with instant networks",
        model=Conversation,
        layouts=(
            "id rail_id kind instruction_id end_to_end_id tenant_id amount routing_number"
            " account_fingerprint account_last4 name description expires_at original_id mismatch"
            " reference terms_digest created_at",
        ),
        left_out=(
            "account_token status code reason waits_for attempts settlement_date sent_at"
            " accepted_at advised_at settled_at final_due_at ended_at review_code review_since"
            " resolved_by resolved_at resolution"
        ),
    ),
    DatedRows(
        name="instant_messages",
        label="messages of instant networks",
        model=Message,
        tenant=_OF_NO_TENANT,
        layouts=("id rail_id direction name message_id sha256 size created_at",),
        left_out=(
            "conversation_id related_id said content_token status fault fault_detail copies sent_at"
            " answered_at applied_at next_attempt_at leased_until lease_version attempts"
            " resolved_by resolved_at resolution"
        ),
    ),
    DatedRows(
        name="instant_participant_lists",
        label="lists of participants",
        model=ParticipantList,
        at="imported_at",
        tenant=_OF_NO_TENANT,
        layouts=("id profile banks digest reason imported_by imported_at",),
        left_out="replaced_at",
    ),
    DatedRows(
        name="instant_position_moves",
        label="decided moves of positions",
        model=PositionMove,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id amount bank reason by_command proposed_by proposed_at decided_by decided_at"
            " refusal status",
        ),
    ),
    DatedRows(
        name="instant_return_asks",
        label="decided requests for a return of funds",
        model=ReturnAsk,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id message_id conversation_id case_id code information amount gives_back"
            " reason_code created_at proposed_by proposed_at proposed_why decided_by decided_at",
        ),
        left_out="status",
    ),
)
