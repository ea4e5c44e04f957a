"""The brand of a deployment: what its settings may say, and the colors that follow from an accent.

Each refusal is one sentence that says what to do (decision 0205).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

NAME = "Ballast"
_NAME_LENGTH_MAX = 40
# Also right as the issuer in a link to an authenticator app, which may hold no colon, and as the
# name of a sender of mail.
_NAME = re.compile(r"\w(?:[\w .&'’+-]*[\w.+])?")

_COLOR = re.compile(r"#[0-9a-f]{6}")
CONTRAST_MIN = 4.5  # WCAG 2.2, 1.4.3
WHITE, BLACK = "#ffffff", "#000000"
# Behind the accent in `static/css/tokens.css`: canvas, surface, sunken, hover.
BEHIND_LIGHT = ("#f5f7f7", "#ffffff", "#eef2f2", "#f0f4f4")
BEHIND_DARK = ("#0e1416", "#151c1f", "#10181a", "#1b2528")

_LOGO_BYTES_MAX = 64 * 1024
_SVG = "{http://www.w3.org/2000/svg}"
# What draws. Nothing of it runs, fetches, shows a document of its own, or draws another element
# many times over; a style sheet has too many ways to fetch, so styles are attributes.
_DRAWING = {
    "circle", "clipPath", "defs", "desc", "ellipse", "g", "line", "linearGradient", "mask", "path",
    "polygon", "polyline", "radialGradient", "rect", "stop", "svg", "text", "title", "tspan",
}  # fmt: skip
# A backslash can spell each of them in another way.
_FETCHES = re.compile(r"image-set|url\(\s*['\"]?(?!#)|\\", re.IGNORECASE)


def name(setting: str, value: str) -> str:
    """A name that every place can show. Raises ImproperlyConfigured."""
    if len(value) > _NAME_LENGTH_MAX or not _NAME.fullmatch(value):
        raise ImproperlyConfigured(
            f"{setting} must be a name of at most {_NAME_LENGTH_MAX} letters, digits, blanks and"
            " .&'+- that begins with a letter or digit"
        )
    return value


def address(setting: str, value: str) -> str:
    """An e-mail address, or empty. Raises ImproperlyConfigured."""
    try:
        if value:
            validate_email(value)
    except ValidationError:
        raise ImproperlyConfigured(f"{setting} must be an e-mail address, or empty") from None
    return value


def https_address(setting: str, value: str) -> str:
    """An https address, or empty. Raises ImproperlyConfigured."""
    found = urlsplit(value)
    if value and (found.scheme != "https" or not found.hostname or re.search(r"[\s<>\"']", value)):
        raise ImproperlyConfigured(f"{setting} must be an address that begins with https://")
    return value


@dataclass(frozen=True)
class Shade:
    """The accent on light pages, or on dark ones, with the colors that belong to it."""

    accent: str
    hover: str
    soft: str
    on_accent: str


@dataclass(frozen=True)
class Palette:
    """Our own, or what follows from a deployment's accent."""

    light: Shade
    dark: Shade
    is_ours: bool = False

    @property
    def css(self) -> str:
        """The stylesheet that replaces the accent of `static/css/tokens.css`."""
        pairs = {
            "--accent": (self.light.accent, self.dark.accent),
            "--accent-hover": (self.light.hover, self.dark.hover),
            "--accent-soft": (self.light.soft, self.dark.soft),
            "--on-accent": (self.light.on_accent, self.dark.on_accent),
        }
        lines = (f"  {each}: light-dark({', '.join(pair)});\n" for each, pair in pairs.items())
        return f":root {{\n{''.join(lines)}}}\n"

    @property
    def weights(self) -> Mapping[str, str]:
        """The eleven weights of the desk's skin, from light to dark."""
        light, dark = self.light.accent, self.dark.accent
        return {
            "50": mixed(light, WHITE, 0.05),
            "100": mixed(light, WHITE, 0.12),
            "200": mixed(light, WHITE, 0.25),
            "300": mixed(dark, WHITE, 0.7),
            "400": dark,
            "500": mixed(light, dark, 0.5),
            "600": light,
            "700": mixed(light, BLACK, 0.85),
            "800": mixed(light, BLACK, 0.7),
            "900": mixed(light, BLACK, 0.55),
            "950": mixed(light, BLACK, 0.4),
        }


