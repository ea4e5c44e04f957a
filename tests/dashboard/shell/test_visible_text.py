"""Whatever people name or describe on a page holds visible characters only."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from django import forms

import approvals
import balance
import common
import dashboard
import desk
import funding
import networks
import payments
import tenants
import webhooks
from common.forms import LinesField, TextField
from dashboard.account.forms import PersonForm

OURS = (approvals, balance, common, dashboard, desk, funding, networks, payments, tenants, webhooks)
# What names nothing: searches, amounts, ids, addresses, numbers, tokens, passwords, codes, and what
# a bank's rules bound to ASCII.
NO_NAMES = {
    "account_id", "account_number", "account_number_again", "adjustment", "amount", "batches",
    "code", "company_id", "current", "entry", "host_key", "information", "login", "networks",
    "new_password", "number", "offset_account", "oldpassword", "other", "password", "password1",
    "password2", "path", "payment", "public_token", "request_id", "routing_number", "search",
    "seen", "subject", "tenant", "threshold", "to", "token", "total", "typed_amount", "url", "who",
}  # fmt: skip

# The last one needs packages that are an option (docs/single-sign-on.md).
WITHOUT_FORMS = (".migrations", ".management", "tenants.sso.saml")


def plain_fields() -> set[str]:
    """`form.field` of every text field of our forms that has not the rule."""
    for package in OURS:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(part in module.name for part in WITHOUT_FORMS):
                importlib.import_module(module.name)
    return {
        f"{form.__qualname__}.{name}"
        for form in every_form(forms.BaseForm)
        if form.__module__.partition(".")[0] in {package.__name__ for package in OURS}
        for name, field in getattr(form, "base_fields", {}).items()
        if type(field) is forms.CharField and name not in NO_NAMES
    }


def every_form(base: type) -> set[type]:
    return {base}.union(*(every_form(form) for form in base.__subclasses__()))


def test_every_field_that_names_something_has_the_rule():
    assert plain_fields() == set()


@pytest.mark.parametrize("name", ["Da\u202ena", "Dana\u200b", "Dana\u3164", "Da\ud800na"])
def test_what_cannot_be_seen_is_refused(name):
    form = PersonForm({"name": name})

    assert form.errors == {
        "name": ["Use visible characters only. This text has some that cannot be seen."]
    }


def test_accents_are_composed():
    form = PersonForm({"name": "Zoe\u0308"})

    assert form.is_valid()
    assert form.cleaned_data == {"name": "Zo\u00eb"}


def test_lines_may_break():
    assert LinesField().clean("two\nlines") == "two\nlines"
    with pytest.raises(forms.ValidationError):
        TextField().clean("two\nlines")
