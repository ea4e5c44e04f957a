"""A fresh tenant with what a story asks it for, and the sweeps that finish what was begun."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

from django.test import Client

from common.clock import utc_now
from funding.models import FundingSource, FundingTransaction
from funding.services import consents
from payments.models import Payment
from tenants.models import ApiKey, Role, Tenant, User
from tenants.services import emails
from tests.builders import (
    browser_of,
    make_auto_funding,
    make_endpoint,
    make_key,
    make_member,
    make_source,
    make_staff,
    make_tenant,
)
from tests.crashes.stored import Stored
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay
from tests.plaid import FakePlaid
from tests.receivers import Receiver
from transfers.sandbox import due

Act = Callable[[Mapping[str, str]], Any]

_number = itertools.count()
MAILS_ARE_DUE = """
UPDATE tenants_outgoingemail SET next_attempt_at = now(), leased_until = NULL
    WHERE next_attempt_at IS NOT NULL
"""
# As if some minutes had passed: leases of the dead have ended, and what was put off is due.
END_LEASES = f"""
DO $$
DECLARE t regclass;
BEGIN
    FOR t IN SELECT attrelid::regclass FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'leased_until' AND relkind = 'r'
    LOOP
        EXECUTE format('UPDATE %s SET leased_until = NULL, next_attempt_at = now()'
            ' WHERE leased_until IS NOT NULL'
            ' OR next_attempt_at > now()'
            ' AND next_attempt_at < now() + make_interval(secs => 3)', t);
    END LOOP;
    {MAILS_ARE_DUE};
    UPDATE funding_linkconsent SET next_attempt_at = now()
        WHERE attempts > 0 AND next_attempt_at < now() + make_interval(mins => 2);
    UPDATE funding_sourceverification SET next_attempt_at = now()
        WHERE attempts > 0 AND next_attempt_at < now() + make_interval(mins => 2);
    DELETE FROM webhooks_dispatcherheartbeat;
END $$
"""


class World:
    """One tenant with an endpoint for webhooks, and what it has as soon as somebody asks for it."""

    receiver: Receiver  # where its endpoint is
    plaid: FakePlaid  # where its real accounts are

    def __init__(self) -> None:
        self.tenant: Tenant = make_tenant()
        self.endpoint = make_endpoint(self.tenant, url=self.receiver.url())

    @cached_property
    def source(self) -> FundingSource:
        return make_source(self.tenant, now=utc_now())

    @cached_property
    def api(self) -> Client:
        client = Client(raise_request_exception=False)
        client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {make_key(self.tenant)}"
        ApiKey.objects.filter(tenant=self.tenant).update(last_used_at=utc_now())
        return client

    @cached_property
    def owner(self) -> User:
        return self.member(Role.OWNER)

    @cached_property
    def browser(self) -> Client:
        return self.browser_of(self.owner)

    @cached_property
    def desk(self) -> Client:
        """The browser of somebody who works for us and may do everything."""
        staff = make_staff(f"sam{next(_number)}@ballast.example")
        return self.browser_of(staff)

    def member(self, role: Role) -> User:
        return make_member(self.tenant, email=f"{role}{next(_number)}@acme.example", role=role)

    def browser_of(self, user: User, *, factor: str = "") -> Client:
        client = browser_of(user, factor=factor)
        client.raise_request_exception = False
        return client

    def low(self, **fields: Any) -> None:
        """From now on whatever moves money makes auto-funding look, and fund."""
        make_auto_funding(
            self.tenant, source=self.source, low_balance_threshold=1_000_000_00, **fields
        )

    def money(self, amount: int = 1_000_000) -> None:
        fund(self.tenant, amount, now=utc_now())

    def payment(self, **fields: Any) -> Payment:
        return pay(self.tenant, now=utc_now(), **fields)

    def funding(self, **fields: Any) -> FundingTransaction:
        return top_up(self.tenant, source=self.source, now=utc_now(), **fields)

    def post(self, path: str, body: Any = None) -> Act:
        """What to do: this request of the API."""
        return self.send("POST", path, body)

    def send(self, method: str, path: str, body: Any = None) -> Act:
        assert self.api  # its key is there before the operation begins
        return partial(self._send, method, path, body)

    def _send(self, method: str, path: str, body: Any, headers: Any) -> Any:
        call = getattr(self.api, method.lower())
        return call(f"/api/v1/{path}", body, content_type="application/json", headers=dict(headers))

    @staticmethod
    def finish(stored: Stored) -> None:
        """Let the sweeps do all that is left, as if the leases of the dead had ended."""
        stored.execute(END_LEASES)
        World.finish_all()

    @staticmethod
    def send_mails(stored: Stored) -> None:
        """Send the mails that are left: all that a form about an account has others do."""
        stored.execute(MAILS_ARE_DUE)
        while emails.send_due(now=utc_now()):
            pass

    @staticmethod
    def finish_all() -> None:
        """Let the sweeps do all that is due."""
        for _ in range(20):
            now = utc_now()
            moved = sum(part.run(now) for part in due._parts)
            if not moved + consents.revoke_due(now=now) + emails.send_due(now=now):
                return
