"""The base of every API view, the API's own document, and the answer to unknown paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import condition
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from api import document, errors, pagination, problems
from api.deprecation import Deprecation
from api.throttling import KeyRateThrottle
from common.errors import NotFound

_READING = ("GET", "HEAD")
_OPENAPI_YAML = "application/vnd.oai.openapi; charset=utf-8"
_SCHEMA_HEADERS = {
    "Content-Disposition": 'inline; filename="openapi.yaml"',
    "Cache-Control": "public, no-cache",  # ask each time: the answer is 304 until a new release
}


class ApiViewSet(ViewSet):
    """Explicit actions mapped by hand in `config/api_v1.py`; `scopes` names each one's scope.

    Every other action than those of `parameterized` refuses a query string. Those check their
    parameters themselves (`StrictFilterSet`, `paginate`). Actions in `deprecated` will go.
    """

    scopes: ClassVar[dict[str, str]]
    deprecated: ClassVar[Mapping[str, Deprecation]] = {}
    parameterized: ClassVar[frozenset[str]] = frozenset({"list", "download"})
    throttle_classes = (KeyRateThrottle,)
    http_method_names = [  # noqa: RUF012  # Django declares it as an instance attribute
        "get",
        "post",
        "patch",
        "delete",
        "head",
    ]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check who asks first, how fast second, and what for third: a key over its limit learns
        nothing else.

        Raises UnknownParameter: whoever asks for `?at=yesterday` must not be given today's answer.
        """
        self.perform_authentication(request)
        self.check_throttles(request)
        self.check_permissions(request)
        if self.action is not None and self.action not in self.parameterized:
            pagination.refuse_unknown(request, paged=False)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if verdict := getattr(request, "rate_limit", None):
            for name, value in verdict.headers.items():
                answer[name] = value
        if deprecation := self.deprecated.get(self.action or ""):
            for name, value in deprecation.headers.items():
                answer[name] = value
        return answer


def _schema_etag(_request: HttpRequest) -> str:
    return document.current().etag


@csrf_exempt
@condition(etag_func=_schema_etag)
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document, in YAML whatever the Accept header says; 304 to who has it already.

    It is compressed once per process, and not again by the middleware for pages.
    """
    if request.method not in _READING:
        refusal = problems.response(errors.MethodNotAllowed("The document is only read, by GET."))
        refusal["Allow"] = ", ".join(_READING)
        return refusal
    found = document.current()
    takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(
        found.compressed if takes_gzip else found.text, _OPENAPI_YAML, headers=_SCHEMA_HEADERS
    )
    if takes_gzip:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


@csrf_exempt
def unknown_path(request: HttpRequest) -> HttpResponse:
    """404 for every path under `/api/` that no view answers."""
    hint = " No address here ends in a slash." if request.path.endswith("/") else ""
    return problems.response(NotFound(f"There is no {request.method} {request.path[:100]}.{hint}"))
