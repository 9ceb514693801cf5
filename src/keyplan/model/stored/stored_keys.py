"""A key compiled for one entity on one table. ``keyplan.model.declared.keys`` has the declarations of keys."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from keyplan.dynamodb.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.dynamodb.values import value_size
from keyplan.errors import KeyFieldError
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.keys import Key
from keyplan.model.stored.key_templates import Literal_, Template

Matcher: TypeAlias = Callable[[Mapping[str, Mapping[str, Any]]], bool]
_Shapes: TypeAlias = tuple[tuple[str, str, Callable[[str], Any]], ...]


@dataclass(frozen=True, eq=False)
class CompiledKey:
    """One key of one entity: its attributes with their templates, in the order of the index or table."""

    name: str
    index: Index | None
    partition: tuple[tuple[KeyAttribute, Template], ...]
    sort: tuple[tuple[KeyAttribute, Template], ...]
    when: Mapping[str, tuple[Any, ...]]
    shards: int
    hash_input: tuple[Template, ...] = ()
    is_claim: bool = False
    declared: Key | None = None
    """Its declaration; None for a claim."""

    @cached_property
    def attributes(self) -> tuple[tuple[KeyAttribute, Template], ...]:
        return (*self.partition, *self.sort)

    @cached_property
    def fields(self) -> frozenset[str]:
        names = {field for _, template in self.attributes for field in template.fields}
        names.update(self.when)
        if self.shards > 1:
            names.update(field for template in self.hash_input for field in template.fields)
        return frozenset(names)

    @property
    def place(self) -> str:
        return self.index.name if self.index else "the table"

    def member(self, values: Mapping[str, Any]) -> bool:
        if self.when and any(values[name] not in allowed for name, allowed in self.when.items()):
            return False
        for name in self._named:  # noqa: SIM110 - a generator is slower
            if values[name] is None:
                return False
        return True

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(name for _, template in self.attributes for name in template.fields)

    def item_key(self, values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        shard = "" if self.shards == 1 else self.shard_suffix(values)
        out: dict[str, dict[str, str]] = {}
        for attribute, template in self.partition:
            text = template.text(values) + shard
            if len(text) > SORT_KEY_BYTES_MAX or not text.isascii():
                checked(text, PARTITION_KEY_BYTES_MAX, attribute)
            out[attribute.name] = {attribute.type: text}
        for attribute, template in self.sort:
            text = template.text(values)
            if len(text) > SORT_KEY_BYTES_MAX or not text.isascii():
                checked(text, SORT_KEY_BYTES_MAX, attribute)
            out[attribute.name] = {attribute.type: text}
        return out

    def ambiguous(self, values: Mapping[str, Any]) -> str | None:
        """The first field whose value is ambiguous in the key (see ``KeyStyle``); None if all are unambiguous."""
        return next((name for _, template in self.attributes if (name := template.ambiguous(values)) is not None), None)

    @cached_property
    def is_raw(self) -> bool:
        """Whether the key contains unescaped values that aren't at the end of their template."""
        return any(
            variable.style.raw and not variable.last
            for _, template in self.attributes
            for variable in template.variables
        )

    def shard_suffix(self, values: Mapping[str, Any]) -> str:
        text = "\0".join(template.text(values) for template in self.hash_input)
        return self.suffix(zlib.crc32(text.encode()) % self.shards)

    def suffix(self, shard: int) -> str:
        return f"#{shard:0{len(str(self.shards - 1)):d}d}" if self.shards > 1 else ""

    def values(self, item: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
        result: dict[str, Any] = {}
        for position, (attribute, template) in enumerate(self.attributes):
            text = (item.get(attribute.name) or {}).get(attribute.type)
            if text is None:
                return None
            if position == 0 and self.shards > 1:
                text = text.rpartition("#")[0]
            values = template.values(text)
            if values is None or any(result.setdefault(name, value) != value for name, value in values.items()):
                return None
        return result

    @cached_property
    def _shapes(self) -> _Shapes:
        first, *rest = (template.regex for _, template in self.attributes)
        if self.shards > 1:
            first = re.compile(rf"(?:{first.pattern})#[0-9]{{{len(str(self.shards - 1))}}}", re.DOTALL)
        patterns = (first, *rest)
        return tuple(
            (attribute.name, attribute.type, pattern.fullmatch)
            for (attribute, _), pattern in zip(self.attributes, patterns, strict=True)
        )

    @cached_property
    def matches(self) -> Matcher:
        return _matcher(self._shapes)

    @cached_property
    def matches_sort(self) -> Matcher:
        """Whether an item's sort key matches this key, if the partition key is known to match."""
        return _matcher(self._shapes[len(self.partition) :])

    def __str__(self) -> str:
        parts = ", ".join(f"{attribute.name} = {template}" for attribute, template in self.attributes)
        shard = f" (in {self.shards} shards)" if self.shards > 1 else ""
        return f"{self.name} ({self.place}: {parts}{shard})"


def _matcher(shapes: _Shapes) -> Matcher:
    if len(shapes) == 2:  # the usual case: a loop would double the time for each item read
        (first, first_kind, first_match), (second, second_kind, second_match) = shapes

        def match_both(item: Mapping[str, Mapping[str, Any]]) -> bool:
            try:
                return first_match(item[first][first_kind]) is not None and (
                    second_match(item[second][second_kind]) is not None
                )
            except KeyError:
                return False

        return match_both

    def matches(item: Mapping[str, Mapping[str, Any]]) -> bool:
        for name, kind, fullmatch in shapes:
            value = item.get(name)
            text = None if value is None else value.get(kind)
            if text is None or fullmatch(text) is None:
                return False
        return True

    return matches


def checked(text: str, bytes_max: int, attribute: KeyAttribute) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise KeyFieldError(f"{text!r} isn't valid Unicode", hint="remove the unpaired surrogate") from None
    if len(text) * 4 > bytes_max and attribute.type != "N":
        size = value_size({attribute.type: text})
        if size > bytes_max:
            raise KeyFieldError(
                f"the key attribute {attribute.name} would be {size} bytes long; DynamoDB allows at most {bytes_max}",
                hint="shorten the fields of the key",
            )
    return text


@dataclass(frozen=True)
class IndexedAttribute:
    """An attribute that is also an index key attribute, so DynamoDB rejects values that are invalid in the index."""

    attribute: KeyAttribute
    index: str
    bytes_max: int
    place: str

    def check(self, value: Mapping[str, Any]) -> None:
        """Raises KeyFieldError for a value that is empty, too long, or of another type."""
        held = f"the key attribute {self.attribute.name} of {self.index}"
        if self.attribute.type not in value:
            raise KeyFieldError(
                f"the value is stored as {next(iter(value))}, but {held} is of type {self.attribute.type}",
                place=self.place,
                hint="give the field an alias that isn't a key attribute",
            )
        if not value[self.attribute.type]:
            raise KeyFieldError(
                f"the value is empty, but {held} can't be empty",
                place=self.place,
                hint="set the field to a value, or to None, which isn't stored",
            )
        size = value_size({self.attribute.type: value[self.attribute.type]})
        if size > self.bytes_max and self.attribute.type != "N":
            raise KeyFieldError(
                f"the value is {size} bytes long, but {held} allows at most {self.bytes_max}",
                place=self.place,
                hint="shorten the value, or give the field an alias that isn't a key attribute",
            )


def check_indexed(indexed: Iterable[IndexedAttribute], item: Mapping[str, Mapping[str, Any]]) -> None:
    """Validate the index key attributes of an item or an update. Raises KeyFieldError."""
    for held in indexed:
        value = item.get(held.attribute.name)
        if value is not None:
            held.check(value)


def literal_start(template: Template) -> str:
    first = template.parts[0]
    return first.text if isinstance(first, Literal_) else ""
