"""Every setting is judged: unsafe values are refused at the start, or there is a reason why no
value of it is unsafe."""

from __future__ import annotations

import base64
import enum
import re

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.config.test_environment import DEVELOPMENT, EXAMPLE, KEY, PRODUCTION, key


class Why(enum.Enum):
    """Why no value of a setting is refused for being unsafe."""

    NAMED_ON_PURPOSE = "it is itself the word with which an operator takes a risk"
    NO_DANGER = "both, or all, of its values are safe"
    BUSINESS = "how much money is too much is what the operator and its banks agreed"
    CAPACITY = "a wrong value makes the product slow or unavailable, and opens nothing"
    OF_OTHERS = "somebody else made the secret, so its form is not ours to judge"
    A_PLACE = "it names a place or a person; whether it is the right one, nothing here knows"
    MALFORMED = "config.env refuses what is malformed, and nothing else is unsafe"


ZEROS, COUNTED = bytes(32), bytes(range(32))
REPEATED = b"abcdefgh\x80\x81\x82\x83\x84\x85\x86\x87" * 2
IN_WORDS = b"correct horse battery staple, it"
PATTERN = "qwertyuiop" * 7
RISING = "".join(chr(number) for number in range(40, 110) if chr(number) != ",")


def entry(name: str, body: bytes) -> str:
    return f"{name}:{base64.b64encode(body).decode()}"


def refused(sentence: str, *values: str, **others: str) -> list[tuple[str, dict[str, str], str]]:
    """Each value, what else is given, and the sentence that begins the refusal."""
    return [(value, others, sentence) for value in values]


