"""What is said on an instant rail, what it comes to, and what is told of it."""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, REFUSED, SEAL, USUAL, Damage

INSTANT = [
    Damage(
        "120 a payment that settled, told as rejected",
        USUAL,
        "instant_told",
        "UPDATE instant_instantevent SET kind = 'rejected' WHERE conversation_id = '{icp}'"
        " AND kind = 'final'",
    ),
    Damage(
        "120b a payment that settled, told of another amount",
        USUAL,
        "instant_told",
        "UPDATE instant_instantevent SET amount = amount + 1 WHERE conversation_id = '{icp}'"
        " AND kind = 'settled'",
    ),
    Damage(
        "120c a request that was paid, and nobody is told",
        USUAL,
        "instant_told",
        "DELETE FROM instant_instantevent WHERE conversation_id = '{icr}'",
    ),
    Damage(
        "120d told twice",
        REFUSED,
        "one_instant_event_of_a_kind",
        "INSERT INTO instant_instantevent (rail_id, conversation_id, instruction_id, kind, code,"
        " reason, amount, reference, occurred_at, due_at, acknowledged) SELECT rail_id,"
        " conversation_id, instruction_id, kind, code, reason, amount, reference, occurred_at,"
        " due_at, false FROM instant_instantevent WHERE conversation_id = '{icp}'"
        " AND kind = 'final'",
    ),
    Damage(
        "121 a request that was paid by another amount",
        USUAL,
        "instant_paid_once",
        "UPDATE instant_conversation SET amount = amount - 1 WHERE id = '{icc}'",
    ),
    Damage(
        "121b a request that was paid by nothing",
        USUAL,
        "instant_paid_once",
        "UPDATE instant_conversation SET original_id = NULL WHERE id = '{icc}'",
    ),
    Damage(
        "122 a payment that settled although nobody says so",
        USUAL,
        "instant_unsaid",
        "UPDATE instant_conversation SET status = 'final', settled_at = now(),"
        " settlement_date = now(), ended_at = now() WHERE id = '{icw}'",
    ),
    Damage(
        "123 a payment that is ordered again before it was refused",
        USUAL,
        "instant_ordered_once",
        "UPDATE instant_message SET said = 'ACTC' WHERE conversation_id = '{icp}'"
        " AND direction = 'in' AND said LIKE 'RJCT%%'",
    ),
    Damage(
        "124 a message that nobody sends",
        USUAL,
        "instant_forgotten",
        "UPDATE instant_message SET status = 'to_send', next_attempt_at = NULL WHERE id = {imw}",
    ),
    Damage(
        "124b a message that is sent in a thousand years",
        USUAL,
        "instant_forgotten",
        "UPDATE instant_message SET status = 'to_send', next_attempt_at = '3026-01-01'"
        " WHERE id = {imw}",
    ),
    Damage(
        "124c a network that nobody listens to",
        USUAL,
        "instant_forgotten",
        "UPDATE instant_instantline SET next_attempt_at = NULL",
    ),
    Damage(
        "124d more money at the network than anybody said",
        DAILY,
        "instant_position",
        "UPDATE instant_position SET balance = balance + 1",
    ),
    Damage(
        "124e less is reserved than is ordered",
        USUAL,
        "instant_position_reserved",
        "UPDATE instant_position SET reserved = reserved - 1",
    ),
    Damage(
        "124f more is reserved than there is to reserve",
        REFUSED,
        "position_reserves_money",
        "UPDATE instant_position SET reserved = -1",
    ),
    Damage(
        "124g money that was moved and is in no book",
        USUAL,
        "position_move_books",
        "INSERT INTO instant_positionmove (id, rail_id, amount, bank, reason, status, by_command,"
        " proposed_by, proposed_at, decided_by, decided_at, refusal) SELECT 'ipm_forged', name,"
        " 999, '', 'gift', 'approved', false, 'ann', now(), 'ben', now(), ''"
        " FROM instant_instantrail LIMIT 1",
    ),
    Damage(
        "124k money that nobody proposed to move",
        USUAL,
        "position_move_unwitnessed",
        "INSERT INTO instant_positionmove (id, rail_id, amount, bank, reason, status, by_command,"
        " proposed_by, proposed_at, decided_by, refusal) SELECT 'ipm_forged', name, 999, '',"
        " 'gift', 'proposed', false, 'ann', now(), '', '' FROM instant_instantrail LIMIT 1",
    ),
    Damage(
        "124h one person who moves money",
        REFUSED,
        "position_move_decided_by_another",
        "INSERT INTO instant_positionmove (id, rail_id, amount, bank, reason, status, by_command,"
        " proposed_by, proposed_at, decided_by, decided_at, refusal) SELECT 'ipm_forged', name,"
        " 999, '', 'gift', 'approved', false, 'ann', now(), 'ann', now(), ''"
        " FROM instant_instantrail LIMIT 1",
    ),
    Damage(
        "124i a bank that the list did not name",
        USUAL,
        "instant_participants",
        "INSERT INTO instant_participant (list_id, routing_number, name, takes_payments,"
        " takes_requests, takes_returns) SELECT id, '071000013', '', true, true, true"
        " FROM instant_participantlist",
    ),
    Damage(
        "124j a list that somebody else imported",
        USUAL,
        "participants_unwitnessed",
        "UPDATE instant_participantlist SET imported_by = 'ben'",
    ),
    Damage(
        "124k an answer to who asks for money back, by one hand",
        USUAL,
        "return_ask_unwitnessed",
        "UPDATE instant_returnask SET status = 'refused', decided_by = 'usr_eve',"
        " decided_at = now() WHERE id = '{ira}'",
    ),
    Damage(
        "124l an answer that one person approved",
        REFUSED,
        "return_ask_decided_by_another",
        "UPDATE instant_returnask SET status = 'refused', decided_by = proposed_by,"
        " decided_at = now() WHERE id = '{ira}'",
    ),
    Damage(
        "124m a message resolved without a word",
        REFUSED,
        "instant_message_resolved_says_why",
        "UPDATE instant_message SET resolved_at = now() WHERE id = {imo}",
    ),
    Damage(
        "125 other bytes than were sent",
        SEAL,
        "seal_rows",
        "UPDATE instant_message SET sha256 = repeat('0', 64) WHERE id = {imo}",
    ),
    Damage(
        "125b to another account than was instructed",
        SEAL,
        "seal_rows",
        "UPDATE instant_conversation SET account_fingerprint = repeat('0', 64) WHERE id = '{icp}'",
    ),
    Damage(
        "125c terms that nobody agreed to",
        SEAL,
        "seal_rows",
        "UPDATE instant_instantversion SET terms = jsonb_set(terms, '{{routing_number}}',"
        " '\"011000015\"')",
    ),
]
