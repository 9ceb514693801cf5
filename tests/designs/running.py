"""Runs a generated design on a store: its CRUD methods and writes write items, and every read is compared with a
brute-force result. The expected results come from the generator's own data, never from the compiled design.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from keyplan import Range
from keyplan.errors import ItemExists, KeyFieldError, KeyplanError, TransactionFailed, UniqueValueTaken, WriteFailed
from tests.designs.designs import EntitySpec, KeySpec, ReadSpec, WriteSpec
from tests.designs.settled import Settled
from tests.designs.source import source_of

OPERATIONS: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt, "<=": operator.le, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
BOUNDS = (("ge", "le"), ("gt", "lt"), ("ge",), ("lt",), ("gt", "le"))
STEPS, QUESTIONS = 45, 4
Identity = tuple[Any, ...]


@dataclass
class Run:
    """A run of one design on one store. ``log`` records the calls, so that a failure can be reproduced manually."""

    design: Settled
    store: Any
    chance: Random
    items: dict[Identity, Any] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def go(self) -> None:
        """Fill the store and run every read. Raise AssertionError if a result is wrong."""
        try:
            for _ in range(STEPS):
                self._step()
            for read in self.design.spec.reads:
                for _ in range(QUESTIONS):
                    self._ask(read)
        except AssertionError as error:
            done = "\n".join(self.log)
            raise AssertionError(f"{error}\n\n{source_of(self.design.spec)}\n{done}") from error.__cause__

    # Writes

    def _step(self) -> None:
        chance = self.chance
        entity = chance.choice(self.design.spec.entities)
        kinds: list[Callable[[EntitySpec], None]] = [self._put, self._put, self._change, self._delete, self._change]
        writes = [spec for spec in self.design.spec.writes if spec.entity is entity]
        if writes and chance.random() < 0.4:
            self._write(chance.choice(writes))
        else:
            chance.choice(kinds)(entity)

    def _cls(self, entity: EntitySpec) -> type[Any]:
        cls: type[Any] = getattr(self.design.module, entity.name)
        return cls

    def _value(self, entity: EntitySpec, name: str) -> Any:
        spec = entity.fields[name]
        if spec.optional and self.chance.random() < 0.35:
            return None
        value = self.chance.choice(spec.domain)
        if spec.optional and spec.kind == "texts" and not value:
            return None  # empty sets aren't stored
        return self.design.module.Colour(value) if spec.kind == "enum" else value

    def _new(self, entity: EntitySpec) -> Any:
        return self._cls(entity)(**{name: self._value(entity, name) for name in entity.fields})

    def _identity(self, entity: EntitySpec, item: Any) -> Identity:
        return (entity.name, *(getattr(item, name) for name in entity.identity))

    def _stored(self, entity: EntitySpec) -> Any:
        mine = [item for identity, item in self.items.items() if identity[0] == entity.name]
        return self.chance.choice(mine) if mine else None

    def _do(self, what: str, call: Callable[[], Any], *expected: type[Exception]) -> tuple[Any, Exception | None]:
        """Run a call, and return its result or the expected error."""
        self.log.append(what)
        try:
            return call(), None
        except expected as error:
            self.log[-1] += f"  # {type(error).__name__}"
            return None, error
        except Exception as error:
            raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error

    def _taken(self, entity: EntitySpec, item: Any) -> bool:
        """Return whether another item has the same unique value."""
        if not entity.unique or getattr(item, entity.unique) is None:
            return False
        identity = self._identity(entity, item)
        return any(
            other[0] == entity.name
            and other != identity
            and getattr(value, entity.unique) == getattr(item, entity.unique)
            for other, value in self.items.items()
        )

    def _put(self, entity: EntitySpec) -> None:
        item = self._new(entity)
        identity = self._identity(entity, item)
        if entity.unique or entity.version:
            self._create(entity, item, lambda: self.store.create(item), "create")
            return
        stored, _ = self._do(f"put({item!r})", lambda: self.store.put(item))
        self._equal(stored, item, "what put gives")
        self.items[identity] = item

    def _create(self, entity: EntitySpec, item: Any, call: Callable[[], Any], name: str) -> None:
        identity = self._identity(entity, item)
        exists, taken = identity in self.items, self._taken(entity, item)
        _, error = self._do(f"{name}({item!r})", call, ItemExists, UniqueValueTaken)
        assert (error is not None) == (exists or taken), f"{name}({item!r}) gave {error!r}"
        if error is None:
            self.items[identity] = self._first(entity, item)

    def _first(self, entity: EntitySpec, item: Any) -> Any:
        return item.model_copy(update={"version": item.version or 1}) if entity.version else item

    def _changeable(self, entity: EntitySpec) -> list[str]:
        return [name for name in entity.fields if name not in entity.identity]

    def _change(self, entity: EntitySpec) -> None:
        item, names = self._stored(entity), self._changeable(entity)
        if item is None or not names:
            return
        changes = {name: self._value(entity, name) for name in self.chance.sample(names, min(2, len(names)))}
        self._update(entity, item, changes, lambda: self.store.update(item, **changes), f"update({item!r}, {changes})")

    def _update(
        self, entity: EntitySpec, item: Any, changes: dict[str, Any], call: Callable[[], Any], what: str
    ) -> None:
        after = item.model_copy(update=changes)
        if entity.version:
            after = after.model_copy(update={"version": item.version + 1})
        taken = self._taken(entity, after)
        got, error = self._do(what, call, UniqueValueTaken)
        assert (error is not None) == taken, f"{what} gave {error!r}"
        if error is None:
            if got is not None:
                self._equal(got, after, f"what {what} gives")
            self.items[self._identity(entity, after)] = after

    def _delete(self, entity: EntitySpec) -> None:
        item = self._stored(entity)
        if item is None or self.chance.random() < 0.5:
            return
        self._do(f"delete({item!r})", lambda: self.store.delete(item))
        del self.items[self._identity(entity, item)]

    def _write(self, write: WriteSpec) -> None:
        entity, pattern = write.entity, getattr(self.store, write.name)
        item = self._stored(entity)
        match write.kind:
            case "change" if item is not None:
                value = self._value(entity, write.field)
                self._update(
                    entity,
                    item,
                    {write.field: value},
                    lambda: pattern(item, value),
                    f"{write.name}({item!r}, {value!r})",
                )
            case "count" if item is not None:
                key = {name: getattr(item, name) for name in entity.identity}
                more = self.chance.choice((1, 5, -2))
                self._do(f"{write.name}({key}, {more})", lambda: pattern(**key, more=more))
                changes = {write.field: getattr(item, write.field) + more}
                self.items[self._identity(entity, item)] = item.model_copy(update=changes)
            case "make":
                made = self._new(entity)
                self._create(entity, made, lambda: pattern(made), write.name)
            case "move" if item is not None:
                key = {name: getattr(item, name) for name in entity.identity}
                value = self._value(entity, write.field)
                what = f"{write.name}({key}, {value!r})"
                self._update(entity, item, {write.field: value}, lambda: pattern(**key, value=value), what)
            case "pair":
                self._pair(write, pattern)
            case "drop" if item is not None:
                self._do(f"{write.name}({item!r})", lambda: pattern(item))
                del self.items[self._identity(entity, item)]

    def _pair(self, write: WriteSpec, pattern: Any) -> None:
        assert write.other is not None
        both = [(entity, self._new(entity)) for entity in (write.entity, write.other)]
        wrong = any(self._identity(*element) in self.items or self._taken(*element) for element in both)
        what = f"{write.name}({both[0][1]!r}, {both[1][1]!r})"
        _, error = self._do(what, lambda: pattern(both[0][1], both[1][1]), TransactionFailed, WriteFailed)
        assert (error is not None) == wrong, f"{what} gave {error!r}"
        if error is None:
            for entity, item in both:
                self.items[self._identity(entity, item)] = self._first(entity, item)

    def _equal(self, got: Any, expected: Any, what: str) -> None:
        ignored = {"version"} if "version" in type(expected).model_fields else set[str]()
        assert type(got) is type(expected), f"{what}: {got!r}, expected {expected!r}"
        assert got.model_dump(exclude=ignored) == expected.model_dump(exclude=ignored), (
            f"{what}: {got!r}, expected {expected!r}"
        )

    # Reads

    def _ask(self, read: ReadSpec) -> None:
        arguments = self._arguments(read)
        if read.directed and self.chance.random() < 0.7:
            arguments["newest_first"] = self.chance.random() < 0.5
        read = replace(read, newest_first=arguments.get("newest_first", read.newest_first))
        held = [[value for value in self._of(each) if self._holds(read, value, arguments)] for each in read.entities]
        expected = [
            sorted_by_key(read, entity, [item for item in items if in_key(read, item)])
            for entity, items in zip(read.entities, held, strict=True)
        ]
        call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        try:
            got = self._answer(read, arguments)
        except KeyFieldError as error:
            if any(map(any, expected)):
                raise AssertionError(f"{read.name}({call}) raised {error}") from error
            return
        except KeyplanError as error:
            raise AssertionError(f"{read.name}({call}) raised {type(error).__name__}: {error}") from error
        except Exception as error:
            raise AssertionError(f"{read.name}({call}) raised {error!r}, no error of Keyplan") from error
        self.counts[read.name] += any(map(any, expected))
        problem = judged(read, expected, got, arguments.get("limit"))
        if problem is not None and judged(read, [[items] for items in held], got, arguments.get("limit")) is None:
            return  # another key supports the read, and also has items that lack a field of the read's own key
        assert problem is None, f"{read.name}({call}) {problem}:\n  {got!r}\nexpected\n  {expected!r}"

    def _of(self, entity: EntitySpec) -> list[Any]:
        return [item for identity, item in self.items.items() if identity[0] == entity.name]

    def _argument(self, read: ReadSpec, item: Any, name: str) -> Any:
        own = getattr(item, name, None)
        if read.literal is not None and read.literal[0] == name:
            return own if own in read.literal[1] and self.chance.random() < 0.8 else self.chance.choice(read.literal[1])
        if own is not None and self.chance.random() < 0.85:
            return own
        value = self.chance.choice(read.entity.fields[name].domain)
        return self.design.module.Colour(value) if read.entity.fields[name].kind == "enum" else value

    def _domain(self, read: ReadSpec, name: str) -> tuple[Any, ...]:
        """Return the possible values of a parameter."""
        is_literal = read.literal is not None and read.literal[0] == name
        return read.literal[1] if is_literal and read.literal is not None else read.entity.fields[name].domain

    def _arguments(self, read: ReadSpec) -> dict[str, Any]:
        item = self._stored(read.entity)
        given = {name: self._argument(read, item, name) for name in read.equal}
        for name in filter(None, (read.each, read.each_too)):
            several = [self._argument(read, item, name)]
            several += self.chance.sample(self._domain(read, name), min(2, len(self._domain(read, name))))
            if read.entity.fields[name].kind == "enum":
                several = [self.design.module.Colour(value) for value in several]
            given[name] = [value for at, value in enumerate(several) if value not in several[:at]]
        if read.prefix:
            given[read.prefix] = str(self._argument(read, item, read.prefix))[: self.chance.randint(1, 2)]
        if read.filter is not None:
            given[read.filter[2]] = self._argument(read, item, read.filter[0])
        if read.range and not (read.range_optional and self.chance.random() < 0.3):
            names = self.chance.choice(BOUNDS)
            values = sorted(self._argument(read, item, read.range) for _ in names)
            given[read.range] = Range(**dict(zip(names, values, strict=True)))
        return given

    def _holds(self, read: ReadSpec, item: Any, arguments: dict[str, Any]) -> bool:
        value = functools.partial(getattr, item)
        passes = [value(name) == arguments[name] for name in read.equal]
        passes += [value(name) == constant for name, constant in read.constants]
        passes += [value(name) in several for name, several in read.members]
        passes += [value(name) in arguments[name] for name in (read.each, read.each_too) if name]
        if read.prefix:
            own = value(read.prefix)
            passes.append(own is not None and own.startswith(arguments[read.prefix]))
        if read.filter is not None:
            name, operation, parameter = read.filter
            own, wanted = value(name), arguments[parameter]
            passes.append(operation == "<>" if own is None else OPERATIONS[operation](own, wanted))
        if read.range in arguments:
            passes.append(within(value(read.range), arguments[read.range]))
        return all(passes)

    def _answer(self, read: ReadSpec, arguments: dict[str, Any]) -> Any:
        pattern = getattr(self.store, read.name)
        if read.shape not in {"page", "union", "scan"}:
            if read.shape == "limited":
                arguments["limit"] = self.chance.randint(1, 3)
            got = pattern(**arguments)
            return list(got) if read.shape == "iterator" else got
        result: list[Any] = []
        cursor = None
        for _ in range(200):
            limit = self.chance.randint(1, 4)
            page = pattern(**arguments, limit=limit, cursor=cursor)
            assert len(page.items) <= limit, f"{read.name}: {len(page.items)} items with limit={limit}"
            result.extend(page.items)
            cursor = page.cursor
            if cursor is None:
                return result
        raise AssertionError(f"{read.name}: 200 pages, and no end")


# Checks


def within(value: Any, bounds: Range[Any]) -> bool:
    return value is not None and not (
        (bounds.ge is not None and value < bounds.ge)
        or (bounds.gt is not None and value <= bounds.gt)
        or (bounds.le is not None and value > bounds.le)
        or (bounds.lt is not None and value >= bounds.lt)
    )


def in_key(read: ReadSpec, item: Any) -> bool:
    """Return whether an item has the read's key: all fields of the key must have a value."""
    if read.key is None or read.shape in {"batch", "union", "union list", "named"}:
        return True
    fields = [*read.key.partition_fields, *(variable.name for variable in read.key.sort_variables)]
    return all(getattr(item, name) is not None for name in fields)


