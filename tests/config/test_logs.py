"""What must never be written, whoever logs it, by whatever logger."""

from __future__ import annotations

import logging
import time

import pytest
import structlog
from celery import shared_task
from celery.contrib.testing.worker import start_worker
from django.db import connection

from common.redaction import clean_text
from config.celery import app
from config.logs import logging_config
from tests.logs import WrittenLog

KEY = "bal_live_" + "Ab3" * 16
SECRET = "whsec_c2VjcmV0c2VjcmV0c2VjcmV0"
NUMBER = "000123456789"
LOGIN = "GET /accounts/login/?next=/dashboard/find"
LINK = "https://ballast.example/confirm/c4n4ry-T0ken_x"

structured = structlog.get_logger("tests.canary")
plain = logging.getLogger("tests.canary")


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["account_number", "accountNumber", "AccountNumber", "link_processor_token", "secret",
         "password", "Authorization", "api_key", "apiKey", "cookie", "account_number_token"],
    )  # fmt: skip
    def test_of_secrets_hide_their_values_at_any_depth(self, log, name):
        structured.info("canary", **{name: "c4n4ry"})
        structured.info("canary", body={"source": [{name: "c4n4ry"}]})
        plain.info("canary", extra={"unused": 1})

        assert "c4n4ry" not in log.text
        assert log.lines[0][name] == "[redacted]"
        assert log.lines[1]["body"] == {"source": [{name: "[redacted]"}]}

    @pytest.mark.parametrize("name", ["request_id", "task_id", "id", "trace_number"])
    def test_of_references_keep_their_digits(self, log, name):
        structured.info("canary", **{name: "091000019876543"})

        assert log.lines[0][name] == "091000019876543"


class TestShapes:
    @pytest.mark.parametrize(
        ("text", "written"),
        [
            (f"key {KEY} used", "key [redacted] used"),
            (f"Authorization: Bearer {KEY}", "Authorization: Bearer [redacted]"),
            ("Authorization: Bearer opaque", "Authorization: Bearer [redacted]"),
            (f"secret={SECRET}", "secret=[redacted]"),
            (
                "GET /sso/a/callback/?code=c&state=s",
                "GET /sso/a/callback/?[redacted]",
            ),
            (f"GET {LINK}", "GET https://ballast.example/confirm/[redacted]"),
            (f"{LINK}/approve?x=1", "https://ballast.example/confirm/[redacted]/approve?x=1"),
            ("GET /dashboard/find?q=Jane%20Roe&x=1", "GET /dashboard/find?q=[redacted]&x=1"),
            ("GET /admin/desk/find/?q=a@b.example", "GET /admin/desk/find/?q=[redacted]"),
            ("GET /dashboard/find?x=1&q=Jane+Roe", "GET /dashboard/find?x=1&q=[redacted]"),
            (
                "GET /dashboard/recipients/search?q=O'Roe",
                "GET /dashboard/recipients/search?q=[redacted]",
            ),
            ("GET /dashboard/find?%71=Jane+Roe&x=1", "GET /dashboard/find?%71=[redacted]&x=1"),
            (
                "GET /accounts/login/?next=/dashboard/find%3F%2571%3Djane",
                f"{LOGIN}%3F%2571%3D[redacted]",
            ),
            ('GET /dashboard/find?q="Jane+Roe"&x=1', "GET /dashboard/find?q=[redacted]&x=1"),
            (
                "GET /accounts/login/?next=/dashboard/find%3Fq%3DJane%2BRoe",
                f"{LOGIN}%3Fq%3D[redacted]",
            ),
            (
                "GET /accounts/login/?next=/dashboard/find%3fx%3d1%26q%3djane&x=1",
                f"{LOGIN}%3fx%3d1%26q%3d[redacted]&x=1",
            ),
            (
                "GET /accounts/login/?next=/dashboard/find%253Fq%253Djane%252540b.example",
                f"{LOGIN}%253Fq%253D[redacted]",
            ),
            ("q=Jane+Roe&limit=5", "q=[redacted]&limit=5"),  # as the API's log of requests has it
            ("GET /dashboard/find?q=&x=1", "GET /dashboard/find?q=&x=1"),
            ("GET /dashboard/faq?seq=1&sq%3D2", "GET /dashboard/faq?seq=1&sq%3D2"),
            ("token processor-sandbox-abc-1", "token [redacted]"),
            ("token public-production-abc-1", "token [redacted]"),
            ("token access-sandbox-abc-1", "token [redacted]"),
            ("token link-production-abc-1", "token [redacted]"),
            (f"account {NUMBER}.", "account […6789]."),
            (f"'{NUMBER}'", "'[…6789]'"),
            ("card:12345678", "card:[…5678]"),
            ("1234567 is too short to be one", "1234567 is too short to be one"),
            ("amount 100000000000000000000", "amount 100000000000000000000"),
            ("2026-11-20T15:00:00.123456Z", "2026-11-20T15:00:00.123456Z"),
            ("ftx_01kaj9s312345678901234567", "ftx_01kaj9s312345678901234567"),
            ("duplicate key\nDETAIL:  Key (name)=(Dana)", "duplicate key\nDETAIL: [redacted]"),
        ],
    )
    def test_of_secrets_are_recognised_in_any_text(self, text, written):
        assert clean_text(text) == written


