"""What people type about an instant rail."""

from __future__ import annotations

from typing import Any

from desk.rails.forms import WordedForm
from desk.rails.instant.terms import ACCOUNT_SECTION, WORDING
from networks.instant.changing import ACCOUNT_LENGTH_MAX
from networks.instant.terms import RailTerms


class InstantTermsForm(WordedForm):
    """The terms of an instant rail."""

    wording = WORDING
    account = ("account", ACCOUNT_SECTION, 0)
    account_length_max = ACCOUNT_LENGTH_MAX
    account_help = "Money comes in there. Never shown. Empty: as it is."
    terms: RailTerms | None = None

    def parse(self, stored: dict[str, Any]) -> None:
        connection = stored["connection"]
        connection["pins"] = [pin.lower() for pin in connection["pins"]]
        self.terms = RailTerms.parse(stored)
