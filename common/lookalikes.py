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
    """For whoever pays or approves: each word that misleads, with those of its letters that are not
    what they look like, and what to do. Empty without any."""
    words = dict.fromkeys(word for each in texts for word in each.split() if misleads(word))
    if not words:
        return ""
    named = " ".join(_explained(word) for word in words)
    several = len(words) > 1
    doubt = "They may imitate other names" if several else "It may imitate another name"
    what = "them" if several else "it"
    return f"{named} {doubt}: ask whoever added {what} before you pay or approve."


def _explained(word: str) -> str:
    imitating: dict[str, list[str]] = {}
    for letter in dict.fromkeys(filter(_latin_of, word)):
        imitating.setdefault(_script_of(letter), []).append(f"“{letter}”")
    told = " and ".join(_named(letters, script) for script, letters in imitating.items())
    is_one = sum(map(len, imitating.values())) == 1
    looks = "looks like a Latin one" if is_one else "look like Latin ones"
    return f"“{word}” contains {told}, which {looks}."


def _named(letters: list[str], script: str) -> str:
    """`the Greek letter “x”`, `the Greek letters “x”, “y” and “z”`."""
    *first, last = letters
    if first:
        return f"the {script} letters {', '.join(first)} and {last}"
    return f"the {script} letter {last}"


def address_warning(*addresses: str) -> str:
    """A sentence that names the addresses at domains with letters beyond a to z, as they are read
    and as programs write them; empty without any."""
    named = dict.fromkeys(spelled(each) for each in addresses if spelled(each) != each)
    if not named:
        return ""
    return (
        f"A domain with letters beyond a to z is in {', '.join(named)}."
        " It may imitate another address: ask whoever added it before you approve."
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
