from __future__ import annotations

from ipaddress import ip_address

import pytest
from django.test import override_settings

from common.engine.http import addresses, names, urls
from common.engine.http.urls import Policy, UrlRefused

PUBLIC_ONLY = Policy(own_host="ballast.example.com", own_port=443)
DEVELOPMENT = Policy(
    allowed_networks=addresses.parse_networks(["127.0.0.0/8", "::1/128"]),
    own_host="localhost",
    own_port=8000,
)
INTRANET = Policy(allowed_networks=addresses.parse_networks(["10.0.0.0/8"]))


def refuses(url, *, policy=PUBLIC_ONLY, allow_http=False):
    with pytest.raises(UrlRefused) as refusal:
        policy.check(url, allow_http=allow_http)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://hooks.example.com", "hooks.example.com", 443),
        ("https://hooks.example.com/in?a=b@c:22", "hooks.example.com", 443),
        ("https://hooks.example.com?x", "hooks.example.com", 443),
        ("HTTPS://Hooks.Example.COM:443/", "hooks.example.com", 443),
        ("https://hooks.example.com:1024/", "hooks.example.com", 1024),
        ("https://hooks.example.com:65535/", "hooks.example.com", 65535),
        ("https://xn--bcher-kva.example.com/", "xn--bcher-kva.example.com", 443),
        ("https://my_hooks.example.com/", "my_hooks.example.com", 443),
        ("https://hooks.example.com/%2F%20", "hooks.example.com", 443),
        ("https://v1-2-3-4-5.example.com/", "v1-2-3-4-5.example.com", 443),
        ("https://8.8.8.8.nip.io/", "8.8.8.8.nip.io", 443),
        ("https://8.8.8.8:8443/", "8.8.8.8", 8443),
        ("https://[2606:4700::1111]/", "2606:4700::1111", 443),
        ("https://" + ".".join(["a" * 60] * 4) + "/", ".".join(["a" * 60] * 4), 443),
    ],
)
def test_takes_public_https_urls(url, host, port):
    target = PUBLIC_ONLY.check(url, allow_http=False)

    assert (target.host, target.port, target.needs_exception) == (host, port, False)


@pytest.mark.parametrize(
    "url",
    [
        "", "/hook", "hooks.example.com/x", "https://", "https:///x", "https:hooks.example.com",
        "file:///etc/passwd", "ftp://hooks.example.com/", "gopher://hooks.example.com/",
        "javascript:alert(1)", "https//hooks.example.com", "//hooks.example.com/",
    ],
)  # fmt: skip
def test_refuses_what_is_not_an_absolute_https_url(url):
    assert refuses(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com@127.0.0.1/", "https://user:pw@hooks.example.com/",
        "https://@hooks.example.com/", "https://127.0.0.1#@hooks.example.com/",
        "https://hooks.example.com/#x", "https://hooks.example.com#", "https://a.com\\@b.com/",
        "https://hooks.example.com\\.evil.com/", "https://hooks.example.com /",
        "https://hooks.example.com/a b", "https://hooks.exam\tple.com/",
        "https://hooks.example.com/\n", "\nhttps://hooks.example.com/", "https://hooks.example.com\r\n/",
        "https://hooks.example.com/\0", "https://127\u30020\u30020\u30021/", "https://b\u00fccher.example.com/",
        "https://hooks.example.com/\u00e9", "https://\uff11\uff12\uff17.0.0.1/",
        "https://hooks%2eexample.com/", "https://127.0.0.1%00.example.com/", "https://hooks..example.com/",
        "https://.example.com/", "https://hooks.example.com./", "https://-a.example.com/",
        "https://a-.example.com/", "https://hooks.example.com:/", "https://hooks.example.com:x/",
        "https://hooks.example.com:-1/", "https://hooks.example.com:443:443/",
        "https://" + "a" * 64 + ".example.com/", "https://" + ".".join(["a" * 63] * 4) + ".com/",
        "https://hooks.example.com:\u0664\u0664\u0663/", "https://a;b.example.com/",
        "https://hooks.example.com/%0d%0aX-Evil:1", "https://hooks.example.com/?a=%00",
        "https://hooks.example.com/%7F",
    ],
)  # fmt: skip
def test_refuses_tricks_of_parsers(url):
    assert refuses(url)


