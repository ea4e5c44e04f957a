"""How fast a transfer is asked to be and which network carries it, in bodies of the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.fields import StrictChoiceField
from networks.base import Carrier, Speed

SPEEDS = [each.value for each in Speed]
CARRIERS = [each.value for each in Carrier]


class SpeedField(StrictChoiceField):
    """`standard` or `same_day`. `promised`: the field of the answer that says when it arrives."""

    def __init__(self, promised: str, **kwargs: Any) -> None:
        super().__init__(
            SPEEDS,
            default=Speed.STANDARD.value,
            help_text="`same_day` asks an ACH entry to settle on the day on which it is sent. Where"
            " the bank does not do that, the amount is above its limit or it is too late, it goes"
            f" at the usual speed; `{promised}` says when it arrives. Other methods ignore it.",
            **kwargs,
        )


class CarrierOut(serializers.ChoiceField):
    """The instant network that carries a transfer."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            choices=CARRIERS,
            allow_null=True,
            help_text="The instant network that carries it; null for ACH.",
            **kwargs,
        )
