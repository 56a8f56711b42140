"""Every pair of colours that text is set in can be read by weak eyes, in the light and in the dark."""

from __future__ import annotations

import re

import pytest

from authoring.case_page.style import STYLE

PAIRS = [
    ("ink", "page"), ("ink", "sheet"), ("quiet", "page"), ("quiet", "sheet"), ("link", "page"), ("link", "sheet"),
    ("ink", "error-back"), ("ink", "warning-back"), ("ink", "waived-back"), ("error", "page"), ("error", "sheet"),
    ("error", "error-back"), ("warning", "page"), ("waived", "page"), ("add", "add-back"), ("del", "del-back"),
    ("hunk", "sheet"), ("good", "page"), ("add", "page"), ("del", "page"), ("error", "add-back"), ("error", "del-back"),
]  # fmt: skip


def palettes() -> list[dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", text)) for text in (light, dark)]


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
@pytest.mark.parametrize(("text", "back"), PAIRS)
def test_the_contrast_is_at_least_four_and_a_half(palette: dict[str, str], text: str, back: str) -> None:
    brighter, darker = sorted((luminance(palette[text]), luminance(palette[back])), reverse=True)
    assert (brighter + 0.05) / (darker + 0.05) >= 4.5


def test_both_palettes_name_the_same_colours() -> None:
    light, dark = palettes()
    assert light.keys() == dark.keys()


def test_the_style_loads_nothing() -> None:
    assert "url(" not in STYLE
    assert "@import" not in STYLE
