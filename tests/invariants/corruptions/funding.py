"""Top-ups: rows, histories, accounts, approvals, and the automatic ones' settings."""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, SEAL, USUAL, Damage, forged

_FORGED_COMPLETION = (
    """
UPDATE funding_fundingtransaction SET status = 'completed', completed_at = now(),
    in_transit_at = now(), history_length = history_length + 2,
    event_sequence = event_sequence + 1 WHERE id = '{fp}';
INSERT INTO funding_fundingevent (id, funding_id, sequence, from_status, to_status, actor_type,
    actor_id, reason, network_reference, created_at)
VALUES ('fev_x1', '{fp}', 3, 'pending', 'in_transit', 'network', 'sandbox', '', '', now()),
    ('fev_x2', '{fp}', 4, 'in_transit', 'completed', 'network', 'sandbox', '', '', now());
INSERT INTO webhooks_webhookevent (id, tenant_id, type, payment_id, sequence, body, created_at)
VALUES ('evt_x', '{t}', 'payment.completed', '{fp}', 3, convert_to(
    '{{"id":"evt_x","type":"payment.completed","data":{{"paymentId":"{fp}","amount":777,'
    || '"status":"completed","currency":"USD","direction":"in","sequence":3,"failureCode":null,'
    || '"returnCode":null}},"timestamp":"'
    || to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '"}}', 'UTF8'), now())
"""
    + ";"
    + forged("funding_transaction", "{fp}", "777")
    + """;
UPDATE balance SET pending = pending - 777 WHERE tenant_id = '{t}'
"""
)

_FORGED_MESSAGE = """
INSERT INTO network_inbox_inboundevent (network, event_id, instruction_id, kind, amount, currency,
    code, reason, reference, occurred_at, received_at, outcome, note, decided_at, attempts,
    original, resolution, resolved_by)
VALUES ('sandbox', 'sbe_forged', '{fp}', 'final', 777, 'USD', '', '', '', now(), now(),
    'applied', '', now(), 0, '', '', '')
"""

_AGED = """
UPDATE funding_fundingevent SET created_at = created_at - interval '9 days';
UPDATE payments_paymentevent SET created_at = created_at - interval '9 days'
"""

