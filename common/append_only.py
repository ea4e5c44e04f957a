"""Triggers of tables whose rows stay."""

from __future__ import annotations

import pgtrigger

# UPDATE and DELETE have triggers of their own, which see rows; TRUNCATE would pass them by. The
# owner of a table may truncate it, so this one stands before the owner too.
NEVER_TRUNCATED = pgtrigger.Trigger(
    name="never_truncated",
    level=pgtrigger.Statement,
    when=pgtrigger.Before,
    operation=pgtrigger.Truncate,
    func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;",
)
