"""Deprecated operations, announced in the headers of every answer a year ahead.

`Deprecation` is RFC 9745, `Sunset` RFC 8594; the link leads to what replaces the operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.http import http_date

NOTICE_MIN = timedelta(days=365)


@dataclass(frozen=True)
class Deprecation:
    """Since when an operation is deprecated, when it ends (both aware), and what to read.

    `guide` is the path of a page of ours. Raises ValueError for less than a year's notice.
    """

    since: datetime
    sunset: datetime
    guide: str

    def __post_init__(self) -> None:
        if self.sunset - self.since < NOTICE_MIN:
            raise ValueError(f"Give at least {NOTICE_MIN.days} days' notice.")

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": http_date(self.sunset.timestamp()),
            "Link": f'<{settings.BASE_URL}{self.guide}>; rel="deprecation"; type="text/html"',
        }
