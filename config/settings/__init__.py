"""All settings, read once from the environment. `.env.example` lists every name.

Each module is one subject and imports from others what it builds on.
"""

from __future__ import annotations

from config.settings.accounts import *
from config.settings.api import *
from config.settings.apps import *
from config.settings.brand import *
from config.settings.celery import *
from config.settings.deployment import *
from config.settings.evidence import *
from config.settings.headers import *
from config.settings.keys import *
from config.settings.limits import *
from config.settings.logs import *
from config.settings.mail import *
from config.settings.networks import *
from config.settings.pages import *
from config.settings.postgresql import *
from config.settings.purposes import *
from config.settings.sessions import *
from config.settings.single_sign_on import *
from config.settings.staff import *
from config.settings.valkey import *
from config.settings.webhooks import *
