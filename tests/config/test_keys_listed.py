"""`docs/security/keys.md` names every setting that is a secret, and no other."""

from __future__ import annotations

import re

from devstack.paths import ROOT

# By its name, or because an address has a login in it.
SECRET = re.compile(
    r"^(\w*_(?:KEYS?|SECRET|TOKEN|AUTHORIZATION|FALLBACKS)|KEY_SERVICE"
    r"|DATABASE_\w*URL|REDIS_URL|EMAIL_URL)=",
    re.MULTILINE,
)
ROW = re.compile(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", re.MULTILINE)


def test_every_secret_setting_is_in_the_inventory():
    settings = SECRET.findall((ROOT / ".env.example").read_text())
    rows = ROW.findall((ROOT / "docs" / "security" / "keys.md").read_text())
    listed = [name for row in rows for name in re.findall(r"[A-Z_]+", row)]

    assert len(settings) > 10
    assert sorted(listed) == sorted(settings)
