"""The template behind a key attribute's sample values: ``ORDER#{order_id}`` from ``ORDER#7``, ``ORDER#8``.

A value is split at ``#``. A part that is a word in all items is text. A part that repeats another attribute of its item
is that attribute; where several fit, the one whose name says so. Any other part is a field of its own, named for the
attribute's alias, the text before it, or what the model calls such values elsewhere. What is a guess is noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from keyplan.formats.workbench.declared import FieldDeclaration
from keyplan.formats.workbench.texts import (
    WordList,
    alpha_start,
    is_capitals,
    is_distinctive,
    is_generic,
    is_moment_like,
    is_vocabulary,
    is_word,
    marks,
    plain_word,
    snake,
)
from keyplan.model.stored.key_formats import iso_text
from keyplan.model.stored.key_templates import unescape

__all__ = ["Column", "Inferred", "Sample", "free_name", "infer", "is_day", "is_moment", "is_padded", "snake"]

_WRITTEN = re.compile(r"[<\[({$]+[A-Za-z][\w -]*[>\])}]+")
"""A name in brackets: ``<customer id>``."""
_PLACEHOLDER = re.compile(r"[<\[({]+\s*[A-Za-z][\w -]*[>\])}]+")
"""A value that stands for one: ``<sub_feature>``."""
_COMPOUND = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+")
"""A name in place of a value: ``StartDate``."""
_ENDING = re.compile(r".*\d([A-Z]+)|.+?([|:/~][A-Za-z_]+)", re.DOTALL)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PADDED_DIGITS_MIN = 4
"""From so many digits of the same number on they count as padded, even where none begins with 0."""
TELLING_CHARACTERS_MIN = 3
"""A shorter value, the same in all items, may equal an attribute by chance."""
NAMING_LETTERS_MIN = 4
"""So many letters before a number name the value: ``account1`` is an account_id, ``T1`` may be anything."""
MOST = 2 / 3
"""What so many of the items show is meant, though the sample's other items say otherwise."""
MOST_ITEMS_MIN = 3


@dataclass
class Column:
    """A field's values in the items: None where an item hasn't it. ``tag`` is DynamoDB's type, "" if none has it.
    ``constant``: it says what the item is. ``before``: the text before it in the key, for a field that no attribute
    holds.
    """

    name: str
    attribute: str
    tag: str
    values: list[Any]
    constant: bool = False
    before: str | None = None
    declared: FieldDeclaration | None = None

    @property
    def whole(self) -> bool:
        """Whether each item has it."""
        return None not in self.values

    def within(self, places: Sequence[int]) -> list[Any]:
        """Its values in some of the items."""
        return [self.values[place] for place in places]


@dataclass(frozen=True)
class Sample:
    """What is known of a key attribute: its values, one an item of ``columns``; the name that its alias gives it, if
    any; how values are called elsewhere in the model. ``sorts``: it is a sort key. ``whole``: each field must be told
    from it whole, as in a primary key. ``start``: letters that the last value begins with, which are text.
    """

    attribute: str
    kind: str
    values: Sequence[str]
    columns: Sequence[Column]
    words: WordList
    alias: str
    sorts: bool
    whole: bool
    start: str
    called: Sequence[tuple[str, frozenset[str]]]
    entity: str
    single: bool
    """Whether each item has a partition of its own, so that its key may be named for the entity."""


@dataclass
class Inferred:
    """A template, the columns that it adds to the entity (what no attribute holds), what of it is a guess, and the
    items (by place) that it doesn't fit.
    """

    template: str
    added: list[Column] = field(default_factory=list[Column])
    guesses: list[str] = field(default_factory=list[str])
    misfits: list[int] = field(default_factory=list[int])


