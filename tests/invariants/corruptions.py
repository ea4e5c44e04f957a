"""Every kind of damage that we can think of, as SQL, and what finds it.

The first 38 are a review's; the others do the same to the tables beside them. `{…}` are ids of
`tests.invariants.books`. A verdict is what must hold at least: the test accepts no less and no
more, so that this table stays true.

REFUSED: the database refuses it to everybody, its owner with all triggers off included. USUAL: the
check of every 15 minutes finds it. DAILY: the rolling full one finds it. SEAL: only a digest with a
key that is not in the database finds it, within a day.
"""

from __future__ import annotations

from typing import NamedTuple

REFUSED, USUAL, DAILY, SEAL = "refused", "usual", "daily", "seal"


class Damage(NamedTuple):
    """What is done, what notices it, and the code that must be among the findings."""

    name: str
    verdict: str
    code: str
    sql: str


_SHIFT = """
UPDATE balance_transaction SET amount = amount + 100, available_delta = available_delta + 100,
    available_after = available_after + 100 WHERE tenant_id = '{t}' AND sequence = {s1};
UPDATE balance_transaction SET available_after = available_after + 100
    WHERE tenant_id = '{t}' AND sequence > {s1};
UPDATE balance SET available = available + 100 WHERE tenant_id = '{t}'
"""


def _forged(source_type: str, source_id: str, amount: str = "999") -> str:
    """A line that fits its chain, and a balance that follows."""
    return f"""
INSERT INTO balance_transaction (id, tenant_id, sequence, type, amount, currency, available_delta,
    locked_delta, available_after, locked_after, source_type, source_id, description, created_at)
SELECT 'btx_forged', tenant_id, sequence + 1, 'credit', {amount}, 'USD', {amount}, 0,
    available + {amount}, locked, '{source_type}', '{source_id}', 'gift', posted_at
FROM balance WHERE tenant_id = '{{t}}';
UPDATE balance SET available = available + {amount}, sequence = sequence + 1
    WHERE tenant_id = '{{t}}'
"""


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
    + _forged("funding_transaction", "{fp}", "777")
    + """;
UPDATE balance SET pending = pending - 777 WHERE tenant_id = '{t}'
"""
)

_FORGED_MESSAGE = """
INSERT INTO network_inbox_inboundevent (network, event_id, instruction_id, kind, amount, currency,
    code, reason, reference, occurred_at, received_at, outcome, note, decided_at, attempts,
    original, resolution, resolved_by)
VALUES ('sandbox', 'sbe_forged', '{fp}', 'settled', 777, 'USD', '', '', '', now(), now(),
    'applied', '', now(), 0, '', '', '')
"""

_AGED = """
UPDATE funding_fundingevent SET created_at = created_at - interval '9 days';
UPDATE payments_paymentevent SET created_at = created_at - interval '9 days'
"""

