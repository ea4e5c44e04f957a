"""The answer that is a document, made after the view: a transaction does not wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.template.loader import render_to_string
from django.template.response import SimpleTemplateResponse

from dashboard.statement.pdf import printing

TEMPLATE = "statement.typ"
RETRY_AFTER_SECONDS = 10


class StatementFile(SimpleTemplateResponse):
    """A PDF file of `content`. Django renders it once the view and its transaction are over."""

    def __init__(self, filename: str, content: Mapping[str, Any], *, at: datetime) -> None:
        super().__init__(TEMPLATE, dict(content), content_type="application/pdf")
        self.created_at = at
        self["Content-Disposition"] = f'attachment; filename="{filename}"'

    @property
    def rendered_content(self) -> Any:
        content = self.context_data or {}
        return printing.typeset(TEMPLATE, content, at=self.created_at)

    def render(self) -> SimpleTemplateResponse:
        """The file, or 503 while one is made for somebody else."""
        try:
            return super().render()
        except printing.TooBusy:
            return self._become_busy()

    def _become_busy(self) -> SimpleTemplateResponse:
        """A page instead of the file. It asks no database."""
        self.content = render_to_string("dashboard/statement/busy.html")
        self.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        self["Content-Type"] = "text/html; charset=utf-8"
        self["Retry-After"] = str(RETRY_AFTER_SECONDS)
        del self["Content-Disposition"]
        return self
