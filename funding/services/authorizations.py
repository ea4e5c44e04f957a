"""Whether an account may be debited automatically: the bank's word, and a person's after it.

A return that ends the authorization (Nacha R05, R07, R10, R29 and their like) holds until a person
says that the account holder agrees again. An API key is not a person: it only repeats what it was
written to send.
"""

from __future__ import annotations

from datetime import datetime

from funding.errors import FundingSourceNotAuthorized
from funding.models import AutoFundingConfig, FundingSource
from tenants.actors import Actor
from tenants.models import ActorType


def speaks_for_the_holder(actor: Actor) -> bool:
    return actor.type != ActorType.API_KEY


def require(*, source: FundingSource, config: AutoFundingConfig) -> None:
    """Raises FundingSourceNotAuthorized where nobody has agreed since the bank's last word."""
    if _has_ended(source, config):
        raise FundingSourceNotAuthorized(
            f"The account holder's authorization has ended ({source.last_return_code}).",
            field="fundingSourceId",
        )


def ended_at(config: AutoFundingConfig) -> datetime | None:
    """When the authorization of the account that `config` draws on ended; None where it stands.

    One query.
    """
    drawn = {"pk": config.source_id} if config.source_id else {"is_default": True}
    source = FundingSource.objects.filter(tenant_id=config.tenant_id, **drawn).first()
    if source is None or not _has_ended(source, config):
        return None
    return source.authorization_ended_at


def _has_ended(source: FundingSource, config: AutoFundingConfig) -> bool:
    ended, agreed = source.authorization_ended_at, config.authorized_at
    if ended is None:
        return False
    return agreed is None or agreed < ended or source.pk != config.authorized_source_id
