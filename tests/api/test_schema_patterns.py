"""The document's patterns say what the server refuses, and nothing that it takes."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.engine.http.urls import Policy, UrlRefused
from networks import bank_details
from networks.errors import InvalidBankDetails
from tests import document

PUBLIC_ONLY = Policy(own_host="ballast.example.com", own_port=443)
ACCOUNT = ("ManualSourceRequest", "accountNumber")
ROUTING = ("ManualSourceRequest", "routingNumber")
HOLDER = ("LinkedSourceRequest", "accountHolderName")
URL = ("WebhookRequest", "url")


def take_url(text):
    PUBLIC_ONLY.check(text, allow_http=True)


TAKES = {
    URL: take_url,
    ACCOUNT: bank_details.checked_account_number,
    ROUTING: bank_details.checked_routing_number,
    HOLDER: bank_details.checked_holder_name,
}


def is_described(place, text):
    component, field = place
    schema = document.load()["components"]["schemas"][component]["properties"][field]
    return document.faults(schema, text) == []


def is_taken(place, text):
    with contextlib.suppress(UrlRefused, InvalidBankDetails):
        TAKES[place](text)
        return True
    return False


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (URL, "https://hooks.example.com"), (URL, "HTTPS://Hooks.Example.COM:443/in?a=b@c:22"),
        (URL, "https://my_hooks.example.com?x"), (URL, "https://[2606:4700::1111]:8443/%20"),
        (URL, "https://8.8.8.8:8443/~a!$&'()*+,;=:@"), (ACCOUNT, " 0007 7700 0123 "),
        (ACCOUNT, "12-345-A"), (ACCOUNT, "0001"), (ROUTING, "021000021"), (ROUTING, "322271627"),
        (HOLDER, "O'Brien & Söhne, Inc."), (HOLDER, "李 Li"),
    ],
)  # fmt: skip
def test_what_is_taken_is_described(place, text):
    assert (is_taken(place, text), is_described(place, text)) == (True, True)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (URL, "hooks.example.com"), (URL, "ftp://hooks.example.com/"), (URL, "https:///x"),
        (URL, "https://user:pw@hooks.example.com/"), (URL, "https://hooks.example.com/#x"),
        (URL, "https://hooks.example.com/a b"), (URL, "https://b\u00fccher.example.com/"),
        (URL, "https://a.com\\@b.com/"), (URL, "https://hooks.example.com/%0d%0aX:1"),
        (URL, "https://hooks..example.com/"), (URL, "https://-a.example.com/"),
        (URL, "https://hooks.example.com:x/"), (URL, "\nhttps://hooks.example.com/"),
        (ACCOUNT, "0000"), (ACCOUNT, "0-0-0-0"), (ACCOUNT, "123"), (ACCOUNT, "12_34"),
        (ROUTING, "000000000"), (ROUTING, "991000021"), (ROUTING, "12345678"),
        (HOLDER, "Acme <b>"), (HOLDER, "Acme = 1"), (HOLDER, "a|b"), (HOLDER, "[x]"),
        (HOLDER, "   "),
    ],
)  # fmt: skip
def test_what_is_refused_is_not_described(place, text):
    assert (is_taken(place, text), is_described(place, text)) == (False, False)


URLS = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["https", "HTTP", "http"]),
    st.from_regex(r"\A[0-9A-Za-z_.-]{1,40}\Z") | st.sampled_from(["[2606:4700::1111]", "8.8.8.8"]),
    st.sampled_from(["", ":443", ":8443", ":1"]),
    st.from_regex(r"\A([/?][\x20-\x7e]{0,20})?\Z"),
)
TEXTS = st.text(st.sampled_from("09aZ -_é李<=\u200b\t"), max_size=12)
NUMBERS = st.text(st.sampled_from("0123456789"), min_size=8, max_size=10)


@given(text=URLS)
def test_no_url_that_is_taken_is_refused_by_the_document(text):
    assert is_described(URL, text) or not is_taken(URL, text)


@given(text=TEXTS | NUMBERS)
@pytest.mark.parametrize("place", [ACCOUNT, ROUTING])
def test_no_number_that_is_taken_is_refused_by_the_document(place, text):
    assert is_described(place, text) or not is_taken(place, text)
