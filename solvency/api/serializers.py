"""What the proof endpoints answer, for the schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class _AmountsOut(serializers.Serializer[Any]):
    """Cents, none of them below zero."""

    available = serializers.IntegerField(min_value=0)
    settled = serializers.IntegerField(
        min_value=0, help_text="Funding that settled at the bank and is not final yet."
    )
    locked = serializers.IntegerField(min_value=0)


class ProvenBalanceOut(_AmountsOut):
    """What a proof of funds counted as yours, in cents."""

    day = serializers.DateField()
    takenAt = serializers.DateTimeField()
    overdrawn = serializers.IntegerField(
        min_value=0, help_text="How far the available balance was below zero; available is 0 then."
    )


class PathStepOut(_AmountsOut):
    """A sibling on the way from your leaf to the root: its digest, and the sums below it."""

    digest = serializers.RegexField("^[0-9a-f]{64}$")


class ProofOut(_AmountsOut):
    """What `verify_proof.py` reads: your leaf, and the signed report whose root it leads to."""

    format = serializers.CharField()
    tenantId = serializers.CharField()
    salt = serializers.RegexField(
        "^[0-9a-f]{64}$", help_text="Your secret of the day: your leaf cannot be found without it."
    )
    index = serializers.IntegerField(min_value=0, help_text="The place of your leaf.")
    path = PathStepOut(many=True)
    report = serializers.CharField(help_text="The text that was signed, byte for byte: JSON.")
    keyId = serializers.CharField(help_text="Of /.well-known/ballast-proof-keys.json.")
    signature = serializers.CharField(help_text="Ed25519 over `report`, in base64.")
