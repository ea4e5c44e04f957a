"""Judges SAML responses (SAML 2.0 Profiles § 4.1.4), and reads what they say of a person.

python3-saml verifies the signature and most conditions. It lets pass what a response leaves out,
addresses that merely begin like ours, clocks five minutes off, and any algorithm that is not known
to be broken: all of that is demanded here. Nothing is read but the one signed assertion.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import xmlsec
from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.response import OneLogin_Saml2_Response
from onelogin.saml2.utils import OneLogin_Saml2_Utils

from tenants.sso import addresses
from tenants.sso.connections import Saml
from tenants.sso.identity import SKEW_SECONDS, Identity, Refused
from tenants.sso.saml import toolkit

_LENGTH_MAX = 256 * 1024  # of what the browser brings, in base64
_SUBJECT_MAX = 255
_DSIG = "http://www.w3.org/2000/09/xmldsig#"
_DSIG_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
_XMLENC = "http://www.w3.org/2001/04/xmlenc#"
_EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
# What a signature may be made with. Without comments: with them, they would be part of it.
_ALLOWED = {
    "ds:SignedInfo/ds:CanonicalizationMethod": {_EXCLUSIVE},
    "ds:SignedInfo/ds:SignatureMethod": {
        f"{_DSIG_MORE}{kind}-sha{bits}" for kind in ("rsa", "ecdsa") for bits in (256, 384, 512)
    },
    "ds:SignedInfo/ds:Reference/ds:DigestMethod": {
        f"{_XMLENC}sha256",
        f"{_DSIG_MORE}sha384",
        f"{_XMLENC}sha512",
    },
    "ds:SignedInfo/ds:Reference/ds:Transforms/ds:Transform": {
        f"{_DSIG}enveloped-signature",
        _EXCLUSIVE,
    },
}
# Of these two python3-saml verifies signatures.
_SIGNED = (f"{{{Names.NS_SAMLP}}}Response", f"{{{Names.NS_SAML}}}Assertion")
# What python3-saml and what it stands on raise about input that makes no sense.
_PROBLEMS = (
    OneLogin_Saml2_Error,
    OneLogin_Saml2_ValidationError,
    etree.LxmlError,
    xmlsec.Error,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class NotFinished(Refused):
    """The provider says that it signed nobody in."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`request_id` is the id of the request that it answers, `assertion_id` the provider's own."""

    identity: Identity
    request_id: str
    assertion_id: str


def read(connection: Saml, sent: str) -> Answer:
    """The person that the response, in base64, is about. Raises Refused."""
    if not 0 < len(sent) <= _LENGTH_MAX:
        raise Refused("no response")
    try:
        return _read(connection, sent)
    except _PROBLEMS as error:
        raise Refused(_named(error)) from None


def _read(connection: Saml, sent: str) -> Answer:
    response = OneLogin_Saml2_Response(toolkit.settings_of(connection), sent)
    root = response.document
    _require_finished(root)
    assertion = _only(root, "/samlp:Response/saml:Assertion")
    _require_plain_signatures(root, assertion)
    response.is_valid(toolkit.request_to(connection), raise_exceptions=True)
    _require_in_force(assertion)
    _require_audience(connection, assertion)
    return Answer(
        identity=_identity(connection, assertion),
        request_id=_answered(connection, root, assertion),
        assertion_id=assertion.get("ID"),
    )


def _named(error: Exception) -> str:
    """What went wrong, without anything of the response: python3-saml quotes it."""
    if isinstance(error, OneLogin_Saml2_ValidationError):
        return next(
            (name for name, code in vars(type(error)).items() if code == error.code), "invalid"
        )
    return type(error).__name__


def _require_finished(root: Any) -> None:
    """Raises NotFinished."""
    if _only(root, "/samlp:Response/samlp:Status/samlp:StatusCode").get("Value") != (
        Names.STATUS_SUCCESS
    ):
        raise NotFinished("no success")


def _require_plain_signatures(root: Any, assertion: Any) -> None:
    """Each signature is of the whole element around it and of nothing else, made as we allow; one
    is the assertion's, and no id leads to two elements. Raises Refused."""
    ids = root.xpath("//@ID | //@Id | //@id | //@xml:id")
    if len(ids) != len(set(ids)):
        raise Refused("two elements with one id")
    signatures = _found(root, "//ds:Signature")
    if assertion not in [one.getparent() for one in signatures]:
        raise Refused("no signature of the assertion")
    for signature in signatures:
        _require_plain(signature)


