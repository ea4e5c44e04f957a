"""What a tenant takes away to check a proof of funds, and the keys that signed it."""

from __future__ import annotations

from datetime import date

from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_safe

from dashboard.shell.access import PageRequest, tenant_download
from solvency import inclusion, signing

FILE = "proof-of-funds-{day}.json"
_KEYS_SECONDS = 300


@require_GET  # HEAD would open the secret, and is in no audit log
@tenant_download(FILE)
def download(request: PageRequest, day: date) -> JsonResponse:
    """The tenant's leaf of that day, the way to the root, and the signed report."""
    proof = inclusion.proof_of(inclusion.leaf_of(request.access.tenant.pk, day))
    name = FILE.format(day=day)
    return JsonResponse(proof, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@require_safe
@cache_control(public=True, max_age=_KEYS_SECONDS)
def keys(_request: HttpRequest) -> JsonResponse:
    """The public keys of all proofs of funds, for everybody."""
    return JsonResponse(signing.published())
