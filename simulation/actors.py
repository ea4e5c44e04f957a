"""What each kind of act does: as a client over HTTP, as a person at the desk, or as a periodic
task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from celery import current_app
from django.db import close_old_connections, transaction

from approvals import answers, links, policies, selectors
from balance import services as ledger
from common.clock import utc_now
from common.errors import DomainError
from common.money import format_cents
from funding.services import drafts, linking, verifications
from funding.transfer import FUNDING
from networks.sandbox import scripts
from payments.transfer import PAYMENTS
from simulation import world as world_module
from simulation.bank import TO_PROVE
from simulation.front import Intent, Told
from simulation.plans import Act
from simulation.processes import Job
from simulation.receivers import dispatch
from simulation.themes import DISPATCH, PEOPLE, Role
from simulation.world import Customer, Deed, World
from tenants import actors
from transfers import holds
from transfers.contract import Transfer

STAFF = actors.staff("staff-of-the-simulation")
API = "/api/v1"
_RECENT = 8
_ANY = 0.25
_NONE = "none"
_RECIPIENT = {
    "accountNumber": "9876543",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier",
    "accountHolderType": "business",
    "accountType": "checking",
}


def job_of(world: World, act: Act) -> Job:
    """The job of a planned act."""
    if act.role is Role.DISPATCHER or act.kind == DISPATCH:
        return delivery(world, act.number)
    if act.kind not in PEOPLE:
        return sweep(act.number, act.kind, {})
    customer = world.customers[act.tenant]
    if act.kind in _REQUESTS:
        return _request_job(world, customer, act)
    deed = partial(_DEEDS[act.kind], world, customer, act)
    return Job(act.number, act.kind, partial(_with_a_good_connection, deed))


def sweep(number: int, name: str, arguments: dict[str, Any]) -> Job:
    """A job that runs a task of the worker."""
    run = partial(current_app.tasks[name].run, **arguments)
    return Job(number, name, partial(_with_a_good_connection, run))


def delivery(world: World, number: int) -> Job:
    """A job that delivers webhooks in a burst."""
    return Job(number, DISPATCH, partial(dispatch, world.receivers))


def _with_a_good_connection(act: Callable[[], object]) -> None:
    """Close bad connections around `act`, as Django does at requests, and Celery at tasks."""
    close_old_connections()
    try:
        act()
    finally:
        close_old_connections()


def ask_again(world: World, intent: Intent) -> Job:
    """Send the same request with the same key again, like a client that got no answer."""
    return _asking(world, intent, number=-1)


def _request_job(world: World, customer: Customer, act: Act) -> Job:
    path, body = _REQUESTS[act.kind](world, customer, act)
    tenant_id = customer.tenant.pk
    key = f"key-{act.number}" if act.is_keyed and act.kind != "summary" else None
    intent = Intent(act.number, act.kind, tenant_id, path, body, key)
    world.intents.append(intent)
    return _asking(world, intent, number=act.number)


def _asking(world: World, intent: Intent, *, number: int) -> Job:
    (api_key,) = (c.api_key for c in world.customers if c.tenant.pk == intent.tenant_id)
    method = "GET" if intent.kind == "summary" else "POST"
    act = partial(
        world.front.ask, method, intent.path, api_key=api_key, body=intent.body, key=intent.key
    )

    def done(outcome: Any) -> None:
        intent.answers.append(outcome if isinstance(outcome, Told) else None)

    return Job(number, intent.kind, act, done)


def _chosen(world: World, customer: Customer, act: Act, prefix: str) -> str:
    """The id of something that can still be stopped, mostly the one that ends first; sometimes any
    of the latest. If nothing was made yet, an id that does not exist."""
    tenant_id = customer.tenant.pk
    known = world.known(prefix, tenant_id)[-_RECENT:]
    if act.luck < _ANY:
        return known[act.pick % len(known)] if known else _NONE
    unsent = world_module.unsent(prefix, tenant_id)
    first = act.pick % 3 % len(unsent) if unsent else 0
    return unsent[first] if unsent else _NONE


Request = Callable[[World, Customer, Act], tuple[str, dict[str, Any] | None]]


def _top_up(_world: World, customer: Customer, act: Act) -> tuple[str, dict[str, Any]]:
    return f"{API}/balance/topup", {
        "amount": act.amount,
        "fundingSourceId": customer.source_id,
        "description": f"act {act.number}",
    }


def _pay(
    _world: World, _customer: Customer, act: Act, *, waits: bool
) -> tuple[str, dict[str, Any]]:
    return f"{API}/payments", {
        "amount": act.amount,
        "method": "rtp" if act.luck < 0.3 else "ach_credit",
        "recipient": _RECIPIENT,
        "waitForFunds": waits,
        "description": f"act {act.number}",
    }


def _configure(_world: World, _customer: Customer, act: Act) -> tuple[str, dict[str, Any]]:
    return f"{API}/balance/auto-funding/config", {
        "enabled": act.luck > 0.1,
        "lowBalanceThreshold": act.amount,
        "fundingAmount": act.amount + act.number % 7,
        "fundingMethod": "ach_debit",
        "confirmationThreshold": 300 if act.luck > 0.6 else None,
    }


def _cancel(
    world: World, customer: Customer, act: Act, *, prefix: str, path: str
) -> tuple[str, None]:
    chosen = _chosen(world, customer, act, prefix)
    return f"{API}/{path}/{chosen}/cancel", None


_REQUESTS: dict[str, Request] = {
    "top_up": _top_up,
    "pay": partial(_pay, waits=False),
    "pay_or_wait": partial(_pay, waits=True),
    "cancel_payment": partial(_cancel, prefix="pay_", path="payments"),
    "cancel_funding": partial(_cancel, prefix="ftx_", path="funding/transactions"),
    "configure": _configure,
    "summary": lambda _world, _customer, _act: (f"{API}/balance/summary", None),
}


def _adjust(
    world: World, customer: Customer, act: Act, *, kind: Literal["credit", "debit"]
) -> Deed:
    """Adjust a balance like operators at the command line; at the desk it would take two people."""
    deed = Deed(kind, f"act {act.number}", customer.tenant.pk, False, act.amount)
    world.deeds.append(deed)
    ledger.adjust(
        tenant_id=customer.tenant.pk,
        type=kind,
        amount=act.amount,
        reason=deed.subject_id,
        actor=actors.SYSTEM,
        now=utc_now(),
    )
    deed.was_told = True
    return deed


def _level(world: World, customer: Customer, act: Act) -> None:
    """Adjust a balance so that it just covers an amount, or just does not."""
    with transaction.atomic():
        short = act.amount - ledger.lock_row(tenant_id=customer.tenant.pk).available
        kind: Literal["credit", "debit"] = "credit" if short > 0 else "debit"
        exactly = replace(act, amount=short if short > 0 else 1 - short)
        deed = _adjust(world, customer, exactly, kind=kind)
        deed.was_told = False
    deed.was_told = True


def _with_hold(world: World, customer: Customer, act: Act, *, what: str, prefix: str) -> None:
    chosen = _chosen(world, customer, act, prefix)
    if chosen == _NONE:
        return
    transfer: Transfer[Any] = PAYMENTS if prefix == "pay_" else FUNDING
    deed = Deed(what, chosen, customer.tenant.pk, False, begun=world.moment())
    world.deeds.append(deed)
    try:
        act_of = getattr(holds, what)
        act_of(transfer, chosen, reason="a look", actor=STAFF, now=utc_now())
    except DomainError:
        return
    finally:
        deed.ended = world.moment()
    deed.was_told = True


def _withdraw(world: World, customer: Customer, act: Act, *, prefix: str) -> None:
    """Ask the bank for something back that it may not have sent yet."""
    known = world_module.taken_over(prefix, customer.tenant.pk)
    if not known:
        return
    transfer: Transfer[Any] = PAYMENTS if prefix == "pay_" else FUNDING
    deed = Deed("withdraw", known[act.pick % 3 % len(known)], customer.tenant.pk, False)
    world.deeds.append(deed)
    try:
        holds.withdraw(transfer, deed.subject_id, reason="a look", actor=STAFF, now=utc_now())
    except DomainError:
        return
    deed.was_told = True


def _add_account(world: World, customer: Customer, act: Act) -> None:
    """Add an account that has to be proven by three entries."""
    tenant = customer.tenant
    deed = Deed("add_account", f"act {act.number}", tenant.pk, False)
    draft = drafts.enter(
        mode=tenant.mode,
        account_number=f"{act.number + 1}{TO_PROVE}",
        routing_number="021000021",
        holder_name=f"Holder of {tenant.pk[-4:]}",
        holder_type="business",
        account_type="checking",
    )
    try:
        source = linking.add(tenant_id=tenant.pk, draft=draft, actor=STAFF, now=utc_now())
    except DomainError:
        return
    deed.subject_id, deed.was_told = source.pk, True
    world.deeds.append(deed)


def _prove_account(world: World, customer: Customer, act: Act) -> None:
    """Say which deposits came, mostly rightly."""
    tenant_id = customer.tenant.pk
    added = [d.subject_id for d in world.deeds if d.kind == "add_account"]
    added = [each for each in added if each in world_module.sources_of(tenant_id)]
    if not added:
        return
    deed = Deed("prove_account", added[act.pick % len(added)], tenant_id, False)
    amounts = scripts.MICRO_DEPOSITS if act.luck < 0.8 else (1, 1)
    try:
        verdict = verifications.verify(
            tenant_id=tenant_id,
            source_id=deed.subject_id,
            amounts=amounts,
            actor=STAFF,
            now=utc_now(),
        )
    except DomainError:
        return
    deed.was_told = verdict.refusal is None
    world.deeds.append(deed)


def _answer(world: World, customer: Customer, act: Act, *, what: str) -> None:
    """Answer an approval, like an approver who opens a link from an e-mail."""
    now, tenant_id = utc_now(), customer.tenant.pk
    asked = selectors.open_approvals(tenant_id=tenant_id, now=now)
    if not asked:
        return
    view = asked[act.pick % 2 % len(asked)]  # mostly what ends first
    policy = policies.get(view.kind)
    approval = policy.approvals().get(pk=view.id)
    address = view.approvers[act.number % len(view.approvers)]
    link = links.mint(policy, approval, approver_email=address, now=now)
    token = link.rstrip("/").rpartition("/")[2]
    deed = Deed(what, view.id, tenant_id, False, view.amount)
    world.deeds.append(deed)
    try:
        if what == "approve":
            answers.approve(token=token, typed_amount=format_cents(view.amount), now=utc_now())
        else:
            answers.decline(token=token, reason="no", now=utc_now())
    except DomainError:
        return
    deed.was_told = True


def _pause(_world: World, customer: Customer, act: Act) -> None:
    from funding.services import pauses

    change = pauses.pause_by_hand if act.luck < 0.4 else pauses.resume
    change(tenant_id=customer.tenant.pk, actor=STAFF, now=utc_now())


def _resend(_world: World, customer: Customer, act: Act) -> None:
    from webhooks.models import WebhookDelivery
    from webhooks.services import deliveries

    known = WebhookDelivery.objects.filter(tenant_id=customer.tenant.pk).order_by("-id")
    ids = list(known.values_list("pk", flat=True)[:_RECENT])
    if ids:
        chosen = ids[act.pick % len(ids)]
        deliveries.resend(
            tenant_id=customer.tenant.pk, delivery_id=chosen, actor=STAFF, now=utc_now()
        )


_DEEDS: dict[str, Callable[[World, Customer, Act], object]] = {
    "credit": partial(_adjust, kind="credit"),
    "debit": partial(_adjust, kind="debit"),
    "level": _level,
    "hold_payment": partial(_with_hold, what="hold", prefix="pay_"),
    "release_payment": partial(_with_hold, what="release", prefix="pay_"),
    "stop_payment": partial(_with_hold, what="stop", prefix="pay_"),
    "hold_funding": partial(_with_hold, what="hold", prefix="ftx_"),
    "release_funding": partial(_with_hold, what="release", prefix="ftx_"),
    "withdraw_payment": partial(_withdraw, prefix="pay_"),
    "withdraw_funding": partial(_withdraw, prefix="ftx_"),
    "add_account": _add_account,
    "prove_account": _prove_account,
    "approve": partial(_answer, what="approve"),
    "decline": partial(_answer, what="decline"),
    "pause": _pause,
    "resend": _resend,
}
