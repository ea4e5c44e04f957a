"""Reading a body, below the web server: what WSGI servers hand over, whole or broken."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from api.middleware import BodyLimitMiddleware
from tests.api.test_conventions_errors import problem

PATH = "/api/v1/balance/topup"


class Broken(BytesIO):
    def read(self, *_arguments):
        raise RuntimeError("the chunk has no end")


def passed(path=PATH, **environ):
    """The body that a view sees, or the refusal."""
    request = RequestFactory().generic("POST", path)
    request.META.update(environ)
    if "wsgi.input" in environ:
        request._stream = environ["wsgi.input"]
    return BodyLimitMiddleware(lambda request: HttpResponse(request.body))(request)


def chunked(body):
    return {
        "wsgi.input": BytesIO(body),
        "wsgi.input_terminated": True,
        "HTTP_TRANSFER_ENCODING": "chunked",
        "CONTENT_LENGTH": "",
    }


def test_a_chunked_body_is_whole():
    assert passed(**chunked(b'{"amount":100}')).content == b'{"amount":100}'


def test_a_chunked_body_is_not_trusted_to_end_by_a_server_that_does_not_say_so():
    environ = chunked(b"x" * 10) | {"wsgi.input_terminated": False}
    environ["wsgi.input"] = BytesIO(b"")

    assert passed(**environ).content == b""


@pytest.mark.parametrize("size", [64 * 1024 + 1, 10**6])
def test_a_chunked_body_may_not_be_larger_either(size):
    response = passed(**chunked(b" " * size))

    assert response.status_code == 413


def test_a_body_shorter_than_declared_is_400():
    environ = {"wsgi.input": BytesIO(b"{}"), "CONTENT_LENGTH": "99"}

    assert passed(**environ).status_code == 400


def test_a_body_that_breaks_off_is_400():
    assert passed(**chunked(b"") | {"wsgi.input": Broken()}).status_code == 400


@pytest.mark.parametrize("length", ["", "abc", "-1", "1e3", "\u0661"])
def test_an_unreadable_length_declares_nothing(length):
    environ = {"wsgi.input": BytesIO(b""), "CONTENT_LENGTH": length}

    assert passed(**environ).status_code == 200


def test_bodies_outside_the_api_are_not_touched():
    environ = {"wsgi.input": BytesIO(b"x" * 10**6), "CONTENT_LENGTH": str(10**6)}

    assert len(passed(path="/accounts/login/", **environ).content) == 10**6


@pytest.mark.django_db
def test_the_refusal_is_a_problem(acme_api):
    response = acme_api.post(PATH, b" " * (64 * 1024 + 1), content_type="application/json")

    problem(response, 413, "payload_too_large")
