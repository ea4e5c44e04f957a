"""Words that are spelled with letters of one script to look like another one's.

The data are Unicode's (UTS #39), from the package confusable_homoglyphs. Approvers read names that
somebody else chose: a recipient whose first letter is a Cyrillic A is not the one they know. It is
no proof of bad intent, so it is said and not refused.
"""

from __future__ import annotations

from functools import lru_cache

from confusable_homoglyphs import categories, confusables

_LATIN = "LATIN"
_ANY_SCRIPT = {_LATIN, "INHERITED"}


def warning(*texts: str) -> str:
    """For whoever approves: each word that misleads, what it looks like, and which of its letters
    are not what they look like. Empty without any."""
    words = dict.fromkeys(word for each in texts for word in each.split() if misleads(word))
    if not words:
        return ""
    named = " ".join(_explained(word) for word in words)
    return f"{named} Compare it with the name that you know, letter by letter."


def _explained(word: str) -> str:
    imitating: dict[str, list[str]] = {}
    for letter in dict.fromkeys(filter(_latin_of, word)):
        imitating.setdefault(_script_of(letter), []).append(f"“{letter}”")
    looks = "".join(_latin_of(letter) or letter for letter in word)
    told = ", and ".join(_named(letters, script) for script, letters in imitating.items())
    return f"“{word}” is not “{looks}”: {told}."


def _named(letters: list[str], script: str) -> str:
    """`“x” is a Greek letter`, `“x”, “y” and “z” are Greek letters`."""
    *first, last = letters
    if first:
        return f"{', '.join(first)} and {last} are {script} letters"
    return f"{last} is {'an' if script[0] in 'AEIOU' else 'a'} {script} letter"


def address_warning(*addresses: str) -> str:
    """A sentence that names the addresses at domains with letters beyond a to z, as they are read
    and as programs write them; empty without any."""
    named = dict.fromkeys(spelled(each) for each in addresses if spelled(each) != each)
    if not named:
        return ""
    return (
        f"A domain with letters beyond a to z is in {', '.join(named)}."
        " Compare it with the address that you know, letter by letter."
    )


def spelled(address: str) -> str:
    """An address of mail; where its domain has letters beyond a to z, as it is read and as programs
    write it (IDNA, `xn--…`)."""
    name, at, domain = address.rpartition("@")
    read, written = _read(domain), _written(domain)
    if read == written:
        return address
    return f"“{name}{at}{read}” ({name}{at}{written})"


def _read(domain: str) -> str:
    return ".".join(_read_label(label) for label in domain.split("."))


def _read_label(label: str) -> str:
    try:
        return label.encode("ascii").decode("idna")
    except UnicodeError:
        return label  # letters already, or no name of a domain


def _written(domain: str) -> str:
    return ".".join(_written_label(label) for label in domain.split("."))


def _written_label(label: str) -> str:
    try:
        return label.encode("idna").decode("ascii")
    except UnicodeError:
        return label.encode("ascii", "backslashreplace").decode("ascii")


@lru_cache(maxsize=1000)
def misleads(word: str) -> bool:
    """Whether letters of other scripts imitate Latin ones in this word: some of them beside Latin
    letters, or every one of them where there are none."""
    letters = [letter for letter in word if letter.isalpha()]
    foreign = [letter for letter in letters if categories.alias(letter) not in _ANY_SCRIPT]
    imitating = [letter for letter in foreign if _latin_of(letter)]
    if len(foreign) < len(letters):
        return bool(imitating)
    return bool(letters) and len(imitating) == len(letters)


@lru_cache(maxsize=1000)
def _latin_of(letter: str) -> str:
    """The Latin letter that this one of another script looks like, rather of a to z than another
    one; empty where it looks like none."""
    if not letter.isalpha() or categories.alias(letter) in _ANY_SCRIPT:
        return ""
    found = confusables.is_confusable(letter, preferred_aliases=[_LATIN])
    if not found:
        return ""
    looks = [str(each["c"]) for each in found[0]["homoglyphs"]]
    latin = min(looks, key=lambda each: not each.isascii())
    # Unicode's data know I and l as one: what is a capital letter looks like the capital one.
    return "I" if latin == "l" and letter.isupper() else latin


def _script_of(letter: str) -> str:
    """`Cyrillic`; `special` of letters without an alphabet, such as those of mathematics."""
    script = str(categories.alias(letter)).replace("_", " ").title()
    return "special" if script == "Common" else script
