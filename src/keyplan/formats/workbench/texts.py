"""What a text in a key looks like: a word that names a kind (``ORDER``), or a value (``7``, ``2026-11-21``, ``ada``).

Keys are written word, value, word, value: ``CUSTOMER#7#ORDER#2026-11-21``. What follows a word is a value even when it
is made of letters, unless the model uses it as a word elsewhere, or everybody does (``METADATA``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from keyplan.model.stored.key_templates import DELIMITER

__all__ = [
    "WordList",
    "alpha_start",
    "is_capitals",
    "is_distinctive",
    "is_generic",
    "is_moment_like",
    "is_vague",
    "is_vocabulary",
    "is_word",
    "led_by",
    "marks",
    "plain_word",
    "snake",
]

_WORD = re.compile(r"[^\W\d_](?:[^\W\d]|[.\-])*|\$[A-Za-z]\w*")
_QUOTED = re.compile(r"([\"'])([^\W\d]+)\1")
_CAPITALS = re.compile(r"[A-Z][A-Z_.\-]+")
_GENERIC = re.compile(
    r"(?:gsi|gs|lsi|ls|index|idx|inverted|inverse|table|main|primary|secondary|local|global)*\d*"
    r"(?:pk|sk|hash|range|partition|sort|hk|rk)?(?:key|id|value|attribute)?\d*"
)
_KEY_SUFFIX = re.compile(r"[_.\- ](?:[pP][kK]|[sS][kK]|hash|range)\d*$|[a-z0-9](?:PK|SK)\d*$")
_LED = re.compile(r"([A-Za-z][A-Za-z_]*)([:|/])(?!\2)([^\s].*)", re.DOTALL)
_CLOCK = re.compile(r"(?<=[T ])\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:[+-]\d\d:\d\d)?")
_DELIMITERS = ("::", ":", "||", "|", "/", "~", "^", "+", ";")
"""Marks between the parts of keys that have no ``#``, in the order in which they are tried."""
_LED_NUMBER = re.compile(r"([A-Z]{2,}(?:_[A-Z]+)*)([-_])((?=.*\d)[A-Za-z\d-]+)")
"""Capitals before what has digits: ``USER-7``."""
_ALPHA = re.compile(r"([A-Za-z]{1,12}[-_]?)\d[\d/-]*")
_MOMENT = re.compile(r"(?:19|20)\d\d-?[01]\d-?[0-3]\d(?:[T ]?\d\d(?::?\d\d)*.*)?|(?:19|20)\d\d-[01]\d|1\d{9}|1\d{12}")
_DISTINCTIVE_MIN = 6
_CAPITALS_MIN = 4
"""Shorter ones are as often a value: SFO, XL, P1."""

VOCABULARY = frozenset(
    {
        "meta", "metadata", "metainfo", "info", "information", "profile", "detail", "details", "header",
        "head", "root", "main", "config", "configuration", "settings", "setting", "stats", "statistics",
        "count", "counter", "counts", "counters", "summary", "latest", "current", "data", "item", "base",
        "self", "all", "list", "total", "totals", "state", "v0", "now", "none",
    }
)  # fmt: skip
"""What a key holds where there is nothing to tell apart."""
_VAGUE = VOCABULARY - {"profile", "config", "settings", "stats", "counter", "summary"}


def is_word(text: str) -> bool:
    """Whether it is made of letters, as a word is: no digits, no placeholder, not long."""
    return len(text) <= 40 and (_WORD.fullmatch(text) is not None or _QUOTED.fullmatch(text) is not None)


def plain_word(text: str) -> str:
    """The word without marks around it."""
    return text.strip("\"'#_- ")


def is_vocabulary(text: str) -> bool:
    """Whether the text is one that keys are padded with: METADATA, profile, ``"info"``."""
    return plain_word(text).lower() in VOCABULARY or _QUOTED.fullmatch(text) is not None


def is_vague(text: str) -> bool:
    """Whether the text names nothing: metadata, info."""
    return text == "A" or plain_word(text).lower() in _VAGUE


def is_capitals(text: str) -> bool:
    """Whether it is a word in capitals, and long enough not to be a code."""
    return len(text) >= _CAPITALS_MIN and _CAPITALS.fullmatch(text) is not None


def is_generic(attribute: str) -> bool:
    """Whether a key attribute's name says nothing of what it holds: PK, GSI1-SK, id."""
    plain = re.sub(r"[^0-9a-z]+", "", attribute.lower())
    if _KEY_SUFFIX.search(attribute):
        return True
    return not plain or _GENERIC.fullmatch(plain) is not None


def is_moment_like(text: str) -> bool:
    """Whether it looks like a day or a moment."""
    return _MOMENT.fullmatch(text) is not None


def is_distinctive(text: str) -> bool:
    """Whether two such texts are hardly the same by chance: they are long, and no number or moment."""
    return len(text) >= _DISTINCTIVE_MIN and any(map(str.isalpha, text)) and not is_moment_like(text)


