"""Every periodic task, and the dispatcher: nobody is told anything, and all of it gets done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time, timedelta
from functools import partial
from typing import Any

from django.db import Error as DatabaseProblem

from api.models import ApiRequest, IdempotencyRecord
from common import ids
from common.clock import utc_now
from config.beat import SCHEDULE
from config.celery import app
from funding.models import (
    AutoFundingConfig,
    Confirmation,
    DebitAuthorization,
    FundingTransaction,
)
from funding.services import auto_funding, retries, topups
from funding.services import consents as link_consents
from funding.services.lifecycle import TopUp
from funding.transfer import FUNDING
from networks.ach.models import Originator, RailLine
from networks.ach.terms import Cutoff
from networks.base import EventKind
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_settings
from seals.models import AuditStream
from tenants import actors
from tenants.access import AccessKind
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Role, User
from tenants.services import access, accounts
from tests.builders import (
    make_auto_funding,
    make_endpoint,
    make_source,
    make_staff,
    publish,
    publish_notice,
)
from tests.crashes import banks, instants
from tests.crashes.api_stories import BANK_ACCOUNT
from tests.crashes.every_call import Story, Told
from tests.crashes.stored import Stored
from tests.crashes.world import Act, World
from tests.database import owner
from tests.funding.agreeing import agreement, revoke
from tests.funding.builders import top_up
from tests.networks.ach.builders import RAIL, make_originator, make_rail, take_some
from tests.networks.scripted import ScriptedNetwork, message
from tests.payments.builders import fund
from tests.seals.audit_lines import make_old
from transfers.inbox import arrivals, messages
from webhooks.dispatcher import runs
from webhooks.models import WebhookDelivery

app.loader.import_default_modules()

DONE, BROKEN = Told(200), Told(503)
LONG_AGO = timedelta(days=100)
SECOND = timedelta(seconds=1)


def task(name: str) -> Act:
    """What to do: run the task as a worker does. What it raises ends it until the next tick."""
    return partial(_run, app.tasks[name].run)


def _run(work: Callable[[], Any], _headers: Any) -> Told:
    try:
        work()
    except DatabaseProblem:
        return BROKEN
    return DONE


def submit_funding(world: World) -> None:
    world.funding()


def funding_events(world: World) -> None:
    """A set of two that are on their way already and one that is not, whose bank returns it."""
    world.funding()
    world.funding()
    app.tasks["funding.submit_due"].run()
    app.tasks["funding.process_network_events"].run()
    returning = make_source(world.tenant, account_number="10001", now=utc_now())
    top_up(world.tenant, source=returning, now=utc_now())
    app.tasks["funding.submit_due"].run()


def submit_payments(world: World) -> None:
    world.money()
    world.payment()


def payment_events(world: World) -> None:
    """A set of two."""
    submit_payments(world)
    world.payment()
    app.tasks["payments.submit_due"].run()


def waiting(world: World) -> None:
    world.payment(wait=True)
    fund(world.tenant, 1_000_000, now=utc_now())


def expiring(world: World) -> None:
    payment = world.payment(wait=True)
    Payment.objects.filter(pk=payment.pk).update(waits_until=utc_now() - timedelta(hours=1))


def payment_approvals(world: World) -> None:
    assert world.owner
    world.money()
    approval_settings.set_threshold(
        tenant_id=world.tenant.pk, threshold=1_000, actor=SYSTEM, now=utc_now()
    )
    payment = world.payment()
    asked = PaymentConfirmation.objects.filter(payment=payment)
    asked.update(expires_at=utc_now() - timedelta(minutes=1))
    # The owner came after this one was asked for.
    PaymentConfirmation.objects.filter(payment=world.payment()).update(approvers=[])


def mails(world: World) -> None:
    world.member(Role.OWNER)
    payment_approvals(world)


def access_over(world: World) -> None:
    """Nobody decided on an owner that staff proposed."""
    proposer = make_staff(f"ann-{world.tenant.pk}@ballast.example")
    access.propose(
        kind=AccessKind.MEMBER,
        email=f"new-{world.tenant.pk}@acme.example",
        tenant=world.tenant,
        role="owner",
        reason="The owner is ill",
        actor=actors.staff(proposer.pk),
        now=utc_now() - timedelta(days=9),
    )


def verifications(world: World) -> None:
    make_source(world.tenant, account_number="50001", now=utc_now())


def consents(world: World) -> None:
    kept = link_consents.keep(
        tenant_id=world.tenant.pk, provider="plaid", secret="s", now=utc_now()
    )
    link_consents.discard(consent_id=kept.pk, now=utc_now())


def revoked(world: World) -> None:
    """The holder of an account took back his word after the network had the debit."""
    now = utc_now()
    source = make_source(world.tenant, holder_type="individual", now=now)
    topups.request(
        tenant_id=world.tenant.pk,
        mode=world.tenant.mode,
        topup=TopUp(source_id=source.pk, amount=25_000, agreement=agreement(accepted_at=now)),
        actor=SYSTEM,
        now=now,
    )
    app.tasks["funding.submit_due"].run()
    revoke(DebitAuthorization.objects.get(source=source), now=utc_now())


def suspended(world: World) -> None:
    """The tenant was suspended after the network had a top-up of it."""
    top_up(world.tenant, source=world.source, now=utc_now())
    app.tasks["funding.submit_due"].run()
    accounts.suspend(tenant_id=world.tenant.pk, actor=SYSTEM, now=utc_now())


def low(world: World) -> None:
    make_auto_funding(world.tenant, source=world.source)


def funding_approvals(world: World) -> None:
    assert world.owner
    make_auto_funding(world.tenant, source=world.source, confirmation_threshold=1_000)
    auto_funding.evaluate(tenant_id=world.tenant.pk, now=utc_now())
    Confirmation.objects.filter(tenant=world.tenant).update(
        expires_at=utc_now() - timedelta(minutes=1)
    )
    # The owner came after this one was asked for.
    AutoFundingConfig.objects.filter(tenant=world.tenant).update(confirm_topups=True)
    asked = topups.request(
        tenant_id=world.tenant.pk,
        mode=world.tenant.mode,
        topup=TopUp(source_id=world.source.pk, amount=2_000),
        actor=SYSTEM,
        now=utc_now(),
    )
    Confirmation.objects.filter(funding=asked).update(approvers=[])


def short_of_funds(world: World) -> None:
    """A top-up came back some days ago, and the rule tries it again."""
    now = utc_now()
    retries.set_rule(tenant_id=world.tenant.pk, times=2, after_days=1, actor=SYSTEM, now=now)
    source = make_source(world.tenant, account_number="10001", now=now)
    first = top_up(world.tenant, source=source, now=now)
    World.finish_all()
    FundingTransaction.objects.filter(pk=first.pk).update(returned_at=now - timedelta(days=5))


def deliveries(world: World) -> None:
    publish(world.tenant, now=utc_now())


def old_events(world: World) -> None:
    publish(world.tenant, now=utc_now() - LONG_AGO)
    WebhookDelivery.objects.update(status="failed", next_attempt_at=None)


def old_requests(world: World) -> None:
    assert world.api
    ApiRequest.objects.create(
        tenant=world.tenant,
        key=ApiKey.objects.get(tenant=world.tenant),
        request_id="r",
        method="GET",
        path="/api/v1/balance",
        status=200,
        duration_us=1,
        created_at=utc_now() - LONG_AGO,
    )


def old_keys(world: World) -> None:
    world.post("recipients", BANK_ACCOUNT)({"Idempotency-Key": "k"})
    IdempotencyRecord.objects.update(created_at=utc_now() - LONG_AGO)


def posted(world: World) -> None:
    world.money()


def sealed_before(world: World) -> None:
    """Whatever others left is sealed, so that what is new is this tenant's."""
    app.tasks["seals.seal_due"].run()
    world.money()