LEDGER = [
    Damage(
        "01 amount of a line",
        REFUSED,
        "balance_transaction_is_sound",
        "UPDATE balance_transaction SET amount = amount + 1"
        " WHERE tenant_id = '{t}' AND sequence = {s1}",
    ),
    Damage("02 amount, deltas and balances after", USUAL, "funding_postings", _SHIFT),
    Damage(
        "03 as 02, and the funding's amount",
        USUAL,
        "ledger_sum",
        _SHIFT + ";UPDATE funding_fundingtransaction SET amount = amount + 100 WHERE id = '{f1}'",
    ),
    Damage(
        "04 as 03, and the checkpoint deleted",
        USUAL,
        "funding_bank",
        _SHIFT + ";UPDATE funding_fundingtransaction SET amount = amount + 100 WHERE id = '{f1}'"
        ";DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "05 last line deleted",
        USUAL,
        "ledger_last_row",
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}' AND sequence = {last}",
    ),
    Damage(
        "06 line in between deleted",
        USUAL,
        "funding_postings",
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}' AND sequence = {s1}",
    ),
    Damage(
        "07 all of a tenant's ledger deleted",
        USUAL,
        "funding_postings",
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}';"
        "DELETE FROM balance WHERE tenant_id = '{t}';"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "08 numbers of two lines swapped",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET sequence = -1 WHERE tenant_id = '{t}' AND sequence = 1;"
        "UPDATE balance_transaction SET sequence = 1 WHERE tenant_id = '{t}' AND sequence = 2;"
        "UPDATE balance_transaction SET sequence = 2 WHERE tenant_id = '{t}' AND sequence = -1",
    ),
    Damage(
        "09 causes of two lines swapped",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET source_id = 'x' WHERE tenant_id = '{t}'"
        " AND sequence = {s1};"
        "UPDATE balance_transaction SET source_id = '{f1}' WHERE tenant_id = '{t}'"
        " AND sequence = {s2};"
        "UPDATE balance_transaction SET source_id = '{f2}' WHERE tenant_id = '{t}'"
        " AND sequence = {s1}",
    ),
    Damage(
        "10 forged credit by staff",
        USUAL,
        "adjustment_missing",
        _forged("adjustment", "adj_nobody"),
    ),
    Damage("11 forged credit of a kind unknown", USUAL, "ledger_source", _forged("gift", "x")),
    Damage(
        "12 forged credit for a funding unknown",
        USUAL,
        "funding_posting_orphan",
        _forged("funding_transaction", "ftx_none"),
    ),
    Damage(
        "13 available",
        USUAL,
        "ledger_sum",
        "UPDATE balance SET available = available + 1 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "14 pending",
        USUAL,
        "funding_pending",
        "UPDATE balance SET pending = pending + 1 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "15 locked",
        USUAL,
        "payment_locked",
        "UPDATE balance SET locked = locked + 1 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "25 line moved to another tenant",
        USUAL,
        "ledger_last_row",
        "UPDATE balance_transaction SET tenant_id = '{t2}', sequence = 99"
        " WHERE tenant_id = '{t}' AND sequence = {last}",
    ),
    Damage(
        "26 description of an old line",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET description = 'x' WHERE tenant_id = '{t}' AND sequence = 1",
    ),
    Damage(
        "27 time of an old line",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET created_at = created_at - interval '1 second'"
        " WHERE tenant_id = '{t}' AND sequence = 1",
    ),
    Damage(
        "26b and the checkpoint deleted",
        SEAL,
        "seal_rows",
        "UPDATE balance_transaction SET description = 'x'"
        " WHERE tenant_id = '{t}' AND sequence = 1;"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "27b time of an old line, and the checkpoint deleted",
        SEAL,
        "seal_rows",
        "UPDATE balance_transaction SET created_at = created_at - interval '1 second'"
        " WHERE tenant_id = '{t}' AND sequence = 1;"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "09b causes of two lines swapped, and the checkpoint deleted",
        SEAL,
        "seal_rows",
        "UPDATE balance_transaction SET source_id = 'x' WHERE tenant_id = '{t}'"
        " AND sequence = {s1};"
        "UPDATE balance_transaction SET source_id = '{f1}' WHERE tenant_id = '{t}'"
        " AND sequence = {s2};"
        "UPDATE balance_transaction SET source_id = '{f2}' WHERE tenant_id = '{t}'"
        " AND sequence = {s1};"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "28 correction deleted",
        DAILY,
        "adjustment_missing",
        "DELETE FROM balance_adjustment WHERE id = '{adj}'",
    ),
    Damage(
        "29 amount of a correction",
        USUAL,
        "adjustment_differs",
        "UPDATE balance_adjustment SET amount = amount + 1 WHERE id = '{adj}'",
    ),
    Damage(
        "36 checkpoint that lies",
        USUAL,
        "ledger_sum",
        "UPDATE balance_checkpoint SET available = available + 5 WHERE tenant_id = '{t}'",
    ),
]
MOVEMENTS = [
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
        "18 payment called completed",
        USUAL,
        "payment_history",
        "UPDATE payments_payment SET status = 'completed', completed_at = now() WHERE id = '{pp}'",
    ),
    Damage(
        "22 history row deleted",
        USUAL,
        "funding_history",
        "DELETE FROM funding_fundingevent WHERE funding_id = '{f1}' AND sequence = 2",
    ),
    Damage(
        "22b payment's history row deleted",
        USUAL,
        "payment_history",
        "DELETE FROM payments_paymentevent WHERE payment_id = '{p1}' AND sequence = 2",
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
        "22f history of a payment: its reason",
        SEAL,
        "seal_rows",
        "UPDATE payments_paymentevent SET reason = 'x' WHERE payment_id = '{p1}' AND sequence = 1",
    ),
    Damage(
        "23 amount of a funding",
        USUAL,
        "funding_postings",
        "UPDATE funding_fundingtransaction SET amount = amount + 1 WHERE id = '{f1}'",
    ),
    Damage(
        "23b amount of a payment",
        USUAL,
        "payment_postings",
        "UPDATE payments_payment SET amount = amount + 1 WHERE id = '{p1}'",
    ),
    Damage(
        "24 payment's recipient swapped",
        USUAL,
        "payment_account",
        "UPDATE payments_payment SET recipient_id = '{r2}' WHERE id = '{p1}'",
    ),
    Damage(
        "24b of a payment that is not sent yet",
        USUAL,
        "payment_account",
        "UPDATE payments_payment SET recipient_id = '{r2}' WHERE id = '{pu}'",
    ),
    Damage(
        "24c recipient's sealed number",
        DAILY,
        "payment_account_sealed",
        "UPDATE payments_recipient SET account_number_token ="
        " (SELECT account_number_token FROM payments_recipient WHERE id = '{r2}')"
        " WHERE id = '{r1}'",
    ),
    Damage(
        "24d recipient's routing number",
        DAILY,
        "payment_account_sealed",
        "UPDATE payments_recipient SET routing_number = '011000015' WHERE id = '{r1}'",
    ),
    Damage(
        "24e recipient deleted",
        USUAL,
        "payment_account",
        "DELETE FROM payments_recipient WHERE id = '{r1}'",
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
        "funding_account_sealed",
        "UPDATE funding_fundingsource SET fingerprint = repeat('0', 64) WHERE id = '{src2}'",
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
        "38c leased for ever",
        USUAL,
        "funding_never_due",
        "UPDATE funding_fundingtransaction SET leased_until = 'infinity' WHERE id = '{fresv}'",
    ),
    Damage(
        "38d payment that is never due",
        USUAL,
        "payment_never_due",
        "UPDATE payments_payment SET next_attempt_at = NULL WHERE id = '{pu}'",
    ),
    Damage(
        "38e confirmed payment that is never due",
        USUAL,
        "payment_never_due",
        "UPDATE payments_payment SET status = 'created', confirmed_at = locked_at"
        " WHERE id = '{pq}'",
    ),
    Damage(
        "39 funding deleted",
        USUAL,
        "funding_vanished",
        "DELETE FROM funding_fundingtransaction WHERE id = '{f1}'",
    ),
    Damage(
        "39b waiting payment deleted, with its history",
        USUAL,
        "payment_vanished",
        "DELETE FROM payments_paymentevent WHERE payment_id = '{pw}';"
        "DELETE FROM payments_payment WHERE id = '{pw}'",
    ),
    Damage(
        "40 reference of the bank",
        USUAL,
        "funding_bank",
        "UPDATE funding_fundingtransaction SET network_reference = 'SBX9' WHERE id = '{f1}'",
    ),
    Damage(
        "41 payment's history, event and lines undone together",
        USUAL,
        "payment_messages",
        "DELETE FROM payments_paymentevent WHERE payment_id = '{pr}' AND sequence = 4;"
        "DELETE FROM webhooks_webhookdelivery WHERE event_id IN (SELECT id FROM"
        " webhooks_webhookevent WHERE payment_id = '{pr}' AND type = 'payment.returned');"
        "DELETE FROM webhooks_webhookevent WHERE payment_id = '{pr}'"
        " AND type = 'payment.returned';"
        "UPDATE payments_payment SET status = 'completed', returned = false, returned_at = NULL,"
        " history_length = 3, event_sequence = 3, failure_code = '', return_code = ''"
        " WHERE id = '{pr}'",
    ),
]
EVENTS = [
    Damage(
        "19 event deleted",
        USUAL,
        "funding_events",
        "DELETE FROM webhooks_webhookdelivery WHERE event_id = '{e}';"
        "DELETE FROM webhooks_webhookevent WHERE id = '{e}'",
    ),
    Damage(
        "20 deliveries of an event deleted",
        USUAL,
        "event_undelivered",
        "DELETE FROM webhooks_webhookdelivery WHERE event_id = '{e}'",
    ),
    Damage(
        "21 amount in an event's body",
        USUAL,
        "funding_event_body",
        "UPDATE webhooks_webhookevent SET body = convert_to(replace(convert_from(body, 'UTF8'),"
        " '\"amount\":', '\"amount\":9'), 'UTF8') WHERE id = '{e}'",
    ),
    Damage(
        "21b body that is no JSON",
        USUAL,
        "payment_event_body",
        "UPDATE webhooks_webhookevent SET body = '\\xff00' WHERE id = '{ep}'",
    ),
    Damage(
        "21c status in an event's body",
        USUAL,
        "payment_event_body",
        "UPDATE webhooks_webhookevent SET body = convert_to(replace(convert_from(body, 'UTF8'),"
        " '\"status\":\"created\"', '\"status\":\"completed\"'), 'UTF8') WHERE id = '{ep}'",
    ),
    Damage(
        "21d event's tenant",
        USUAL,
        "payment_event_body",
        "UPDATE webhooks_webhookevent SET tenant_id = '{t2}' WHERE id = '{ep}'",
    ),
    Damage(
        "21e event about nothing we have",
        USUAL,
        "funding_vanished",
        "UPDATE webhooks_webhookevent SET payment_id = 'ftx_none', sequence = 77 WHERE id = '{e}'",
    ),
    Damage(
        "42 delivery never due",
        USUAL,
        "delivery_never_due",
        "UPDATE webhooks_webhookdelivery SET next_attempt_at = 'infinity' WHERE event_id = '{e}'",
    ),
    Damage(
        "42b delivery without a next try",
        REFUSED,
        "delivery_pending_iff_due",
        "UPDATE webhooks_webhookdelivery SET next_attempt_at = NULL WHERE event_id = '{e}'",
    ),
    Damage(
        "42c delivery called delivered",
        USUAL,
        "delivery_unproven",
        "UPDATE webhooks_webhookdelivery SET status = 'delivered', next_attempt_at = NULL,"
        " delivered_at = now() WHERE event_id = '{e}'",
    ),
    Damage(
        "42d endpoint paused for ever",
        USUAL,
        "endpoint_never_due",
        "UPDATE webhooks_webhookendpoint SET paused_until = 'infinity' WHERE id = '{endpoint}'",
    ),
]
NETWORKS = [
    Damage(
        "30 the bank debited less than the ledger credits",
        USUAL,
        "funding_bank",
        "UPDATE sandbox_bank_sandboxinstruction SET amount = amount - 1 WHERE external_id = '{f1}'",
    ),
    Damage(
        "30b the bank paid another amount",
        USUAL,
        "payment_bank",
        "UPDATE sandbox_bank_sandboxinstruction SET amount = amount - 1 WHERE external_id = '{p1}'",
    ),
    Damage(
        "30c the bank knows nothing of it",
        USUAL,
        "payment_bank",
        "UPDATE sandbox_bank_sandboxinstruction SET external_id = 'x' WHERE external_id = '{p1}'",
    ),
    Damage(
        "31 settlement's message deleted",
        USUAL,
        "funding_messages",
        "DELETE FROM network_inbox_inboundevent WHERE instruction_id = '{f1}'",
    ),
    Damage(
        "31b payment's settlement has another amount",
        USUAL,
        "payment_messages",
        "UPDATE network_inbox_inboundevent SET amount = amount + 1"
        " WHERE instruction_id = '{p1}' AND kind = 'settled'",
    ),
    Damage(
        "31c return's message taken for a settlement",
        USUAL,
        "funding_messages",
        "UPDATE network_inbox_inboundevent SET kind = 'accepted'"
        " WHERE instruction_id = '{fr}' AND kind = 'returned'",
    ),
    Damage(
        "43 message never due",
        USUAL,
        "message_never_due",
        "UPDATE network_inbox_inboundevent SET outcome = 'new', next_attempt_at = 'infinity'"
        " WHERE instruction_id = '{f1}' AND kind = 'accepted'",
    ),
    Damage(
        "43b message without a next try",
        REFUSED,
        "new_messages_are_due",
        "UPDATE network_inbox_inboundevent SET outcome = 'new', next_attempt_at = NULL"
        " WHERE instruction_id = '{f1}'",
    ),
]
RULES = [
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
        "44 funding's question deleted",
        DAILY,
        "funding_confirmation",
        "DELETE FROM funding_confirmationlink; DELETE FROM funding_confirmation"
        " WHERE funding_id = '{fc}'",
    ),
    Damage(
        "44b approved question called declined",
        USUAL,
        "funding_confirmation",
        "UPDATE funding_confirmation SET decision = 'declined' WHERE funding_id = '{fc}'",
    ),
    Damage(
        "44c payment's question deleted",
        DAILY,
        "payment_confirmation",
        "DELETE FROM payments_paymentconfirmationlink; DELETE FROM payments_paymentconfirmation"
        " WHERE payment_id = '{pa}'",
    ),
    Damage(
        "44d open question answered by a stroke",
        USUAL,
        "payment_confirmation",
        "UPDATE payments_payment SET confirmed_at = now() WHERE id = '{pq}'",
    ),
    Damage(
        "44e who approved",
        SEAL,
        "seal_rows",
        "UPDATE payments_paymentconfirmation SET decided_by = 'thief@example.com'"
        " WHERE payment_id = '{pa}'",
    ),
    Damage(
        "45 terms of an approved proposal",
        USUAL,
        "adjustment_proposal",
        "UPDATE balance_adjustment_proposal SET amount = amount + 1 WHERE id = '{adp}'",
    ),
    Damage(
        "45b decided by whoever proposed",
        REFUSED,
        "proposal_decided_by_another",
        "UPDATE balance_adjustment_proposal SET decided_by_id = proposed_by_id WHERE id = '{adp}'",
    ),
    Damage(
        "45c correction by staff whose proposal is gone",
        USUAL,
        "adjustment_proposal",
        "DELETE FROM balance_adjustment_proposal WHERE id = '{adp}'",
    ),
    Damage(
        "45d a correction's line in the audit log deleted",
        USUAL,
        "adjustment_unrecorded",
        "DELETE FROM tenants_auditevent WHERE subject_id = '{adj}'",
    ),
    Damage(
        "35 audit log edited",
        SEAL,
        "seal_rows",
        "UPDATE tenants_auditevent SET request_id = 'x' WHERE tenant_id = '{t}'",
    ),
    Damage(
        "46 e-mail never due",
        USUAL,
        "email_never_due",
        "UPDATE tenants_outgoingemail SET next_attempt_at = NULL"
        " WHERE id = (SELECT min(id) FROM tenants_outgoingemail)",
    ),
    Damage(
        "47 an idempotency key's answer",
        DAILY,
        "idempotency_sealed",
        "UPDATE api_idempotencyrecord SET tenant_id = '{t2}' WHERE key = 'books'",
    ),
    Damage(
        "48 a tenant whose ledger stays",
        USUAL,
        "tenant_vanished",
        "DELETE FROM tenants_tenant WHERE id = '{t}'",
    ),
    Damage(
        "49 a message by hand that no two people decided",
        USUAL,
        "settlement_unrecorded",
        "UPDATE network_inbox_inboundevent SET by_hand = 'usr_eve' WHERE instruction_id = '{f1}'",
    ),
    Damage(
        "50 a forged seal, of a round before the first, that the next one would follow",
        SEAL,
        "seal_round",
        "INSERT INTO seals_sealround (number, made_at, windows, seals, chains, seals_digest,"
        " previous, key_id, mac) VALUES (-1, now(), '{{}}', 0, 0, '', '', 'k', 'm');"
        "INSERT INTO seals_seal (chain, number, round_id, sequence, covers, previous, key_id, mac)"
        " SELECT chain, max(number) + 1, -1, 1000000000, '{{}}', '', 'k', 'm' || chain"
        " FROM seals_seal GROUP BY chain",
    ),
]

TABLE = [*LEDGER, *MOVEMENTS, *EVENTS, *NETWORKS, *RULES]
