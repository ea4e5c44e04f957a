"""What a brand may be: names, accents that can be read, and drawings that only draw."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import brand, desk_theme

ROOT = Path(__file__).resolve().parents[2]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"{more}>{inside}</svg>'
BLUE = {"light": "#1d4ed8", "dark": "#93c5fd"}


def token(name):
    css = (ROOT / "static/css/tokens.css").read_text()
    found = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\);", css)
    assert found is not None, name
    return found.groups()


class TestNames:
    @pytest.mark.parametrize(
        "name", ["Ballast", "Harborline & Co", "Smith's", "Łódź+", "A", "N.26"]
    )
    def test_that_can_be_shown_everywhere(self, name):
        assert brand.name("BRAND_NAME", name) == name

    @pytest.mark.parametrize(
        "name", ["", " a", "a ", "a: b", "a\nb", "a<b", 'a"b', "a@b", "x" * 41]
    )
    def test_that_cannot(self, name):
        with pytest.raises(ImproperlyConfigured, match="BRAND_NAME must be a name"):
            brand.name("BRAND_NAME", name)


class TestAccent:
    @pytest.mark.parametrize(
        ("pair", "ratio"),
        [(("#000000", "#ffffff"), 21), (("#777777", "#ffffff"), 4.48), (("#fff000", "#fff000"), 1)],
    )
    def test_contrast_is_that_of_the_standard(self, pair, ratio):
        assert brand.contrast(*pair) == pytest.approx(ratio, abs=0.01)
        assert brand.contrast(*reversed(pair)) == brand.contrast(*pair)

    def test_is_judged_before_the_backgrounds_of_our_pages(self):
        pairs = [token(name) for name in ("canvas", "surface", "sunken", "hover")]

        assert tuple(zip(*pairs, strict=True)) == (brand.BEHIND_LIGHT, brand.BEHIND_DARK)

    def test_is_ours_where_none_is_given(self):
        assert brand.palette(light="", dark="") is brand.OURS
        shades = (brand.OURS.light, brand.OURS.dark)
        assert tuple(each.accent for each in shades) == token("accent")
        assert tuple(each.hover for each in shades) == token("accent-hover")
        assert tuple(each.soft for each in shades) == token("accent-soft")
        assert tuple(each.on_accent for each in shades) == token("on-accent")

    @pytest.mark.parametrize("mode", ["light", "dark"])
    def test_can_be_read_on_everything_and_written_on(self, mode):
        shade = getattr(brand.palette(**BLUE), mode)
        behind = {"light": brand.BEHIND_LIGHT, "dark": brand.BEHIND_DARK}[mode]

        assert all(brand.contrast(shade.accent, each) >= 4.5 for each in (*behind, shade.soft))
        assert brand.contrast(shade.on_accent, shade.accent) >= 4.5
        assert brand.contrast(shade.on_accent, shade.hover) >= 4.5

    @pytest.mark.parametrize(
        ("light", "dark", "sentence"),
        [
            ("#93c5fd", "#93c5fd", "BRAND_ACCENT_LIGHT #93c5fd has a contrast of 1.68 to #f5f7f7"),
            ("#1d4ed8", "#1d4ed8", "BRAND_ACCENT_DARK #1d4ed8 has a contrast of 2.77 to #0e1416"),
            ("#747474", "#93c5fd", "BRAND_ACCENT_LIGHT #747474 has a contrast of 4.35 to #f5f7f7"),
            ("#1d4ed8", "", "BRAND_ACCENT_DARK must be a color such as #0a625d: set both"),
            ("", "#93c5fd", "BRAND_ACCENT_LIGHT must be a color such as #0a625d: set both"),
            ("red;}", "#93c5fd", "BRAND_ACCENT_LIGHT must be a color"),
        ],
    )
    def test_that_could_not_be_read_is_refused(self, light, dark, sentence):
        with pytest.raises(ImproperlyConfigured, match=f"^{re.escape(sentence)}"):
            brand.palette(light=light, dark=dark)

    def test_colors_the_desk(self):
        weights = desk_theme.theme("Harborline", brand.palette(**BLUE), has_logo=True)["COLORS"][
            "primary"
        ]
        ours = desk_theme.theme("Ballast", brand.OURS, has_logo=False)["COLORS"]["primary"]

        assert list(weights) == list(ours)
        assert (weights["600"], weights["400"]) == ("#1d4ed8", "#93c5fd")
        lightness = [
            brand.contrast(weights[each], "#000000") for each in ("50", "200", "600", "950")
        ]
        assert lightness == sorted(lightness, reverse=True)


class TestLogo:
    @pytest.fixture
    def refusal(self, tmp_path):
        def said(content):
            path = tmp_path / "logo.svg"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            with pytest.raises(ImproperlyConfigured) as refused:
                brand.logo(str(path))
            return str(refused.value).partition("which ")[2]

        return said

    def test_is_the_drawing_in_the_file(self, tmp_path):
        inside = '<clipPath id="a"><path d="M0 0h9"/></clipPath><path style="clip-path:url(#a)"/>'
        path = tmp_path / "logo.svg"
        path.write_text("<!-- ours -->" + SVG.format(more="", inside=inside))

        assert brand.logo(str(path)) == path.read_bytes()
        assert brand.logo("") == b""

    @pytest.mark.parametrize(
        "inside",
        [
            "<script>alert(1)</script>",
            "<foreignObject/>",
            '<image href="#a"/>',
            '<a href="#a"/>',
            '<use href="https://elsewhere.example/a.svg#a"/>',
            '<use xmlns:x="http://www.w3.org/1999/xlink" x:href="//elsewhere.example/a"/>',
            '<path onload="alert(1)"/>',
            '<path style="fill:url(https://elsewhere.example/a)"/>',
            '<?xml-stylesheet href="https://elsewhere.example/a.css"?>',
            '<g id="a"/><use href="#a"/>',
            r'<path style="fill:u\72l(https://elsewhere.example/a)"/>',
            "<path style=\"mask:image-set('https://elsewhere.example/a' 1x)\"/>",
            "<style>@import 'https://elsewhere.example/a.css';</style>",
            "<style>path{fill:URL( 'https://elsewhere.example/a')}</style>",
            "<animate/>",
            '<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>',
        ],
        ids=range(16),
    )
    def test_runs_and_fetches_nothing(self, refusal, inside):
        assert refusal(SVG.format(more="", inside=inside)).startswith(
            ("has the ", "has an instruction ")
        )

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            ("", "is no SVG in UTF-8"),
            (b"\x89PNG\r\n", "is no SVG in UTF-8"),
            ("<html/>", "is no SVG with a viewBox"),
            ("<svg viewBox='0 0 1 1'/>", "is no SVG with a viewBox"),
            ("<!DOCTYPE svg [<!ENTITY a 'a'>]><svg/>", "declares a document type"),
            (SVG.format(more="", inside=" " * 66_000), "has more than 64 KiB"),
        ],
        ids=["empty", "a picture", "a page", "no namespace", "entities", "large"],
    )
    def test_is_a_small_svg(self, refusal, content, sentence):
        assert refusal(content).startswith(sentence)

    @pytest.mark.parametrize("name", ["nowhere.svg", "."])
    def test_is_a_file_that_can_be_read(self, tmp_path, name):
        with pytest.raises(ImproperlyConfigured, match="which cannot be read: "):
            brand.logo(str(tmp_path / name))
