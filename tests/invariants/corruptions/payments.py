"""Payments: rows, histories, recipients and approvals."""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, SEAL, USUAL, Damage

_APPROVED_BY_A_STROKE = """
UPDATE payments_paymentconfirmation SET decision = 'approved', decided_by = 'thief@example.com',
    decided_at = now() WHERE payment_id = '{pq}';
UPDATE payments_payment SET confirmed_at = now() WHERE id = '{pq}'
"""

PAYMENTS = [
    Damage(
        "18 payment called completed",
        USUAL,
        "payment_history",
        "UPDATE payments_payment SET status = 'completed', completed_at = now() WHERE id = '{pp}'",
    ),
    Damage(
        "22b payment's history row deleted",
        USUAL,
        "payment_history",
        "DELETE FROM payments_paymentevent WHERE payment_id = '{p1}' AND sequence = 2",
    ),
    Damage(
        "22f history of a payment: its reason",
        SEAL,
        "seal_rows",
        "UPDATE payments_paymentevent SET reason = 'x' WHERE payment_id = '{p1}' AND sequence = 1",
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
        "24c recipient's encrypted number",
        DAILY,
        "payment_account_number",
        "UPDATE payments_recipient SET account_number_token ="
        " (SELECT account_number_token FROM payments_recipient WHERE id = '{r2}')"
        " WHERE id = '{r1}'",
    ),
    Damage(
        "24d recipient's routing number",
        DAILY,
        "payment_account_number",
        "UPDATE payments_recipient SET routing_number = '011000015' WHERE id = '{r1}'",
    ),
    Damage(
        "24d2 corrected recipient's type",
        DAILY,
        "payment_account_version",
        "UPDATE payments_recipient SET account_type = 'savings' WHERE id = '{rc}'",
    ),
    Damage(
        "24d3 versions of a recipient deleted",
        DAILY,
        "payment_account_version",
        "DELETE FROM payments_recipientversion WHERE recipient_id = '{rc}'",
    ),
    Damage(
        "24d4 version that a payment never had",
        USUAL,
        "payment_account",
        "UPDATE payments_payment SET account_version = 0 WHERE id = '{pc}'",
    ),
    Damage(
        "24e recipient deleted",
        USUAL,
        "payment_account",
        "DELETE FROM payments_recipient WHERE id = '{r1}'",
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
        "38g parked for a switch that is gone",
        USUAL,
        "payment_never_due",
        "UPDATE payments_payment SET parked_for = 'swt_gone' WHERE id = '{pu}'",
    ),
    Damage(
        "38k parked for a switch that stops somebody else",
        USUAL,
        "payment_never_due",
        "UPDATE payments_payment SET parked_for = '{switch_out}' WHERE id = '{pu}'",
    ),
    Damage(
        "38l parked for a switch of the other direction",
        USUAL,
        "payment_never_due",
        "UPDATE payments_payment SET parked_for = '{switch_in}' WHERE id = '{pu}'",
    ),
    Damage(
        "38m a limit made wider by an hour's total that is lower",
        USUAL,
        "payment_total",
        "UPDATE payments_paymenttotal SET amount = amount - 1, unasked = unasked - 1"
        " WHERE tenant_id = '{t}' AND scope = 'tenant'",
    ),
    Damage(
        "38n a total deleted",
        USUAL,
        "payment_total",
        "DELETE FROM payments_paymenttotal WHERE tenant_id = '{t}' AND scope <> 'tenant'",
    ),
    Damage(
        "39b waiting payment deleted, with its history",
        USUAL,
        "payment_vanished",
        "DELETE FROM payments_paymentevent WHERE payment_id = '{pw}';"
        "DELETE FROM payments_payment WHERE id = '{pw}'",
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
    Damage(
        "44c payment's approval deleted",
        DAILY,
        "payment_confirmation",
        "DELETE FROM payments_paymentconfirmationlink; DELETE FROM payments_paymentconfirmation"
        " WHERE payment_id = '{pa}'",
    ),
    Damage(
        "44d open approval answered by a stroke",
        USUAL,
        "payment_confirmation",
        "UPDATE payments_payment SET confirmed_at = now() WHERE id = '{pq}'",
    ),
    Damage(
        "44e who approved",
        USUAL,
        "payment_answer_unwitnessed",
        "UPDATE payments_paymentconfirmation SET decided_by = 'thief@example.com'"
        " WHERE payment_id = '{pa}'",
    ),
    Damage(
        "44f an approval that nobody gave",
        USUAL,
        "payment_answer_unwitnessed",
        _APPROVED_BY_A_STROKE,
    ),
    Damage(
        "44g and its line in the audit log, of somebody who has no link",
        USUAL,
        "payment_answer_unwitnessed",
        _APPROVED_BY_A_STROKE
        + """;INSERT INTO tenants_auditevent (id, tenant_id, actor_type, actor_id, action,
    subject_id, details, request_id, address, staff_note, created_at)
SELECT 'aud_x', tenant_id, 'approver', decided_by, 'confirmation.approved', payment_id,
    jsonb_build_object('confirmationId', id, 'amount', amount), '', '', '', decided_at
FROM payments_paymentconfirmation WHERE payment_id = '{pq}'""",
    ),
    Damage(
        "45 payment said to go another way",
        USUAL,
        "payment_tries",
        "UPDATE payments_payment SET tries = 2 WHERE id = '{p1}'",
    ),
    Damage(
        "45b refused try of a payment that went its way",
        USUAL,
        "payment_tries",
        """INSERT INTO payments_paymentattempt (id, payment_id, number, method, network,
    network_reference, code, reason, ended_at)
SELECT 'pat_x', id, 1, method, network, '', 'NOAT', '', now() FROM payments_payment
WHERE id = '{p1}'""",
    ),
]