@pytest.mark.parametrize(
    "host",
    [
        "2130706433", "0x7f000001", "017700000001", "127.1", "127.0.1", "0177.0.0.1", "0x7f.1",
        "127.0.0.0x1", "0", "0x", "1.2.3", "1.2.3.4.5", "256.1.1.1", "8.8.8.08", "8.8.8.8.",
        "hooks.example.com.1", "127.0.0.1.", "1e3.0x10",
    ],
)  # fmt: skip
def test_refuses_unusual_spellings_of_ipv4(host):
    assert refuses(f"https://{host}/", policy=DEVELOPMENT)


@pytest.mark.parametrize(
    "host",
    [
        "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "[::ffff:808:808]", "[2606:4700:0::1111]",
        "[2606:4700::1111%25eth0]", "[fe80::1%eth0]", "[]", "[::", "::1", "[8.8.8.8]", "[v1.x]",
        "[2606:4700::1111]x", "x[2606:4700::1111]", "[2606:4700::00ab]",
    ],
)  # fmt: skip
def test_refuses_unusual_spellings_of_ipv6(host):
    assert refuses(f"https://{host}/")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "0.0.0.0", "10.0.0.1", "169.254.169.254", "192.168.1.1", "224.0.0.1",
        "255.255.255.255", "192.0.2.1", "[::1]", "[::]", "[64:ff9b::7f00:1]", "[fe80::1]",
        "[fd00:ec2::254]", "[2002:7f00:1::]", "[::7f00:1]",
    ],
)  # fmt: skip
def test_refuses_literal_addresses_that_are_not_public(host):
    assert refuses(f"https://{host}/") == "The URL leads to an address that is not public."


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "redis", "redis.internal", "db.local", "a.localhost", "x.test", "x.invalid",
        "x.example", "x.onion", "router.lan", "1.0.0.127.in-addr.arpa", "nas.home.arpa",
        "127.0.0.1.nip.io", "app-10-0-0-1.sslip.io", "a.192-168-1-1.example.com",
    ],
)  # fmt: skip
class TestPrivateName:
    def test_is_refused_where_nothing_is_allowed(self, host):
        assert refuses(f"https://{host}:8443/") == "The URL must use https and a public host name."

    def test_needs_an_address_that_is_allowed(self, host):
        target = DEVELOPMENT.check(f"https://{host}:8443/", allow_http=False)

        with pytest.raises(UrlRefused):
            DEVELOPMENT.check_addresses(target, [])
        with pytest.raises(UrlRefused):
            DEVELOPMENT.check_addresses(target, [ip_address("8.8.8.8")])
        DEVELOPMENT.check_addresses(target, [ip_address("127.0.0.1")])


class TestPort:
    @pytest.mark.parametrize("port", [0, 1, 22, 25, 80, 444, 1023, 65536, 99999])
    def test_is_443_or_unprivileged(self, port):
        assert (
            refuses(f"https://hooks.example.com:{port}/")
            == "The port must be 443 or 1024 and above."
        )

    def test_of_plain_http_is_80_or_unprivileged(self):
        for port in (80, 8080):
            assert INTRANET.check(f"http://10.1.2.3:{port}/", allow_http=True).port == port
        assert INTRANET.check("http://10.1.2.3/", allow_http=True).port == 80
        assert refuses("http://10.1.2.3:443/", policy=INTRANET, allow_http=True)


class TestPlainHttp:
    def test_is_refused_unless_allowed(self):
        assert refuses("http://127.0.0.1:9000/", policy=DEVELOPMENT) == "The URL must use https."

    def test_goes_only_to_allowed_networks(self):
        assert DEVELOPMENT.check("http://127.0.0.1:9000/", allow_http=True).needs_exception
        assert refuses("http://8.8.8.8:9000/", policy=DEVELOPMENT, allow_http=True)
        assert refuses("http://hooks.example.com/x", policy=PUBLIC_ONLY, allow_http=True)

    def test_never_goes_to_a_public_name(self):
        target = DEVELOPMENT.check("http://hooks.example.com/x", allow_http=True)

        for found in ([], [ip_address("8.8.8.8")]):
            with pytest.raises(UrlRefused):
                DEVELOPMENT.check_addresses(target, found)


