from __future__ import annotations

from funding.services import sources
from tenants.actors import SYSTEM
from tests.builders import NOW, make_source


class TestBankAccounts:
    def test_shows_bank_and_last_four_but_never_the_number(self, acme, dana_browser):
        make_source(acme, account_number="000123456789")

        content = dana_browser.get("/dashboard/bank-accounts").content.decode()

        assert "··6789" in content
        assert "Active" in content
        assert ">Default<" in content
        assert "000123456789" not in content

    def test_leaves_removed_ones_out(self, acme, dana_browser):
        source = make_source(acme)
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        assert b"No bank account yet" in dana_browser.get("/dashboard/bank-accounts").content

    def test_shows_nothing_of_another_tenant(self, rival, dana_browser):
        make_source(rival)

        assert b"No bank account yet" in dana_browser.get("/dashboard/bank-accounts").content

    def test_says_why_an_account_is_of_no_use_and_what_to_do(self, acme, dana_browser):
        closed = make_source(acme)
        sources.note_return(source=closed, return_code="R02", now=NOW)

        content = dana_browser.get("/dashboard/bank-accounts").content.decode()

        assert "Account closed (R02). Use another bank account." in content