def sealed(world: World) -> None:
    world.money()
    app.tasks["seals.seal_due"].run()


def audited(_world: World) -> None:
    """Lines that may leave, of which none was taken."""
    with owner.as_superuser():
        AuditStream.objects.all().delete()
    make_old()


def bank_files(world: World) -> None:
    """An entry that waits for midnight: `test_ach` has the deaths on its way, at a time of its
    own, and `test_ach_back` those of files from the bank."""
    make_rail(cutoffs=(Cutoff(at=time(23, 59)),), lead=timedelta(0), same_day_max=0)
    if not Originator.objects.exists():
        make_originator()
    take_some(1, now=utc_now())
    due = {"next_attempt_at": utc_now(), "leased_until": None}
    RailLine.objects.update_or_create(pk=RAIL, defaults=due)


def left_behind(_world: World) -> None:
    instants.left_behind()


def heard(_world: World) -> None:
    instants.heard()


def unposted(_world: World) -> None:
    instants.unposted()


def bank_statement(_world: World) -> None:
    banks.statement()


def bank_lines(_world: World) -> None:
    banks.shown_lines()


def dishonored(world: World) -> None:
    """A returned funding whose return our bank did not accept, weeks ago."""
    returning = make_source(world.tenant, account_number="10001", now=utc_now())
    row = top_up(world.tenant, source=returning, now=utc_now())
    World.finish_all()
    long_ago = (utc_now() - timedelta(days=30)).date()
    said = message(
        row, EventKind.RETURN_DISHONORED, id=f"nev-{row.pk}"[:64], settlement_date=long_ago
    )
    arrivals.collect(network=ScriptedNetwork(said), id_prefix="ftx_", now=utc_now())
    messages.apply_new(FUNDING, now=utc_now())


