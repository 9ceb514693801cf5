"""The items of a table's sample, told apart: which of them are one entity.

They are told apart by the facets, by an attribute that says what an item is (``type``, ``EntityType``), and by the
words of their keys, in this order. Templates are found in ``inference.py``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.formats.workbench.reading import Item, TableModel
from keyplan.formats.workbench.texts import (
    WordList,
    alpha_start,
    is_capitals,
    is_generic,
    is_vague,
    is_vocabulary,
    is_word,
    marks,
    plain_word,
    snake,
)

__all__ = ["Group", "groups_of", "key_text", "words_of"]

Shape = tuple[tuple[str | None, ...], ...]
"""For each key attribute its words, with None for the values between them."""

_KINDS = (
    *("entitytype", "entity", "entityname", "et", "typename", "edbe", "recordtype", "objecttype", "doctype"),
    *("documenttype", "rowtype", "discriminator", "type", "kind", "model", "modelname", "class", "itemtype"),
)
"""Attributes that say what an item is, the plainest first; compared without case and marks."""
_PLAIN_KINDS = frozenset(_KINDS[: _KINDS.index("type")])
"""These say it by their name alone; ``type`` and what follows it may also be of the thing itself: a credit card."""
_SHARE_MIN = 0.8
"""So many of the items must have the attribute."""
_ITEMS_MIN = 4
"""In fewer items words that all differ may be kinds of one item each."""
_ALIKE_MIN = 0.6
"""Items that share so many of their attributes, and say that they are the same, are the same."""


@dataclass
class Group:
    """Items that are one entity. ``kind`` is the attribute that says so, with its value. ``facet``: its facet."""

    name: str
    items: list[Item]
    attributes: list[str] = field(default_factory=list[str])
    aliases: tuple[str, str] = ("", "")
    kind: tuple[str, tuple[str, ...]] | None = None
    facet: str | None = None
    notes: list[str] = field(default_factory=list[str])

    @property
    def said(self) -> str | None:
        """What all its items say they are; None where they don't, or say several things."""
        return self.kind[1][0] if self.kind is not None and len(self.kind[1]) == 1 else None


def key_text(item: Item, name: str) -> str:
    """The content of a key attribute."""
    return str(next(iter(item[name].values())))


def words_of(table: TableModel) -> WordList:
    """The words of a table: what its keys begin with, and what its entities are called."""
    names = [facet.name for facet in table.facets] + [*table.schema]
    items = _all_items(table)
    kind = _kind_attribute(items, [])
    if kind is not None:
        names += [_value(item, kind) for item in items]
    attributes = [
        attribute.name for key in (table.key, *(index.key for index in table.indexes)) for attribute in key.all
    ]
    texts = [key_text(item, name) for item in items for name in attributes if name in item and is_generic(name)]
    called = [name for name in names if name and not name.startswith("Facet")]
    return WordList(texts, called, _whole_words(table, items))


def _whole_words(table: TableModel, items: Sequence[Item]) -> set[str]:
    """Whole sort keys that say what an item is, in letters of any case: ``account``, ``preferences``. Each stands in
    several partitions, or is called as an attribute of its item, and their items have other attributes than the
    others'.
    """
    if table.key.sort is None or not is_generic(table.key.sort.name):
        return set()
    keys = {attribute.name for key in (table.key, *(index.key for index in table.indexes)) for attribute in key.all}
    held: dict[str, list[Item]] = {}
    for item in items:
        text = key_text(item, table.key.sort.name)
        if is_word(text) and not is_capitals(text):
            held.setdefault(text, []).append(item)
    attributes = {text: frozenset(name for item in its for name in item) - keys for text, its in held.items()}
    partitions = {text: {key_text(item, table.key.partition.name) for item in its} for text, its in held.items()}
    telling = {text for text in held if len(partitions[text]) > 1 or text in attributes[text]}
    distinct = {
        text for text in telling if all(attributes[text] != attributes[other] for other in telling if other != text)
    }
    return distinct if len(distinct) > 1 else set()


def groups_of(table: TableModel, words: WordList, keep: Iterable[str] = ()) -> list[Group]:
    """The table's items by entity. ``keep`` are facets that are entities as they stand."""
    whole = set(keep)
    keys = [attribute.name for attribute in table.key.all]
    names = _Names()
    groups: list[Group] = []
    for facet in table.facets:
        if facet.name in whole or not facet.items:
            names.take(facet.name)
            groups.append(Group(facet.name, facet.items, facet.attributes, facet.aliases, facet=facet.name))
            continue
        parts = list(_split(facet.items, keys, words, table, facet.name))
        for part in parts:
            part.name = names.take(facet.name if part is _largest(parts) else f"{facet.name} {part.name}")
            part.aliases = facet.aliases
            part.attributes = facet.attributes if len(parts) == 1 else []
            part.facet = facet.name
            if len(parts) > 1:
                part.notes.append(f"the facet {facet.name} shows items of {len(parts)} kinds, told apart by their keys")
            groups.append(part)
    for part in _split(table.items, keys, words, table, None):
        part.name = names.take(part.name)
        groups.append(part)
    return groups or [Group(table.name, [], list(table.attributes))]


