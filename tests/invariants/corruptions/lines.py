"""The line to a bank: our keys, what stops it, and when its folders are looked into."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, SEAL, USUAL, Damage

LINES = [
    Damage(
        "79 a public half of ours",
        SEAL,
        "seal_rows",
        "UPDATE ach_achkey SET public_key = 'ssh-ed25519 x' WHERE id = '{key_used}'",
    ),
    Damage(
        "79b a fingerprint of ours",
        USUAL,
        "ach_key_unwitnessed",
        "UPDATE ach_achkey SET fingerprint = 'SHA256:x' WHERE id = '{key_retired}'",
    ),
    Damage(
        "79c a retired key in use again",
        USUAL,
        "ach_key_in_use",
        "UPDATE ach_achkey SET retired_at = NULL, retired_by = '', used_since = now() +"
        " interval '9 days' WHERE id = '{key_retired}'",
    ),
    Damage(
        "79d a retired key may be switched to",
        SEAL,
        "seal_rows",
        "UPDATE ach_achkey SET retired_at = NULL, retired_by = '' WHERE id = '{key_retired}'",
    ),
    Damage(
        "79e no key in use",
        USUAL,
        "ach_key_in_use",
        "UPDATE ach_achkey SET used_since = NULL WHERE id = '{key_used}'",
    ),
    Damage(
        "79f two keys in one slot",
        REFUSED,
        "one_key_per_slot",
        "UPDATE ach_achkey SET retired_at = NULL, retired_by = '', slot = 2"
        " WHERE id = '{key_retired}'",
    ),
    Damage(
        "79g a key that somebody else retired",
        USUAL,
        "ach_key_unwitnessed",
        "UPDATE ach_achkey SET retired_by = 'usr_eve' WHERE id = '{key_retired}'",
    ),
    Damage(
        "79h a retired key, gone",
        SEAL,
        "seal_rows",
        "DELETE FROM ach_achkey WHERE id = '{key_retired}'",
    ),
    Damage(
        "80 a stop that nobody released",
        USUAL,
        "ach_switch_unwitnessed",
        "UPDATE ach_railswitch SET released_at = now(), released_by = 'usr_eve',"
        " release_reason = 'x' WHERE id = '{stop}'",
    ),
    Damage(
        "80b a stop of another part",
        USUAL,
        "ach_switch_unwitnessed",
        "UPDATE ach_railswitch SET part = 'building' WHERE id = '{stop}'",
    ),
    Damage(
        "80c a stop, gone",
        SEAL,
        "seal_rows",
        "DELETE FROM ach_railswitch WHERE id = '{stop}'",
    ),
    Damage(
        "80d who released a stop",
        USUAL,
        "ach_switch_unwitnessed",
        "UPDATE ach_railswitch SET released_by = 'usr_eve' WHERE id = '{stop_over}'",
    ),
    Damage(
        "80e a stop that is over is in force again",
        SEAL,
        "seal_rows",
        "UPDATE ach_railswitch SET released_at = NULL, released_by = '', release_reason = ''"
        " WHERE id = '{stop_over}'",
    ),
    Damage(
        "80f why a part of a bank was stopped",
        SEAL,
        "seal_rows",
        "UPDATE ach_railswitch SET reason = 'Whatever' WHERE id = '{stop}'",
    ),
    Damage(
        "81 a bank whose folders nobody looks into",
        USUAL,
        "ach_line_never_due",
        "UPDATE ach_railline SET next_attempt_at = NULL",
    ),
    Damage(
        "81b folders that are due in a thousand years",
        USUAL,
        "ach_line_never_due",
        "UPDATE ach_railline SET next_attempt_at = '3026-01-01'",
    ),
    Damage(
        "81c folders that a worker holds for ever",
        USUAL,
        "ach_line_never_due",
        "UPDATE ach_railline SET leased_until = 'infinity'",
    ),
]