class TestLoopback:
    def test_is_open_on_unprivileged_ports_where_it_is_allowed(self):
        for host in ("127.0.0.1", "[::1]", "127.9.9.9"):
            assert DEVELOPMENT.check(f"https://{host}:9443/", allow_http=False).port == 9443

    def test_is_closed_on_system_ports_and_our_own(self):
        assert refuses("https://127.0.0.1/", policy=DEVELOPMENT)
        assert refuses("https://[::1]/", policy=DEVELOPMENT)
        assert refuses("http://127.0.0.1:8000/admin/", policy=DEVELOPMENT, allow_http=True)
        assert refuses("http://localhost:8000/admin/", policy=DEVELOPMENT, allow_http=True)


class TestOtherExceptions:
    def test_are_open_on_443(self):
        assert INTRANET.check("https://10.1.2.3/", allow_http=False).port == 443


class TestNames:
    def test_every_address_counts(self):
        target = PUBLIC_ONLY.check("https://hooks.example.com/", allow_http=False)
        public, private = ip_address("8.8.8.8"), ip_address("10.0.0.1")

        PUBLIC_ONLY.check_addresses(target, [public])
        with pytest.raises(UrlRefused):
            PUBLIC_ONLY.check_addresses(target, [public, private])

    @pytest.mark.parametrize(
        "text", ["64:ff9b::808:808", "64:ff9b::a01:203", "64:ff9b:1::a01:203", "2002:a01:203::1"]
    )
    @pytest.mark.parametrize("policy", [PUBLIC_ONLY, INTRANET])
    def test_an_address_that_leads_on_to_an_ipv4_one_is_never_taken(self, policy, text):
        """Of NAT64 and 6to4: neither of a public one, nor of one that the operator allowed."""
        target = policy.check("https://hooks.example.com/", allow_http=False)

        with pytest.raises(UrlRefused):
            policy.check_addresses(target, [ip_address(text)])

    def test_a_public_name_without_an_address_yet_is_taken(self):
        target = PUBLIC_ONLY.check("https://nothing.invalid-name.ballast.com/", allow_http=False)

        PUBLIC_ONLY.check_addresses(target, [])

    def test_localhost_is_looked_up(self):
        names.check_now(DEVELOPMENT.check("http://localhost:9000/", allow_http=True), DEVELOPMENT)
        with pytest.raises(UrlRefused):
            names.check_now(INTRANET.check("http://localhost:9000/", allow_http=True), INTRANET)

    def test_a_literal_needs_no_lookup(self):
        names.check_now(PUBLIC_ONLY.check("https://8.8.8.8/", allow_http=False), PUBLIC_ONLY)

    def test_a_name_that_cannot_be_looked_up_has_no_address(self):
        target = DEVELOPMENT.check("https://nowhere.invalid:9000/", allow_http=False)

        with pytest.raises(UrlRefused):
            names.check_now(target, DEVELOPMENT)


@pytest.mark.parametrize(
    ("url", "authority", "path"),
    [
        ("https://Hooks.example.com", "hooks.example.com", "/"),
        ("https://hooks.example.com:443/In", "hooks.example.com", "/In"),
        ("https://hooks.example.com:8443?a=/b", "hooks.example.com:8443", "/?a=/b"),
        ("https://hooks.example.com/a/../b?c=%20&d", "hooks.example.com", "/a/../b?c=%20&d"),
        ("https://[2606:4700::1111]:8443/x", "[2606:4700::1111]:8443", "/x"),
    ],
)
def test_a_request_says_host_and_path_as_they_are_written(url, authority, path):
    target = PUBLIC_ONLY.check(url, allow_http=False)

    assert (target.authority, target.path) == (authority, path)


class TestLength:
    def test_is_2048_at_most(self):
        stem = "https://hooks.example.com/"
        longest = stem + "a" * (2048 - len(stem))

        assert PUBLIC_ONLY.check(longest, allow_http=False).host == "hooks.example.com"
        assert refuses(longest + "a") == "The URL is longer than 2048 characters."


class TestSettings:
    @override_settings(
        WEBHOOK_ALLOWED_NETWORKS=["127.0.0.0/8"], BASE_URL="https://ballast.example.com"
    )
    def test_make_the_policy(self):
        assert urls.policy() == Policy(
            allowed_networks=addresses.parse_networks(["127.0.0.0/8"]),
            own_host="ballast.example.com",
            own_port=443,
        )

    def test_our_own_address_is_refused(self):
        assert refuses("https://ballast.example.com/admin/") == "The URL is our own address."
        assert PUBLIC_ONLY.check("https://ballast.example.com:8443/", allow_http=False)
