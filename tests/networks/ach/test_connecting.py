"""The settings of a connection, from the terms in force and the key of a rail."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import crypto
from networks.ach import connecting
from networks.ach.connection_terms import Connection, Folders
from networks.ach.models import AchKey, RailVersion
from networks.ach.sftp import keys
from networks.ach.sftp.bank import connected
from networks.ach.sftp.errors import KeyUnreadable, NotConnected
from networks.ach.terms import InvalidTerms
from tests.database import owner
from tests.devstack.odfi.conftest import shared  # noqa: F401
from tests.networks.ach.builders import NOON, RAIL, make_rail
from tests.networks.ach.sftp import standin

pytestmark = pytest.mark.django_db
HOST_KEY = keys.generate_client_key().public.text
LINE = Connection(host="sftp.bank.example", port=2222, user="us", host_keys=(HOST_KEY,))


def make_key(private, *, retired_at=None):
    public = keys.read_client_key(private).public
    key = AchKey(
        rail_id=RAIL,
        public_key=public.text,
        fingerprint=public.fingerprint,
        created_by="ada@ballast.example",
        created_at=NOON,
        used_since=NOON,
        retired_by="bob@ballast.example" if retired_at else "",
        retired_at=retired_at,
    )
    key.private_key_token = crypto.encrypt(private.decode(), context=key.encryption_context)
    key.save(force_insert=True)


def test_come_from_the_terms_and_the_key_that_is_used():
    make_rail(
        connection=Connection(
            host="sftp.bank.example",
            port=2222,
            user="us",
            host_keys=(HOST_KEY,),
            folders=Folders(outbound="to", ack="said", inbound="from", statements="books"),
            archive="to/done",
            connect_timeout=timedelta(seconds=7),
            idle_timeout=timedelta(seconds=33),
        )
    )
    former, present = keys.generate_client_key(), keys.generate_client_key()
    make_key(former.private, retired_at=NOON)
    make_key(present.private)

    found = connecting.settings(RAIL)

    assert (found.rail, found.host, found.port, found.user) == (RAIL, LINE.host, 2222, "us")
    assert found.host_keys == (HOST_KEY,)
    assert found.private_key == present.private
    folders = (found.outbound, found.ack, found.inbound, found.statements, found.archive)
    assert folders == ("to", "said", "from", "books", "to/done")
    assert (found.connect_seconds, found.operation_seconds) == (7, 33)


def test_need_a_host_and_a_key():
    make_rail()
    make_key(keys.generate_client_key().private)
    with pytest.raises(NotConnected):
        connecting.settings(RAIL)

    make_rail("second", connection=LINE)
    with pytest.raises(NotConnected):
        connecting.settings("second")


def test_refuse_a_weak_host_key():
    """One that got into the stored terms all the same."""
    version = make_rail(connection=LINE)
    weak = version.terms["connection"] | {"host_keys": ["ssh-dss AAAAB3NzaC1kc3M="]}
    with owner.as_superuser(triggers=False):
        RailVersion.objects.update(terms=version.terms | {"connection": weak})
    make_key(keys.generate_client_key().private)

    with pytest.raises(InvalidTerms):
        connecting.settings(RAIL)


def test_refuse_a_key_that_does_not_open():
    make_rail(connection=LINE)
    make_key(keys.generate_client_key().private)
    AchKey.objects.update(private_key_token="damaged")

    with pytest.raises(KeyUnreadable):
        connecting.settings(RAIL)


def test_open_the_stand_in_bank(shared):  # noqa: F811
    known = standin.settings_for(shared)
    make_rail(
        connection=Connection(
            host=known.host, port=known.port, user=known.user, host_keys=known.host_keys
        )
    )
    make_key(known.private_key)

    with connected(connecting.settings(RAIL)) as bank:
        assert bank.list("inbound").odd_count == 0