def _require_plain(signature: Any) -> None:
    parent = signature.getparent()
    if parent.tag not in _SIGNED or _found(signature, ".//ds:Object | .//ds:Manifest"):
        raise Refused("a signature of something else")
    if _only(signature, "ds:SignedInfo/ds:Reference").get("URI") != f"#{parent.get('ID')}":
        raise Refused("a signature of another element")
    for path, allowed in _ALLOWED.items():
        said = {one.get("Algorithm") for one in _found(signature, path)}
        if not said or not said <= allowed:
            raise Refused("an algorithm that is not allowed")


def _require_in_force(assertion: Any) -> None:
    """Raises Refused."""
    conditions, now = _only(assertion, "saml:Conditions"), time.time()
    proven = _only(assertion, "saml:AuthnStatement")
    begins = [
        conditions.get("NotBefore"),
        assertion.get("IssueInstant"),
        proven.get("AuthnInstant"),
    ]
    if any(_seconds(one) > now + SKEW_SECONDS for one in begins if one is not None):
        raise Refused("of the future")
    if _seconds(conditions.get("NotOnOrAfter")) <= now - SKEW_SECONDS:
        raise Refused("expired")


def _require_audience(connection: Saml, assertion: Any) -> None:
    """Raises Refused unless it is for us and for nobody else."""
    path = "saml:Conditions/saml:AudienceRestriction/saml:Audience"
    if {_text(one) for one in _found(assertion, path)} != {addresses.saml_entity(connection)}:
        raise Refused("for another audience")


def _answered(connection: Saml, root: Any, assertion: Any) -> str:
    """The id of the request that it answers. Raises Refused for one that nobody asked for, or that
    was sent to another address."""
    confirmation = _only(assertion, "saml:Subject/saml:SubjectConfirmation")
    data = _only(confirmation, "saml:SubjectConfirmationData")
    ours = addresses.saml_answers(connection)
    if data.get("Recipient") != ours or root.get("Destination") != ours:
        raise Refused("sent to another address")
    if data.get("NotOnOrAfter") is None:
        raise Refused("without an end")
    request_id = data.get("InResponseTo")
    if not request_id or root.get("InResponseTo") != request_id:
        raise Refused("nobody asked for it")
    return str(request_id)


def _identity(connection: Saml, assertion: Any) -> Identity:
    name = _only(assertion, "saml:Subject/saml:NameID")
    subject = _text(name)
    if name.get("Format") == Names.NAMEID_TRANSIENT or not 1 <= len(subject) <= _SUBJECT_MAX:
        raise Refused("no lasting subject")
    proven = _only(assertion, "saml:AuthnStatement")
    contexts = _found(proven, "saml:AuthnContext/saml:AuthnContextClassRef")
    return Identity(
        issuer=connection.issuer,
        subject=subject,
        email=_email(connection, assertion, subject).lower(),
        values=frozenset(_attribute(assertion, connection.role_claim)),
        has_factor=any(_text(one) in connection.second_factor_acr for one in contexts),
        proven_at=_seconds(proven.get("AuthnInstant")),
    )


def _email(connection: Saml, assertion: Any, subject: str) -> str:
    """The one address that it names; empty if there is none, or several."""
    if not connection.email_attribute:
        return subject if "@" in subject else ""
    found = _attribute(assertion, connection.email_attribute)
    return found[0] if len(found) == 1 else ""


def _attribute(assertion: Any, name: str) -> list[str]:
    return [
        _text(value)
        for one in _found(assertion, "saml:AttributeStatement/saml:Attribute")
        if name and one.get("Name") == name
        for value in _found(one, "saml:AttributeValue")
    ]


def _text(element: Any) -> str:
    """All of it, or nothing: an element within would end what is read before the end. (The parser
    leaves out comments, and refuses entities.)"""
    return "" if len(element) else (element.text or "").strip()


def _seconds(said: str) -> float:
    """Since 1970."""
    return float(OneLogin_Saml2_Utils.parse_SAML_to_time(said))


def _found(element: Any, path: str) -> list[Any]:
    found: list[Any] = element.xpath(path, namespaces=Names.NSMAP)
    return found


def _only(element: Any, path: str) -> Any:
    """The one element there. Raises Refused."""
    found = _found(element, path)
    if len(found) != 1:
        raise Refused(f"{len(found)} of {path.rpartition(':')[2]}")
    return found[0]
