"""What is taken from a page, and that the rest stays as it was."""

from __future__ import annotations

import pytest

from dashboard.shell.view_only import without_actions

WHY = 'title="Staff view: only to look"'
GUARD = '<input type="hidden" name="acting_for" value="tnt_1">'


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        (
            f'<form>{GUARD}<button data-is="a>b" class="x">Go</button></form>',
            f'<form>{GUARD}<button data-is="a&gt;b" class="x" disabled {WHY}>Go</button></form>',
        ),
        (
            f'<form hx-post="/x" id="f">{GUARD}<button>Go</button></form>',
            f'<form id="f">{GUARD}<button disabled {WHY}>Go</button></form>',
        ),
        (
            '<a href="/dashboard/pay/?to=1" class="button button--wide">Pay &amp; <b>go</b></a>',
            f'<span class="button button--wide" role="link" aria-disabled="true" {WHY}>'
            "Pay &amp; <b>go</b></span>",
        ),
    ],
)
def test_what_would_act_is_disabled(page, shown):
    assert without_actions(page) == shown


@pytest.mark.parametrize(
    "page",
    [
        "<form><button>Search</button></form>",
        f"<form>{GUARD}<button disabled>Wait</button></form>",
        "<p>é &amp; &copy\n<a class='button' href='/dashboard/'>Back</a><br/><!-- <button> --></p>",
        '<a class="button" href="https://docs.example/">Read</a>',
        '<a href="/dashboard/pay/">Pay</a>',
        f"<script>x = '<form>{GUARD}<button>Go</button></form>'</script>",
    ],
)
def test_the_rest_stays_to_the_letter(page):
    assert without_actions(page) == page
