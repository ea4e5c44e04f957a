"""The accent and the logo of a deployment, as files of our own: the policy allows no others."""

from __future__ import annotations

from hashlib import sha256

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_safe

_KEPT = "public, max-age=31536000, immutable"  # another brand has another address


def version() -> str:
    """Tells this brand from the one before: a part of the addresses."""
    return sha256(settings.BRAND_PALETTE.css.encode() + settings.BRAND_LOGO).hexdigest()[:12]


def stylesheet_address() -> str:
    """Empty where the deployment has our accent."""
    return "" if settings.BRAND_PALETTE.is_ours else reverse("brand:stylesheet", args=[version()])


def logo_address() -> str:
    """Empty where the deployment has our logo."""
    return reverse("brand:logo", args=[version()]) if settings.BRAND_LOGO else ""


@require_safe
def stylesheet(_request: HttpRequest, version: str) -> HttpResponse:
    """The accent. It replaces the one of `css/tokens.css`."""
    if settings.BRAND_PALETTE.is_ours:
        raise Http404
    return _file(settings.BRAND_PALETTE.css.encode(), "text/css; charset=utf-8", version)


@require_safe
def logo(_request: HttpRequest, version: str) -> HttpResponse:
    if not settings.BRAND_LOGO:
        raise Http404
    return _file(settings.BRAND_LOGO, "image/svg+xml", version)


def _file(content: bytes, kind: str, asked: str) -> HttpResponse:
    """An address of another version is answered, too, for a page that was there before."""
    cached = _KEPT if asked == version() else "no-cache"
    return HttpResponse(content, kind, headers={"Cache-Control": cached})


app_name = "brand"
urlpatterns = [
    path("<slug:version>/brand.css", stylesheet, name="stylesheet"),
    path("<slug:version>/logo.svg", logo, name="logo"),
]