OURS = Palette(
    light=Shade(accent="#0a625d", hover="#084e4a", soft="#e1f1ef", on_accent="#ffffff"),
    dark=Shade(accent="#63c8ba", hover="#83d8cc", soft="#14302e", on_accent="#05211e"),
    is_ours=True,
)


def palette(*, light: str, dark: str) -> Palette:
    """The colors of an accent for light pages and one for dark ones; of neither, ours.

    Raises ImproperlyConfigured where something written in it, or on it, would be hard to read.
    """
    if not light and not dark:
        return OURS
    for setting, color in (("BRAND_ACCENT_LIGHT", light), ("BRAND_ACCENT_DARK", dark)):
        if not _COLOR.fullmatch(color):
            raise ImproperlyConfigured(
                f"{setting} must be a color such as #0a625d: set both accents, or none"
            )
    found = Palette(
        light=Shade(
            accent=light,
            hover=mixed(light, BLACK, 0.8),
            soft=mixed(light, WHITE, 0.1),
            on_accent=WHITE,
        ),
        dark=Shade(
            accent=dark,
            hover=mixed(dark, WHITE, 0.75),
            soft=mixed(dark, BEHIND_DARK[0], 0.18),
            on_accent=mixed(dark, BLACK, 0.12),
        ),
    )
    _require_readable("BRAND_ACCENT_LIGHT", found.light, BEHIND_LIGHT, advice="darker")
    _require_readable("BRAND_ACCENT_DARK", found.dark, BEHIND_DARK, advice="lighter")
    return found


def _require_readable(setting: str, shade: Shade, behind: tuple[str, ...], *, advice: str) -> None:
    for background in (*behind, shade.soft, shade.on_accent):
        if (found := contrast(shade.accent, background)) < CONTRAST_MIN:
            raise ImproperlyConfigured(
                f"{setting} {shade.accent} has a contrast of {found:.2f} to {background}, on which"
                f" it is read; it takes {CONTRAST_MIN}: choose a {advice} color"
            )


def contrast(first: str, second: str) -> float:
    """From 1 to 21, as WCAG defines it."""
    lower, higher = sorted((_luminance(first), _luminance(second)))
    return (higher + 0.05) / (lower + 0.05)


def mixed(first: str, second: str, share: float) -> str:
    """A color with `share` of the first one in it."""
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(one * share + two * (1 - share)):02x}" for one, two in pairs)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(each / 255) for each in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def logo(path: str) -> bytes:
    """The drawing in a file; of no path, nothing. Raises ImproperlyConfigured unless it is an SVG
    that only draws."""
    if not path:
        return b""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ImproperlyConfigured(
            f"BRAND_LOGO names {path}, which cannot be read: {error.strerror}"
        ) from None
    if fault := _fault_of(content):
        raise ImproperlyConfigured(f"BRAND_LOGO names {path}, which {fault}")
    return content


def _fault_of(content: bytes) -> str:
    """Why it is no logo; empty if it is one."""
    if len(content) > _LOGO_BYTES_MAX:
        return f"has more than {_LOGO_BYTES_MAX // 1024} KiB: simplify the drawing"
    if b"<!" in content.replace(b"<!--", b""):
        return "declares a document type or entities: remove the lines that begin with <!"
    if b"<?" in content.removeprefix(b"<?xml "):
        return "has an instruction to another program: remove the lines that begin with <?"
    try:
        root = ElementTree.fromstring(content.decode())  # noqa: S314  # without declarations
    except (ElementTree.ParseError, UnicodeDecodeError):
        return "is no SVG in UTF-8"
    if root.tag != f"{_SVG}svg" or "viewBox" not in root.attrib:
        return "is no SVG with a viewBox"
    return next(_dangers(root), "")


def _dangers(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        tag = str(element.tag).removeprefix(_SVG)
        if tag not in _DRAWING:
            yield f"has the element {tag}: a logo may only draw"
        for attribute, value in element.attrib.items():
            is_link = attribute.endswith("href") and not value.startswith("#")
            if is_link or attribute.lower().startswith("on") or _FETCHES.search(value):
                yield f"has the attribute {attribute} that runs or fetches something"