def infer(sample: Sample) -> Inferred:
    """The template of a key attribute."""
    for column in sample.columns:
        if column.attribute == sample.attribute and column.whole:  # the attribute is a field itself
            return Inferred(f"{{{column.name}}}")
    if sample.kind != "S":
        return _native(sample)
    for column in sample.columns:
        if column.before is None and not column.constant and column.tag == "S" and column.values == list(sample.values):
            return _Inferring(sample, [[value] for value in sample.values]).result()
    led = [sample.words.led_by(value) for value in sample.values]
    starts = {lead[0] for lead in led if lead is not None}
    if len(starts) == 1 and None not in led:
        values = [[lead[1]] for lead in led if lead is not None]
        return _Inferring(replace(sample, start=""), values, starts.pop()).result()
    parts = [sample.words.split(value) for value in sample.values]
    lengths = Counter(map(len, parts))
    (usual, count), *others = lengths.most_common()
    if others and 1 in lengths:  # values that are a whole, whatever they hold
        return _Inferring(sample, [[value] for value in sample.values]).result()
    if count >= MOST * len(parts):
        return _most(sample, parts, usual)
    return _ragged(sample, parts)


def _most(sample: Sample, parts: list[list[str]], usual: int) -> Inferred:
    """The template of most items; the others don't fit it."""
    kept = [place for place, texts in enumerate(parts) if len(texts) == usual]
    columns = [
        Column(column.name, column.attribute, column.tag, column.within(kept), column.constant, column.before)
        for column in sample.columns
    ]
    within = Sample(
        sample.attribute, sample.kind, [sample.values[number] for number in kept], columns, sample.words, sample.alias,
        sample.sorts, sample.whole, sample.start, sample.called, sample.entity, sample.single,
    )  # fmt: skip
    inferred = _Inferring(within, [parts[place] for place in kept]).result()
    for column in inferred.added:
        values: list[Any] = [None] * len(parts)
        for place, value in zip(kept, column.values, strict=True):
            values[place] = value
        column.values = values
    inferred.misfits = [place for place, texts in enumerate(parts) if len(texts) != usual]
    return inferred


