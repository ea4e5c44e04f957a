"""The answer that is a document, made after the view: a transaction does not wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.template.loader import render_to_string
from django.template.response import SimpleTemplateResponse

from dashboard.statement.pdf import printing, turns

TEMPLATE = "statement.typ"
RETRY_AFTER_SECONDS = 10


class StatementFile(SimpleTemplateResponse):
    """A PDF file of `content` for a person. Django renders it once the view and its transaction
    are over."""

    def __init__(
        self, filename: str, content: Mapping[str, Any], *, user_id: str, at: datetime
    ) -> None:
        super().__init__(TEMPLATE, dict(content), content_type="application/pdf")
        self.user_id, self.created_at = user_id, at
        self["Content-Disposition"] = f'attachment; filename="{filename}"'

    @property
    def rendered_content(self) -> Any:
        content = self.context_data or {}
        return printing.typeset(TEMPLATE, content, at=self.created_at)

    def render(self) -> SimpleTemplateResponse:
        """The file; 429 while one is made for the same person, 503 while one is for somebody
        else."""
        try:
            with turns.turn_of(self.user_id):
                return super().render()
        except turns.AtItAlready:
            return self._become_busy(HTTPStatus.TOO_MANY_REQUESTS)
        except printing.TooBusy:
            return self._become_busy(HTTPStatus.SERVICE_UNAVAILABLE)

    def _become_busy(self, status: HTTPStatus) -> SimpleTemplateResponse:
        """A page instead of the file. It asks no database."""
        is_own = status == HTTPStatus.TOO_MANY_REQUESTS
        self.content = render_to_string("dashboard/statement/busy.html", {"is_own": is_own})
        self.status_code = status
        self["Content-Type"] = "text/html; charset=utf-8"
        self["Retry-After"] = str(RETRY_AFTER_SECONDS)
        del self["Content-Disposition"]
        return self
