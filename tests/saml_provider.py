"""A SAML provider: it signs real responses by xmlsec, and does whatever a bad one would do."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.test import Client
from lxml import etree

from tenants.sso.connections import Saml

ISSUER = "http://www.idp.example/exk1"
SSO_URL = "https://idp.example/sso?app=1&for=us"
BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
PASSWORD = "urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport"
MANY_FACTORS = "https://refeds.org/profile/mfa"
SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
NAMES = {
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
ANSWERS = "/accounts/sso/acme-saml/saml/"

_RESPONSE = """\
<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
  xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="r1" Version="2.0" IssueInstant="{now}"
  Destination="{destination}" InResponseTo="{request}">
<saml:Issuer>{issuer}</saml:Issuer>
<samlp:Status><samlp:StatusCode Value="{status}"/></samlp:Status>
<saml:Assertion ID="{id}" Version="2.0" IssueInstant="{now}"><saml:Issuer>{issuer}</saml:Issuer>
<saml:Subject><saml:NameID Format="{format}">{subject}</saml:NameID>
<saml:SubjectConfirmation Method="{method}"><saml:SubjectConfirmationData {in_response_to}
  Recipient="{recipient}" NotOnOrAfter="{until}"/></saml:SubjectConfirmation></saml:Subject>
<saml:Conditions NotBefore="{begins}" NotOnOrAfter="{ends}"><saml:AudienceRestriction>
<saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>
<saml:AuthnStatement AuthnInstant="{proven}" SessionIndex="s1"><saml:AuthnContext>
<saml:AuthnContextClassRef>{context}</saml:AuthnContextClassRef></saml:AuthnContext>
</saml:AuthnStatement>
<saml:AttributeStatement><saml:Attribute Name="mail"><saml:AttributeValue>{email}\
</saml:AttributeValue></saml:Attribute><saml:Attribute Name="groups">{groups}</saml:Attribute>
</saml:AttributeStatement></saml:Assertion></samlp:Response>"""


def _key_and_certificate() -> tuple[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp.example")])
    begins = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=36500))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return secret.decode(), certificate.public_bytes(Encoding.PEM).decode()


KEY, CERTIFICATE = _key_and_certificate()
OTHER_KEY, OTHER_CERTIFICATE = _key_and_certificate()


@dataclass
class SamlProvider:
    """`values` are said in place of the usual. `before` changes a response before it is signed,
    `after` what is sent instead of it."""

    values: dict[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    sign: Callable[[Any], None] = lambda root: sign(root)
    before: Callable[[Any], None] = lambda root: None
    after: Callable[[bytes], bytes] = lambda sent: sent
    signed: int = 0

    def leave(self, browser: Client, *, query: str = "") -> dict[str, str]:
        """Send the browser away; returns the id of the request, its XML and RelayState."""
        answer = browser.get(f"/accounts/sso/acme-saml/{query}")
        assert answer.status_code == 302, answer.content.decode()
        return request_in(str(answer["Location"]))

    def response(self, request: str, *, email: str, subject: str = "") -> bytes:
        """What the provider says after somebody signed in there."""
        self.signed += 1
        root = etree.fromstring(_RESPONSE.format(**self._said(request, email, subject)))
        self.before(root)
        self.sign(root)
        return self.after(etree.tostring(root))

    def post(self, sent: bytes, *, relay_state: str = "") -> Any:
        """Bring it across sites: without the cookies of the browser."""
        body = {"SAMLResponse": base64.b64encode(sent).decode(), "RelayState": relay_state}
        return Client(enforce_csrf_checks=True).post(ANSWERS, body)

    def sign_in(self, browser: Client, email: str, *, subject: str = "", query: str = "") -> Any:
        """What we answer somebody who comes back from the provider."""
        away = self.leave(browser, query=query)
        sent = self.response(away["id"], email=email, subject=subject)
        answer = self.post(sent, relay_state=away["relay_state"])
        return follow(browser, answer)

    def _said(self, request: str, email: str, subject: str) -> dict[str, str]:
        now, ours = datetime.now(UTC), settings.BASE_URL
        return {
            "now": _time(now), "begins": _time(now - timedelta(minutes=5)), "proven": _time(now),
            "ends": _time(now + timedelta(minutes=5)), "until": _time(now + timedelta(minutes=5)),
            "destination": f"{ours}{ANSWERS}", "recipient": f"{ours}{ANSWERS}",
            "audience": f"{ours}/accounts/sso/acme-saml/", "issuer": ISSUER, "status": SUCCESS,
            "id": f"a{self.signed}", "request": request,
            "in_response_to": f'InResponseTo="{request}"',
            "format": PERSISTENT, "subject": subject or f"sub-{email}", "method": BEARER,
            "context": PASSWORD, "email": email,
            "groups": "".join(
                f"<saml:AttributeValue>{one}</saml:AttributeValue>" for one in self.groups
            ),
        } | self.values  # fmt: skip


def saml_connection(*, tenant: str, **values: Any) -> Saml:
    wanted = {
        "id": "acme-saml",
        "name": "Acme ID",
        "issuer": ISSUER,
        "sso_url": SSO_URL,
        "certificates": (OTHER_CERTIFICATE, CERTIFICATE),
        "email_attribute": "mail",
        "domains": ("acme.example",),
    }
    return Saml(tenant=tenant, **(wanted | values))


def request_in(address: str) -> dict[str, str]:
    """What the browser takes to the provider."""
    sent = parse_qs(urlsplit(address).query)
    xml = zlib.decompress(base64.b64decode(sent["SAMLRequest"][0]), -15).decode()
    return {
        "id": etree.fromstring(xml.encode()).get("ID"),
        "xml": xml,
        "address": address,
        "relay_state": sent["RelayState"][0],
    }


def follow(browser: Client, answer: Any) -> Any:
    """Go where the answer to a post leads, with the browser's session; the answer if nowhere."""
    if answer.status_code != 302:
        return answer
    back = urlsplit(answer["Location"])
    return browser.get(f"{back.path}?{back.query}")


def sign(
    root: Any,
    *,
    path: str = "/samlp:Response/saml:Assertion",
    key: str = KEY,
    method: Any = xmlsec.Transform.RSA_SHA256,
    digest: Any = xmlsec.Transform.SHA256,
    form: Any = xmlsec.Transform.EXCL_C14N,
) -> None:
    """Sign the element at this path, as providers do."""
    (element,) = root.xpath(path, namespaces=NAMES)
    signature = xmlsec.template.create(element, form, method, ns="ds")
    element.insert(1, signature)
    xmlsec.tree.add_ids(root, ["ID"])
    reference = xmlsec.template.add_reference(signature, digest, uri=f"#{element.get('ID')}")
    xmlsec.template.add_transform(reference, xmlsec.Transform.ENVELOPED)
    xmlsec.template.add_transform(reference, form)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_memory(key, xmlsec.KeyFormat.PEM, None)
    context.sign(signature)


def _time(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