def _native(sample: Sample) -> Inferred:
    """A Number or a Binary holds one field as it is; a Number also a moment, without what is below its unit."""
    equal = [column for column in sample.columns if column.tag == sample.kind and column.values == list(sample.values)]
    wanted = snake(sample.attribute if is_generic(sample.alias) else sample.alias)
    for column in sorted(equal, key=lambda column: column.name != wanted):
        return Inferred(f"{{{column.name}}}")
    for column in sample.columns:
        moments = [_moment(value) for value in column.values] if column.tag == "S" else [None]
        if sample.whole or sample.kind != "N" or None in moments:
            continue
        since = [moment - _EPOCH for moment in moments if moment is not None]
        for unit, step in (("ms", timedelta(milliseconds=1)), ("s", timedelta(seconds=1))):
            if [str(age // step) for age in since] == list(sample.values):
                return Inferred(f"{{{column.name}:{unit}}}")
    name = free_name(wanted, sample.columns)
    return Inferred(f"{{{name}}}", [Column(name, sample.attribute, sample.kind, list(sample.values))])


def _moment(text: Any) -> datetime | None:
    return datetime.fromisoformat(text) if is_moment(text) else None


class _Inferring:
    """One key attribute whose values have the same number of parts. ``lead``: text before them all."""

    def __init__(self, sample: Sample, parts: list[list[str]], lead: str = "") -> None:
        self.sample = sample
        self.parts = parts
        self.lead = lead
        self.texts: list[str] = []
        self.out = Inferred("")
        self.count = len(parts[0])
        """How many parts each value has."""
        self.words = self._words()
        self.sole = self.count == 1 and not lead
        self.names = self._given_names()

    def result(self) -> Inferred:
        for place in range(self.count):
            segments = [part[place] for part in self.parts]
            last = place == self.count - 1
            if self.words[place]:
                self.texts.append(segments[0])
                continue
            end = "" if last else self._end(segments)
            kept = [segment.removesuffix(end) for segment in segments]
            self.texts.append(f"{self._value(place, kept, last=last)}{end}")
        self.out.template = self.lead + self.sample.words.delimiter.join(self.texts)
        return self.out

    # Words

    def _words(self) -> list[bool]:
        """For each part whether it is text: the same in all items, and a word in most."""
        columns = [column for column in self.sample.columns if column.tag == "S" and not column.constant]
        votes: list[list[bool]] = []
        for place, parts in enumerate(self.parts):
            held = {column.values[place] for column in columns if isinstance(column.values[place], str)}
            # a word that is the same in all items, and that one of them has as a value by chance, stays a word
            votes.append(marks(parts, self.sample.words, held, sorts=self.sample.sorts))
        result: list[bool] = []
        for place in range(self.count):
            segments = {part[place] for part in self.parts}
            share = sum(vote[place] for vote in votes) / len(votes)
            result.append(len(segments) == 1 and (share > 1 / 2 or self._agreed(place)))
        return result

    def _agreed(self, place: int) -> bool:
        """Whether a part that might be a value is text after all: several items agree on it, and nothing explains it,
        while what stands beside it changes.
        """
        text = self.parts[0][place]
        if self.lead or not is_word(text) or len(self.parts) < 2:
            return False
        if any(text in column.values for column in self.sample.columns if not column.constant):
            return False
        if self.count == 1:
            return is_vocabulary(text) or is_capitals(text) or (self.sample.sorts and text.islower())
        known = is_capitals(text) or self.sample.words.knows(text)
        return known and len({*map(tuple, self.parts)}) > 1

    # Values

    def _given_names(self) -> list[str]:
        """The names that the alias, or the attribute's own name, gives the values: SubId and SKU of ``SubId#SKU``."""
        sample = self.sample
        alias = sample.alias if sample.alias != sample.attribute and not is_generic(sample.alias) else ""
        if re.search(r"[<>\[\](){}$]", alias) and not _WRITTEN.fullmatch(alias):
            alias = ""  # a template, and the sample isn't made by it
        source = alias or ("" if is_generic(sample.attribute) else sample.attribute)
        texts = {plain_word(part[place]).lower() for part in self.parts for place in self._text_places()}
        given = [part.strip("<>[](){}$ ") for part in re.split(r"[#|:]", source)]
        given = [text for text in given if text]
        count = self.words.count(False)
        if len(given) != count:
            given = [text for text in given if plain_word(text).lower() not in texts]
        if len(given) != count:
            # An alias that isn't of the same length names the only value, or none
            return [given[-1]] if alias and count == 1 and given else [""] * count
        return [snake(text) for text in given] if all(re.search("[A-Za-z]", text) for text in given) else [""] * count

    def _text_places(self) -> list[int]:
        return [place for place, word in enumerate(self.words) if word]

    def _value(self, place: int, segments: list[str], *, last: bool) -> str:
        number = sum(not word for word in self.words[:place])
        given = snake(self.names[number]) if self.names[number] else ""
        before = next((text for text in reversed(self.texts) if text), self.lead)
        before = re.sub(r"^.*\}\W?", "", before)  # what ends the value before leads this one
        start = self.sample.start if last else ""
        if start:
            segments = [segment.removeprefix(start) for segment in segments]
        text = self._column(segments, given, before + start)
        if text is not None:
            return f"{start}{text}"
        text = self._behind_name(segments) if not start else None
        if text is not None:
            return text
        name = self._own_name(given, before, segments, start)
        namesake = next(
            (column for column in self._columns if given and column.name == given and column.before is None), None
        )
        if namesake is not None:
            self.out.guesses.append(f"{namesake.attribute} isn't what the key says: that is called {name}")
        bare = self.sole and not start
        values = [_plain(segment) for segment in segments]
        column = Column(name, self.sample.attribute if bare else name, "S", list(values), before=before + start)
        self.out.added.append(column)
        if not given and not (bare and not is_generic(self.sample.attribute)):
            what = "nothing names" if bare else "no attribute holds"
            self.out.guesses.append(f"{what} {segments[0]!r}; the name {name} is a guess")
        return f"{start}{{{name}}}"

    @staticmethod
    def _end(segments: Sequence[str]) -> str:
        """The word that ends a value and leads the next: P of ``C#1P#1``, ``|USER`` of ``ORG#1|USER#1``."""
        matches = [_ENDING.fullmatch(text) for text in segments if not is_moment_like(text)]
        ends = {match.group(1) or match.group(2) for match in matches if match is not None}
        return ends.pop() if len(ends) == 1 and None not in matches and len(matches) == len(segments) else ""

    def _behind_name(self, segments: list[str]) -> str | None:
        """A value behind its name: ``project_{project}``."""
        for column in self.sample.columns:
            if column.tag not in {"S", "N"} or not column.whole or column.constant or column.before is not None:
                continue
            ends = [str(value) for value in column.values]
            starts = {text.removesuffix(end) for text, end in zip(segments, ends, strict=True) if text.endswith(end)}
            if len(starts) != 1 or not all(map(str.endswith, segments, ends)):
                continue
            start = starts.pop()
            named = column.name.replace("_", "").startswith(re.sub(r"\W|_", "", start).lower())
            if start and not start[-1].isalnum() and named:
                unpadded = column.tag == "N" and (self.sample.sorts or not self.sample.whole)
                return f"{start}{{{column.name}{':d' if unpadded else ''}}}"
        return None

    @property
    def _columns(self) -> list[Column]:
        return [*self.sample.columns, *self.out.added]

    def _column(self, segments: list[str], given: str, before: str) -> str | None:
        """The field that a value repeats, as it stands in a template."""
        hints = [text for text in (given, snake(plain_word(before)) if plain_word(before) else "") if text]
        called = self.sample.words.called(before) if before else None
        telling = len(set(segments)) > 1 or len(segments[0]) >= TELLING_CHARACTERS_MIN or _is_code(segments[0])
        fields = (column for column in self._columns if not column.constant)
        exact = [(column, spec) for column in fields if (spec := self._spec(segments, column)) is not None]
        ranked = sorted(exact, key=lambda pair: -_likeness(pair[0], hints, called, before))
        for column, spec in ranked:
            likeness = _likeness(column, hints, called, before)
            by_value = telling and spec != "d" and self._is_no_chance(column, segments, before, given)
            if likeness > 0 or by_value:
                alike = [
                    candidate for candidate, _ in ranked if _likeness(candidate, hints, called, before) == likeness
                ]
                others = [candidate.name for candidate in alike if candidate is not column and candidate.before is None]
                if others:
                    self.out.guesses.append(f"{segments[0]!r} may also be {' or '.join(others)}")
                if spec == "d":
                    what = f"{segments[0]!r} repeats {column.name} unpadded: 10 sorts before 2"
                    self.out.guesses.append(f"{what}, so it is found by equality alone")
                return f"{{{column.name}{':' if spec else ''}{spec}}}"
        return self._mostly(segments, hints, called, before)

    def _is_no_chance(self, column: Column, segments: list[str], before: str, given: str) -> bool:
        """Whether a column is meant by a value that it equals, though its name doesn't say so."""
        if given and column.name != given and column.before is not None:
            return False  # two names for two parts
        if column.before is None:  # an attribute: it was put there to be seen
            named_otherwise = _named_otherwise(column, before, given) and not is_distinctive(segments[0])
            return column.tag != "S" or len(set(segments)) > 1 or not named_otherwise
        same = column.before == before
        return same or (len(set(segments)) > 1 and not before) or len(segments[0]) >= 2 * TELLING_CHARACTERS_MIN

    def _mostly(self, segments: list[str], hints: list[str], called: str | None, before: str) -> str | None:
        """The field that a value repeats in most of the items."""
        for column in self._columns:
            if column.tag != "S" or column.constant:
                continue
            pairs = list(zip(map(_plain, segments), column.values, strict=True))
            agreeing = [text for text, value in pairs if text == value]
            by_name = _likeness(column, hints, called, before) > 1 and 2 * len(agreeing) >= len(pairs)
            by_value = len(set(agreeing)) >= MOST_ITEMS_MIN and len(agreeing) > MOST * len(pairs)
            if agreeing and column.whole and (by_name or by_value):
                self.out.guesses.append(
                    f"{column.attribute} says otherwise in {len(pairs) - len(agreeing)} of {len(pairs)} items"
                )
                return f"{{{column.name}}}"
        return None

    def _spec(self, segments: list[str], column: Column) -> str | None:
        """The format under which a column's values are the segments; None where they aren't."""
        if column.tag == "S":
            return "" if [_plain(segment) for segment in segments] == column.values else None
        if column.tag != "N" or not all(re.fullmatch(r"[0-9]+", segment) for segment in segments):
            return None
        if [str(int(segment)) for segment in segments] != column.values:
            return None
        widths = {len(segment) for segment in segments}
        width = widths.pop()
        padded = width >= PADDED_DIGITS_MIN or (width > 1 and any(segment.startswith("0") for segment in segments))
        if not widths and padded:
            return f"{width:02d}d"
        return "d" if self.sample.sorts else ""

    def _own_name(self, given: str, before: str, segments: list[str], start: str) -> str:
        """A name for a field that no attribute holds."""
        columns = self._columns
        if given:
            return free_name(given, columns)
        written = _written_name(segments)
        if written:
            return free_name(written, columns)
        lead = plain_word(before.rstrip(":|/")) if before else ""
        if lead:
            return free_name(self._name_after(lead, segments), columns)
        if not is_generic(self.sample.attribute) and self.sole:
            return free_name(snake(self.sample.attribute), columns)
        if not start and (known := self._called(segments, "")):
            return free_name(known, columns)
        if all(map(is_moment_like, segments)):
            return free_name("date" if len(segments[0]) <= len("2026-11-21") else "timestamp", columns)
        word = snake(plain_word(alpha_start(segments)))
        if not start and len(word) >= NAMING_LETTERS_MIN and alpha_start(segments):
            return free_name(f"{word}_id", columns)
        if self.sample.whole and not self.sample.sorts and self.sample.single and self.sample.entity:
            return free_name(f"{snake(self.sample.entity)}_{'number' if start else 'id'}", columns)
        if start:
            entity = snake(self.sample.entity)
            own = entity if entity.startswith(start.lower()) and self.sample.single else None
            called = own or self.sample.words.called(start) or snake(plain_word(start))
            return free_name(f"{called}_number", columns)
        if self.sole:
            return free_name(snake(self.sample.attribute), columns)
        leads = [plain_word(text) for text in self.texts if text and "{" not in text]
        entity = self.sample.entity if self.sample.sorts else ""
        called = (self.sample.words.called(leads[0]) or snake(leads[0])) if leads and leads[0] else snake(entity)
        return free_name(f"{called}_id" if leads or entity else f"{snake(self.sample.attribute)}_part", columns)

    def _name_after(self, lead: str, segments: list[str]) -> str:
        known = self._called(segments, lead)
        if known:
            return known
        if all(map(is_moment_like, segments)):
            return f"{snake(lead)}_at"
        called = self.sample.words.called(lead) or snake(lead)
        return called if called.endswith("id") else f"{called}_id"

    def _called(self, segments: list[str], lead: str) -> str | None:
        """What the model calls these values elsewhere."""
        plain = {_plain(segment) for segment in segments}
        start = snake(lead) if lead else ""
        for name, held in self.sample.called:
            if name == "id" and lead:
                continue  # the word before it says more
            if plain <= held and (name.startswith(start) or all(map(is_distinctive, plain))):
                return name
        return None


def _likeness(column: Column, hints: Sequence[str], called: str | None, before: str) -> int:
    """How much a column's name says that it is meant: 0 not at all."""
    if column.before is not None and before and column.before == before:
        return 4
    name = column.name
    for hint in hints:
        if name in {hint, f"{hint}_id", f"{hint}id", f"{hint}_name"}:
            return 4
        if hint.endswith("s") and name in {hint[:-1], f"{hint[:-1]}_id"}:
            return 3
    if called and name in {called, f"{called}_id"}:
        return 3
    if column.before and before and column.before != before:
        return 0  # the key says of it that it is something else
    for hint in hints:
        if name.startswith(hint) or (len(hint) >= TELLING_CHARACTERS_MIN and hint in name):
            return 2
        if hint.startswith(name) and len(name) >= TELLING_CHARACTERS_MIN:
            return 1
    return 0


def _written_name(segments: Sequence[str]) -> str:
    """The name that a sample has in place of a value, the same in all items: ``<customer id>``, ``StartDate``."""
    text = segments[0]
    written = _PLACEHOLDER.fullmatch(text.strip()) or _COMPOUND.fullmatch(text)
    return snake(text) if written and len(set(segments)) == 1 else ""


def _is_code(text: str) -> bool:
    """Whether it has letters and digits: ``R1`` twice is hardly chance, ``1`` may be."""
    return any(map(str.isalpha, text)) and any(map(str.isdigit, text))


def _named_otherwise(column: Column, before: str, given: str) -> bool:
    """Whether the name that a value was given, or the word before it, speaks of something else than the column."""
    if given:
        return True
    word = snake(plain_word(before)) if before and plain_word(before) else ""
    return bool(word) and len(word) >= TELLING_CHARACTERS_MIN and column.name.endswith("_id")


def _ragged(sample: Sample, parts: list[list[str]]) -> Inferred:
    """Values of several lengths: the text that all begin with, and a field with any number of parts."""
    head: list[str] = []
    shortest = min(map(len, parts))
    while len(head) < shortest - 1 and len({part[len(head)] for part in parts}) == 1 and parts[0][len(head)]:
        head.append(parts[0][len(head)])
    rest = [[_plain(part) for part in texts[len(head) :]] for texts in parts]
    for column in sample.columns:
        if column.tag == "L" and column.values == rest:
            return Inferred(sample.words.delimiter.join([*head, f"{{{column.name}}}"]))
    texts = [text for text in head if text]
    lead = plain_word(texts[-1]) if texts else ""
    alias = sample.alias if re.fullmatch(r"[A-Za-z_]\w*", sample.alias) and sample.alias != sample.attribute else ""
    called = (
        snake(alias)
        if alias
        else (f"{sample.words.called(lead) or snake(lead)}_id" if lead else snake(sample.attribute))
    )
    name = free_name(called, sample.columns)
    shown = " and ".join(repr(value) for value in list(dict.fromkeys(sample.values))[:2])
    return Inferred(
        sample.words.delimiter.join([*head, f"{{{name}}}"]),
        [Column(name, name, "L", list(rest), before=lead)],
        [f"{shown} have different numbers of parts: {name} holds any number"],
    )


def free_name(name: str, columns: Iterable[Column]) -> str:
    """The name, with a number behind it where it is taken."""
    taken = {column.name for column in columns}
    number = 2
    text = name
    while text in taken:
        text = f"{name}_{number}"
        number += 1
    return text


def is_padded(spec: str) -> bool:
    """Whether a format is a padded number's: ``08d``, ``08d:desc``."""
    return re.fullmatch(r"0?\d+d(:desc)?", spec) is not None


def is_moment(text: Any) -> bool:
    """Whether a text is a moment as Keyplan stores it: UTC, to the microsecond."""
    if not isinstance(text, str) or not text.endswith("Z"):
        return False
    try:
        return iso_text(datetime.fromisoformat(text)) == text
    except ValueError:
        return False


def is_day(text: Any) -> bool:
    """Whether a text is a day: ``2026-11-21``."""
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _plain(segment: str) -> str:
    """A part of a key as the value that it was: unescaped where it is one of Keyplan's."""
    try:
        return unescape(segment)
    except ValueError:
        return segment