ELSEWHERE = "would be reached without TLS"
JUDGED: dict[str, list[tuple[str, dict[str, str], str]] | Why] = {
    "SECRET_KEY": [
        *refused("SECRET_KEY has fewer than 50 characters", "short"),
        *refused("SECRET_KEY follows a pattern: make one with", PATTERN, RISING),
        *refused(
            "SECRET_KEY and FINGERPRINT_KEY are made of one secret: make another one for each",
            f"{PRODUCTION['FINGERPRINT_KEY']}-and-more",
        ),
    ],
    "ENCRYPTION_KEYS": [
        *refused("ENCRYPTION_KEYS: key k1 has fewer than 8", entry("k1", ZEROS)),
        *refused(
            "ENCRYPTION_KEYS: key k1 follows a pattern: make one with",
            entry("k1", COUNTED),
            entry("k1", REPEATED),
            entry("k1:hkdf", bytes(reversed(COUNTED))),
        ),
        *refused("ENCRYPTION_KEYS: key k1 is a text: make one with", entry("k1", IN_WORDS)),
    ],
    "KEY_SERVICE": Why.A_PLACE,
    "KEY_CACHE_SECONDS": refused("KEY_CACHE_SECONDS must be from 1 to 3600", "3601"),
    "FINGERPRINT_KEY": [
        *refused("FINGERPRINT_KEY has fewer than 32 characters", "short"),
        *refused("FINGERPRINT_KEY follows a pattern: make one with", PATTERN),
        *refused(
            "FINGERPRINT_KEY and ENCRYPTION_KEYS are made of one secret",
            KEY.removeprefix("k1:"),
            base64.b64decode(KEY.removeprefix("k1:")).hex(),
        ),
    ],
    "FINGERPRINT_KEY_FALLBACKS": refused("FINGERPRINT_KEY_FALLBACKS has fewer than 32", "short"),
    "PROOF_KEY": [
        *refused("PROOF_KEY: key p1 follows a pattern: make one with", entry("p1", COUNTED)),
        *refused("PROOF_KEY: key p1 is a text: make one with", entry("p1", IN_WORDS)),
        *refused("PROOF_KEY: one key signs", f"p1:{key('one')},p2:{key('two')}"),
        *refused("PROOF_KEY and SEAL_KEYS are made of one secret", f"p1:{key('seals')}"),
    ],
    "PROOF_PUBLIC_KEYS": [
        *refused("PROOF_PUBLIC_KEYS: each key needs an id of its own", f"p1:{key('former')}"),
        *refused("PROOF_PUBLIC_KEYS: key p0 is not the base64 of 32 bytes", "p0:short"),
    ],
    "SEAL_KEYS": [
        *refused("SEAL_KEYS: key s1 follows a pattern: make one with", entry("s1", COUNTED)),
        *refused("SEAL_KEYS: key s1 is a text: make one with", entry("s1", IN_WORDS)),
        *refused(
            "SEAL_KEYS and ENCRYPTION_KEYS are made of one secret: make another one for each",
            KEY,
            f"s1:{key('seals')},{KEY}",
            f"s1:{key('of the encryption key')}",
            ENCRYPTION_KEYS=f"{KEY},k0:hkdf:{key('of the encryption key')}",
        ),
    ],
    "SEAL_FILE": Why.A_PLACE,
    "SEAL_WEBHOOK_URL": refused("SEAL_WEBHOOK_URL must be an https:// address", "http://log.test"),
    "SEAL_WEBHOOK_SECRET": [
        *refused(
            "SEAL_WEBHOOK_SECRET follows a pattern",
            "whsec_" + base64.b64encode(COUNTED).decode(),
            SEAL_WEBHOOK_URL="https://log.example",
        ),
        *refused(
            "SEAL_WEBHOOK_SECRET and SEAL_KEYS are made of one secret",
            f"whsec_{key('seals')}",
            SEAL_WEBHOOK_URL="https://log.example",
        ),
    ],
    "SEAL_MAIL_TO": Why.A_PLACE,
    "AUDIT_STREAM_URL": [
        *refused("AUDIT_STREAM_URL must be an https:// address", "http://siem.internal"),
        *refused("AUDIT_STREAM_URL must be an https:// address", "syslog://siem.internal:514"),
    ],
    "AUDIT_STREAM_AUTHORIZATION": Why.OF_OTHERS,
    "DEBUG": refused("DEBUG is for a copy on this machine", "True"),
    "BASE_URL": refused("BASE_URL must begin with https://", "http://ballast.example"),
    "ALLOWED_HOSTS": [
        *refused("ALLOWED_HOSTS=* answers to every name", "*", "ballast.example,*"),
        *refused("ALLOWED_HOSTS has .com, below which", ".com", "ballast.example,.com"),
        *refused("ALLOWED_HOSTS has .co.uk, below which", ".co.uk"),
        *refused("ALLOWED_HOSTS has ., below which", "."),
        *refused("ALLOWED_HOSTS has ..example.com, below which", "..example.com"),
    ],
    "CSRF_TRUSTED_ORIGINS": refused(
        "CSRF_TRUSTED_ORIGINS must be https:// addresses without *",
        "http://ballast.example",
        "https://*.ballast.example",
        "https://ballast.example,http://localhost",
        "https://",
        "https://:443",
        "https://.com",
        "https://.ballast.example",
    ),
    "SECRET_KEY_FALLBACKS": [
        *refused("SECRET_KEY_FALLBACKS has fewer than 50 characters", "short"),
        *refused(
            "SECRET_KEY_FALLBACKS and SEAL_KEYS are made of one secret",
            f"{key('seals')}{key('seals again')}",
        ),
    ],
    "TRUSTED_PROXY_COUNT": refused("TRUSTED_PROXY_COUNT=0 with an https BASE_URL", "0"),
    "SERVED_WITHOUT_PROXY": Why.NAMED_ON_PURPOSE,
    "METRICS_TOKEN": [
        *refused("METRICS_TOKEN has fewer than 32 characters: make one with", "x", "t0ken"),
        *refused("METRICS_TOKEN follows a pattern", PATTERN),
        *refused("METRICS_TOKEN and SEAL_KEYS are made of one secret", key("seals")),
    ],
    "BALLAST_RUN_DIR": Why.A_PLACE,
    "LOG_JSON": Why.NO_DANGER,
    "DATABASE_URL": [
        *refused(
            f"PostgreSQL at db.example {ELSEWHERE}",
            "postgresql://app@db.example/app",
            "postgresql://app@db.example/app?sslmode=prefer",
            "postgresql:///app?host=/run,db.example",
        ),
        *refused(
            f"PostgreSQL at 10.0.0.5 {ELSEWHERE}",
            "postgresql://app@localhost/app?hostaddr=10.0.0.5",
        ),
        *refused(
            f"PostgreSQL at service books {ELSEWHERE}",
            "postgresql://app@localhost/app?service=books",
        ),
        *refused(
            "PostgreSQL at db.example would not have to prove who it is: ",
            "postgresql://app@db.example/app?sslmode=require",
            "postgresql://app@db.example/app?sslmode=require&channel_binding=prefer",
        ),
    ],
    "DATABASE_API_URL": refused(
        "DATABASE_API_URL and DATABASE_URL are made of one secret: make another one",
        "postgresql://api:s3cret@localhost/app",
        DATABASE_URL="postgresql://app:s3cret@localhost/app",
    ),
    "DATABASE_DISPATCHER_URL": refused(
        "DATABASE_DISPATCHER_URL and DATABASE_URL are made of one secret: make another one",
        "postgresql://dispatcher:s3cret@localhost/app",
        DATABASE_URL="postgresql://app:s3cret@localhost/app",
    ),
    "DATABASE_AUDIT_URL": refused(
        "DATABASE_AUDIT_URL and DATABASE_URL are made of one secret: make another one",
        "postgresql://audit:s3cret@localhost/app",
        DATABASE_URL="postgresql://app:s3cret@localhost/app",
    ),
    "DATABASE_WORKER_URL": [
        *refused(
            "DATABASE_WORKER_URL is set without DATABASE_DISPATCHER_URL and DATABASE_AUDIT_URL: a"
            " worker checks the books and delivers webhooks under these logins",
            "postgresql://worker:s3cret@localhost/app",
        ),
        *refused(
            "DATABASE_WORKER_URL is set without DATABASE_AUDIT_URL: a worker checks the books",
            "postgresql://worker:s3cret@localhost/app",
            DATABASE_DISPATCHER_URL="postgresql://dispatcher@localhost/app",
        ),
        *refused(
            "DATABASE_WORKER_URL and DATABASE_URL are made of one secret: make another one",
            "postgresql://worker:s3cret@localhost/app",
            DATABASE_URL="postgresql://app:s3cret@localhost/app",
            DATABASE_DISPATCHER_URL="postgresql://dispatcher@localhost/app",
            DATABASE_AUDIT_URL="postgresql://audit@localhost/app",
        ),
    ],
    "DATABASE_DESK_URL": refused(
        "DATABASE_DESK_URL and DATABASE_URL are made of one secret: make another one",
        "postgresql://desk:s3cret@localhost/app",
        DATABASE_URL="postgresql://app:s3cret@localhost/app",
    ),
    "DATABASE_OWNER_URL": refused(
        "DATABASE_OWNER_URL and DATABASE_URL are made of one secret: make another one",
        "postgresql://owner:s3cret@localhost/app",
        DATABASE_URL="postgresql://app:s3cret@localhost/app",
    ),
    "ALLOW_DATABASE_OWNER": Why.NAMED_ON_PURPOSE,
    "CLOCK_DRIFT_SECONDS_MAX": refused("CLOCK_DRIFT_SECONDS_MAX must be from 1 to 60", "61"),
    "ALLOW_PLAINTEXT_POSTGRESQL": Why.NAMED_ON_PURPOSE,
    "DATABASE_POOL": Why.NO_DANGER,
    "DATABASE_FAST_PATH": Why.NO_DANGER,
    "DATABASE_LOCK_TIMEOUT_MS": Why.CAPACITY,
    "DATABASE_STATEMENT_TIMEOUT_MS": Why.CAPACITY,
    "DATABASE_IDLE_TRANSACTION_TIMEOUT_MS": Why.CAPACITY,
    "DATABASE_CONNECT_TIMEOUT_SECONDS": Why.CAPACITY,
    "DATABASE_TCP_TIMEOUT_MS": Why.CAPACITY,
    "REDIS_URL": [
        *refused(
            f"Valkey at valkey.example {ELSEWHERE}",
            "redis://valkey.example:6379/0",
            "redis:///0?host=valkey.example",
            "redis://?host=valkey.example",
            "redis://localhost/0?host=valkey.example",
            "redis:///0?host=localhost&host=valkey.example",
        ),
        # Celery would go on to the next one, whatever stands before it.
        *refused(
            "REDIS_URL has several addresses",
            "redis://localhost/0;redis://valkey.example/0",
            "unix:///run/valkey.sock;redis://valkey.example/0",
        ),
        *refused(
            "Valkey at valkey.example would not have to prove who it is: ",
            "rediss://valkey.example/0?ssl_cert_reqs=none",
            "rediss://valkey.example/0?ssl_cert_reqs=CERT_NONE",
            "rediss://valkey.example/0?ssl_check_hostname=False",
        ),
    ],
    "ALLOW_PLAINTEXT_VALKEY": Why.NAMED_ON_PURPOSE,
    "WEB_BIND": refused("DEBUG is for a copy on this", "0.0.0.0:8000", **DEVELOPMENT),
    "WEB_WORKERS": Why.CAPACITY,
    "WEB_THREADS": Why.CAPACITY,
    "WEB_READ_TIMEOUT_SECONDS": Why.CAPACITY,
    "PROMETHEUS_MULTIPROC_DIR": Why.A_PLACE,
    "API_READS_PER_SECOND": Why.CAPACITY,
    "API_WRITES_PER_SECOND": Why.CAPACITY,
    "REQUEST_LOG_SECONDS": Why.CAPACITY,
    "REQUEST_LOG_DAYS": Why.CAPACITY,
    "PAGES_PER_MINUTE": Why.CAPACITY,
    "FILES_PER_MINUTE": Why.CAPACITY,
    "SANDBOX_PACE": Why.NO_DANGER,
    "DEVELOPMENT_ROUTES": refused("DEVELOPMENT_ROUTES is for a copy on this machine", "True"),
    "ACH_BANK_CLOCK": refused("ACH_BANK_CLOCK is for a copy on this machine", "bank/clock.json"),
    "NETWORK_MESSAGES_PER_SET": Why.CAPACITY,
    "ACH_AMOUNT_MAX": Why.BUSINESS,
    "RTP_AMOUNT_MAX": Why.BUSINESS,
    "REQUEST_FOR_PAYMENT_HOURS": Why.BUSINESS,
    "DAILY_FUNDING_MAX": Why.BUSINESS,
    "MONTHLY_FUNDING_MAX": Why.BUSINESS,
    "PAYMENT_ACH_AMOUNT_MAX": Why.BUSINESS,
    "PAYMENT_RTP_AMOUNT_MAX": Why.BUSINESS,
    "INSTANT_LIMITS": Why.BUSINESS,
    "PAYMENT_LIMITS": Why.BUSINESS,
    "PAYMENT_APPROVAL_ABOVE": Why.BUSINESS,
    "RECIPIENT_COOL_DOWN_HOURS": refused(
        "RECIPIENT_COOL_DOWN_HOURS must be from 12 to 720", "0", "11", "721"
    ),
    "PAYMENT_WAIT_DAYS": Why.BUSINESS,
    "NEW_APPROVER_HOURS": refused("NEW_APPROVER_HOURS must be from 12 to 720", "0", "11", "721"),
    # Outside development it is on whatever this says (`config/settings/staff.py`).
    "STAFF_SECOND_FACTOR": Why.NO_DANGER,
    "IDLE_MINUTES": refused("IDLE_MINUTES must be from 1 to 120", "121", "525600"),
    "STAFF_IDLE_MINUTES": refused("STAFF_IDLE_MINUTES must be from 1 to 60", "61", "525600"),
    "STAFF_SESSION_HOURS": refused("STAFF_SESSION_HOURS must be from 1 to 12", "13", "8760"),
    "STEP_UP_MINUTES": refused("STEP_UP_MINUTES must be from 1 to 60", "61", "525600"),
    "STAFF_ACCESS_DELAY_HOURS": refused(
        "STAFF_ACCESS_DELAY_HOURS must be from 12 to 720", "1", "11", "721"
    ),
    "STAFF_ACCESS_OPEN_DAYS": refused("STAFF_ACCESS_OPEN_DAYS must be from 1 to 30", "31"),
    "WEBHOOK_ALLOWED_NETWORKS": [
        *refused(
            "WEBHOOK_ALLOWED_NETWORKS has",
            "0.0.0.0/0",
            "::/0",
            "10.0.0.0/8",
            "192.168.0.0/16",
            "10.1.2.0/24,172.16.0.0/12",
            "fc00::/7",
            "127.0.0.0/8",
            "::1/128",
            "169.254.169.254/32",
            "::ffff:127.0.0.1/128",
            # Forms that lead on to an IPv4 address: of the metadata, and of any other.
            "64:ff9b::a9fe:a9fe/128",
            "64:ff9b::808:808/128",
            "64:ff9b:1::a00:1/128",
            "2002:7f00:1::/120",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2/128",
            "::10.0.0.1/128",
            "::ffff:0:10.0.0.1/128",
        ),
        *refused(
            "WEBHOOK_ALLOWED_NETWORKS has more than 1024 addresses in all",
            ",".join(f"10.1.{number}.0/24" for number in range(5)),
            f"10.1.2.3/32,{','.join(f'10.2.{number}.0/24' for number in range(4))}",
        ),
        *refused("WEBHOOK_ALLOWED_NETWORKS has 'ours', which is no network", "ours"),
    ],
    # It reaches nothing but WEBHOOK_ALLOWED_NETWORKS.
    "WEBHOOK_ALLOW_HTTP": Why.NO_DANGER,
    "SINGLE_SIGN_ON_FILE": refused("SINGLE_SIGN_ON_FILE cannot be read", "no-such-file"),
    "PLAID_CLIENT_ID": Why.OF_OTHERS,
    "PLAID_SECRET": refused(
        "PLAID_SECRET and SEAL_KEYS are made of one secret", key("seals"), PLAID_CLIENT_ID="x"
    ),
    "PLAID_ENVIRONMENT": Why.NO_DANGER,
    "PLAID_HOST": refused("PLAID_HOST must be an https:// address", "http://plaid.example"),
    "PLAID_LINK_SCRIPT": refused(
        "PLAID_LINK_SCRIPT must be an https:// address", "http://cdn.example/x.js"
    ),
    "PLAID_RETURN": Why.NO_DANGER,
    "EMAIL_URL": [
        *refused(
            "Mail to mail.example would leave without TLS: write EMAIL_URL as smtp+tls://",
            "smtp://mail.example:25",
            "smtp://user:password@mail.example:587",
        ),
        *refused("EMAIL_URL would not send mails", "consolemail://", "filemail:///tmp/mail"),
    ],
    "ALLOW_PLAINTEXT_MAIL": Why.NAMED_ON_PURPOSE,
    "DEFAULT_FROM_EMAIL": Why.A_PLACE,
    "BRAND_NAME": refused("BRAND_NAME must be a name of at most 40", "a: b", "<b>", "x" * 41, "\n"),
    "BRAND_MAIL_SENDER": refused("BRAND_MAIL_SENDER must be a name", "Bank <boss@bank.example>"),
    "BRAND_LOGO": [
        *refused("BRAND_LOGO names /nowhere.svg, which cannot be read", "/nowhere.svg"),
        *refused(f"BRAND_LOGO names {EXAMPLE}, which is no SVG", str(EXAMPLE)),
    ],
    "BRAND_ACCENT_LIGHT": [
        *refused("BRAND_ACCENT_LIGHT must be a color such as #0a625d", "teal", "#fff", "#0a625d}"),
        *refused("BRAND_ACCENT_DARK must be a color such as #0a625d: set both", "#0a625d"),
        *refused(
            "BRAND_ACCENT_LIGHT #63c8ba has a contrast of 1.86 to #f5f7f7, on which it is read",
            "#63c8ba",
            BRAND_ACCENT_DARK="#63c8ba",
        ),
    ],
    "BRAND_ACCENT_DARK": refused(
        "BRAND_ACCENT_DARK #0a625d has a contrast of",
        "#0a625d",
        BRAND_ACCENT_LIGHT="#0a625d",
    ),
    "BRAND_SUPPORT_EMAIL": refused("BRAND_SUPPORT_EMAIL must be an e-mail address", "help"),
    "BRAND_SUPPORT_URL": refused(
        "BRAND_SUPPORT_URL must be an address that begins with https://",
        "http://help.example",
        "javascript:alert(1)",
        'https://help.example/"onclick=',
    ),
}
CASES = [
    pytest.param(name, value, others, sentence, id=f"{name}-{place}")
    for name, judged in JUDGED.items()
    if not isinstance(judged, Why)
    for place, (value, others, sentence) in enumerate(judged)
]


