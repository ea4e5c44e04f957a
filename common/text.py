"""The one rule for text that names something: what nobody can see is not in it.

Characters without a shape let two names look the same, and ones that turn the direction of writing
let a name look like another. Text is kept in Unicode's composed form (NFC): names that look the
same, but whose accents are stored in another way, are the same.
"""

from __future__ import annotations

import re
import unicodedata

# A regular expression's class of control (Cc), format (Cf: zero width, direction), surrogate (Cs)
# and separator (Zl, Zp) characters, and of others that show nothing (fillers, joiners, variation
# selectors, the blank of Braille). Spelled out because the API's reference shows it, in a form that
# Python, JavaScript and Rust read alike.
INVISIBLE = (
    r"\u0000-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    r"\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
# The same without line breaks, for texts of several lines.
INVISIBLE_IN_LINES = INVISIBLE.replace(r"\u0000-\u001f", r"\u0000-\u0009\u000b\u000c\u000e-\u001f")
_UNSEEN = re.compile(f"[{INVISIBLE}\ud800-\udfff]")
_UNSEEN_IN_LINES = re.compile(f"[{INVISIBLE_IN_LINES}\ud800-\udfff]")


class Unseen(ValueError):
    """The text holds a character that nobody can see."""


def composed(text: str, *, lines: bool = False) -> str:
    """`text` in NFC. Raises Unseen; `lines` allows line breaks."""
    if (_UNSEEN_IN_LINES if lines else _UNSEEN).search(text):
        raise Unseen("a character that cannot be seen")
    return unicodedata.normalize("NFC", text)
