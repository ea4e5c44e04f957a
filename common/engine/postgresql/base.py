"""The module in which Django looks for the `DatabaseWrapper` of an engine in
`settings.DATABASES`."""

from __future__ import annotations

from django.conf import settings

from common.engine.postgresql.fast import FastWrapper
from common.engine.postgresql.wrapper import Wrapper

DatabaseWrapper: type[Wrapper] = FastWrapper if settings.DATABASE_FAST_PATH else Wrapper