def test_every_setting_is_judged():
    listed = re.findall(r"^([A-Z_]+)=", EXAMPLE.read_text(), re.MULTILINE)

    assert list(JUDGED) == listed


@pytest.mark.parametrize(("name", "value", "others", "sentence"), CASES)
def test_an_unsafe_value_is_refused_in_one_sentence(start, name, value, others, sentence):
    with pytest.raises(ImproperlyConfigured) as refusal:
        start(**PRODUCTION | others | {name: value})

    said = str(refusal.value)
    assert said.startswith(sentence)
    assert "\n" not in said
    assert "password" not in said
    assert "s3cret" not in said
    assert key("seals") not in said


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"STEP_UP_MINUTES": "60", "IDLE_MINUTES": "120", "STAFF_SESSION_HOURS": "12"},
        {"STAFF_ACCESS_DELAY_HOURS": "12", "NEW_APPROVER_HOURS": "720"},
        {"WEBHOOK_ALLOWED_NETWORKS": "10.1.2.0/24,fd00::1/128,198.51.100.7/32"},
        {"WEBHOOK_ALLOWED_NETWORKS": ",".join(f"10.1.{number}.0/24" for number in range(4))},
        {"ALLOWED_HOSTS": ".ballast.example,.pay.ballast.co.uk,[::1],127.0.0.1"},
        {"CSRF_TRUSTED_ORIGINS": "https://[2001:db8::1]:8443,https://ballast"},
        {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8", "BASE_URL": "https://localhost"},
        {"EMAIL_URL": "smtp+tls://user:password@mail.example:587"},
        {"EMAIL_URL": "smtp+ssl://user:password@mail.example:465"},
        {"EMAIL_URL": "smtp://localhost:25"},
        {"EMAIL_URL": "smtp://relay:25", "ALLOW_PLAINTEXT_MAIL": "True"},
        {"EMAIL_URL": "consolemail://", "BASE_URL": "https://localhost"},
        {"METRICS_TOKEN": key("metrics"), "ALLOWED_HOSTS": ".ballast.example"},
        {"CSRF_TRUSTED_ORIGINS": "https://ballast.example,https://www.ballast.example:8443"},
        {"DATABASE_URL": "postgresql://a@db.example/app?sslmode=verify-ca"},
        {"DATABASE_URL": "postgresql://a@db.example/app?sslmode=require&channel_binding=require"},
        {
            "DATABASE_URL": "postgresql://a@db.example/app?sslmode=require",
            "ALLOW_PLAINTEXT_POSTGRESQL": "True",
        },
        {"DATABASE_URL": "postgresql:///app?host=/run/postgresql"},
        {"REDIS_URL": "rediss://valkey.example/0?ssl_cert_reqs=required"},
        {"REDIS_URL": "redis:///0?host=127.0.0.1"},
        {
            "REDIS_URL": "rediss://valkey.example/0?ssl_cert_reqs=none",
            "ALLOW_PLAINTEXT_VALKEY": "True",
        },
        # A key that is wrapped is a text of its service's, in whatever form that has.
        {"ENCRYPTION_KEYS": entry("k1:wrapped", b"vault:v1:" + COUNTED), "KEY_SERVICE": "a.B"},
        DEVELOPMENT | {"STEP_UP_MINUTES": "600", "NEW_APPROVER_HOURS": "0", "METRICS_TOKEN": "x"},
    ],
)
def test_what_is_safe_or_said_on_purpose_is_taken(start, given):
    assert start(**PRODUCTION | given).BASE_URL
