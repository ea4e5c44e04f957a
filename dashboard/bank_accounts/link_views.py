"""Link a bank account at the provider: the one page that runs a script of somebody else."""

from __future__ import annotations

from csp.constants import NONCE
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from common import ids
from common.clock import utc_now
from common.errors import DomainError
from dashboard.authorizations import asking
from dashboard.bank_accounts import authorization
from dashboard.bank_accounts.forms import LinkForm, add_link_refusal
from dashboard.bank_accounts.names import account_name
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from funding.errors import LinkProviderUnavailable
from funding.services import hosted_links
from funding.services.hosted_links import LinkSession
from networks.links.base import LinkModule
from tenants import actors
from tenants.models import TenantStatus

_KEPT = "bank_link"  # in the session, for the way back from a bank's own page


@sensitive_post_parameters("public_token")
@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
@sensitive_variables()
def link(request: PageRequest) -> HttpResponse:
    """Open the provider's module, and add the account that it hands over."""
    tenant = request.access.tenant
    form = LinkForm(
        request.POST if request.method == "POST" else None,
        tenant_id=tenant.pk,
        what=ids.new("lnk"),
        initial={"holder_name": tenant.name},
    )
    if form.is_valid():
        if not form.claim():
            said = "You already sent this form. The account appears here in a moment."
            messages.info(request, said)
            return redirect("dashboard:bank_accounts")
        try:
            return _add(request, form)
        except DomainError as refusal:
            form.renew()
            add_link_refusal(form, refusal)
        except Exception:
            # Such as a lost database: a repeat of the form must not be told that it was added.
            form.release()
            raise
    return _page(request, form)


def _add(request: PageRequest, form: LinkForm) -> HttpResponse:
    wording = authorization.of_new_account(request.access.tenant)
    source = hosted_links.finish(
        tenant_id=request.access.tenant.pk,
        mode=request.access.tenant.mode,
        actor=actors.user(request.user.pk),
        now=utc_now(),
        agreement=asking.answer(request, wording, now=utc_now()) if wording else None,
        **form.cleaned_data,
    )
    messages.success(request, f"{account_name(source)} was linked.")
    return redirect("dashboard:bank_accounts")


def _page(request: PageRequest, form: LinkForm) -> HttpResponse:
    session, why_not = _session(request)
    wording = authorization.of_new_account(request.access.tenant)
    question = asking.question(request, wording, is_optional=True) if wording else None
    values = {"form": form, "session": session, "why_not": why_not, "question": question}
    status = 422 if form.errors else 200
    response = render(request, "dashboard/bank_accounts/link.html", values, status=status)
    if session:
        _allow(response, session.module)
    return response


def _session(request: PageRequest) -> tuple[LinkSession | None, str]:
    """What runs the module, or why it cannot be run: sandbox, unconnected, tied, unavailable."""
    tenant = request.access.tenant
    if not hosted_links.is_offered(mode=tenant.mode):
        return None, tenant.mode
    if (
        request.access.viewed_until
        or request.access.is_read_only
        or tenant.status == TenantStatus.SUSPENDED
    ):
        return None, "tied"
    try:
        return _opened(request), ""
    except LinkProviderUnavailable:
        return None, "unavailable"


def _opened(request: PageRequest) -> LinkSession:
    """A new session, or the one a bank's own page leads back to. It must be the same token."""
    tenant = request.access.tenant
    kept = request.session.get(_KEPT)
    comes_back = request.method == "GET" and "oauth_state_id" in request.GET
    if comes_back and kept and kept["tenant"] == tenant.pk:
        return hosted_links.resume(token=kept["token"], mode=tenant.mode)
    return_url = settings.BASE_URL + reverse("dashboard:bank_account_link")
    session = hosted_links.begin(
        tenant_id=tenant.pk,
        person=str(request.user.pk),
        mode=tenant.mode,
        return_url=return_url if settings.PLAID_RETURN else None,
    )
    request.session[_KEPT] = {"tenant": tenant.pk, "token": session.token}
    return session


def _allow(response: HttpResponse, module: LinkModule) -> None:
    """What this page alone may load (decision 0071), and the windows that banks open from it."""
    response._csp_update = {  # type: ignore[attr-defined]  # django-csp's own hook
        "script-src": [module.script_url, NONCE],
        "style-src": [NONCE],
        "frame-src": [module.frame_source],
        "connect-src": [module.connect_source],
    }
    response["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
