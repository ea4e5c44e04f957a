"""What is put off to the end of a transaction."""

from __future__ import annotations

import pytest
from django.db import transaction

from common.engine.transactions import before_commit, deferring


class TestAtTheEnd:
    def test_comes_after_the_block_in_the_order_asked_for(self):
        done: list[str] = []

        with deferring():
            before_commit(lambda: done.append("second"))
            before_commit(lambda: done.append("third"))
            done.append("first")

        assert done == ["first", "second", "third"]

    def test_is_now_where_nobody_ends_anything(self):
        done: list[str] = []

        before_commit(lambda: done.append("now"))

        assert done == ["now"]

    def test_is_now_for_what_is_asked_for_at_the_end(self):
        done: list[str] = []

        with deferring():
            before_commit(lambda: before_commit(lambda: done.append("inner")))

        assert done == ["inner"]

    def test_never_comes_when_the_block_fails(self):
        done: list[str] = []

        def fail():
            with deferring():
                before_commit(lambda: done.append("never"))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

        before_commit(lambda: done.append("later"))
        assert done == ["later"]

    @pytest.mark.django_db
    def test_is_now_inside_a_savepoint_which_may_be_undone(self):
        done: list[str] = []

        with deferring():
            with transaction.atomic():
                before_commit(lambda: done.append("inside"))
            before_commit(lambda: done.append("last"))
            done.append("outside")

        assert done == ["inside", "outside", "last"]
