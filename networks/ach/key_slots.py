"""Our key at a bank: made here, sealed, and never shown. The caller writes the audit log.

It loads asyncssh (30 MiB), so that only commands import it.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common import crypto
from networks.ach.models import AchKey
from networks.ach.sftp import keys


@transaction.atomic
def make(*, rail: str, by: str, now: datetime) -> AchKey:
    """A new key, which is used from now on; the one before it is retired."""
    former = AchKey.objects.select_for_update(no_key=True).filter(rail_id=rail, retired_at=None)
    for key in former:
        key.retired_by, key.retired_at = by, now
        key.save(update_fields=("retired_by", "retired_at"))
    pair = keys.generate_client_key()
    made = AchKey(
        rail_id=rail,
        public_key=pair.public.text,
        fingerprint=pair.public.fingerprint,
        created_by=by,
        created_at=now,
    )
    made.private_key_token = crypto.encrypt(pair.private.decode(), context=made.encryption_context)
    made.save(force_insert=True)
    return made
