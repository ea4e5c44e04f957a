"""Steps of migrations that run while the service is in use."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db.migrations import AddIndex, RemoveIndex


class AddIndexOnline(AddIndexConcurrently):
    """Builds an index while rows are written. The migration needs `atomic = False`.

    A build that was interrupted leaves an invalid index. So an index of this name is dropped first,
    and the migration can be run again. In reverse, the index is dropped at once under a strong lock
    for a moment, which also works inside a transaction.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        name = schema_editor.quote_name(self.index.name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)


class RemoveIndexOnline(RemoveIndexConcurrently):
    """Drops an index while rows are written. The migration needs `atomic = False`.

    Backwards the index is built with a lock on the table: that works inside a transaction as well.
    """

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        RemoveIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)
