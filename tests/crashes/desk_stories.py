"""Every action of staff, by the address at the desk or by the model and what is done to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib import admin
from django.test import RequestFactory
from django.urls import reverse

from balance import proposals
from common.clock import utc_now
from common.days import day_of
from desk.items.forms import NoteForm
from desk.items.subjects import subject_of
from funding.transfer import FUNDING
from networks.base import EventKind
from networks.sandbox.models import SandboxEvent
from payments.models import PaymentSettings
from payments.services import approval_settings
from payments.transfer import PAYMENTS
from tenants import actors
from tenants.access import AccessKind
from tenants.actors import SYSTEM
from tenants.models import ApiKey, User
from tenants.services import access, accounts, closing, switches
from tenants.switches import SwitchKind
from tests.builders import make_key, make_staff
from tests.crashes.addresses import taking_posts
from tests.crashes.api_stories import failed_delivery
from tests.crashes.every_call import Story
from tests.crashes.world import Act, World
from tests.networks.scripted import ScriptedNetwork, message
from transfers import holds, submission
from transfers.contract import Transfer
from transfers.inbox import arrivals, settlements
from transfers.inbox.models import BankOutcome, InboundEvent

Begin = Callable[[World], Act]
WHY = {"reason": "Called them"}


def send(world: World, path: str, **fields: Any) -> Act:
    browser = world.desk
    return lambda _headers: browser.post(path, fields)


def of_tenant(name: str, **fields: Any) -> Begin:
    return lambda world: send(world, reverse(f"desk:{name}", args=[world.tenant.pk]), **fields)


def release_tenant(world: World) -> Act:
    accounts.suspend(tenant_id=world.tenant.pk, reason="x", actor=SYSTEM, now=utc_now())
    return of_tenant("release", **WHY)(world)


def reveal(world: World) -> Act:
    return send(world, reverse("desk:account_number", args=[world.source.pk]), **WHY)


def stop_viewing(world: World) -> Act:
    of_tenant("view_as", **WHY)(world)({})
    return send(world, reverse("desk:stop_viewing"))


def export(world: World) -> Act:
    """A file that is written while it is sent. One that breaks off is seen to."""
    world.money()
    today = day_of(utc_now())
    days = {"first": today - timedelta(days=1), "last": today}
    return send(world, reverse("desk:export"), tenant=world.tenant.pk, **days)


def alone(model: str, action: str, row: Any, world: World, **fields: Any) -> Act:
    """From the row's own page."""
    return send(world, reverse(f"admin:{model}_{action}", args=[row.pk]), **fields)


def chosen(model: str, action: str, row: Any, world: World, **fields: Any) -> Act:
    """From the list, of rows that were ticked."""
    path = reverse(f"admin:{model}_changelist")
    return send(world, path, action=action, _selected_action=[row.pk], **fields)


def add(model: str, **fields: Any) -> Begin:
    path = f"admin:{model}_add"
    return lambda world: send(
        world, reverse(path), **{k: v(world) if callable(v) else v for k, v in fields.items()}
    )


def held(row: Any, transfer: Transfer[Any]) -> Any:
    holds.hold(transfer, row.pk, reason="odd", actor=SYSTEM, now=utc_now())
    return row


def transfer(model: str, make: Callable[[World], Any], of: Transfer[Any]) -> dict[str, Begin]:
    """Hold, release and stop of a funding or payment, from its page and from the list."""

    def begin(action: str, how: Any, world: World) -> Act:
        row = make(world)
        if not action.startswith("hold"):
            held(row, of)
        return how(model, action, row, world, **WHY)  # type: ignore[no-any-return]  # `how` is ours

    def withdraw(world: World) -> Act:
        row, now = make(world), utc_now()
        submission.submit_due(of, now=now)
        events = SandboxEvent.objects.filter(instruction__external_id=row.pk)
        events.update(due_at=now + timedelta(hours=1))  # or it would be too late soon
        return alone(model, "withdraw", row, world, **WHY)

    label = model.replace("_", ".", 1)
    found: dict[str, Begin] = {f"{label} withdraw": withdraw}
    for action in ("hold", "release", "stop"):
        found[f"{label} {action}"] = partial(begin, action, alone)
        found[f"{label} {action}_chosen"] = partial(begin, f"{action}_chosen", chosen)
    return found


def a_payment(world: World) -> Any:
    world.money()
    return world.payment()


def in_review(world: World) -> InboundEvent:
    funding = world.funding()
    stranger = message(funding, EventKind.RETURNED, id=f"n-{funding.pk}", instruction_id="unknown")
    arrivals.collect(network=ScriptedNetwork(stranger), id_prefix="", now=utc_now())
    return InboundEvent.objects.get(event_id=stranger.id)