class TestLoggers:
    @pytest.mark.parametrize("text", [KEY, SECRET, NUMBER, LINK])
    def test_of_both_kinds_write_no_canary(self, log, text):
        structured.info(
            f"said {text}", value=text, nested=({"x": [text]}, {text}), thing=Thing(text)
        )
        structured.bind(bound=text).warning("canary")
        plain.info("said %s and %r", text, {"x": text})
        plain.error(f"said {text}", stack_info=True)
        with structlog.contextvars.bound_contextvars(context=text):
            plain.warning("canary")

        assert len(log.lines) == 5
        assert text.rpartition("/")[2] not in log.text

    @pytest.mark.parametrize("text", [KEY, SECRET, NUMBER, LINK])
    def test_of_both_kinds_write_no_canary_of_an_exception(self, log, text):
        try:
            try:
                raise ValueError(f"inner {text}")
            except ValueError as error:
                raise RuntimeError({"body": text}) from error
        except RuntimeError:
            structured.exception("broken")
            plain.exception("broken")

        assert [line["exception"].count("Traceback") for line in log.lines] == [2, 2]
        assert text.rpartition("/")[2] not in log.text

    @pytest.mark.django_db
    def test_write_no_values_of_a_row_that_the_database_refused(self, log):
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO tenants_tenant (id, name, mode, status, created_at)"
                    " VALUES ('ten_1', 'c4n4ry', 'x', 'active', now())"
                )
        except Exception:
            structured.exception("broken")

        assert "tenant_mode_known" in log.text
        assert "c4n4ry" not in log.lines[0]["exception"].partition("DETAIL")[2]

    def test_write_readable_lines_in_development(self):
        formatter = logging_config(json_lines=False)["formatters"]["structured"]
        renderer = formatter["processors"][-1]

        line = renderer(None, "info", {"event": "started", "level": "info", "port": 8000})

        assert "started" in line
        assert "port=8000" in line

    def test_cut_off_what_is_nested_without_end(self, log):
        deep: list[object] = ["bottom"]
        for _ in range(20):
            deep = [deep]

        structured.info("canary", deep=deep)

        assert "bottom" not in log.text


class Thing:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return f"Thing({self._text!r})"


@shared_task(name="tests.say_something")
def say_something() -> None:
    structured.info("said")


@pytest.mark.django_db(transaction=True)
class TestTasks:
    def test_log_with_the_ids_of_the_request_that_woke_them(self, settings):
        settings.DATABASE_JOBS = {}  # or a worker in this process would give it its login for good
        with (
            start_worker(app, pool="solo", perform_ping_check=False, shutdown_timeout=10),
            WrittenLog().recording() as log,  # the worker sets logging up anew
            structlog.contextvars.bound_contextvars(request_id="r1", tenant_id="ten_1"),
        ):
            task = app.send_task("tests.say_something")
            deadline = time.monotonic() + 20
            while not log.of("said"):
                assert time.monotonic() < deadline

        (line,) = log.of("said")
        assert (line["request_id"], line["tenant_id"], line["task_id"]) == ("r1", "ten_1", task.id)


def test_a_line_that_does_not_fit_its_message_fails_its_test():
    with pytest.raises(TypeError):
        logging.getLogger("tests").warning("%d", "no number")
