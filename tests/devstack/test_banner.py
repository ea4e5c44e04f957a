from __future__ import annotations

from dataclasses import replace

import pytest
from django.urls import resolve

from devstack import up
from devstack.copies import Copy
from devstack.supervisor import Supervisor

COPY = Copy(
    address="http://localhost:8001",
    environment={},
    demo={
        "email": "owner@demo.example",
        "password": "a pass phrase",
        "adminEmail": "staff@demo.example",
        "adminPassword": "another phrase",
        "apiKey": "bal_test_1",
    },
    supervisor=Supervisor(lambda _name, _line: None),
)


class TestBanner:
    @pytest.mark.parametrize("path", up.PLACES.values())
    def test_names_addresses_that_exist(self, path: str):
        assert resolve(path)
        assert f"http://localhost:8001{path}\n" in up.banner(COPY, "blue")

    def test_shows_how_to_get_in_and_how_to_stop(self):
        banner = up.banner(COPY, "blue")

        assert "(profile blue)" in banner
        assert "Demo login     owner@demo.example  a pass phrase\n" in banner
        assert "Staff login    staff@demo.example  another phrase\n" in banner
        assert "API key        bal_test_1\n" in banner
        assert "Ctrl-C stops it." in banner

    def test_shows_who_moves_money_through_the_bank(self):
        live = {
            "liveEmail": "live@demo.example",
            "operatorEmail": "one@demo.example",
            "releaserEmail": "two@demo.example",
        }
        banner = up.banner(replace(COPY, demo={**COPY.demo, **live}), "blue")

        assert "Live tenant    live@demo.example  (" in banner
        assert "Releasers      one@demo.example, two@demo.example\n" in banner
        assert f"http://localhost:8001{up.FILES}\n" in banner
        assert resolve(up.FILES)
        assert "Live tenant" not in up.banner(COPY, "blue")
        assert max(map(len, banner.splitlines())) <= 80

    def test_promises_no_login_where_none_was_made(self):
        assert "login" not in up.banner(replace(COPY, demo={}), "blue")

    def test_fits_a_terminal(self):
        assert max(map(len, up.banner(COPY, "blue").splitlines())) <= 80