def proposal(world: World) -> Any:
    other = make_staff(f"ann-{world.tenant.pk}@ballast.example")
    return proposals.propose(
        tenant_id=world.tenant.pk,
        type="credit",
        amount=100,
        reason="Fee",
        actor=actors.staff(other.pk),
        now=utc_now(),
    )


def closed(world: World) -> User:
    """An owner whose account our support closed."""
    actor = actors.staff(colleague(world).pk)
    closing.close(user_id=world.owner.pk, actor=actor, now=utc_now())
    return world.owner


def colleague(world: World) -> User:
    return make_staff(f"ann-{world.tenant.pk}@ballast.example")


def access_of(world: World) -> Any:
    """An owner that somebody else proposed the day before yesterday."""
    return access.propose(
        kind=AccessKind.MEMBER,
        email=f"new-{world.tenant.pk}@acme.example",
        tenant=world.tenant,
        role="owner",
        reason="The owner is ill",
        actor=actors.staff(colleague(world).pk),
        now=utc_now() - timedelta(days=2),
    )


def write_note(world: World) -> Act:
    subject = subject_of(world.funding())
    path = reverse("desk:item_note", args=[subject.kind, subject.id])
    return send(world, path, text="Called them", token=NoteForm(subject=subject).initial["token"])


def give_item(world: World) -> Act:
    path = reverse("desk:item_assign", args=["funding", world.funding().pk])
    return send(world, path, to=colleague(world).email, seen=0)


def pending(world: World) -> Any:
    funding = world.funding()
    submission.submit_due(FUNDING, now=utc_now())
    return funding


def by_hand(world: World) -> Any:
    """What somebody else proposed."""
    funding = pending(world)
    other = make_staff(f"ann-{world.tenant.pk}@ballast.example")
    return settlements.propose(
        subject_id=funding.pk,
        kind=BankOutcome.SETTLED,
        amount=funding.amount,
        bank_reference=f"FED-{world.tenant.pk}",
        reason="On the statement",
        actor=actors.staff(other.pk),
        now=utc_now(),
    )


def key_of(world: World) -> ApiKey:
    make_key(world.tenant)
    return ApiKey.objects.get(tenant=world.tenant)


def newcomer(world: World) -> Any:
    return User.objects.create_user(email=f"new-{world.tenant.pk}@ballast.example", is_staff=True)


def switch(world: World) -> Any:
    return switches.engage(
        kind=SwitchKind.WEBHOOKS,
        reason="Bank is down",
        actor=SYSTEM,
        now=utc_now(),
        tenant_id=world.tenant.pk,
    )


def switched_off(world: World) -> Any:
    chosen("webhooks_webhookendpoint", "switch_off", world.endpoint, world)({})
    return world.endpoint


def settings_of(world: World) -> Any:
    approval_settings.set_threshold(
        tenant_id=world.tenant.pk, threshold=100_000, actor=SYSTEM, now=utc_now()
    )
    return PaymentSettings.objects.get(tenant=world.tenant)


