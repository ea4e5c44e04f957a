"""Examples for the reference, by component. Northwind's balance is one of two."""

from __future__ import annotations

from typing import Any

_OWNED = {"available": 13_000, "settled": 50_000, "locked": 12_000}
_REPORT = (
    '{"bank":[{"closing":575000,"last4":"4321","notOnStatement":0,"ownFunds":500000,"rail":"ach"}],'
    '"day":"2026-11-24","difference":0,"format":"ballast proof of funds 1","operator":['
    '{"account":"bank_clearing","credit":37000,"debit":12000,"rail":"ach"},'
    '{"account":"debits_in_transit","credit":87000,"debit":37000,"rail":"ach"},'
    '{"account":"settlement","credit":12000,"debit":87000,"rail":"ach"}],"previous":"",'
    '"receivables":{"amount":0,"count":0},"takenAt":"2026-11-25T08:00:00.000000Z",'
    '"tenants":{"available":13000,"leaves":2,"locked":12000,'
    '"root":"29072176b49475d7a99c0941e78b557cbd9b434a2d9f0109c5271b2713feda35","settled":50000}}'
)

EXAMPLES: dict[str, dict[str, Any]] = {
    "ProvenBalance": {
        "default": {
            "day": "2026-11-24",
            "takenAt": "2026-11-25T08:00:00.000000Z",
            **_OWNED,
            "overdrawn": 0,
        }
    },
    "Proof": {
        "default": {
            "format": "ballast inclusion 1",
            "tenantId": "ten_01kajq0a1b2c3d4e5f6g7h8j9k",
            "salt": "e50eb1e2634e79000139dc5f6a9350f0d0065c38819ef5fb4d0cd943f815ee72",
            "index": 0,
            **_OWNED,
            "path": [
                {
                    "digest": "c4d36471f9f71b1f5cd196563b51d613721df0cb879d30a0cd17f4c7956e94b2",
                    "available": 0,
                    "settled": 0,
                    "locked": 0,
                }
            ],
            "report": _REPORT,
            "keyId": "p1",
            "signature": (
                "2QvVbC2bQ3GpnrN+Oi21+Uc5/F7mulGgubsktvG632TOYaPPE6VjRkULOoQt"
                "14lfzLKT7Qx3QeQCAuU5RCWNCQ=="
            ),
        }
    },
}