def place(key: KeySpec, item: Any) -> list[tuple[Any, bool]]:
    """For each field in the sort key, return the item's value and whether the key reverses the order."""
    return [(getattr(item, variable.name), variable.turned) for variable in key.sort_variables]


def compared(element: list[tuple[Any, bool]], other: list[tuple[Any, bool]]) -> int:
    for (left, turned), (right, _) in zip(element, other, strict=True):
        if left != right:
            return (-1 if left < right else 1) * (-1 if turned else 1)
    return 0


def backwards(read: ReadSpec) -> bool:
    """Return whether the key is read backwards. The first field that the read doesn't fix must ascend, or descend if
    requested, even if the key reverses it.
    """
    keys = [entity.keys[0] for entity in read.entities] if len(read.entities) > 1 else [read.key]
    open_ = [variable for key in keys if key for variable in key.sort_variables if variable.name not in read.fixed]
    descending = read.newest_first or read.order_by.startswith("-")
    return descending != bool(open_ and open_[0].turned)


def sorted_by_key(read: ReadSpec, entity: EntitySpec, items: list[Any]) -> list[list[Any]]:
    """Return the items in the order of the read's key. Items with equal positions are in one group."""
    if read.key is None or read.shape in {"scan", "batch", "one"}:
        return [items] if items else []
    key = next(spec for spec in entity.keys if spec.name == read.key.name)
    ordered = sorted(items, key=functools.cmp_to_key(lambda a, b: compared(place(key, a), place(key, b))))
    if backwards(read):
        ordered.reverse()
    groups: list[list[Any]] = []
    for item in ordered:
        if groups and compared(place(key, groups[-1][0]), place(key, item)) == 0:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def judged(read: ReadSpec, expected: list[list[list[Any]]], got: Any, limit: int | None) -> str | None:
    """Return the error in a result, or None if the result is correct."""
    if read.shape == "one":
        wanted = [item for groups in expected for group in groups for item in group]
        right = got in wanted if wanted else got is None
        return None if right else "gave another item"
    if read.shape == "named":
        if got is None:
            return "gave nothing" if any(map(any, expected)) else None
        problems = [in_order(groups, part) for groups, part in zip(expected, got, strict=True)]
        return next((problem for problem in problems if problem), None)
    if read.shape in {"scan", "batch"}:
        wanted = [item for groups in expected for group in groups for item in group]
        return in_order([wanted], got)
    groups = [group for each in (reversed(expected) if backwards(read) else expected) for group in each]
    return in_order(groups, got, limit)


def in_order(groups: list[list[Any]], got: Iterable[Any], limit: int | None = None) -> str | None:
    """Return an error unless the result contains the groups in order, up to the limit, in any order within a group."""
    rest = list(got)
    total = sum(map(len, groups))
    total = total if limit is None else min(total, limit)
    if len(rest) != total:
        return f"gave {len(rest)} items, not {total}"
    for group in groups:
        open_ = list(group)
        for value in rest[: len(group)]:
            if value not in open_:
                return "gave other items, or in another order"
            open_.remove(value)
        rest = rest[len(group) :]
    return None