class _Names:
    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, wanted: str) -> str:
        text, number = wanted, 2
        while text.lower() in self._taken:
            text, number = f"{wanted} {number}", number + 1
        self._taken.add(text.lower())
        return text


def _largest(parts: Sequence[Group]) -> Group:
    """The part that a facet is named for: that whose sort key names nothing else, or that with most attributes."""

    def rank(part: Group) -> tuple[bool, int, int]:
        texts = {plain_word(str(next(iter(value.values())))) for item in part.items for value in item.values()}
        attributes = {name for item in part.items for name in item}
        return any(is_vague(text) for text in texts if text), len(attributes), -parts.index(part)

    return max(parts, key=rank)


def _all_items(table: TableModel) -> list[Item]:
    return [*(item for facet in table.facets for item in facet.items), *table.items]


def _split(
    items: Sequence[Item], keys: Sequence[str], words: WordList, table: TableModel, facet: str | None
) -> Iterator[Group]:
    """Items by what they say they are, and by the words of their keys."""
    shapes = _shapes(items, keys, words)
    kind = _kind_attribute(items, shapes)
    if facet is None and kind is None and not any(is_generic(name) for name in keys):
        if items:
            yield Group(table.name, list(items))
        return
    groups: dict[tuple[str, Shape], list[Item]] = {}
    for item, shape in zip(items, shapes, strict=True):
        value = _value(item, kind) if kind else ""
        groups.setdefault((value, _like(groups, value, shape, item)), []).append(item)
    names = _group_names(groups, table.name, words)
    for (value, shape), members in groups.items():
        yield Group(names[value, shape], members, kind=(kind, (value,)) if kind is not None and value else None)


def _like(groups: dict[tuple[str, Shape], list[Item]], value: str, shape: Shape, item: Item) -> Shape:
    """The shape that the item is counted to: what says that it is the same, and has the same attributes, is the same
    whatever words its sort key holds. Copies of it in another's partition are another's: ``ORDER#1 CUSTOMER#2``.
    """
    if not value or (value, shape) in groups:
        return shape
    for (other, candidate), members in groups.items():
        if other == value and _first(shape) == _first(candidate) and _are_alike(item, members[0]):
            return candidate
    return shape


def _first(shape: Shape) -> str | None:
    """The word that the partition key begins with."""
    return shape[0][0] if shape and shape[0] else None


def _value(item: Item, attribute: str) -> str:
    value = item.get(attribute, {}).get("S")
    return value if isinstance(value, str) else ""


# What an item says it is


def _kind_attribute(items: Sequence[Item], shapes: Sequence[Shape]) -> str | None:
    """The attribute that says what an item is, if there is one."""
    counts = Counter(name for item in items for name, value in item.items() if value.get("S"))
    names = {name: re.sub(r"[^a-z]+", "", name.lower()) for name in counts}
    fitting = [name for name in counts if names[name] in _KINDS and counts[name] >= _SHARE_MIN * len(items)]
    for name in sorted(fitting, key=lambda text: _KINDS.index(names[text])):
        values = {_value(item, name) for item in items}
        if names[name] in _PLAIN_KINDS or not shapes:
            return name
        if len(values) > 1 and not _crosses(items, shapes, name):
            return name
        if len(values) == 1 and len(set(shapes)) == 1:
            return name
    return None


def _crosses(items: Sequence[Item], shapes: Sequence[Shape], attribute: str) -> bool:
    """Whether items of one shape, with a word in it, and with the same attributes have several values of the
    attribute: then it is theirs, as the kind of a payment is. Letters before a number are no word: ``customer1``.
    """
    seen: dict[Shape, list[Item]] = {}
    for item, shape in zip(items, shapes, strict=True):
        if any(word and not word.endswith("*") and not is_vague(word) for side in shape for word in side):
            seen.setdefault(shape, []).append(item)
    for members in seen.values():
        first, others = (
            members[0],
            [member for member in members if _value(member, attribute) != _value(members[0], attribute)],
        )
        if others and all(_are_alike(first, element) for element in others):
            return True
    return False


def _are_alike(item: Item, other: Item) -> bool:
    """Whether two items have most of their attributes in common."""
    return len(item.keys() & other.keys()) > _ALIKE_MIN * len(item.keys() | other.keys())