FUNDING = [
    Damage(
        "15b funding called a retry of what had not come back",
        USUAL,
        "funding_retry",
        "UPDATE funding_fundingtransaction SET retry_of_id = '{f1}' WHERE id = '{fp}'",
    ),
    Damage(
        "16 completed funding called failed",
        USUAL,
        "funding_history",
        "UPDATE funding_fundingtransaction SET status = 'failed', failed_at = now()"
        " WHERE id = '{f1}'",
    ),
    Damage(
        "17 completion forged with everything but the bank",
        USUAL,
        "funding_messages",
        _FORGED_COMPLETION,
    ),
    Damage(
        "17b and with the network's message",
        USUAL,
        "funding_bank",
        _FORGED_COMPLETION + ";" + _FORGED_MESSAGE,
    ),
    Damage(
        "22 history row deleted",
        USUAL,
        "funding_history",
        "DELETE FROM funding_fundingevent WHERE funding_id = '{f1}' AND sequence = 2",
    ),
    Damage(
        "22c last history rows deleted, and the row follows",
        USUAL,
        "funding_postings",
        "DELETE FROM funding_fundingevent WHERE funding_id = '{f1}' AND sequence = 4;"
        "UPDATE funding_fundingtransaction SET status = 'in_transit', history_length = 3,"
        " event_sequence = 2, completed_at = NULL WHERE id = '{f1}'",
    ),
    Damage(
        "22d time in a history",
        USUAL,
        "funding_dates",
        "UPDATE funding_fundingevent SET created_at = created_at - interval '1 second'"
        " WHERE funding_id = '{f1}' AND sequence = 2",
    ),
    Damage(
        "22e who did it, in a history",
        SEAL,
        "seal_rows",
        "UPDATE funding_fundingevent SET actor_id = 'usr_x'"
        " WHERE funding_id = '{f1}' AND sequence = 1",
    ),
    Damage(
        "23 amount of a funding",
        USUAL,
        "funding_postings",
        "UPDATE funding_fundingtransaction SET amount = amount + 1 WHERE id = '{f1}'",
    ),
    Damage(
        "32 funding's source swapped",
        USUAL,
        "funding_account",
        "UPDATE funding_fundingtransaction SET source_id = '{src2}' WHERE id = '{f1}'",
    ),
    Damage(
        "32b source's fingerprint",
        DAILY,
        "funding_account_number",
        "UPDATE funding_fundingsource SET fingerprint = repeat('0', 64) WHERE id = '{src2}'",
    ),
    Damage(
        "32c corrected source as it was before, by its own columns",
        DAILY,
        "funding_account_version",
        "UPDATE funding_fundingsource SET version = 1, corrected_at = NULL WHERE id = '{srcc}'",
    ),
    Damage(
        "32d newest version of a source deleted",
        DAILY,
        "funding_account_version",
        "DELETE FROM funding_fundingsourceversion WHERE source_id = '{srcc}' AND number = 2",
    ),
    Damage(
        "32e first version of a source has another routing number",
        DAILY,
        "funding_account_version",
        "UPDATE funding_fundingsourceversion SET routing_number = '011000015'"
        " WHERE source_id = '{srcc}' AND number = 1",
    ),
    Damage(
        "32f what the bank said, in a version",
        DAILY,
        "funding_account_version",
        "UPDATE funding_fundingsourceversion SET code = 'C03'"
        " WHERE source_id = '{srcc}' AND number = 2",
    ),
    Damage(
        "32g numbers of two versions swapped",
        DAILY,
        "funding_account_version",
        "UPDATE funding_fundingsourceversion AS one SET account_number_token ="
        " other.account_number_token FROM funding_fundingsourceversion AS other"
        " WHERE one.source_id = '{srcc}' AND other.source_id = '{srcc}'"
        " AND one.number <> other.number",
    ),
    Damage(
        "32h version by another message",
        DAILY,
        "funding_account_version",
        "UPDATE funding_fundingsourceversion SET event_id ="
        " (SELECT min(id) FROM network_inbox_inboundevent WHERE instruction_id = '{f1}')"
        " WHERE source_id = '{srcc}' AND number = 2",
    ),
    Damage(
        "32i version that a funding never had",
        USUAL,
        "funding_account",
        "UPDATE funding_fundingtransaction SET account_version = 3 WHERE id = '{fc}'",
    ),
    Damage(
        "32j another holder, in a version",
        SEAL,
        "seal_rows",
        "UPDATE funding_fundingsourceversion SET account_holder_name = 'Somebody Else'"
        " WHERE source_id = '{srcc}' AND number = 1",
    ),
    Damage(
        "33 return undone",
        USUAL,
        "funding_history",
        "UPDATE funding_fundingtransaction SET status = 'completed', returned = false,"
        " returned_at = NULL WHERE id = '{fr}'",
    ),
    Damage(
        "34 history of a week ago, and another amount",
        USUAL,
        "funding_dates",
        _AGED + ";UPDATE funding_fundingtransaction SET amount = amount + 1 WHERE id = '{f1}'",
    ),
    Damage(
        "38 reserved funding that is never due",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET next_attempt_at = NULL WHERE id = '{fresv}'",
    ),
    Damage(
        "38b due in a thousand years",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET next_attempt_at = '3026-01-01' WHERE id = '{fresv}'",
    ),
    Damage(
        "38f parked for nothing",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET parked_for = 'swt_gone' WHERE id = '{fresv}'",
    ),
    Damage(
        "38h parked for a switch that stops somebody else",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET parked_for = '{switch_in}' WHERE id = '{fresv}'",
    ),
    Damage(
        "38i parked for a tenant who is suspended, and whose it is not",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET parked_for = '{t3}' WHERE id = '{fresv}'",
    ),
    Damage(
        "38j parked for its own tenant, who is not suspended",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET parked_for = '{t}' WHERE id = '{fresv}'",
    ),
    Damage(
        "38c leased for ever",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET leased_until = 'infinity' WHERE id = '{fresv}'",
    ),
    Damage(
        "39 funding deleted",
        USUAL,
        "funding_vanished",
        "DELETE FROM funding_fundingtransaction WHERE id = '{f1}'",
    ),
    Damage(
        "40 reference of the bank",
        USUAL,
        "funding_bank",
        "UPDATE funding_fundingtransaction SET network_reference = 'SBX9' WHERE id = '{f1}'",
    ),
    Damage(
        "37 auto-funding's mark cleared",
        USUAL,
        "auto_funding_mark",
        "UPDATE balance SET notify_below = NULL, is_low = false WHERE tenant_id = '{t}'",
    ),
    Damage(
        "37b auto-funding's mark lowered",
        USUAL,
        "auto_funding_mark",
        "UPDATE balance SET notify_below = 1, is_low = false WHERE tenant_id = '{t}'",
    ),
    Damage(
        "37c noted as low for ever",
        USUAL,
        "auto_funding_mark",
        "UPDATE balance SET low_noted_until = 'infinity' WHERE tenant_id = '{t}'",
    ),
    Damage(
        "37d settings deleted",
        USUAL,
        "auto_funding_mark",
        "DELETE FROM funding_autofundingconfig WHERE tenant_id = '{t}'",
    ),
    Damage(
        "44 funding's approval deleted",
        DAILY,
        "funding_confirmation",
        "DELETE FROM funding_confirmationlink; DELETE FROM funding_confirmation"
        " WHERE funding_id = '{fc}'",
    ),
    Damage(
        "44b approved approval called declined",
        USUAL,
        "funding_confirmation",
        "UPDATE funding_confirmation SET decision = 'declined' WHERE funding_id = '{fc}'",
    ),
    Damage(
        "45 what an account holder agreed to",
        SEAL,
        "seal_rows",
        "UPDATE funding_debitauthorization SET amount_max = 1 WHERE id = '{dau}'",
    ),
    Damage(
        "44h a funding's approval whose line in the audit log is of another moment",
        USUAL,
        "funding_answer_unwitnessed",
        "UPDATE tenants_auditevent SET created_at = created_at - interval '1 second'"
        " WHERE subject_id = '{fc}' AND action = 'confirmation.approved'",
    ),
]