def led_by(text: str) -> tuple[str, str] | None:
    """The word and its mark that lead a value, where the delimiter isn't ``#``: ``User:`` and ``7`` in ``User:7``."""
    match = None if DELIMITER in text else _LED.fullmatch(text) or _LED_NUMBER.fullmatch(text)
    return None if match is None else (match.group(1) + match.group(2), match.group(3))


def alpha_start(texts: Sequence[str]) -> str:
    """The letters that all the texts begin with, before their digits: ``C`` of ``C1`` and ``C22``."""
    starts = {match.group(1) if (match := _ALPHA.fullmatch(text)) else "" for text in texts}
    return starts.pop() if len(starts) == 1 else ""


def snake(text: str) -> str:
    """A text as a name in Python: ``customerId`` is ``customer_id``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)
    word = re.sub(r"[^0-9A-Za-z]+", "_", spaced).strip("_").lower()
    return word if re.match(r"[a-z]", word) else f"field_{word}".rstrip("_")


class WordList:
    """The words of one table: what its keys begin with, and what its entities are called."""

    def __init__(self, keys: Iterable[str], names: Iterable[str], whole: Collection[str] = ()) -> None:
        texts = list(keys)
        self.delimiter = _delimiter_of(texts)
        """What stands between the parts of its keys."""
        self.whole = frozenset(whole)
        """Keys that are a word as a whole."""
        self.names = [name for name in dict.fromkeys(names) if name]
        self._own = {name.lower() for name in self.names}
        each = [[part for part in self.split(text) if part] for text in texts]
        self._firsts = {parts[0] for parts in each if len(parts) > 1 and is_word(parts[0])}

    def split(self, text: str) -> list[str]:
        """The parts of a key's text. A clock time is one part, whatever stands between hours and minutes."""
        return _split(text, self.delimiter)

    def led_by(self, text: str) -> tuple[str, str] | None:
        """The word and its mark that lead a value, in a table whose keys have no such mark between their parts."""
        return led_by(text) if self.delimiter == DELIMITER else None

    def knows(self, text: str) -> bool:
        """Whether the model uses the text as a word."""
        return text in self._firsts or text.lower() in self._own

    def names_entity(self, text: str) -> bool:
        """Whether an entity of the model is called so."""
        return text.lower() in self._own

    def called(self, word: str) -> str | None:
        """The entity that a short word stands for: customer for ``c`` and ``CUST``."""
        short = plain_word(word).lower()
        fitting = sorted((name for name in self.names if short and name.lower().startswith(short)), key=len)
        return snake(fitting[0]) if fitting else None


def _split(text: str, delimiter: str) -> list[str]:
    kept = _CLOCK.sub(lambda match: match.group().replace(":", "\0"), text) if ":" in delimiter else text
    return [part.replace("\0", ":") for part in kept.split(delimiter)] if kept is not text else text.split(delimiter)


def _delimiter_of(texts: Sequence[str]) -> str:
    """``#``, unless no key holds it, and the parts of some are told apart by another mark: ``USER|7|ORDER|9``."""
    if any(DELIMITER in text for text in texts):
        return DELIMITER
    for candidate in _DELIMITERS:
        split = [parts for text in texts if len(parts := _split(text, candidate)) > 1]
        whole = [parts for parts in split if all(parts) and is_word(parts[0])]
        if any(len(parts) > 2 for parts in whole) and len(whole) == len(split):
            return candidate
    return DELIMITER


def marks(parts: Sequence[str], words: WordList, values: Collection[str], *, sorts: bool) -> list[bool]:
    """For each part of a key's text whether it is a word. ``values`` are texts that the item holds besides. ``sorts``:
    it is a sort key, where what ends it behind a value is a value too: ``2026-11-21#FAILED``.
    """
    result: list[bool] = []
    expected = True
    for place, part in enumerate(parts):
        ends = sorts and place > 0 and place == len(parts) - 1 and not result[-1]
        word = _is_mark(parts, place, words, values, expected=expected and not ends, sorts=sorts)
        result.append(word)
        expected = not word or not part
    return result


def _is_mark(
    parts: Sequence[str], place: int, words: WordList, values: Collection[str], *, expected: bool, sorts: bool
) -> bool:
    part = parts[place]
    if not part or (len(parts) > 1 and set(parts) == {"A"}):
        return True
    if len(parts) > 1 and place == 0 and len(part) == 1 and part.isalpha():
        return True
    if len(parts) == 1 and sorts and part in words.whole:
        return True
    if part in values and not words.names_entity(part):
        return False
    if len(parts) == 1:
        return is_vocabulary(part) or is_capitals(part) or part == "A"
    if is_vocabulary(part) and is_word(part):
        return True
    if not is_word(part):
        return False
    if words.knows(part) and (expected or place + 1 < len(parts)):
        following = parts[place + 1] if place + 1 < len(parts) else ""
        return place == 0 or expected or not (is_word(following) and words.knows(following))
    if not expected:
        return False
    following = parts[place + 1] if place + 1 < len(parts) else ""
    # ada#MEETINGS: the capitals are the word
    return not (place == 0 and is_capitals(following) and not is_capitals(part) and not words.knows(part))