# The words of keys


def _shapes(items: Sequence[Item], keys: Sequence[str], words: WordList) -> list[Shape]:
    """The shape of each item's key. Words that differ in nearly every item are values after all."""
    sides = [_sides(items, name, words, sorts=place > 0) for place, name in enumerate(keys)]
    shapes: list[Shape] = [tuple(side[place] for side in sides) for place in range(len(items))]
    return _without_singles(shapes)


def _sides(items: Sequence[Item], name: str, words: WordList, *, sorts: bool) -> list[tuple[str | None, ...]]:
    if not is_generic(name):
        return [()] * len(items)
    result = [_side(item, name, words, sorts=sorts) for item in items]
    firsts = {side[0] for side in result if side and side[0] is not None}
    names = {text for text in firsts if text and not is_capitals(text) and not is_vocabulary(text)}
    if len(items) >= _ITEMS_MIN and len(names) > len(items) * 2 / 3:
        return [tuple(None for _ in side[:1]) for side in result]
    return result


def _side(item: Item, name: str, words: WordList, *, sorts: bool) -> tuple[str | None, ...]:
    text = key_text(item, name)
    led = words.led_by(text)
    if led is not None:
        return (led[0], None)
    held = {str(next(iter(value.values()))) for other, value in item.items() if other != name and "S" in value}
    parts = words.split(text)
    shape: list[str | None] = []
    for part, word in zip(parts, marks(parts, words, held - _own_words(item, words), sorts=sorts), strict=True):
        if word:
            shape.append(part)
        elif not shape or shape[-1] is not None:
            shape.append(None)  # values that follow one another count as one
    if shape == [None] and (start := alpha_start([text])) and len(start) > 1 and text[len(start) :].isdigit():
        return (f"{start}*",)
    return tuple(shape)


def _own_words(item: Item, words: WordList) -> set[str]:
    """Values of the item that are words of the model: what it says it is."""
    texts = {value["S"] for value in item.values() if isinstance(value.get("S"), str)}
    return {text for text in texts if words.names_entity(text)}


def _without_singles(shapes: list[Shape]) -> list[Shape]:
    """Shapes of one item each that differ in a later word only are one: ``F#ACTIVE#CAMERAS``, ``F#EXPIRED#SEATS``."""
    counts = Counter(shapes)
    alike: dict[Any, list[Shape]] = {}
    for shape in counts:
        if counts[shape] == 1:
            alike.setdefault(tuple((side[:1], len(side)) for side in shape), []).append(shape)
    merged = {
        shape: tuple((*side[:1], *(None for _ in side[1:])) for side in shape)
        for group in alike.values()
        if len(group) > 1
        for shape in group
        if any(word is not None for side in shape for word in side[1:])
    }
    return [merged.get(shape, shape) for shape in shapes]


# Names


def _group_names(
    groups: dict[tuple[str, Shape], list[Item]], table: str, known: WordList
) -> dict[tuple[str, Shape], str]:
    """A name for each group: what its items say they are, or the words of its key. Of several groups that say the same
    the largest is called so, and the others for the partition that they stand in, or for their words.
    """
    wanted: dict[tuple[str, Shape], str] = {}
    largest: dict[str, Shape] = {}
    for (value, shape), members in groups.items():
        if value not in largest or len(members) > len(groups[value, largest[value]]):
            largest[value] = shape
    for value, shape in groups:
        words = [[plain_word(word.rstrip("*:|/")) for word in side if word] for side in shape]
        words = [[word for word in side if word] for side in words]
        if len(words) > 1:  # child#session#... of a session is a child
            words[1] = [word for word in words[1] if word not in words[0]] or words[1]
        telling = [word for side in reversed(words) for word in reversed(side) if not is_vague(word)]
        telling.sort(key=lambda word: len(word) < 2)
        if value:
            start = _first(shape)
            owner = known.called(start.rstrip("*")) if start else None
            more = telling[0] if telling and telling[0].lower() != value.lower() else ""
            if shape == largest[value]:
                wanted[value, shape] = value
            elif owner and owner != snake(value):
                wanted[value, shape] = f"{owner} {value}"
            else:
                wanted[value, shape] = f"{value} {more}".strip()
        else:
            wanted[value, shape] = telling[0] if telling else table
    taken = Counter(name.lower() for name in wanted.values())
    for value, shape in groups:
        name = wanted[value, shape]
        if taken[name.lower()] > 1 and not value:
            all_words = [plain_word(word.rstrip("*:|/")) for side in shape for word in side if word]
            longer = "_".join(dict.fromkeys(word for word in all_words if word))
            wanted[value, shape] = longer or name
    return wanted
