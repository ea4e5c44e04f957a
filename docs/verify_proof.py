#!/usr/bin/env python3
"""Checks a proof of funds: that a balance is in the signed report, that the sums are right, and
that the bank has what all tenants own. It shares no code with what made the proof. Read it before
you believe it.

    python verify_proof.py proof.json --tenant ten_… --keys ballast-proof-keys.json

`proof.json` is what the page Statements or GET /api/v1/balance/proofs/{day} answers. With a report
alone, as staff download it, only the report is checked. Take the keys from
/.well-known/ballast-proof-keys.json yourself, and keep them: whoever can change both the report and
the keys can sign anything. Needs Python 3.9, and `cryptography` for the signature.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import sys
from typing import Any

KINDS = ("available", "settled", "locked")
CENTS_MAX = 2**63 - 1
Amounts = dict[str, int]  # cents by kind
Node = tuple[bytes, Amounts]  # the digest, and the sums below it


class Wrong(Exception):
    """The proof does not hold. The text says where."""


def require(is_so: object, otherwise: str) -> None:
    if not is_so:
        raise Wrong(otherwise)


def cents(value: Any) -> int:
    """A whole number of cents, not below zero: a negative sum would hide what others own."""
    require(type(value) is int and 0 <= value <= CENTS_MAX, f"{value!r} is no amount in cents")
    return int(value)


def whole(value: Any) -> int:
    """A whole number of cents, which may be below zero."""
    require(type(value) is int, f"{value!r} is no whole number of cents")
    return int(value)


def dollars(value: int) -> str:
    return f"{value // 100:,}.{value % 100:02d} USD"


def packed(digest: bytes, amounts: Amounts) -> bytes:
    """A node as it is hashed: 32 bytes, then three numbers of 8 bytes, the highest byte first."""
    require(len(digest) == 32, "a digest has not 32 bytes")
    return digest + b"".join(cents(amounts[kind]).to_bytes(8, "big") for kind in KINDS)


def leaf(day: str, tenant_id: str, salt: bytes, amounts: Amounts) -> bytes:
    """The digest of a tenant's leaf. Only who knows the salt can tell whose it is."""
    require(len(salt) == 32, "the salt has not 32 bytes")
    name = hmac.new(salt, b"ballast leaf name 1\0" + tenant_id.encode(), hashlib.sha256).digest()
    start = b"\0ballast leaf 1\0" + day.encode()
    return hashlib.sha256(start + packed(name, amounts)).digest()


def parent(left: Node, right: Node) -> Node:
    """What two nodes (digest, amounts) come to."""
    digest = hashlib.sha256(b"\1" + packed(*left) + packed(*right)).digest()
    return digest, {kind: cents(left[1][kind] + right[1][kind]) for kind in KINDS}


def climb(node: Node, index: int, count: int, path: Any) -> Node:
    """The root above a leaf. `count` leaves are paired from the left; the last one of an odd number
    goes up alone."""
    require(type(index) is int and type(count) is int and 0 <= index < count, "no such leaf")
    siblings = list(path)
    while count > 1:
        if index ^ 1 < count:
            require(siblings, "the path is too short")
            step = siblings.pop(0)
            sibling = bytes.fromhex(step["digest"]), {kind: step[kind] for kind in KINDS}
            node = parent(sibling, node) if index % 2 else parent(node, sibling)
        index, count = index // 2, (count + 1) // 2
    require(not siblings, "the path is too long")
    return node


def check_inclusion(proof: Any, report: Any, tenant_id: str | None) -> None:
    """The tenant's amounts are in the root, and the sums of the root are those of the report."""
    require(tenant_id, "say whose balance it is: --tenant")
    require(proof["tenantId"] == tenant_id, f"this is the proof of {proof['tenantId']}")
    amounts = {kind: proof[kind] for kind in KINDS}
    salt = bytes.fromhex(proof["salt"])
    start = leaf(report["day"], str(tenant_id), salt, amounts), amounts
    tenants = report["tenants"]
    digest, sums = climb(start, proof["index"], tenants["leaves"], proof["path"])
    require(digest.hex() == tenants["root"], "the balance is not in the root of the report")
    for kind in KINDS:
        require(sums[kind] == tenants[kind], f"the sum of {kind} is not that of the report")


