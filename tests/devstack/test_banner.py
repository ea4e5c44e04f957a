from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from django.urls import resolve

from devstack import up
from devstack.paths import Profile

ADDRESS = "http://localhost:8001"
PROFILE = Profile("blue", Path(os.sep, "copies", "blue"))
DEMO = {
    "email": "owner@demo.example",
    "password": "a pass phrase",
    "adminEmail": "staff@demo.example",
    "adminPassword": "another phrase",
    "apiKey": "bal_test_1",
}


def banner(demo: Mapping[str, str] = MappingProxyType(DEMO)) -> str:
    return up.banner(ADDRESS, PROFILE, demo=demo, stop="Ctrl-C stops it.")


class TestBanner:
    @pytest.mark.parametrize("path", up.PLACES.values())
    def test_names_addresses_that_exist(self, path: str):
        assert resolve(path)
        assert f"http://localhost:8001{path}\n" in banner()

    def test_shows_how_to_get_in_and_how_to_stop(self):
        shown = banner()

        assert "(profile blue)" in shown
        assert "Demo login     owner@demo.example  a pass phrase\n" in shown
        assert "Staff login    staff@demo.example  another phrase\n" in shown
        assert "API key        bal_test_1\n" in shown
        assert "Logs           /copies/blue/logs\n" in shown
        assert "Shown again by ./run info\n" in shown
        assert "Ctrl-C stops it." in shown

    def test_shows_who_moves_money_through_the_bank(self):
        live = {
            "liveEmail": "live@demo.example",
            "operatorEmail": "one@demo.example",
            "releaserEmail": "two@demo.example",
        }
        shown = banner({**DEMO, **live})

        assert "Live tenant    live@demo.example  (" in shown
        assert "Releasers      one@demo.example, two@demo.example\n" in shown
        assert f"http://localhost:8001{up.FILES}\n" in shown
        assert resolve(up.FILES)
        assert "Live tenant" not in banner()
        assert max(map(len, shown.splitlines())) <= 80

    def test_shows_where_requests_for_payment_are_approved(self):
        live = {
            "liveEmail": "live@demo.example",
            "operatorEmail": "one@demo.example",
            "releaserEmail": "two@demo.example",
            "payersBank": "http://127.0.0.1:45678/",
        }
        shown = banner({**DEMO, **live})

        line = "Payer's bank   http://127.0.0.1:45678/  (approve its top-ups by RTP here)\n"
        assert line in shown
        assert max(map(len, shown.splitlines())) <= 80
        assert "Payer's bank" not in banner({**DEMO, **live, "payersBank": ""})

    def test_shows_where_webhooks_can_be_watched(self):
        shown = banner({**DEMO, "receiverAddress": "http://127.0.0.1:9001/"})

        assert "Webhooks       http://127.0.0.1:9001/  (what was received)\n" in shown
        assert "Webhooks" not in banner()

    def test_promises_no_login_where_none_was_made(self):
        assert "login" not in banner({})

    def test_fits_a_terminal(self):
        assert max(map(len, banner().splitlines())) <= 80
