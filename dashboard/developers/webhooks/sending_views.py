"""Send to an endpoint by hand: a test call, one delivery again, a window of events again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from common import ids
from common.clock import utc_now
from common.errors import DomainError
from dashboard.developers.durations import duration_in_words
from dashboard.developers.webhooks.forms import FIELDS, ReplayForm, last_day
from dashboard.developers.webhooks.lines import answer_in_words
from dashboard.shell import refusals, stops
from dashboard.shell.access import MONEY, PageRequest, tenant_form
from tenants import actors
from webhooks import selectors
from webhooks.dispatcher.results import text_of
from webhooks.errors import WebhooksStopped, WebhookTestRunning
from webhooks.models import WebhookEndpoint
from webhooks.services import deliveries, pings, replays


@require_POST
@tenant_form(*MONEY)
def test(request: PageRequest, endpoint_id: str) -> HttpResponse:
    """A test call now; the receiver's answer is this answer, and is kept nowhere."""
    tenant = request.access.tenant
    row = selectors.endpoint(tenant_id=tenant.pk, endpoint_id=endpoint_id)
    try:
        made = pings.ping(tenant_id=tenant.pk, endpoint_id=row.pk, mode=tenant.mode, now=utc_now())
    except (WebhookTestRunning, WebhooksStopped) as refusal:
        messages.error(request, refusals.sentence(refusal))
        return redirect("dashboard:webhook", endpoint_id=row.pk)
    failure = str(made.answer.failure or "")
    values = {
        "endpoint": row,
        "event_id": made.event_id,
        "answer": made.answer,
        "words": answer_in_words(made.answer.status, failure),
        "duration": duration_in_words(made.answer.duration_ms * 1000),
        "body": text_of(made.answer.body),
    }
    return render(request, "dashboard/developers/webhooks/test.html", values)


@require_POST
@tenant_form(*MONEY)
def resend(request: PageRequest, delivery_id: str) -> HttpResponse:
    row = deliveries.resend(
        tenant_id=request.access.tenant.pk,
        delivery_id=delivery_id,
        actor=actors.user(request.user.pk),
        now=utc_now(),
    )
    is_stopped = bool(stops.of_webhooks(row.tenant_id))
    said = "We send it again once sending resumes." if is_stopped else "We are sending it again."
    messages.success(request, said)
    return redirect("dashboard:delivery", delivery_id=row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@tenant_form(*MONEY)
def replay(request: PageRequest, endpoint_id: str) -> HttpResponse:
    """Choose a window, see how many events that is, send them. `step` is the button pressed."""
    tenant_id = request.access.tenant.pk
    row = selectors.endpoint(tenant_id=tenant_id, endpoint_id=endpoint_id)
    form = ReplayForm(
        request.POST if request.method == "POST" else None,
        tenant_id=tenant_id,
        what=ids.new("rpl"),
        initial=last_day(utc_now()),
    )
    if request.method != "POST" or request.POST.get("step") == "edit" or not form.is_valid():
        return _ask(request, form, row)
    try:
        if request.POST.get("step") == "confirm":
            return _send(request, form, row)
        return _review(request, form, row)
    except DomainError as refusal:
        refusals.add_to(form, refusal, fields=FIELDS)
        return _ask(request, form, row)


def _ask(request: PageRequest, form: ReplayForm, row: WebhookEndpoint) -> HttpResponse:
    status = 422 if form.is_bound and form.errors else 200
    values = {"form": form, "endpoint": row}
    return render(request, "dashboard/developers/webhooks/replay.html", values, status=status)


def _review(request: PageRequest, form: ReplayForm, row: WebhookEndpoint) -> HttpResponse:
    found = replays.count(
        tenant_id=request.access.tenant.pk, endpoint_id=row.pk, now=utc_now(), **form.window
    )
    values = {
        "form": form,
        "endpoint": row,
        "count": min(found, replays.EVENTS_MAX),
        "is_more": found > replays.EVENTS_MAX,
        "window": form.window,
    }
    return render(request, "dashboard/developers/webhooks/replay_review.html", values)


def _send(request: PageRequest, form: ReplayForm, row: WebhookEndpoint) -> HttpResponse:
    if not form.claim():
        messages.info(request, "We are already sending these events again. Once is enough.")
        return redirect("dashboard:webhook", endpoint_id=row.pk)
    try:
        made = replays.replay(
            tenant_id=request.access.tenant.pk,
            endpoint_id=row.pk,
            actor=actors.user(request.user.pk),
            now=utc_now(),
            **form.window,
        )
    except Exception:
        # Refused, or lost with the database: nobody may be told later that it is done.
        form.release()
        raise
    is_stopped = bool(stops.of_webhooks(row.tenant_id))
    messages.success(request, _sent_in_words(made.queued, is_stopped=is_stopped))
    if made.resume_from:
        messages.warning(
            request, f"There are more, from {made.resume_from:%Y-%m-%d %H:%M} UTC on. Replay again."
        )
    return redirect("dashboard:webhook", endpoint_id=row.pk)


def _sent_in_words(count: int, *, is_stopped: bool) -> str:
    when = " once sending resumes" if is_stopped else ""
    return f"{count:,} event{'' if count == 1 else 's'} will be sent again{when}, in order."
