"""Who may see a page: signed in, a member of the tenant, in one of the roles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from common.clock import utc_now
from common.database import doors
from common.errors import NotFound
from dashboard.shell import pace, staff_view, step_up, view_only
from dashboard.shell.filter_forms import DaysFilter
from tenants import actors, proofs, second_factor, selectors
from tenants.errors import ProofNeeded
from tenants.models import Membership, Role, Tenant, TenantStatus, User
from tenants.services import downloads
from tenants.sso import reach
from tenants.sso.connections import Connection

# The roles that may add money and bank accounts.
MONEY = (Role.OWNER, Role.MEMBER)

_READING = ("GET", "HEAD")
_HTML = "text/html; charset=utf-8"
_SESSION_KEY = "tenant_id"


@dataclass(frozen=True)
class TenantAccess:
    """Which tenant a person looks at, what they may do there, and where else they belong.

    Staff who view as the tenant have its owner's role until `viewed_until`, and may only look.
    """

    tenant: Tenant
    role: Role
    memberships: tuple[Membership, ...]
    is_read_only: bool = False
    viewed_until: datetime | None = None

    @property
    def membership(self) -> Membership:
        return next(one for one in self.memberships if one.tenant_id == self.tenant.pk)

    @property
    def role_label(self) -> str:
        return "Staff, read only" if self.viewed_until else self.role.label

    @property
    def may_move_money(self) -> bool:
        return self.role in MONEY

    @property
    def may_approve(self) -> bool:
        return self.role in (Role.OWNER, Role.APPROVER)

    @property
    def may_read_audit_log(self) -> bool:
        return self.role == Role.OWNER

    def waits_until(self, now: datetime) -> datetime | None:
        """Until when a new owner or approver approves no payment; None: no longer, or never."""
        if self.viewed_until is not None:
            return None
        from_when = self.membership.approves_from
        return from_when if from_when is not None and now < from_when else None


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


class PageRequest(PersonRequest):
    """A request that passed `tenant_page`."""

    htmx: HtmxDetails
    access: TenantAccess
    needed_connection: Connection | None  # of single sign-on, where there is no `access`
    is_proven: bool  # in a `tenant_form`: it raised ProofNeeded, and there is a recent proof


View = Callable[..., HttpResponseBase]


def tenant_page(
    *roles: Role, is_open: bool = False, limit: pace.Pace = pace.PAGES
) -> Callable[[View], View]:
    """A page about the current tenant, for members in `roles` (any role when none is named).

    Strangers are sent to sign in; a role that may not is answered 403, and so is staff who would
    do more than look; who asks more often than `limit` allows is answered 429. Never cached. Where
    the tenant asks for a second factor, a session that proved none is shown nothing but `is_open`
    pages. The view sees the rows of this tenant alone (decision 0175).
    """

    def decorate(view: View) -> View:
        return _page(_behind_the_wall(view), roles, is_open=is_open, limit=limit)

    return decorate


def tenant_form(*roles: Role, needs_proof: bool = False) -> Callable[[View], View]:
    """A `tenant_page` that also acts, on POST.

    Its form says for which tenant it was shown (components/guard.html): a window left open while
    another one switched acts on nothing and is answered 409. Nobody acts for a suspended tenant,
    nor while operators let nothing be changed (503). With `needs_proof` whoever acts has proven
    within the last minutes who they are (`step_up`). A view that finds out only on the way that it
    needs the proof raises ProofNeeded, with nothing done: once there is one, it is called again.
    """

    def decorate(view: View) -> View:
        form = _form(_asking_on_the_way(_behind_the_wall(view)), needs_proof=needs_proof)
        return view_only.acts(_discreet(_page(form, roles)))

    return decorate


def tenant_download(
    file: str, *roles: Role, narrowed_by: type[DaysFilter] = DaysFilter
) -> Callable[[View], View]:
    """A `tenant_page` that is a file, narrowed by what `narrowed_by` reads from the address. What
    the path names may stand in the name of the `file`, in braces.

    Who takes it is written into the audit log before anything of it is read, or it is not read.
    HEAD brings no row, and writes none.
    """

    def decorate(view: View) -> View:
        return _page(_noted(_behind_the_wall(view), file, narrowed_by), roles, limit=pace.FILES)

    return decorate


def _noted(view: View, file: str, narrowed_by: type[DaysFilter]) -> View:
    """`view`, and its line in the audit log, which requests of a tenant's page cannot write."""

    @functools.wraps(view)
    def wrapper(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "GET":
            act = actors.staff if request.access.viewed_until else actors.user
            days = DaysFilter(request.GET)
            chosen = days.cleaned_data if days.is_valid() else {}
            downloads.record(
                tenant_id=request.access.tenant.pk,
                actor=act(request.user.pk),
                file=file.format(**kwargs),
                since=chosen.get("since"),
                until=chosen.get("until"),
                narrowed_by=[
                    name
                    for name in narrowed_by.base_fields
                    if name not in days.fields and request.GET.get(name)
                ],
                now=utc_now(),
            )
        return view(request, *args, **kwargs)

    return wrapper


def _page(
    view: View, roles: tuple[Role, ...], *, is_open: bool = False, limit: pace.Pace = pace.PAGES
) -> View:
    """`view` for members in `roles`; whoever is asked for here is looked up before the wall."""

    @functools.wraps(view)
    def wrapper(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return _to_login(request)
        if seconds := limit.wait(user_id=request.user.pk):
            return _private(pace.too_many(request, limit=limit, seconds=seconds))
        access = _access_of(request)
        if access is None:
            return _without_tenant(request)
        _check(access, request, roles)
        if request.htmx and request.headers.get("X-Tenant") != access.tenant.pk:
            return HttpResponseClientRefresh()  # another window has switched tenants
        request.access = access
        if not is_open and _lacks_second_factor(request):
            return _private(_ask_for_second_factor(request))
        return _private(_answer(view, request, *args, **kwargs))

    return wrapper


def _discreet(view: View) -> View:
    """`view`, whose reports of errors show no proof: any form may ask for one (`step_up`)."""

    @functools.wraps(view)
    def wrapper(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        step_up.keep_from_reports(request)
        return view(request, *args, **kwargs)

    return wrapper


def _form(view: View, *, needs_proof: bool) -> View:
    """`view` for those who may act on what they send, if they send anything."""

    @functools.wraps(view)
    def wrapper(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            if request.POST.get("acting_for") != request.access.tenant.pk:
                return render(request, "dashboard/shell/switched.html", status=409)
            if request.access.tenant.status == TenantStatus.SUSPENDED:
                raise PermissionDenied("This tenant is suspended; nothing can be changed.")
            if request.access.is_read_only:
                return _read_only(request)
            if needs_proof and (question := step_up.asks(request)):
                return question
        return view(request, *args, **kwargs)

    return wrapper


def _asking_on_the_way(view: View) -> View:
    """`view`, called once more where it raises ProofNeeded and whoever acts has proven it."""

    @functools.wraps(view)
    def wrapper(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.is_proven = False
        try:
            return view(request, *args, **kwargs)
        except ProofNeeded:
            if question := step_up.asks(request):
                return question
        request.is_proven = True
        return view(request, *args, **kwargs)

    return wrapper


def _behind_the_wall(view: View) -> View:
    """`view` under the role that sees the rows of the page's tenant, and of no other."""

    @functools.wraps(view)
    def walled(request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        tenant_id = request.access.tenant.pk
        with doors.of_tenant(tenant_id, only_reads=request.method in _READING):
            response = view(request, *args, **kwargs)
        if isinstance(response, StreamingHttpResponse):
            rows = cast("Iterable[bytes]", response.streaming_content)
            response.streaming_content = doors.streamed(rows, tenant_id)
        return response

    return walled


def of_reader(request: HttpRequest) -> TenantAccess | None:
    """For a page that everybody may see: which tenant the signed-in reader looks at, and as what.
    None for who belongs to none."""
    return _access_of(cast(PageRequest, request))


def choose_tenant(request: PageRequest, tenant_id: str) -> None:
    """Make one of the person's tenants the current one. Raises PermissionDenied."""
    if tenant_id not in {membership.tenant_id for membership in request.access.memberships}:
        raise PermissionDenied("You are not a member of that tenant.")
    look_at(request, tenant_id)


def look_at(request: HttpRequest, tenant_id: str) -> None:
    """Show this tenant next; a page of it still asks whether the person belongs there."""
    request.session[_SESSION_KEY] = tenant_id


def _read_only(request: PageRequest) -> HttpResponse:
    """What was typed is still in the browser: going back shows it again."""
    response = render(request, "dashboard/shell/read_only.html", status=503)
    response["Retry-After"] = "60"
    return response


def _answer(view: View, request: PageRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    try:
        response = view(request, *args, **kwargs)
    except NotFound as refusal:
        raise Http404 from refusal
    if (
        request.access.viewed_until
        and isinstance(response, HttpResponse)
        and response.headers.get("Content-Type") == _HTML
    ):
        response.content = view_only.without_actions(response.content.decode()).encode()
    return response


def _access_of(request: PageRequest) -> TenantAccess | None:
    if view := staff_view.current(request, now=utc_now()):
        tenant = selectors.tenant(view.tenant_id)
        return TenantAccess(tenant=tenant, role=Role.OWNER, memberships=(), viewed_until=view.until)
    every = tuple(selectors.memberships_at_once(user_id=request.user.pk))
    memberships = reach.tenants_of(request, every)
    if not memberships:
        request.needed_connection = reach.needed(request, every)
        return None
    chosen = request.session.get(_SESSION_KEY)
    current = next((m for m in memberships if m.tenant_id == chosen), memberships[0])
    return TenantAccess(
        tenant=current.tenant,
        role=Role(current.role),
        memberships=memberships,
        is_read_only=getattr(current, "is_read_only", False),  # a column `memberships` adds
    )


def _check(access: TenantAccess, request: PageRequest, roles: tuple[Role, ...]) -> None:
    if roles and access.role not in roles:
        raise PermissionDenied(_wrong_role(access, roles))
    if access.viewed_until and request.method not in ("GET", "HEAD"):
        raise PermissionDenied("You look at this tenant as staff; nothing can be changed.")


def _lacks_second_factor(request: PageRequest) -> bool:
    """Whether the tenant asks for a second factor, and this session proved none."""
    return request.access.tenant.requires_second_factor and not proofs.has_factor(request)


def _ask_for_second_factor(request: PageRequest) -> HttpResponse:
    values = {"is_set_up": second_factor.is_set_up(user_id=request.user.pk)}
    return render(request, "dashboard/shell/second_factor_needed.html", values, status=403)


def _to_login(request: PageRequest) -> HttpResponse:
    if request.htmx:
        return HttpResponseClientRefresh()
    return redirect_to_login(request.get_full_path())


def _without_tenant(request: PageRequest) -> HttpResponse | HttpResponseRedirect:
    if request.needed_connection is not None:
        values = {"connection": request.needed_connection, "next": request.get_full_path()}
        return render(request, "dashboard/shell/sso_needed.html", values, status=403)
    if request.user.is_staff:
        return redirect("admin:index")
    values = {"is_by_provider": reach.of_session(request) is not None}
    return render(request, "dashboard/shell/no_tenant.html", values, status=403)


def _wrong_role(access: TenantAccess, roles: tuple[Role, ...]) -> str:
    allowed = " or ".join(role.label.lower() for role in roles)
    return f"You are {access.role_label.lower()} of {access.tenant.name}; this needs {allowed}."


def _private(response: HttpResponseBase) -> HttpResponseBase:
    response["Cache-Control"] = "private, no-store"
    patch_vary_headers(response, ("Cookie", "HX-Request"))
    return response
