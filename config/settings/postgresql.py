"""The database, and the roles that work in it."""

from __future__ import annotations

from config import database, safety
from config.env import count, flag, text
from config.settings.deployment import DEBUG

# Migrations and grants are made by the owner of the tables, everything else by a role that owns
# nothing (decision 0114). `manage.py` says which commands are the owner's.
DATABASE_OWNER_URL = text("DATABASE_OWNER_URL", default="")
ALLOW_DATABASE_OWNER = flag("ALLOW_DATABASE_OWNER", default=False)
DATABASE_ROLE_MUST_BE_BOUND = not (DEBUG or ALLOW_DATABASE_OWNER or database.is_owner())
DATABASE_APPLICATION_ROLE = database.application_role()
# Requests of the API work under a role that sees one tenant (decision 0167).
DATABASE_API = database.api_login()
DATABASE_API_DOOR = f"common.database.doors.{'Login' if DATABASE_API else 'NoDoor'}"
# Each job with an address works under a role that may do what the job needs (decision 0180).
DATABASE_JOBS = database.job_logins()
DATABASE_JOB_DOOR = "common.database.job_doors.Logins"
DATABASE_FAST_PATH = database.takes_fast_path()
DATABASES = {"default": database.settings()}
# Whether tests and demonstrations may choose the database's time; no variable says so elsewhere.
SETTABLE_DATABASE_CLOCK = DEBUG
# A process pauses if its clock is further from the database's. None (in tests): it never does.
_drift = count("CLOCK_DRIFT_SECONDS_MAX", default=5, minimum=1)
if not DEBUG:
    safety.require_from_to("CLOCK_DRIFT_SECONDS_MAX", _drift, 1, 60)
CLOCK_DRIFT_SECONDS_MAX: int | None = _drift
