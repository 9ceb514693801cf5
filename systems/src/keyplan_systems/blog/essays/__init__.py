"""The essays of the sample's first posts, and their comments. The essays are Markdown in ``.txt`` files, because they
aren't documentation. The image ``picture:name`` is ``name.svg``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["ESSAYS", "Essay", "picture"]

_PICTURE = re.compile(r"\]\(picture:([a-z-]+)\)")


@dataclass(frozen=True)
class Essay:
    """One essay: its file, title, the sample numbers of its author and co-authors, and its statistics."""

    name: str
    title: str
    author: int
    tags: tuple[str, ...]
    views: int
    beside: tuple[int, ...] = ()
    """The sample numbers of the co-authors."""
    comments: tuple[tuple[int, str, int | None], ...] = ()
    """Comments: the user's number, the text, and the comment that it replies to."""
    excerpt: str = ""
    """The excerpt in lists; by default the first paragraph."""

    @property
    def text(self) -> str:
        """The essay in Markdown, with names of images."""
        return _text(self.name)

    @property
    def pictures(self) -> list[str]:
        return _PICTURE.findall(self.text)

    def with_pictures(self, address: Callable[[str], str]) -> str:
        return _PICTURE.sub(lambda match: f"]({address(match[1])})", self.text)


def picture(name: str) -> bytes:
    return (files(__name__) / f"{name}.svg").read_bytes()


@cache
def _text(name: str) -> str:
    return (files(__name__) / f"{name}.txt").read_text(encoding="utf-8")


_OF_THE_BENCH = (
    (9, "We have one of these in front of the library. I'm going to count on Saturday.", None),
    (8, "Take more beans than you think. I ran out at four.", 0),
    (4, "“A rota of grandparents that nobody has written down” is going on the wall of our office.", None),
    (0, "Did the council ever say anything?", None),
    (3, "They sent a bill for the spanner. (No. But they have asked us for the number of the form.)", 3),
)
_OF_JUPITER = (
    (10, "First clear night for weeks, and there they were: three, from a kitchen window. Thank you for this.", None),
    (6, "Which three? Look again in an hour, the one nearest to the disc will have moved.", 0),
    (10, "It has! I've drawn it on the back of an envelope.", 0),
)
_OF_THE_LOAF = (
    (5, "The pencil on a string. I have three apps for this, and the pencil on a string is what I needed.", None),
    (7, "Does the rule hold below fourteen degrees? My kitchen is a cellar.", None),
    (9, "Mine never got that cold, so I don't know. Tell us!", 1),
)
_OF_THE_INDEX = (
    (4, "We did the same with unsent mail. The dashboard line was the best part: it used to be a guess.", None),
    (11, "What happens when the worker dies between shipping and the update?", None),
    (
        1,
        "Then it stays in the index, and somebody ships it again unless the shipping has an id of its own. Ours has.",
        1,
    ),
)
_OF_LETTERS = (
    (1, "I am that person. I have printed this, and I'm sorry about Thursday.", None),
    (3, "I didn't expect you to write back! Everything is forgiven, except the zeros.", 0),
)

_LETTERS = "You don't know me. I met you on Thursday, at a quarter to six, and I want to tell you what that was like."

ESSAYS = (
    Essay("bench", "The bench that nobody sat on", 8, ("cities", "public-space"), 18_412, (3,), _OF_THE_BENCH),
    Essay("jupiter", "Four dots in a line", 6, ("astronomy", "night-sky"), 9_207, (), _OF_JUPITER),
    Essay("loaf", "Three hundred loaves and a thermometer", 9, ("cooking", "bread"), 6_840, (), _OF_THE_LOAF),
    Essay("sparse", "An index of what is left to do", 1, ("databases", "indexes"), 27_955, (10,), _OF_THE_INDEX),
    Essay("ridge", "The ridge in November", 3, ("walking", "maps"), 3_118),
    Essay("index", "The last page is yours", 8, ("books", "notes"), 12_660),
    Essay("chain", "Ten minutes for the chain", 10, ("cycling",), 4_391),
    Essay("restore", "Nobody wants a backup", 1, ("databases", "sqlite"), 8_024, (6,)),
    Essay("balcony", "Eleven kilos from four square metres", 9, ("gardens",), 2_577),
    Essay(
        "letters",
        "To the person who writes the error messages",
        3,
        ("notes", "books"),
        15_309,
        (),
        _OF_LETTERS,
        _LETTERS,
    ),
)
"""The sample's first posts, newest first."""
