"""What a password may not be: what somebody guesses who knows lists, the product and the person.

Django brings 20,000 common passwords. Only 190 of them have twelve characters, so a password is
also compared without what people add to make a short one long enough.
"""

from __future__ import annotations

import re

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError

from tenants import selectors
from tenants.models import User

# What people read where they choose a password; the validators say what was wrong with one.
HINT = (
    "Use at least 12 characters. Avoid common passwords, repeats, and your own or your company's"
    " name."
)
_PRODUCT = "ballast"
_WORD_LENGTH_MIN = 4
# Letters that must be left of a password without the words that everybody knows of the person.
_LEFT_MIN = 8
_DIFFERENT_MIN = 5
_PIECE_MAX, _ENDING_MAX = 10, 2  # of a repetition: what is repeated, and what ends it
_SEQUENCES = ("01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm")
_SEQUENCE_MIN = 4


class GuessableValidator(CommonPasswordValidator):
    """Refuses common passwords with digits or signs around them, repetitions and sequences, and
    words of the product, the person's tenants and address."""

    def validate(self, password: str, user: object = None) -> None:
        """Raises ValidationError, which says why."""
        text = password.lower().strip()
        if text in self.passwords or re.sub(r"^[\W\d_]+|[\W\d_]+$", "", text) in self.passwords:
            raise ValidationError("This password is too common.", code="password_too_common")
        if len(set(text)) < _DIFFERENT_MIN or _repeats(text) or _is_sequence(text):
            raise ValidationError(
                "This password repeats itself or is a sequence.", code="password_repeats"
            )
        if _is_made_of(text, _words_about(user)):
            raise ValidationError(
                "Choose more than your name, your company or this product.",
                code="password_of_context",
            )

    def get_help_text(self) -> str:
        return (
            "Do not use a common password, a repetition, or the name of the product, your company"
            " or yourself."
        )


def _repeats(text: str) -> bool:
    """Whether the text is one piece again and again, but for a short ending."""
    bodies = [text[: len(text) - ending] for ending in range(_ENDING_MAX + 1)]
    return any(
        body == (body[:piece] * len(body))[: len(body)]
        for body in bodies
        for piece in range(1, min(_PIECE_MAX, len(body) // 2) + 1)
    )


def _is_sequence(text: str) -> bool:
    """Whether hardly anything is left without runs along the alphabet, the digits, the keyboard."""
    left = text
    for sequence in (*_SEQUENCES, *(one[::-1] for one in _SEQUENCES)):
        for length in range(len(sequence), _SEQUENCE_MIN - 1, -1):
            for start in range(len(sequence) - length + 1):
                left = left.replace(sequence[start : start + length], "")
    return len(left) < _SEQUENCE_MIN


def _is_made_of(text: str, words: set[str]) -> bool:
    left = text
    for word in sorted(words, key=len, reverse=True):
        left = left.replace(word, "")
    return left != text and len(re.sub(r"[\W\d_]", "", left)) < _LEFT_MIN


def _words_about(user: object) -> set[str]:
    """Words that whoever knows the person would try."""
    texts = [_PRODUCT]
    if isinstance(user, User):
        texts += [user.email, user.name, *selectors.names_of_tenants(user_id=user.pk)]
    words = {word for text in texts for word in re.split(r"[\W_]+", text.lower())}
    return {word for word in words if len(word) >= _WORD_LENGTH_MIN}
