"""Sessions and cookies."""

from __future__ import annotations

from config import safety
from config.env import count
from config.settings.deployment import DEBUG, IS_HTTPS

SESSION_ENGINE = "tenants.session_store"
# How long a session may rest before it ends.
IDLE_MINUTES = count("IDLE_MINUTES", default=30, minimum=1)
STAFF_IDLE_MINUTES = count("STAFF_IDLE_MINUTES", default=15, minimum=1)
# After how many hours staff sign in again, however busy they are; everybody after a day.
STAFF_SESSION_HOURS = count("STAFF_SESSION_HOURS", default=8, minimum=1)
# How long a proof of who acts lasts: then keys, recipients, teams and the desk ask for another.
STEP_UP_MINUTES = count("STEP_UP_MINUTES", default=10, minimum=1)
if not DEBUG:
    safety.require_from_to("IDLE_MINUTES", IDLE_MINUTES, 1, 120)
    safety.require_from_to("STAFF_IDLE_MINUTES", STAFF_IDLE_MINUTES, 1, 60)
    safety.require_from_to("STAFF_SESSION_HOURS", STAFF_SESSION_HOURS, 1, 12)
    safety.require_from_to("STEP_UP_MINUTES", STEP_UP_MINUTES, 1, 60)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 24
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_NAME = "__Host-sessionid" if IS_HTTPS else "sessionid"
DEVICE_COOKIE_NAME = "__Host-device" if IS_HTTPS else "device"
PROOF_COOKIE_NAME = "__Host-proof" if IS_HTTPS else "proof"
CSRF_COOKIE_NAME = "__Host-csrftoken" if IS_HTTPS else "csrftoken"
CSRF_COOKIE_HTTPONLY = True
