"""Signing in at a provider of single sign-on, and proving there once more who one is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import requests
import structlog
from allauth.account.adapter import get_adapter
from allauth.account.utils import get_next_redirect_url, perform_login
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from common.clock import utc_now
from dashboard.account.forms import WorkAddressForm
from dashboard.shell import pace
from tenants import proofs
from tenants.account_transactions import wholly_in_one_transaction
from tenants.errors import SignInRefused
from tenants.services import identities
from tenants.sso import addresses, connections, id_tokens, reach
from tenants.sso.connections import Connection, OpenIdConnect, Saml
from tenants.sso.exchanges import Asked, Exchange, take
from tenants.sso.identity import SKEW_SECONDS, Identity, Refused
from tenants.sso.provider import Adapter, Provider

log = structlog.get_logger(__name__)

_STALE = (
    "This sign-in was begun in another browser, was used already, or took longer than ten minutes."
)
_CANCELLED = "The sign-in was not finished at {name}."
_AWAY = "{name} does not answer as it should. Try again in a few minutes."
_NOT_TRUSTED = "What {name} said about you could not be verified. Tell support if it happens again."
_SOMEBODY_ELSE = "You confirmed it at {name} as somebody else. Sign in there as yourself."
_NOT_AGAIN = "{name} did not ask you again who you are, so this does not count. Tell support."

_STATE_MAX = 80  # bytes of RelayState (SAML 2.0 Bindings § 3.5.3)
_PACE = pace.Pace("single_sign_on", "SINGLE_SIGN_ON_PER_MINUTE")

View = Callable[..., HttpResponse]


def _of_connection(view: View) -> View:
    """A page about an enabled connection, asked for at a bounded pace."""

    @wraps(view)
    def limited(request: HttpRequest, connection_id: str) -> HttpResponse:
        connection = connections.by_id(connection_id)
        if connection is None:
            raise Http404
        if seconds := _wait(request):
            return pace.too_many(request, limit=_PACE, seconds=seconds)
        try:
            return view(request, connection)
        except (requests.RequestException, OAuth2Error) as error:
            log.warning("sso_provider_away", connection=connection.id, error=type(error).__name__)
            return _refusal(request, _AWAY.format(name=connection.name), status=503)

    return limited


def _wait(request: HttpRequest) -> int:
    """Count a request from this address; seconds until there may be another one, or 0."""
    return _PACE.wait(user_id=get_adapter().get_client_ip(request))


@require_http_methods(["GET", "HEAD", "POST"])
def find(request: HttpRequest) -> HttpResponse:
    """Ask for the address of somebody whose organization has a provider, and lead there."""
    form = WorkAddressForm(request.POST if request.method == "POST" else None)
    values = {"form": form, "next": get_next_redirect_url(request) or ""}
    if form.is_bound and (seconds := _wait(request)):
        return pace.too_many(request, limit=_PACE, seconds=seconds)
    if form.is_valid():
        connection = connections.for_address(form.cleaned_data["email"])
        if connection is not None:
            return render(request, "account/sso_found.html", values | {"connection": connection})
        form.add_error(
            "email", "No single sign-on is set up for this address. Sign in with your password."
        )
    return render(request, "account/sso_find.html", values, status=422 if form.errors else 200)


@require_GET
@_of_connection
def start(request: HttpRequest, connection: Connection) -> HttpResponse:
    """Send the browser to the provider. Who is signed in by it may prove with `again` who they
    are: the provider is then told to ask them, whatever it remembers."""
    is_proof = "again" in request.GET
    if is_proof and reach.of_session(request) != connection:
        raise Http404
    asked = Asked(next=get_next_redirect_url(request) or "", is_proof=is_proof)
    if isinstance(connection, OpenIdConnect):
        return _leave_for_a_token(request, connection, asked)
    from tenants.sso.saml import toolkit  # here: its packages are an option

    return redirect(toolkit.leave(request.session, _of_saml(connection), asked=asked))


def _leave_for_a_token(
    request: HttpRequest, connection: OpenIdConnect, asked: Asked
) -> HttpResponse:
    anew = {"prompt": "login", "max_age": "0"} if asked.is_proof else {}
    answer: HttpResponse = Provider(request, connection).redirect(
        request, "login", data=asked, auth_params={"nonce": asked.nonce, **anew}
    )
    return answer


@csrf_exempt  # another site's page sends it, without our cookies: nothing here is done by them
@sensitive_post_parameters("SAMLResponse")
@require_POST
@_of_connection
def saml_answer(request: HttpRequest, connection: Connection) -> HttpResponse:
    """Judge what a SAML provider signed, and send the browser on to `callback` with a code for it:
    there it has its session, which knows whether this was asked for. RelayState leads nowhere."""
    connection = _of_saml(connection)
    from tenants.sso.saml import codes, responses  # here: its packages are an option

    try:
        answer = responses.read(connection, request.POST.get("SAMLResponse", ""))
        code = codes.keep(connection, answer)
    except responses.NotFinished:
        return _refusal(request, _CANCELLED.format(name=connection.name), status=400)
    except Refused as refusal:
        return _distrusted(request, connection, refusal)
    sent = {"state": request.POST.get("RelayState", "")[:_STATE_MAX], "code": code}
    return redirect(f"{addresses.callback(connection)}?{urlencode(sent)}")


@require_GET
@_of_connection
def callback(request: HttpRequest, connection: Connection) -> HttpResponse:
    """The browser comes back from the provider."""
    exchange = take(request.session, connection, state=request.GET.get("state", ""))
    if exchange is None:
        return _refusal(request, _STALE, status=400)
    if "code" not in request.GET:
        return _refusal(request, _CANCELLED.format(name=connection.name), status=400)
    try:
        identity = _identity(request, connection, exchange)
        act = _prove if exchange.asked.is_proof else _enter
        return act(request, connection, identity, exchange)
    except Refused as refusal:
        return _distrusted(request, connection, refusal)
    except SignInRefused as refusal:
        return _refusal(request, str(refusal))


def _identity(request: HttpRequest, connection: Connection, exchange: Exchange) -> Identity:
    """Whom the provider vouches for. Raises Refused, requests.RequestException, OAuth2Error."""
    if isinstance(connection, OpenIdConnect):
        return _by_token(request, connection, exchange)
    from tenants.sso.saml import codes  # here: its packages are an option

    code, asked = request.GET["code"], exchange.asked
    return codes.take(_of_saml(connection), code, request_id=asked.nonce)


def _of_saml(connection: Connection) -> Saml:
    """Raises Http404 for a connection of another kind."""
    if not isinstance(connection, Saml):
        raise Http404
    return connection


def _by_token(request: HttpRequest, connection: OpenIdConnect, exchange: Exchange) -> Identity:
    """Raises Refused, requests.RequestException, OAuth2Error."""
    adapter = Adapter(request, connection)
    app = adapter.get_provider().app
    answer = adapter.get_access_token_data(
        request, app, adapter.get_client(request, app), pkce_code_verifier=exchange.verifier
    )
    return id_tokens.read(
        connection,
        answer.get("id_token"),
        keys_url=adapter.openid_config["jwks_uri"],
        nonce=exchange.asked.nonce,
    )


@wholly_in_one_transaction
def _enter(
    request: HttpRequest, connection: Connection, identity: Identity, exchange: Exchange
) -> HttpResponse:
    """Sign the person in, or ask for the second factor that they have with us. Raises
    SignInRefused."""
    adapter = get_adapter()
    address = adapter.get_client_ip(request)
    user = identities.admit(connection, identity, address=address, now=utc_now())
    if request.user.is_authenticated:
        adapter.logout(request)
    proofs.came_from_provider(
        request,
        user=user,
        connection_id=connection.id,
        has_factor=identity.has_factor,
        proven_at=identity.proven_at,
        is_again=False,
    )
    answer: HttpResponse = perform_login(
        request, user, email_verification="none", redirect_url=exchange.asked.next or None
    )
    return answer


@wholly_in_one_transaction
def _prove(
    request: HttpRequest, connection: Connection, identity: Identity, exchange: Exchange
) -> HttpResponse:
    """Note that the person of this session proved at the provider who they are, since this was
    asked. Raises SignInRefused."""
    user = request.user
    if not user.is_authenticated or reach.of_session(request) != connection:
        raise SignInRefused(_STALE)
    if not identities.known_as(connection, identity, user=user):
        raise SignInRefused(_SOMEBODY_ELSE.format(name=connection.name))
    if identity.proven_at < exchange.began_at - SKEW_SECONDS:
        raise SignInRefused(_NOT_AGAIN.format(name=connection.name))
    proofs.came_from_provider(
        request,
        user=user,
        connection_id=connection.id,
        has_factor=identity.has_factor,
        proven_at=identity.proven_at,
        is_again=True,
    )
    return render(request, "account/sso_proven.html", {"next": exchange.asked.next})


def _distrusted(request: HttpRequest, connection: Connection, refusal: Refused) -> HttpResponse:
    log.warning("sso_token_refused", connection=connection.id, reason=str(refusal))
    return _refusal(request, _NOT_TRUSTED.format(name=connection.name))


def _refusal(request: HttpRequest, text: str, *, status: int = 403) -> HttpResponse:
    return render(request, "account/sso_refused.html", {"text": text}, status=status)