BEGINNINGS: dict[str, Begin] = {
    "desk suspend": of_tenant("suspend", **WHY),
    "desk release": release_tenant,
    "desk limits": of_tenant("limits", daily_max="1000.00", monthly_max="", **WHY),
    "desk check": lambda world: send(world, reverse("desk:check"), kind="full"),
    "desk account_number": reveal,
    "desk view_as": of_tenant("view_as", **WHY),
    "desk stop_viewing": stop_viewing,
    "desk export": export,
    **transfer("funding_fundingtransaction", lambda world: world.funding(), FUNDING),
    **transfer("payments_payment", a_payment, PAYMENTS),
    "network_inbox.inboundevent retry": lambda w: alone(
        "network_inbox_inboundevent", "retry", in_review(w), w, **WHY
    ),
    "network_inbox.inboundevent resolve": lambda w: alone(
        "network_inbox_inboundevent", "resolve", in_review(w), w, **WHY
    ),
    "network_inbox.inboundevent retry_chosen": lambda w: chosen(
        "network_inbox_inboundevent", "retry_chosen", in_review(w), w, **WHY
    ),
    "network_inbox.inboundevent resolve_chosen": lambda w: chosen(
        "network_inbox_inboundevent", "resolve_chosen", in_review(w), w, **WHY
    ),
    "network_inbox.handsettlement add": add(
        "network_inbox_handsettlement",
        subject_id=lambda w: pending(w).pk,
        kind="settled",
        amount="250.00",
        bank_reference=lambda w: f"FED-{w.tenant.pk}",
        code="",
        **WHY,
    ),
    "network_inbox.handsettlement approve": lambda w: alone(
        "network_inbox_handsettlement", "approve", by_hand(w), w, **WHY
    ),
    "network_inbox.handsettlement reject": lambda w: alone(
        "network_inbox_handsettlement", "reject", by_hand(w), w, **WHY
    ),
    "balance.adjustmentproposal approve": lambda w: alone(
        "balance_adjustmentproposal", "approve", proposal(w), w, **WHY
    ),
    "balance.adjustmentproposal reject": lambda w: alone(
        "balance_adjustmentproposal", "reject", proposal(w), w, **WHY
    ),
    "balance.adjustmentproposal add": add(
        "balance_adjustmentproposal",
        tenant=lambda w: w.tenant.pk,
        type="credit",
        amount="1.00",
        reason="Fee",
    ),
    "tenants.apikey revoke": lambda w: chosen("tenants_apikey", "revoke", key_of(w), w),
    "tenants.apikey change": lambda w: alone(
        "tenants_apikey", "change", key_of(w), w, reads_per_second="500", writes_per_second=""
    ),
    "tenants.switch release": lambda w: alone("tenants_switch", "release", switch(w), w, **WHY),
    "tenants.switch add": add(
        "tenants_switch", kind="webhooks", tenant=lambda w: w.tenant.pk, **WHY
    ),
    "tenants.tenant add": add("tenants_tenant", name="Zephyr", mode="live"),
    "tenants.user change": lambda w: alone("tenants_user", "change", w.owner, w, name="Dana"),
    "tenants.user close": lambda w: alone("tenants_user", "close", w.owner, w, **WHY),
    "tenants.user reopen": lambda w: alone("tenants_user", "reopen", closed(w), w, **WHY),
    "tenants.user send_reset_link": lambda w: alone(
        "tenants_user", "send_reset_link", w.owner, w, **WHY
    ),
    "tenants.user send_enrolment_link": lambda w: alone(
        "tenants_user", "send_enrolment_link", newcomer(w), w, **WHY
    ),
    "tenants.user end_powers": lambda w: alone(
        "tenants_user", "end_powers", colleague(w), w, **WHY
    ),
    "desk item_note": write_note,
    "desk item_assign": give_item,
    "tenants.accessproposal add": add(
        "tenants_accessproposal",
        kind="member",
        email=lambda w: f"new-{w.tenant.pk}@acme.example",
        tenant=lambda w: w.tenant.pk,
        role="owner",
        new_email="",
        **WHY,
    ),
    "tenants.accessproposal approve": lambda w: alone(
        "tenants_accessproposal", "approve", access_of(w), w, **WHY
    ),
    "tenants.accessproposal reject": lambda w: alone(
        "tenants_accessproposal", "reject", access_of(w), w, **WHY
    ),
    "webhooks.webhookendpoint switch_off": lambda w: chosen(
        "webhooks_webhookendpoint", "switch_off", w.endpoint, w
    ),
    "webhooks.webhookendpoint switch_on": lambda w: chosen(
        "webhooks_webhookendpoint", "switch_on", switched_off(w), w
    ),
    "webhooks.webhookdelivery resend": lambda w: chosen(
        "webhooks_webhookdelivery", "resend", failed_delivery(w), w
    ),
    "desk delivery_resend": lambda w: send(
        w, reverse("desk:delivery_resend", args=[failed_delivery(w).pk])
    ),
    "payments.paymentsettings add": add(
        "payments_paymentsettings", tenant=lambda w: w.tenant.pk, threshold="5.00"
    ),
    "payments.paymentsettings change": lambda w: alone(
        "payments_paymentsettings", "change", settings_of(w), w, threshold="6.00"
    ),
}
# Pages of each model: what they may do depends on who may do it.
MADE_BY_THE_ADMIN = {"changelist", "add", "change", "delete", "history"}
# It ends what the session knows, and is saved by itself after all else.
STOP = "desk stop_viewing"
# The network is asked after it was written down who asked: again where the answer was lost.
WITHDRAWALS = {name for name in BEGINNINGS if name.endswith(" withdraw")}

STORIES = [
    Story(
        f"staff {name}",
        begin,
        in_steps=name == STOP or name in WITHDRAWALS,
        sees_sessions=name == STOP,
        leaves="tenants_auditevent" if name in WITHDRAWALS else "",
        finish=World.finish if name in WITHDRAWALS else World.send_mails,
    )
    for name, begin in BEGINNINGS.items()
]


def actions() -> set[str]:
    """All of the desk that takes a POST, and what the admin offers to who may do everything."""
    request = RequestFactory().get("/admin/")
    request.user = User(is_superuser=True, is_staff=True)
    found = {f"desk {name}" for name in taking_posts("admin/desk/")}
    for model, desk in admin.site._registry.items():
        start = model._meta.label_lower.replace(".", "_") + "_"
        pages = {str(page.name).removeprefix(start) for page in desk.get_urls() if page.name}
        names = {*(desk.actions or ()), *pages} - MADE_BY_THE_ADMIN
        for verb in ("add", "change", "delete"):
            if getattr(desk, f"has_{verb}_permission")(request):
                names.add(verb)
        found |= {f"{model._meta.label_lower} {name}" for name in names}
    return found
