from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest

from common.engine.http import addresses

REFUSED_V4 = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32",
    "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24",
    "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
]  # fmt: skip
REFUSED_V6 = [
    "::/128", "::1/128", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64",
    "100:0:0:1::/64", "2001::/32", "2001::/23", "2001:2::/48", "2001:10::/28", "2001:20::/28",
    "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7",
    "fe80::/10", "fec0::/10", "ff00::/8",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED_V4 + REFUSED_V6)
class TestRefusedRange:
    def test_first_last_and_middle_are_not_public(self, text):
        network = ip_network(text)
        size = network.num_addresses

        for offset in {0, size // 2, size - 1}:
            assert not addresses.is_public(network[offset]), network[offset]

    def test_is_refused_inside_an_ipv4_mapped_address_too(self, text):
        network = ip_network(text)
        if network.version == 4:
            mapped = IPv6Address(f"::ffff:{network.network_address}")

            assert not addresses.is_public(mapped)


@pytest.mark.parametrize(
    ("text", "is_public"),
    [
        (text, is_public)
        for outside, inside in [
            ("1.0.0.0", "0.255.255.255"),
            ("9.255.255.255", "10.0.0.0"),
            ("11.0.0.0", "10.255.255.255"),
            ("100.63.255.255", "100.64.0.0"),
            ("100.128.0.0", "100.127.255.255"),
            ("126.255.255.255", "127.0.0.0"),
            ("128.0.0.0", "127.255.255.255"),
            ("168.63.129.15", "168.63.129.16"),
            ("169.253.255.255", "169.254.0.0"),
            ("172.15.255.255", "172.16.0.0"),
            ("172.32.0.0", "172.31.255.255"),
            ("192.167.255.255", "192.168.0.0"),
            ("198.17.255.255", "198.18.0.0"),
            ("198.20.0.0", "198.19.255.255"),
            ("223.255.255.255", "224.0.0.0"),
            ("2000::", "1fff:ffff::"),
            ("2001:200::", "2001:1ff:ffff::"),
            ("2001:db9::", "2001:db8:ffff::"),
            ("2003::", "2002:ffff::"),
            ("2620:4f:8001::", "2620:4f:8000:ffff::"),
            ("3fff:1000::", "3fff:fff::"),
            ("3ffe::", "4000::"),
        ]
        for text, is_public in ((outside, True), (inside, False))
    ],
)
def test_the_edges_of_the_ranges(text, is_public):
    assert addresses.is_public(ip_address(text)) is is_public


@pytest.mark.parametrize(
    "text",
    [
        "169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254",
        "255.255.255.255", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::",
        "::127.0.0.1", "::ffff:0:127.0.0.1", "fe80::5efe:7f00:1", "fec0::1", "ff02::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)  # fmt: skip
def test_well_known_ways_inside_are_refused(text):
    assert not addresses.is_public(ip_address(text))


@pytest.mark.parametrize("text", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_hosts_of_the_internet_are_public(text):
    assert addresses.is_public(ip_address(text))


def test_an_address_with_a_zone_is_not_public():
    assert not addresses.is_public(IPv6Address("2606:4700::1111%eth0"))


class TestExceptions:
    networks = addresses.parse_networks(["127.0.0.0/8", "::1/128", "10.20.0.0/16"])

    @pytest.mark.parametrize("text", ["127.0.0.1", "::1", "10.20.255.1", "::ffff:127.0.0.1"])
    def test_cover_what_they_name(self, text):
        assert addresses.is_within(ip_address(text), self.networks)

    @pytest.mark.parametrize("text", ["10.21.0.1", "192.168.0.1", "::2", "8.8.8.8"])
    def test_cover_nothing_else(self, text):
        assert not addresses.is_within(ip_address(text), self.networks)

    def test_a_typing_error_in_the_setting_stops_us(self):
        with pytest.raises(ValueError, match="does not appear to be"):
            addresses.parse_networks(["127.0.0.0/8", "10.20/16"])


def test_every_ipv4_address_is_judged_like_its_neighbours():
    """Inside a /24 the answer changes only for the one single host on the list."""
    for number in range(0, 2**32, 2**24 + 2**16 + 256):
        base = IPv4Address(number & ~0xFF)
        answers = {addresses.is_public(base + offset) for offset in (0, 1, 254, 255)}

        assert len(answers) == 1, base
