from __future__ import annotations

import pytest

from common import mail
from dashboard.dev_inbox import mailbox

RESET = {"email": "lee@acme.example", "link": "http://localhost:8000/accounts/x/"}


@pytest.fixture
def folder(settings, tmp_path):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    settings.DEV_INBOX = True
    return str(tmp_path)


class TestDevelopmentInbox:
    def test_says_so_while_it_is_empty(self, client, folder):
        assert b"No e-mail yet" in client.get("/dev/inbox/").content

    def test_lists_messages_with_their_links(self, client, folder):
        mail.send(template="password_reset", to="lee@acme.example", context=RESET)

        content = client.get("/dev/inbox/").content.decode()

        assert "Choose a new password for Ballast" in content
        assert "lee@acme.example" in content
        assert 'href="http://localhost:8000/accounts/x/"' in content

    def test_shows_both_parts_of_a_message(self, client, folder):
        mail.send(template="password_reset", to="lee@acme.example", context=RESET)
        (message,) = mailbox.messages(folder)

        page = client.get(f"/dev/inbox/{message.id}/")
        frame = client.get(f"/dev/inbox/{message.id}/html")

        assert b"Choose a new password here, within ten minutes" in page.content
        assert b"<!doctype html>" in frame.content
        assert frame["X-Frame-Options"] == "SAMEORIGIN"
        assert "sandbox allow-top-navigation" in frame["Content-Security-Policy"]

    def test_reads_several_messages_of_one_connection(self, folder, tmp_path):
        mail.send(template="password_reset", to="lee@acme.example", context=RESET)
        (path,) = tmp_path.glob("*.log")
        path.write_bytes(path.read_bytes() * 2)

        assert len({message.id for message in mailbox.messages(folder)}) == 2

    @pytest.mark.parametrize("path", ["/dev/inbox/nothing-0/", "/dev/inbox/nothing-0/html"])
    def test_knows_no_other_messages(self, client, folder, path):
        assert client.get(path).status_code == 404

    @pytest.mark.parametrize("path", ["/dev/inbox/", "/dev/inbox/x-0/", "/dev/inbox/x-0/html"])
    def test_does_not_exist_outside_development(self, client, settings, path):
        settings.DEV_INBOX = False

        assert client.get(path).status_code == 404
