"""The seals themselves."""

from __future__ import annotations

from tests.invariants.corruptions.damage import SEAL, Damage

SEALS = [
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
    Damage(
        "50b a forged round of the highest number, with all that would lie in between",
        SEAL,
        "seal_round",
        "INSERT INTO seals_sealround (number, made_at, windows, seals, chains, seals_digest,"
        " previous, key_id, mac) VALUES (2147483647, now(), '{{}}', 0, 0, '', '', 'k', 'm')",
    ),
]
