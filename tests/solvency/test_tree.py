"""The tree: whoever knows a leaf and its siblings computes the root and the sums again, and nothing
else leads there."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvency import tree
from solvency.tree import CENTS_MAX, NODE_BYTES, NOTHING, Amounts, Node

DAY = date(2026, 11, 27)
CENTS = st.integers(0, 10**15)
LEAVES = st.lists(st.builds(Amounts, CENTS, CENTS, CENTS), min_size=1, max_size=40)


def leaf(number: int, amounts: Amounts = NOTHING, day: date = DAY) -> Node:
    return tree.leaf(day, number.to_bytes(32, "big"), amounts)


def path(grown: tree.Tree, index: int) -> list[Node]:
    nodes = [node for level in grown.levels for node in level]
    return [nodes[place] for place in tree.path_places(index, grown.count)]


@given(amounts=LEAVES)
def test_every_leaf_leads_to_the_root_and_its_sums(amounts):
    leaves = [leaf(*each) for each in enumerate(amounts)]

    grown = tree.grow(leaves)

    assert grown.root.amounts == Amounts(*map(sum, zip(*amounts, strict=True)))
    for index, node in enumerate(leaves):
        climbed = tree.climb(node, index=index, count=len(leaves), path=path(grown, index))
        assert climbed == grown.root


@given(amounts=LEAVES)
def test_its_nodes_are_packed_where_paths_look_for_them(amounts):
    grown = tree.grow(leaf(*each) for each in enumerate(amounts))
    packed = grown.packed
    pieces = [packed[at : at + NODE_BYTES] for at in range(0, len(packed), NODE_BYTES)]

    for index in range(grown.count):
        places = tree.path_places(index, grown.count)
        assert [tree.unpack(pieces[place]) for place in places] == path(grown, index)


@given(amounts=st.lists(st.builds(Amounts, CENTS, CENTS, CENTS), min_size=2, max_size=20))
def test_another_order_has_another_root(amounts):
    leaves = [leaf(*each) for each in enumerate(amounts)]
    turned = leaves[1:] + leaves[:1]

    assert tree.grow(leaves).root.digest != tree.grow(turned).root.digest


class TestRoot:
    def test_of_no_leaves_is_no_leafs(self):
        empty = tree.grow([])

        assert (empty.count, empty.root.amounts) == (0, NOTHING)
        assert empty.root.digest not in {leaf(0).digest, tree.grow([leaf(0), leaf(1)]).root.digest}

    def test_of_one_leaf_is_the_leaf(self):
        assert tree.grow([leaf(1)]).root == leaf(1)

    @pytest.mark.parametrize("count", [3, 5, 6, 7])
    def test_does_not_stand_for_doubled_leaves_too(self, count):
        """CVE-2012-2459: a tree that doubles the last node of an odd level has the same root with
        the last leaves twice."""
        leaves = [leaf(number) for number in range(count)]
        root = tree.grow(leaves).root
        for doubled in (1, 2):
            nodes = leaves + leaves[-doubled:]
            while len(nodes) > 1:
                pairs = [nodes[at : at + 2] for at in range(0, len(nodes), 2)]
                nodes = [tree.parent(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
            assert nodes[0].digest != root.digest

    def test_has_each_leaf_once(self):
        with pytest.raises(ValueError, match="two leaves are the same"):
            tree.grow([leaf(1), leaf(2), leaf(1)])

    def test_is_another_one_on_another_day(self):
        assert leaf(1).digest != leaf(1, day=date(2026, 11, 28)).digest


class TestAmounts:
    @pytest.mark.parametrize("cents", [-1, CENTS_MAX + 1])
    @pytest.mark.parametrize("kind", Amounts._fields)
    def test_are_not_negative_and_have_63_bits(self, kind, cents):
        with pytest.raises(ValueError, match="is not an amount"):
            leaf(1, NOTHING._replace(**{kind: cents}))

    def test_do_not_overflow_in_a_sum(self):
        half = NOTHING._replace(locked=CENTS_MAX // 2 + 1)
        with pytest.raises(ValueError, match="is not an amount"):
            tree.grow([leaf(1, half), leaf(2, half)])

    def test_that_were_packed_are_checked_too(self):
        with pytest.raises(ValueError, match="is not an amount"):
            tree.unpack(bytes(32) + b"\xff" * 24)


class TestForgedPath:
    """Three tenants: 10, 20 and 30 cents."""

    LEAVES = tuple(leaf(number, Amounts(10 * number, 0, 0)) for number in (1, 2, 3))
    GROWN = tree.grow(LEAVES)

    def climb(self, node: Node, index: int, siblings: list[Node], count: int = 3) -> bool:
        try:
            return tree.climb(node, index=index, count=count, path=siblings) == self.GROWN.root
        except ValueError:
            return False

    def test_the_right_one_leads_up(self):
        assert self.climb(self.LEAVES[0], 0, path(self.GROWN, 0))

    def test_with_children_swapped(self):
        assert not self.climb(self.LEAVES[0], 1, path(self.GROWN, 0))

    def test_that_takes_a_node_for_a_leaf(self):
        node = self.GROWN.levels[1][0]
        assert not self.climb(node, 0, path(self.GROWN, 0)[1:])
        assert self.climb(node, 0, path(self.GROWN, 0)[1:], count=2)  # so the count is signed

    def test_too_short_or_too_long(self):
        siblings = path(self.GROWN, 0)
        assert not self.climb(self.LEAVES[0], 0, siblings[:1])
        assert not self.climb(self.LEAVES[0], 0, [*siblings, siblings[0]])

    @pytest.mark.parametrize("index", [-1, 3])
    def test_of_a_leaf_that_is_not_there(self, index):
        assert not self.climb(self.LEAVES[0], index, path(self.GROWN, 0))
        with pytest.raises(ValueError, match="there is no leaf"):
            tree.path_places(index, 3)

    @pytest.mark.parametrize("cents", [0, 19, 21])
    def test_with_another_sum(self, cents):
        other, up = path(self.GROWN, 0)
        changed = Node(other.digest, Amounts(cents, 0, 0))
        assert not self.climb(self.LEAVES[0], 0, [changed, up])

    def test_that_moves_cents_from_one_kind_to_another(self):
        other, up = path(self.GROWN, 0)
        changed = Node(other.digest, Amounts(19, 1, 0))
        assert not self.climb(self.LEAVES[0], 0, [changed, up])
