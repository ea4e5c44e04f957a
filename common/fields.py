"""Model fields used by more than one app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from common import ids

if TYPE_CHECKING:
    TextColumn = models.CharField[str, str]
else:
    TextColumn = models.CharField


class PrefixedIdField(TextColumn):
    """A primary key that is a public id, e.g. `PrefixedIdField("ftx")`.

    Bytewise collation: ids sort by time, and comparisons cost the same under any locale.
    """

    def __init__(self, prefix: str = "", **kwargs: Any) -> None:
        self.prefix = prefix
        kwargs |= {
            "primary_key": True,
            "max_length": ids.ID_LENGTH_MAX,
            "db_collation": "C",
            "editable": False,
            "default": self._new_id,
        }
        super().__init__(**kwargs)

    def _new_id(self) -> str:
        return ids.new(self.prefix)

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """Not `varchar`: for that Django would add a second index for LIKE to this column and to
        every foreign key. Under the C collation the first index serves LIKE as well."""
        return f"character varying({self.max_length})"

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, path, _args, _kwargs = super().deconstruct()
        return name, path, [self.prefix], {}