def closable_day(_world: World) -> None:
    banks.closable()


def short_position(world: World) -> None:
    instants.short_position()
    if not User.objects.filter(email="pat@ballast.example").exists():
        make_staff("pat@ballast.example", ["instant.propose_positionmove"])


BEGINNINGS: dict[str, Callable[[World], None]] = {
    "funding.submit_due": submit_funding,
    "funding.process_network_events": funding_events,
    "networks.collect_unmatched": funding_events,
    "transfers.withdraw_suspended": suspended,
    "transfers.count_dishonored": dishonored,
    "networks.make_ach_files": bank_files,
    "networks.send_ach_files": bank_files,
    "networks.fetch_ach_files": bank_files,
    "networks.read_ach_files": bank_files,
    "networks.watch_ach_files": bank_files,
    "transfers.watch_positions": short_position,
    "networks.listen_to_instant": heard,
    "networks.send_instant_messages": left_behind,
    "networks.finish_instant_payments": unposted,
    "reconciliation.read_statements": bank_statement,
    "reconciliation.close_days": closable_day,
    "reconciliation.match_lines": bank_lines,
    "payments.submit_due": submit_payments,
    "payments.process_network_events": payment_events,
    "payments.run_waiting": waiting,
    "payments.expire_waiting": expiring,
    "payments.sweep_confirmations": payment_approvals,
    "tenants.send_due_emails": mails,
    "tenants.expire_access": access_over,
    "funding.process_verifications": verifications,
    "funding.revoke_consents": consents,
    "funding.withdraw_debits": revoked,
    "funding.sweep_auto_funding": low,
    "funding.sweep_confirmations": funding_approvals,
    "funding.retry_returned": short_of_funds,
    "webhooks.sweep": deliveries,
    "webhooks.forget_old": old_events,
    "api.forget_requests": old_requests,
    "api.forget_idempotency_keys": old_keys,
    "balance.check_ledger": posted,
    "seals.seal_due": sealed_before,
    "seals.publish": sealed,
    "seals.stream_audit": audited,
}


def _story(name: str) -> Story:
    def begin(world: World) -> Act:
        BEGINNINGS[name](world)
        return task(name)

    return Story(f"task {name}", begin, in_steps=True, is_work=True)


def _dispatch(world: World) -> Act:
    deliveries(world)
    return partial(_run, runs.burst)


def _dispatch_sets(world: World) -> Act:
    """Claims and results of several at once, for two tenants: in the wrong order, so that some have
    to wait; to an endpoint that fails, and to one that is gone."""
    for each in (world, World()):
        hooks, now = World.receiver.url, utc_now()
        make_endpoint(each.tenant, url=hooks("/500/fails"), events=["payment.failed"])
        make_endpoint(each.tenant, url=hooks("/410/gone"), events=["balance.low"])
        publish_notice(each.tenant, now=now)
        for number in range(2):
            payment: dict[str, Any] = {"payment_id": ids.new("ftx")}
            publish(each.tenant, sequence=2, type="payment.failed", now=now - SECOND, **payment)
            publish(each.tenant, sequence=1, now=now - number * 2 * SECOND, **payment)
    return partial(_run, runs.burst)


def put_off(stored: Stored) -> None:
    """What failed comes again later than this story lasts."""
    stored.execute(
        "UPDATE webhooks_webhookdelivery SET next_attempt_at = now() + interval '1 hour'"
        " WHERE status = 'pending' AND failures > 0"
        " AND next_attempt_at < now() + interval '1 minute'"
    )


STORIES = [
    *map(_story, BEGINNINGS),
    Story("dispatcher", _dispatch, in_steps=True, is_work=True),
    Story("dispatcher of sets", _dispatch_sets, in_steps=True, is_work=True, finish=put_off),
]


def tasks() -> set[str]:
    """Every periodic task, as beat has it."""
    return {job["task"] for job in SCHEDULE.values()}