def check_sums(report: Any) -> None:
    """The books and the bank say the same, to the cent."""
    tenants, receivables = report["tenants"], report["receivables"]
    for kind in KINDS:
        cents(tenants[kind])
    cents(receivables["amount"])
    at_the_bank = sum(
        whole(account["closing"]) + whole(account["notOnStatement"]) - whole(account["ownFunds"])
        for account in report["bank"]
    )
    books, others = 0, 0
    for line in report["operator"]:
        balance = cents(line["debit"]) - cents(line["credit"])
        if line["account"] == "settlement":
            books += balance
        elif line["account"] not in ("debits_in_transit", "bank_clearing"):
            others -= balance
    owed = sum(tenants[kind] for kind in KINDS) - receivables["amount"] + others
    require(at_the_bank == books, f"the bank has {at_the_bank}, the books say {books}")
    require(at_the_bank == owed, f"the bank has {at_the_bank}, and {owed} are owed")
    require(report["difference"] == 0, f"the report says a difference of {report['difference']}")


def surplus(report: Any) -> int:
    """By how much what lies at the bank, or is on its way there, covers what all tenants own. Money
    out that has left and is not final is still locked, so it counts as if it were there."""
    lies = sum(whole(each["closing"]) + whole(each["notOnStatement"]) for each in report["bank"])
    left = sum(
        cents(line["debit"]) - cents(line["credit"])
        for line in report["operator"]
        if line["account"] == "credits_in_transit"
    )
    return lies + left - sum(cents(report["tenants"][kind]) for kind in KINDS)


def check_signature(proof: Any, keys: Any) -> None:
    """The text of the report was signed with the key of this id."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    known = {key["id"]: key["publicKey"] for key in keys["keys"]}
    require(len(known) == len(keys["keys"]), "two of the published keys have one name")
    require(proof["keyId"] in known, f"the key {proof['keyId']!r} is not published")
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(known[proof["keyId"]]))
    try:
        key.verify(base64.b64decode(proof["signature"]), proof["report"].encode())
    except InvalidSignature:
        raise Wrong("the signature is not that of the key") from None


def check(proof: Any, *, tenant_id: str | None, keys: Any, day: str | None) -> list[str]:
    """Check everything that can be checked with what is given, and say what that was. Raises Wrong,
    or what Python raises for something else than a proof."""
    proof = proof.get("data", proof)  # what the API answers has one envelope more
    report = json.loads(proof["report"])
    plain = json.dumps(report, sort_keys=True, separators=(",", ":"))
    require(plain == proof["report"], "the report can be read in two ways")
    require(report["format"] == "ballast proof of funds 1", "this is no proof of funds")
    require(day in (None, report["day"]), f"this is the proof of {report['day']}")
    digest = hashlib.sha256(plain.encode()).hexdigest()
    done = [f"Proof of funds of {report['day']}, digest {digest}"]
    if keys is None:
        done.append("NOT CHECKED: the signature (give --keys)")
    else:
        check_signature(proof, keys)
        done.append(f"It is signed with the key {proof['keyId']}.")
    if "path" in proof:
        check_inclusion(proof, report, tenant_id)
        yours = dollars(sum(proof[kind] for kind in KINDS))
        done.append(f"{yours} of {tenant_id} are in the sum of all tenants.")
    check_sums(report)
    done.append("The books and the bank say the same; the difference is zero.")
    spare = surplus(report)
    require(spare >= 0, f"tenants own {dollars(-spare)} more than the bank has for them")
    done.append(f"The bank has what all tenants own, and {dollars(spare)} more.")
    return done


def read(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main() -> None:
    reader = argparse.ArgumentParser(description="Check a proof of funds.")
    reader.add_argument("proof", help="the file of the proof")
    reader.add_argument("--tenant", help="the id of your tenant")
    reader.add_argument("--keys", help="the file of the published keys")
    reader.add_argument("--day", help="the day that it must be of, as 2026-11-27")
    given = reader.parse_args()
    try:
        keys = read(given.keys) if given.keys else None
        done = check(read(given.proof), tenant_id=given.tenant, keys=keys, day=given.day)
    except Wrong as wrong:
        sys.exit(f"WRONG: {wrong}.")
    except (OSError, ImportError) as error:
        sys.exit(f"NOT CHECKED: {error}.")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        sys.exit(f"WRONG: this is no proof of funds ({type(error).__name__}: {error}).")
    print("\n".join(done))


if __name__ == "__main__":
    main()
