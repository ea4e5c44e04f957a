"""The pages of the API reference. Anybody may read them; who is signed in is led to a test key."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from api import document
from dashboard.developers.docs.reference.reading import reference
from dashboard.shell import access
from tenants.models import Mode, Role

_FOLDER = "dashboard/developers/docs/reference"


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """What holds for every operation, and the list of them all."""
    values = {"contents": _piece("_contents"), "body": _piece("_index")}
    return render(request, f"{_FOLDER}/index.html", values)


@require_safe
def resource(request: HttpRequest, slug: str) -> HttpResponse:
    """One resource: its operations, with samples, and the objects that they answer with."""
    page = reference(base_url=settings.BASE_URL).find(slug)
    if page is None:
        raise Http404
    values = {
        "resource": page,
        "contents": _piece("_contents", slug),
        "body": _piece("_body", slug),
        "key_advice": _key_advice(request),
    }
    response = render(request, f"{_FOLDER}/resource.html", values)
    if request.user.is_authenticated:
        response["Cache-Control"] = "private, no-store"
    return response


def _piece(name: str, slug: str = "") -> SafeString:
    """What is the same for every reader of this release."""
    return _rendered(name, slug, settings.BASE_URL, document.current().etag)


@lru_cache(maxsize=64)
def _rendered(name: str, slug: str, base_url: str, _etag: str) -> SafeString:
    """A piece of a page, made once per process."""
    known = reference(base_url=base_url)
    values = {
        "reference": known,
        "resource": known.find(slug),
        "base_url": f"{base_url}/api/v1",
    }
    return render_to_string(f"{_FOLDER}/{name}.html", values)


def _key_advice(request: HttpRequest) -> str:
    """How this reader comes to a test key: `sign_in`, `make`, `ask_owner` or `switch`."""
    if not request.user.is_authenticated:
        return "sign_in"
    found = access.of_reader(request)
    if found is None or found.tenant.mode != Mode.SANDBOX:
        return "switch"
    return "make" if found.role == Role.OWNER and found.viewed_until is None else "ask_owner"
