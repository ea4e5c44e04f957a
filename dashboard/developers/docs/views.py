"""The public documentation pages."""

from __future__ import annotations

from http import HTTPStatus
from itertools import groupby
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from api.errors import status_of
from common.errors import DomainError
from dashboard.developers.docs import guide as guides


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/developers/docs/index.html", {"base_url": settings.BASE_URL})


@require_safe
def guide(request: HttpRequest) -> HttpResponse:
    """docs/api.md, beside the reference."""
    return render(request, "dashboard/developers/docs/guide.html", {"guide": guides.guide()})


@require_safe
def verify_proof(_request: HttpRequest) -> HttpResponse:
    """docs/verify_proof.py, which checks a proof of funds."""
    program = Path(settings.BASE_DIR, "docs", "verify_proof.py").read_bytes()
    return HttpResponse(program, "text/x-python; charset=utf-8")


@require_safe
def webhooks(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/developers/docs/webhooks.html")


@require_safe
def errors(request: HttpRequest) -> HttpResponse:
    """The error reference: every code the API answers, by status."""
    known = sorted(DomainError.registry.values(), key=lambda error: (status_of(error), error.code))
    groups = [
        {
            "status": status,
            "phrase": HTTPStatus(status).phrase,
            "errors": [
                {"code": error.code, "title": error.title, "advice": error.advice}
                for error in members
            ],
        }
        for status, members in groupby(known, key=status_of)
    ]
    return render(request, "dashboard/developers/docs/errors.html", {"groups": groups})
