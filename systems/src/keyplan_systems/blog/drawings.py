"""The images of the sample's essays, drawn deterministically: charts, a sky, a morning.

Drawings are downsampled by two in each direction, for smooth edges.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from functools import cache
from math import pi, sin, tau

from PIL import Image, ImageDraw, ImageFont

__all__ = ["DRAWINGS", "drawn"]

WIDTH, HEIGHT = 1280, 720
SCALE = 2
PAPER, INK, SOFT, LINE = "#f4f1ea", "#1d1b18", "#6d665b", "#d8d0c0"
ACCENT, GOLD, GREEN, BLUE = "#8a2f23", "#c98a1b", "#3c7a55", "#30618f"
Points = Sequence[tuple[float, float]]


class Canvas:
    """A canvas in the coordinates of the finished image."""

    def __init__(self, paper: str = PAPER, height: int = HEIGHT) -> None:
        self.image = Image.new("RGB", (WIDTH * SCALE, height * SCALE), paper)
        self._draw = ImageDraw.Draw(self.image)
        self.height = height

    def box(self, left: float, top: float, right: float, bottom: float, fill: str, radius: float = 0) -> None:
        """A filled rectangle; nothing without height."""
        if bottom > top:
            corners = (left * SCALE, top * SCALE, right * SCALE, bottom * SCALE)
            self._draw.rounded_rectangle(corners, radius * SCALE, fill)

    def line(self, points: Points, fill: str = LINE, width: float = 2) -> None:
        """A line through points."""
        self._draw.line([(x * SCALE, y * SCALE) for x, y in points], fill, round(width * SCALE), joint="curve")

    def shape(self, points: Points, fill: str) -> None:
        """A filled polygon."""
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill)

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        """A disc."""
        corners = ((x - radius) * SCALE, (y - radius) * SCALE, (x + radius) * SCALE, (y + radius) * SCALE)
        self._draw.ellipse(corners, fill)

    def text(self, x: float, y: float, text: str, size: float = 26, fill: str = SOFT, anchor: str = "mm") -> None:
        """A line of text; ``anchor`` as in Pillow: ``lm`` starts at x."""
        font = ImageFont.load_default(size * SCALE)
        self._draw.text((x * SCALE, y * SCALE), text, fill, font, anchor)

    def png(self) -> bytes:
        """The image as a PNG file."""
        buffer = io.BytesIO()
        small = self.image.reduce(SCALE).quantize(128, Image.Quantize.FASTOCTREE)
        small.save(buffer, "PNG")
        return buffer.getvalue()


def _bench(stopped: Sequence[int], sat: Sequence[int], title: str) -> Canvas:
    """How many people stopped in each hour of a day, and how many of them sat down."""
    sheet = Canvas()
    sheet.text(90, 60, title, 34, INK, "lm")
    for count in (20, 40, 60, 80):
        y = 620 - count * 6
        sheet.line([(90, y), (1220, y)])
        sheet.text(70, y, str(count), 22, anchor="rm")
    for place, (stand, sit) in enumerate(zip(stopped, sat, strict=True)):
        x = 110 + place * 112
        sheet.box(x, 620 - (stand + sit) * 6, x + 78, 620, LINE, 6)
        sheet.box(x, 620 - sit * 6, x + 78, 620, ACCENT, 6)
        sheet.text(x + 39, 652, f"{8 + place}", 24)
    sheet.line([(90, 620), (1220, 620)], INK, 2)
    sheet.box(760, 48, 784, 72, LINE, 4)
    sheet.text(796, 60, "stopped", 24, anchor="lm")
    sheet.box(930, 48, 954, 72, ACCENT, 4)
    sheet.text(966, 60, "sat down", 24, anchor="lm")
    sheet.text(1220, 695, "people an hour, 8:00 to 18:00", 22, anchor="rm")
    return sheet


def _bench_before() -> Canvas:
    return _bench((72, 38, 25, 28, 31, 66, 48, 41, 52, 33), (0, 0, 0, 0, 1, 0, 0, 0, 0, 0), "March")


def _bench_after() -> Canvas:
    return _bench((61, 30, 16, 17, 20, 44, 27, 20, 21, 24), (4, 7, 11, 12, 14, 21, 24, 25, 31, 12), "September")


def _sparse() -> Canvas:
    """A stack of entries of which few are wanted, next to only those."""
    sheet = Canvas()
    sheet.text(380, 70, "an index by status", 32, INK)
    sheet.text(930, 70, "a sparse index", 32, INK)
    for row in range(40):
        fill = ACCENT if row in {3, 4} else ("#e4dccb" if row % 2 else "#ddd3bf")
        sheet.box(190, 120 + row * 13, 570, 131 + row * 13, fill, 2)
    sheet.box(740, 159, 1120, 170, ACCENT, 2)
    sheet.box(740, 172, 1120, 183, ACCENT, 2)
    sheet.line([(590, 171), (716, 171)], SOFT, 2)
    sheet.shape([(716, 163), (732, 171), (716, 179)], SOFT)
    sheet.text(380, 676, "11,204,331 entries, 4.1 GB", 26)
    sheet.text(930, 225, "312 entries, 120 KB", 26)
    return sheet


def _jupiter() -> Canvas:
    """The moons of one evening, an hour per line, on a dark background."""
    sheet = Canvas("#12141d")
    chance = random.Random("stars")  # noqa: S311 - a drawing
    for _ in range(150):
        shade = chance.choice(("#39405a", "#565f80", "#2c3247"))
        sheet.dot(chance.uniform(0, WIDTH), chance.uniform(0, HEIGHT), chance.uniform(0.8, 1.9), shade)
    moons = (
        (1.76986, 5.9, 0.02, 6, "#f3d79b"),
        (3.55409, 9.4, 0.21, 5, "#dfe4ee"),
        (7.16639, 15.0, 0.84, 7, "#e8dccb"),
        (16.75355, 26.4, 0.68, 6, "#c4b8a8"),
    )
    for hour in range(6):
        y = 90 + hour * 108
        sheet.text(70, y, f"{19 + hour}:00", 24, "#8f96ad")
        sheet.dot(WIDTH / 2, y, 17, "#efe2c6")
        for band in (-6, 5):
            sheet.line([(WIDTH / 2 - 15, y + band), (WIDTH / 2 + 15, y + band)], "#c99f6f", 2.5)
        for period, radius, start, size, fill in moons:
            angle = tau * (hour / 24 / period + start)
            sheet.dot(WIDTH / 2 + sin(angle) * radius * 19, y, size, fill)
    return sheet


def _dough() -> Canvas:
    """Rising time by temperature: a dot per loaf."""
    sheet = Canvas()
    chance = random.Random("loaves")  # noqa: S311 - a drawing
    for mark in (4, 8, 12, 16):
        y = 620 - mark * 31
        sheet.line([(110, y), (1220, y)])
        sheet.text(92, y, f"{mark} h", 22, anchor="rm")
    for degrees in range(14, 29, 2):
        sheet.text(110 + (degrees - 13) * 72, 652, f"{degrees} °C", 22)
    sheet.line([(110, 620), (1220, 620)], INK, 2)
    for _ in range(170):
        warm = min(27.6, max(14.2, chance.gauss(20.5, 3.6)))
        hours = min(17.6, 15 * 2 ** ((16 - warm) / 8) * chance.gauss(1, 0.07))
        sheet.dot(110 + (warm - 13) * 72, 620 - hours * 31, 6.5, chance.choice((GOLD, "#b5762a", "#d6a545")))
    curve = [(110 + (at / 10 - 13) * 72, 620 - 31 * 15 * 2 ** ((16 - at / 10) / 8)) for at in range(141, 279)]
    sheet.line(curve, ACCENT, 4)
    sheet.text(1220, 60, "hours until the dough had doubled, by the warmth of the kitchen", 26, INK, "rm")
    return sheet


def _ridge() -> Canvas:
    """Mountain ridges before sunrise."""
    sheet = Canvas("#f3ddc4")
    for row in range(HEIGHT):
        share = row / HEIGHT
        mixed = [round(a + (b - a) * share) for a, b in zip((143, 174, 205), (250, 225, 196), strict=True)]
        sheet.box(0, row, WIDTH, row + 1, f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}")
    sheet.dot(930, 292, 34, "#fff3dc")
    chance = random.Random("ridge")  # noqa: S311 - a drawing
    shades = ("#a9bccb", "#8aa3b8", "#64829c", "#41607a", "#223c52")
    for depth, shade in enumerate(shades):
        waves = [(chance.uniform(0.6, 1.6), chance.uniform(0, tau)) for _ in range(5)]
        base, height = 300 + depth * 84, 62 + depth * 9
        crest: list[tuple[float, float]] = []
        for x in range(0, WIDTH + 8, 8):
            share = x / WIDTH
            rise = sum(
                sin(share * pi * 2 * speed * 2**octave + start) / 1.7**octave
                for octave, (speed, start) in enumerate(waves)
            )
            crest.append((x, base - rise * height * 0.55))
        sheet.shape([(0, HEIGHT), *crest, (WIDTH, HEIGHT)], shade)
    return sheet


def _chain() -> Canvas:
    """How a chain wears: three lines, and the worn part."""
    sheet = Canvas()
    for wear, label in ((0.25, "0.25 %"), (0.5, "0.5 %"), (0.75, "0.75 %")):
        y = 620 - wear * 640
        sheet.line([(130, y), (1220, y)], ACCENT if wear == 0.75 else LINE, 3 if wear == 0.75 else 2)
        sheet.text(112, y, label, 22, anchor="rm")
    sheet.line([(130, 620), (1220, 620)], INK, 2)
    for thousands in range(1, 5):
        sheet.text(130 + thousands * 240, 652, f"{thousands},000 km", 22)
    for life, fill, label in ((1.4, SOFT, "never"), (2.7, GOLD, "each month"), (4.2, GREEN, "after each rain")):
        points = [(130 + at * 24, 620 - 640 * 0.75 * (at / 10 / life) ** 1.15) for at in range(int(life * 10) + 1)]
        sheet.line(points, fill, 5)
        sheet.text(points[-1][0], points[-1][1] - 26, label, 26, fill)
    sheet.text(130, 60, "wear, by how often it was oiled", 30, INK, "lm")
    return sheet


DRAWINGS: dict[str, Callable[[], Canvas]] = {
    "bench-after": _bench_after,
    "bench-before": _bench_before,
    "chain": _chain,
    "dough": _dough,
    "jupiter": _jupiter,
    "ridge": _ridge,
    "sparse": _sparse,
}
"""The drawings by the essays' names."""


@cache
def drawn(name: str) -> bytes:
    """A drawing, as a PNG file."""
    return DRAWINGS[name]().png()
