"""Every form of the dashboard, sent with another tenant's things in place of one's own.

Forms are found on the pages, and what names a thing in them by its look: whatever holds an id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from django.urls import reverse

from common import ids
from tenants.models import Role
from tests.builders import browser_of, make_member
from tests.dashboard.shell.test_roles import MONTHS, SESSIONS, asked, each, pages, things_of
from tests.database import digest

pytestmark = pytest.mark.django_db

AN_ID = re.compile(r"([a-z]{2,4})_[0-7][0-9a-hjkmnp-tv-z]{25}")
# What a person would type where a form has nothing yet.
TYPED = "25.00"
# Says for which tenant a form was shown: its own test is in `test_roles.py`.
GUARD = "acting_for"


@dataclass
class Form:
    action: str
    values: dict[str, str]


class Forms(HTMLParser):
    """The forms of a page that act, with what they would send."""

    def __init__(self, address: str, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._address, self._select = address, ""
        self._form: Form | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            acts = given.get("method", "").lower() == "post" or "hx-post" in given
            action = given.get("action") or given.get("hx-post") or self._address
            self._form = Form(action, {}) if acts else None
            if self._form:
                self.found.append(self._form)
        elif self._form is None:
            return
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and given.get("value"):
            self._form.values[self._select] = given["value"]
        elif tag in {"input", "textarea", "button"} and given.get("name"):
            self._form.values[given["name"]] = given.get("value") or TYPED

    def handle_endtag(self, tag):
        if tag == "form":
            self._form = None


def forms_of(browser, things) -> dict[tuple[str, frozenset[str]], Form]:
    """Of every page that the owner may open, by address and fields: the same one counts once."""
    found: dict[tuple[str, frozenset[str]], Form] = {}
    for name in each("read"):
        named = {key: things[key] for key in pages()[name]}
        address = reverse(f"dashboard:{name}", kwargs=named | MONTHS.get(name, {}))
        answer = browser.get(address)
        page = answer.getvalue()  # a file, too, to its end: an open one keeps its cursor
        if not answer["Content-Type"].startswith("text/html"):
            continue
        for form in Forms(address, page.decode()).found:
            found.setdefault((form.action, frozenset(form.values)), form)
    return found


def named_in(form: Form) -> dict[str, str]:
    """The fields of a form that name a thing, with the prefix of its id."""
    matches = {name: AN_ID.fullmatch(value) for name, value in form.values.items()}
    return {name: match[1] for name, match in matches.items() if match and name != GUARD}


@pytest.fixture
def theirs(rival) -> dict[str, str]:
    """The rival's things, by the prefix of their ids."""
    make_member(rival, email="ravi@rival.example", role=Role.OWNER)
    found = (AN_ID.fullmatch(str(value)) for value in things_of(rival).values())
    return {match[1]: match[0] for match in found if match}


def test_no_form_takes_another_tenants_thing(acme, theirs):
    browser = browser_of(make_member(acme, email="dana@acme.example", role=Role.OWNER))
    forms = forms_of(browser, things_of(acme))
    fields: set[str] = set()

    with digest.unchanged(apart_from=SESSIONS):
        for form in forms.values():
            for field, prefix in named_in(form).items():
                assert prefix in theirs, f"add a {prefix}_ to things_of: {form.action} names one"
                answers = {
                    asked(browser, form.action, "act", acme, form.values | {field: thing}).status
                    for thing in (theirs[prefix], ids.new(prefix))
                }
                assert len(answers) == 1, (form.action, field, answers)
                assert answers <= {403, 404, 409, 422}, (form.action, field, answers)
                fields.add(field)

    assert fields >= {"source"}


def test_no_form_is_taken_without_its_token(acme):
    browser = browser_of(make_member(acme, email="dana@acme.example", role=Role.OWNER))
    forms = forms_of(browser, things_of(acme))
    browser.handler.enforce_csrf_checks = True
    taken = set()

    with digest.unchanged(apart_from=SESSIONS):
        for form in forms.values():
            form.values.pop("csrfmiddlewaretoken", None)
            answer = browser.post(form.action, form.values)
            if answer.status_code != 403 or b"This form has expired" not in answer.content:
                taken.add(form.action)

    assert len(forms) > 30
    assert taken == set()
