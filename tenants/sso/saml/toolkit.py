"""python3-saml, told what a connection is, and as strict as it can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit
from xml.sax.saxutils import escape

from django.contrib.sessions.backends.base import SessionBase
from onelogin.saml2.authn_request import OneLogin_Saml2_Authn_Request
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names
from onelogin.saml2.settings import OneLogin_Saml2_Settings

from tenants.sso import addresses, exchanges
from tenants.sso.connections import Saml


def leave(session: SessionBase, connection: Saml, *, asked: exchanges.Asked) -> str:
    """Remember that this browser leaves; returns the provider's address to send it to.

    The nonce of what is asked is the id of the request, which the answer must name. RelayState
    carries nothing but `state`.
    """
    request = OneLogin_Saml2_Authn_Request(settings_of(connection), force_authn=asked.is_proof)
    asked = replace(asked, nonce=request.get_id())
    state = exchanges.begin(session, connection, asked=asked, verifier="")
    joint = "&" if urlsplit(connection.sso_url).query else "?"
    sent = urlencode({"SAMLRequest": request.get_request(), "RelayState": state})
    return f"{connection.sso_url}{joint}{sent}"


def settings_of(connection: Saml) -> OneLogin_Saml2_Settings:
    """What python3-saml is to demand of this connection's provider."""
    return OneLogin_Saml2_Settings(
        {
            "strict": True,
            "sp": {
                "entityId": addresses.saml_entity(connection),
                "assertionConsumerService": {
                    "url": addresses.saml_answers(connection),
                    "binding": Names.BINDING_HTTP_POST,
                },
            },
            "idp": {
                "entityId": connection.issuer,
                # python3-saml puts it into XML as it is.
                "singleSignOnService": {
                    "url": escape(connection.sso_url),
                    "binding": Names.BINDING_HTTP_REDIRECT,
                },
                "x509certMulti": {"signing": list(connection.certificates)},
            },
            "security": {
                "wantAssertionsSigned": True,
                "rejectDeprecatedAlgorithm": True,
                "wantAttributeStatement": False,
                "requestedAuthnContext": False,
                "allowSingleLabelDomains": True,  # of our own address, in development
            },
        }
    )


def request_to(connection: Saml) -> dict[str, Any]:
    """The request that brought an answer, as python3-saml wants to know it: to our own address,
    whatever Host it had."""
    ours = urlsplit(addresses.saml_answers(connection))
    return {
        "https": "on" if ours.scheme == "https" else "off",
        "http_host": ours.netloc,
        "script_name": ours.path,
        "get_data": {},
        "post_data": {},
    }
