"""The full number of one bank account, for staff who may, with a reason."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from common.clock import utc_now
from desk.access import actor_of, desk_page, desk_render
from desk.account_numbers.kinds import kind_of
from desk.forms import ReasonForm
from transfers import disclosure


@require_http_methods(["GET", "HEAD", "POST"])
@desk_page(is_fresh=True)
def reveal(request: HttpRequest, account_id: str) -> HttpResponse:
    """Ask why; then show the number in this one answer and nowhere else."""
    kind = kind_of(account_id)
    if not request.user.has_perm(kind.permission):
        raise PermissionDenied
    account, form, number = kind.find(account_id), ReasonForm(request.POST or None), None
    if form.is_valid():
        number = disclosure.account_number(
            account,
            tenant_id=account.tenant_id,
            action=kind.action,
            reason=form.cleaned_data["reason"],
            actor=actor_of(request),
            now=utc_now(),
        )
    return desk_render(
        request,
        "desk/account_numbers/reveal.html",
        title=f"Account number of {account}",
        account=account,
        tenant_id=account.tenant_id,
        back=kind.admin_address(account_id),
        form=form,
        number=number,
    )
