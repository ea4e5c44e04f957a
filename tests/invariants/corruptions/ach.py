"""Entries for banks, and the files that they are in. `of` is a file that the bank took, `rf` one
that it refused, `bf` one that is to be released."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, USUAL, Damage

_IN = "WHERE batch_id IN (SELECT id FROM ach_achbatch WHERE file_id = '{%s}')"
_ONE = "WHERE id = (SELECT min(id) FROM ach_achentry " + _IN + ")"

ACH = [
    Damage(
        "60 an entry of a file has another amount",
        USUAL,
        "ach_batch_sums",
        f"UPDATE ach_achentry SET amount = amount + 1 {_ONE % 'of'}",
    ),
    Damage(
        "60b an entry of a file goes to another bank",
        USUAL,
        "ach_batch_sums",
        f"UPDATE ach_achentry SET routing_number = '021000021' {_ONE % 'bf'}",
    ),
    Damage(
        "60c an entry was taken out of a file behind its back",
        USUAL,
        "ach_batch_sums",
        "UPDATE ach_achentry SET status = 'waiting', batch_id = NULL, trace_number = '',"
        f" frozen_at = NULL {_ONE % 'bf'}",
    ),
    Damage(
        "60d an entry of a file was deleted",
        USUAL,
        "ach_batch_sums",
        "DELETE FROM ach_achevent WHERE entry_id ="
        f" (SELECT min(id) FROM ach_achentry {_IN % 'of'});"
        f" DELETE FROM ach_achentry {_ONE % 'of'}",
    ),
    Damage(
        "60e two entries have one trace",
        USUAL,
        "ach_batch_sums",
        "UPDATE ach_achentry SET trace_number = (SELECT min(trace_number) FROM ach_achentry"
        f" {_IN % 'bf'}) {_IN % 'bf'}",
    ),
    Damage(
        "61 a batch has another total",
        USUAL,
        "ach_file_sums",
        "UPDATE ach_achbatch SET debit_total = debit_total + 1 WHERE file_id = '{of}'",
    ),
    Damage(
        "61b a file has another total",
        USUAL,
        "ach_file_sums",
        "UPDATE ach_outfile SET debit_total = debit_total + 1 WHERE id = '{bf}'",
    ),
    Damage(
        "62 the bytes of a file were cut",
        USUAL,
        "ach_file_bytes",
        "DELETE FROM ach_outfilechunk WHERE file_id = '{bf}'",
    ),
    Damage(
        "62b the bytes of another file",
        USUAL,
        "ach_file_bytes",
        "UPDATE ach_outfilechunk SET content_token = (SELECT content_token FROM ach_outfilechunk"
        " WHERE file_id = '{of}') WHERE file_id = '{bf}'",
    ),
    Damage(
        "62c another digest",
        USUAL,
        "ach_file_bytes",
        "UPDATE ach_outfile SET sha256 = repeat('0', 64) WHERE id = '{bf}'",
    ),
    Damage(
        "63 a second live entry of an instruction",
        REFUSED,
        "one_live_entry",
        f"UPDATE ach_achentry SET status = 'sent' {_IN % 'rf'}",
    ),
    Damage(
        "63b an entry that was never sent is accepted",
        USUAL,
        "ach_entry_misplaced",
        f"UPDATE ach_achentry SET status = 'accepted', accepted_at = now() {_IN % 'bf'}",
    ),
    Damage(
        "63c an entry of an accepted batch is as if it were not answered",
        USUAL,
        "ach_entry_misplaced",
        f"UPDATE ach_achentry SET status = 'sent' {_ONE % 'of'}",
    ),
    Damage(
        "63d a rejected entry that nothing replaces",
        USUAL,
        "ach_entry_unreplaced",
        "UPDATE ach_achentry SET replaces_id = NULL WHERE replaces_id IS NOT NULL",
    ),
    Damage(
        "64 a settlement that nobody will be told of",
        USUAL,
        "ach_entry_untold",
        "DELETE FROM ach_achevent WHERE kind = 'settled' AND entry_id ="
        f" (SELECT min(id) FROM ach_achentry {_IN % 'of'})",
    ),
    Damage(
        "64b an accepted entry that is never final",
        USUAL,
        "ach_entry_never_final",
        f"UPDATE ach_achentry SET final_due_at = 'infinity' {_ONE % 'of'}",
    ),
    Damage(
        "65 a file that one person released",
        REFUSED,
        "out_file_released_by_two",
        "UPDATE ach_outfile SET first_released_by = released_by WHERE id = '{of}'",
    ),
    Damage(
        "65b a file that nobody released",
        REFUSED,
        "out_file_is_released",
        "UPDATE ach_outfile SET status = 'released' WHERE id = '{bf}'",
    ),
    Damage(
        "65c a file whose builder released it",
        REFUSED,
        "out_file_builder_releases_not",
        "UPDATE ach_outfile SET released_by = built_by WHERE id = '{of}'",
    ),
    Damage(
        "66 a released file that is never due",
        USUAL,
        "ach_file_never_sent",
        "UPDATE ach_outfile SET status = 'released', released_at = now(), released_how = 'rule',"
        " next_attempt_at = NULL WHERE id = '{bf}'",
    ),
    Damage(
        "67 two files under one modifier",
        REFUSED,
        "one_file_per_modifier",
        "UPDATE ach_outfile SET modifier = 'Z', file_time = '00:00', file_date = '2026-01-02'",
    ),
]
