"""What came back from a bank, what was agreed with it, and where money goes.

`er` is an entry that came back by the record `back` of the file `inf`, `ec` one whose account was
corrected, and `ew` one that waits.
"""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, REFUSED, SEAL, USUAL, Damage

_SETTLED = (
    "WHERE kind = 'settled' AND entry_id = (SELECT max(id) FROM ach_achentry"
    " WHERE batch_id IN (SELECT id FROM ach_achbatch WHERE file_id = '{of}'))"
)
_RETURNED = "WHERE kind = 'returned' AND entry_id = {er}"

BANKS = [
    Damage(
        "68 a return that counts twice",
        USUAL,
        "ach_return",
        "INSERT INTO ach_achevent (rail_id, entry_id, record_id, instruction_id, kind, code,"
        " reason, amount, trace_number, reference, occurred_at, due_at, acknowledged)"
        " SELECT rail_id, entry_id, record_id, instruction_id, kind, code, reason, amount,"
        f" trace_number, reference, occurred_at, due_at, false FROM ach_achevent {_RETURNED}",
    ),
    Damage(
        "68b a return of another amount",
        USUAL,
        "ach_return",
        f"UPDATE ach_achevent SET amount = amount + 1 {_RETURNED}",
    ),
    Damage(
        "68c a return that nobody will be told of",
        USUAL,
        "ach_return",
        f"DELETE FROM ach_achevent {_RETURNED}",
    ),
    Damage(
        "68d an entry that came back is called final",
        USUAL,
        "ach_return",
        "UPDATE ach_achentry SET status = 'final' WHERE id = {er}",
    ),
    Damage(
        "68e a return that is about another entry",
        USUAL,
        "ach_return",
        "UPDATE ach_inrecord SET entry_id = {ec} WHERE id = {back}",
    ),
    Damage(
        "68f an entry that came back by itself",
        DAILY,
        "ach_return",
        "UPDATE ach_achentry SET status = 'returned' WHERE id = {ec}",
    ),
    Damage(
        "68g the record of a return deleted",
        DAILY,
        "ach_return",
        "DELETE FROM ach_inrecord WHERE id = {back}",
    ),
    Damage(
        "69 a file from a bank that nobody will read",
        USUAL,
        "ach_file_forgotten",
        "UPDATE ach_infile SET status = 'stored', next_attempt_at = NULL WHERE id = '{inf}'",
    ),
    Damage(
        "69b a record that was never applied, of a file that was",
        USUAL,
        "ach_file_forgotten",
        "UPDATE ach_inrecord SET status = 'new' WHERE id = {change}",
    ),
    Damage(
        "69c the bytes of a file from a bank",
        DAILY,
        "ach_file_pieces",
        "DELETE FROM ach_infilechunk WHERE file_id = '{inf}'",
    ),
    Damage(
        "69d the digest of a file from a bank",
        SEAL,
        "seal_rows",
        "UPDATE ach_infile SET sha256 = repeat('0', 64) WHERE id = '{inf}'",
    ),
    Damage(
        "69e one file from a bank twice",
        REFUSED,
        "one_in_file_per_content",
        "INSERT INTO ach_infile (id, rail_id, folder, name, size, sha256, chunk_count, status,"
        " faults, received_at, resolved_by, resolution, lease_version, attempts)"
        " SELECT 'ifl_again', rail_id, folder, name, size, sha256, chunk_count, status, faults,"
        " received_at, '', '', 0, 0 FROM ach_infile WHERE id = '{inf}'",
    ),
    Damage(
        "69f a return twice, as two records",
        REFUSED,
        "one_record_per_rdfi_trace",
        "INSERT INTO ach_inrecord (file_id, rail_id, line, kind, rdfi_trace, rdfi_routing,"
        " settlement_day, original_trace, code, reason_code, amount, company_id,"
        " account_fingerprint, account_last4, information, status, note, may_dishonor, raw_token,"
        " received_at, decided_by, decided_why) SELECT file_id, rail_id, 999, kind, rdfi_trace,"
        " rdfi_routing, settlement_day, original_trace, code, reason_code, amount, company_id,"
        " account_fingerprint, account_last4, information, 'new', '', false, raw_token,"
        " received_at, '', '' FROM ach_inrecord WHERE id = {back}",
    ),
    Damage(
        "70 a settlement of another amount",
        USUAL,
        "ach_entry_untold",
        f"UPDATE ach_achevent SET amount = amount + 100 {_SETTLED}",
    ),
    Damage(
        "70b a settlement of another instruction",
        USUAL,
        "ach_entry_untold",
        f"UPDATE ach_achevent SET instruction_id = 'ftx_other' {_SETTLED}",
    ),
    Damage(
        "70c a settlement that was made void",
        USUAL,
        "ach_entry_untold",
        f"UPDATE ach_achevent SET voided_at = now() {_SETTLED}",
    ),
    Damage(
        "70d a debit that is final before its time",
        USUAL,
        "ach_entry_untold",
        "UPDATE ach_achevent SET due_at = now() WHERE kind = 'final' AND entry_id = {ec}",
    ),
    Damage(
        "70e an entry that settled on another day",
        USUAL,
        "ach_entry_untold",
        "UPDATE ach_achentry SET settlement_date = settlement_date + 1 WHERE id = {ec}",
    ),
    Damage(
        "70f a settlement on another day",
        USUAL,
        "ach_entry_untold",
        f"UPDATE ach_achevent SET settlement_date = settlement_date + 1 {_SETTLED}",
    ),
    Damage(
        "71 another account in an entry that waits",
        SEAL,
        "seal_rows",
        "UPDATE ach_achentry SET account_fingerprint = repeat('0', 64) WHERE id = {ew}",
    ),
    Damage(
        "71b another bank in an entry that waits",
        SEAL,
        "seal_rows",
        "UPDATE ach_achentry SET routing_number = '021000021' WHERE id = {ew}",
    ),
    Damage(
        "71c another amount in an entry that waits",
        SEAL,
        "seal_rows",
        "UPDATE ach_achentry SET amount = amount + 1 WHERE id = {ew}",
    ),
    Damage(
        "71d an entry that waits was deleted",
        SEAL,
        "seal_rows",
        "DELETE FROM ach_achentry WHERE id = {ew}",
    ),
    Damage(
        "72 a sent file that somebody else released",
        USUAL,
        "ach_release_unwitnessed",
        "UPDATE ach_outfile SET released_by = 'usr_eve' WHERE id = '{of}'",
    ),
    Damage(
        "72b a sent file, gone",
        SEAL,
        "seal_rows",
        "DELETE FROM ach_achbatch WHERE file_id = '{rf}' AND is_offset IS NOT NULL;"
        " DELETE FROM ach_outfilechunk WHERE file_id = '{rf}';"
        " DELETE FROM ach_outfile WHERE id = '{rf}'",
    ),
    Damage(
        "73 the terms of a bank",
        SEAL,
        "seal_rows",
        "UPDATE ach_railversion SET terms = jsonb_set(terms, '{{company_id}}', '\"9\"')"
        " WHERE id = '{terms}'",
    ),
    Damage(
        "73b terms that nobody else agreed to",
        REFUSED,
        "rail_version_decided_by_another",
        "UPDATE ach_railversion SET decided_by = proposed_by WHERE id = '{terms}'",
    ),
    Damage(
        "73c rejected terms beside those in force",
        REFUSED,
        "one_current_version",
        "UPDATE ach_railversion SET status = 'current' WHERE id = '{rejected_terms}'",
    ),
    Damage(
        "73d rejected terms in place of those in force",
        USUAL,
        "ach_version",
        "UPDATE ach_railversion SET status = 'superseded', superseded_at = now()"
        " WHERE id = '{terms}';"
        " UPDATE ach_railversion SET status = 'current' WHERE id = '{rejected_terms}'",
    ),
    Damage(
        "73e proposed terms in place of those in force, by one hand",
        USUAL,
        "ach_version_unwitnessed",
        "UPDATE ach_railversion SET status = 'superseded', superseded_at = now()"
        " WHERE id = '{terms}';"
        " UPDATE ach_railversion SET status = 'current', decided_by = 'usr_eve',"
        " decided_at = now() WHERE id = '{proposed_terms}'",
    ),
    Damage(
        "73f no terms in force",
        USUAL,
        "ach_version",
        "UPDATE ach_railversion SET status = 'superseded', superseded_at = now()"
        " WHERE id = '{terms}'",
    ),
    Damage(
        "73g an account of ours in terms that name none",
        USUAL,
        "ach_version",
        "UPDATE ach_railversion SET offset_account_token = 'x' WHERE id = '{terms}'",
    ),
    Damage(
        "74 a rail that moves money is called a stand-in",
        SEAL,
        "seal_rows",
        "UPDATE rails_rail SET kind = 'stand_in' WHERE name = 'second_bank'",
    ),
    Damage(
        "74b a route of sandboxes to real money",
        REFUSED,
        "route_of_sandbox_moves_no_money",
        "UPDATE rails_route SET rail_kind = 'real' WHERE mode = 'sandbox'",
    ),
    Damage(
        "74c a route of sandboxes that says the rail is none",
        USUAL,
        "route_rail",
        "UPDATE rails_route SET rail_id = 'first_bank' WHERE mode = 'sandbox'",
    ),
    Damage(
        "74d a route of live tenants to another bank",
        USUAL,
        "route_unwitnessed",
        "UPDATE rails_route SET rail_id = 'second_bank' WHERE id = '{route}'",
    ),
    Damage(
        "74e back to the bank that it led to before, with its date",
        USUAL,
        "route_unwitnessed",
        "UPDATE rails_route SET rail_id = 'second_bank', changed_at = (SELECT min(created_at)"
        " FROM tenants_auditevent WHERE subject_id = '{route}') WHERE id = '{route}'",
    ),
    Damage(
        "74f a route that nobody closed",
        USUAL,
        "route_unwitnessed",
        "UPDATE rails_route SET is_open = false WHERE id = '{route}'",
    ),
    Damage(
        "74g a route of sandboxes that nobody closed",
        USUAL,
        "route_unwitnessed",
        "UPDATE rails_route SET is_open = false WHERE mode = 'sandbox' AND method = 'ach_credit'",
    ),
    Damage(
        "75 what a bank corrected",
        SEAL,
        "seal_rows",
        "UPDATE ach_correction SET code = 'C02' WHERE id = '{correction}'",
    ),
    Damage(
        "75b a correction that was applied at no time",
        REFUSED,
        "correction_decided_iff_dated",
        "UPDATE ach_correction SET decided_at = NULL WHERE id = '{correction}'",
    ),
    Damage(
        "76 who answered a bank",
        SEAL,
        "seal_rows",
        "UPDATE ach_achreply SET decided_by = 'usr_eve' WHERE id = '{reply}'",
    ),
    Damage(
        "76b two answers to one record",
        REFUSED,
        "one_live_reply",
        "INSERT INTO ach_achreply (id, rail_id, record_id, kind, code, information, due_on,"
        " status, trace_number, bank_code, decided_by, decided_at, decided_why)"
        " SELECT 'rpl_again', rail_id, record_id, kind, code, information, due_on, status,"
        " trace_number, bank_code, decided_by, decided_at, decided_why"
        " FROM ach_achreply WHERE id = '{reply}'",
    ),
    Damage(
        "77 a reversal that one person decided",
        REFUSED,
        "ach_reversal_decided_by_another",
        "UPDATE ach_achreversal SET decided_by = proposed_by WHERE id = '{reversal}'",
    ),
    Damage(
        "77b why an entry was taken back",
        SEAL,
        "seal_rows",
        "UPDATE ach_achreversal SET note = 'Whatever' WHERE id = '{reversal}'",
    ),
    Damage(
        "77c a rejected reversal, approved by one hand",
        USUAL,
        "ach_reversal_unwitnessed",
        "UPDATE ach_achreversal SET status = 'approved' WHERE id = '{reversal}'",
    ),
    Damage(
        "78 an answer by telephone that one person confirmed",
        REFUSED,
        "spoken_answer_decided_by_another",
        "UPDATE ach_spokenanswer SET decided_by = proposed_by WHERE id = '{spoken}'",
    ),
    Damage(
        "78b what a bank said by telephone",
        SEAL,
        "seal_rows",
        "UPDATE ach_spokenanswer SET said_by = 'Eve' WHERE id = '{spoken}'",
    ),
    Damage(
        "78c a file that people answered, and nobody did",
        USUAL,
        "ach_file_spoken",
        "UPDATE ach_outfile SET answered_how = 'people' WHERE id = '{rf}'",
    ),
    Damage(
        "78d an answer that two people confirmed is as if they had not",
        USUAL,
        "ach_file_spoken",
        "UPDATE ach_spokenanswer SET status = 'rejected' WHERE id = '{spoken}'",
    ),
    Damage(
        "78e an answer that people confirmed says otherwise",
        USUAL,
        "ach_file_spoken",
        "UPDATE ach_spokenanswer SET verdict = 'rejected', code = 'x' WHERE id = '{spoken}'",
    ),
    Damage(
        "78f an answer confirmed by somebody who did not",
        USUAL,
        "ach_answer_unwitnessed",
        "UPDATE ach_spokenanswer SET decided_by = 'usr_eve' WHERE id = '{spoken}'",
    ),
    Damage(
        "78g a limit that one person raised",
        REFUSED,
        "ach_proposal_decided_by_another",
        "UPDATE ach_achproposal SET decided_by = proposed_by WHERE id = '{proposal}'",
    ),
    Damage(
        "78h what two people agreed to",
        SEAL,
        "seal_rows",
        "UPDATE ach_achproposal SET reason = 'Whatever' WHERE id = '{proposal}'",
    ),
]
