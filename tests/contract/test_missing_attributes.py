"""Items that lack attributes, because an older design or another program wrote them: each condition, filter and count
agrees with what a read of the item returns. Random designs and conditions are compared with plain Python on the read
items.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from keyplan import Check, Delete, Design, Each, Entity, Index, Key, Page, Put, StoredAs, Table, Update, Version, read
from keyplan.errors import ConditionFailed, TransactionFailed
from tests.contract.stores import OPENERS
from tests.seeds import examples, seed

GSI = Index("GSI1", "gsi1pk", "gsi1sk")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Kind(enum.Enum):
    A = "a"
    B = "b"


class Place(BaseModel):
    room: str = "hall"
    floor: int = 1
    tags: list[str] = ["p"]
    door: str | None = None


FIELDS: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "status": (Literal["open", "closed"], "open", ("open", "closed")),
    "stars": (int, 5, (0, 5, 6)),
    "low": (int, 0, (0, 5, 7)),
    "price": (Decimal, Decimal("9.50"), (Decimal("9.5"), Decimal(10))),
    "flag": (bool, False, (True, False)),
    "name": (str, "ab", ("a", "ab", "b")),
    "title": (str, "", ("a", "ab", "")),
    "kind": (Kind, Kind.A, (Kind.A, Kind.B)),
    "at": (datetime, NOON, (NOON, NOON.replace(hour=13))),
    "sent": (Annotated[datetime, StoredAs("ms")], NOON, (NOON, NOON.replace(hour=13))),
    "blob": (bytes, b"ab", (b"a", b"ab")),
    "tags": (set[str], {"a", "b"}, ({"a"}, {"a", "b"}, {"c"})),
    "none": (set[str], Field(default_factory=set), ({"a"},)),
    "words": (list[str], ["a"], (["a"], ["b", "a"], [])),
    "empty": (list[str], Field(default_factory=list), (["a"], [])),
    "note": (str | None, None, ("a", None)),
    "opt": (str | None, "a", ("a", "b", None)),
    "place": (Place, Place(), (Place(), Place(room="attic", floor=2))),
    "spot": (Place | None, None, (Place(room="attic", floor=0), None)),
    "sizes": (dict[str, int], {"s": 1}, ({"s": 1}, {"m": 5}, {})),
}
"""Fields by name: their types, defaults and values. Each can be missing in the older design."""
NUMBERS, TEXTS, LISTS = (
    ("stars", "low", "price", "place.floor"),
    ("name", "title", "place.room", "spot.room"),
    ("words", "empty"),
)
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass
class Condition:
    """A condition with its values and their types, and whether an item as read and as stored matches the condition."""

    text: str
    values: dict[str, tuple[Any, Any]]
    holds: Callable[[Any, Any], bool]
    constants: dict[str, Any] | None = None
    """The mapping passed as ``where=`` instead of the text."""


def got(item: Any, path: str) -> Any:
    """Return the value at a path of an item, or None if the value is missing or an empty set."""
    for step in path.split("."):
        item = item.get(step) if isinstance(item, dict) else getattr(item, step, None)
    return None if item == set() else item


def compared(sign: str, left: Any, right: Any) -> bool:
    if left is None or right is None:
        return sign == "<>"
    return bool(COMPARED[sign](left, right))


class Conditions:
    """Generates random conditions on the fields in ``FIELDS``."""

    def __init__(self, random: Random, *, is_read: bool = False) -> None:
        self.random = random
        self.is_read = is_read
        self.number = 0

    def make(self, depth: int = 2) -> Condition:
        if depth and self.random.random() < 0.6:
            left, right = self.make(depth - 1), self.make(depth - 1)
            match self.random.choice(["AND", "OR", "NOT"]):
                case "AND":
                    return Condition(
                        f"({left.text}) AND ({right.text})",
                        left.values | right.values,
                        lambda a, b: left.holds(a, b) and right.holds(a, b),
                    )
                case "OR":
                    return Condition(
                        f"({left.text}) OR ({right.text})",
                        left.values | right.values,
                        lambda a, b: left.holds(a, b) or right.holds(a, b),
                    )
                case _:
                    return Condition(f"NOT ({left.text})", left.values, lambda a, b: not left.holds(a, b))
        return self.random.choice(
            [self.compare, self.compare, self.size, self.pair, self.among, self.within, self.text, self.exists]
        )()

    def value(self, path: str) -> tuple[str, Any, Any]:
        """Return a placeholder, a value of the type at the path, and this type."""
        self.number += 1
        name, _, step = path.partition(".")
        annotation, _, some = FIELDS[name]
        value = self.random.choice([each for each in some if each is not None])
        if step:
            annotation = {"room": str, "floor": int, "s": int, "door": str}[step]
            value = self.random.choice(["hall", "attic", "x"] if annotation is str else [0, 1, 2])
        return f"v{self.number}", value, {"opt": str, "note": str}.get(name, annotation)

    def constant(self) -> Condition:
        """Return a condition as a mapping from fields to values or lists of values."""
        some = {
            name: FIELDS[name][2]
            for name in self.random.sample(["status", "stars", "flag", "title", "kind", "words", "opt", "tags"], 2)
        }
        wanted = {name: self.random.choice([values[0], values[1], values[:2]]) for name, values in some.items()}

        def holds(item: Any, _: Any) -> bool:
            return all(
                got(item, name) in (value if isinstance(value, tuple) else (value,)) for name, value in wanted.items()
            )

        return Condition(str(wanted), {}, holds, wanted)

    def compare(self) -> Condition:
        path = self.random.choice(
            [
                *(name for name in FIELDS if name not in {"spot", "place", "none"}),
                "place.room",
                "place.floor",
                "spot.room",
                "sizes.s",
                "place.door",
            ]
        )
        ordered = path in {*NUMBERS, *TEXTS, "at", "sent", "blob", "opt"}
        sign = self.random.choice(list(COMPARED) if ordered else ["=", "<>"])
        name, value, annotation = self.value(path)
        return Condition(
            f"{path} {sign} :{name}",
            {name: (value, annotation)},
            lambda item, _: compared(sign, got(item, path), value),
        )

    def size(self) -> Condition:
        path = self.random.choice(["name", "words", "empty", "tags", "none", "sizes", "place.tags", "spot.tags"])
        sign, name = self.random.choice(list(COMPARED)), f"n{self.number}"
        value = self.random.choice([0, 1, 2])
        self.number += 1

        def holds(item: Any, _: Any) -> bool:
            actual = got(item, path)
            return compared(sign, None if actual is None else len(actual), value)

        return Condition(f"size({path}) {sign} :{name}", {name: (value, int)}, holds)

    def pair(self) -> Condition:
        left, right = self.random.sample(self.random.choice([NUMBERS, TEXTS]), 2)
        sign = self.random.choice(list(COMPARED))
        return Condition(
            f"{left} {sign} {right}", {}, lambda item, _: compared(sign, got(item, left), got(item, right))
        )

    def among(self) -> Condition:
        path = self.random.choice(["status", "stars", "kind", "opt", "place.room"])
        some = {name: (value, annotation) for name, value, annotation in (self.value(path) for _ in range(2))}
        values = [value for value, _ in some.values()]
        if self.is_read and self.random.random() < 0.5:
            each: Any = Each
            some = {f"each{self.number}": (values, each[next(annotation for _, annotation in some.values())])}
        return Condition(f"{path} IN (:{', :'.join(some)})", some, lambda item, _: got(item, path) in values)

    def within(self) -> Condition:
        path = self.random.choice([*NUMBERS, "at", "name"])
        low, high = sorted([self.value(path), self.value(path)], key=lambda each: each[1])
        values = {name: (value, annotation) for name, value, annotation in (low, high)}

        def holds(item: Any, _: Any) -> bool:
            return got(item, path) is not None and low[1] <= got(item, path) <= high[1]

        return Condition(f"{path} BETWEEN :{low[0]} AND :{high[0]}", values, holds)

    def text(self) -> Condition:
        path = self.random.choice([*TEXTS, "opt", *LISTS, "tags", "none", "place.tags", "spot.tags"])
        is_text, name = path in {*TEXTS, "opt"}, f"t{self.number}"
        self.number += 1
        value = self.random.choice(["a", "b", "h", "p"])
        starts = is_text and self.random.random() < 0.5

        def holds(item: Any, _: Any) -> bool:
            actual = got(item, path)
            return actual is not None and (actual.startswith(value) if starts else value in actual)

        return Condition(f"{'begins_with' if starts else 'contains'}({path}, :{name})", {name: (value, str)}, holds)

    def exists(self) -> Condition:
        name, there = self.random.choice(list(FIELDS)), self.random.random() < 0.5
        return Condition(
            f"attribute_{'exists' if there else 'not_exists'}({name})", {}, lambda _, stored: (name in stored) is there
        )


def entity(name: str, fields: dict[str, tuple[Any, Any, Any]], body: dict[str, Any]) -> Any:
    annotations = {"owner": str, "number": int, **{field: spec[0] for field, spec in fields.items()}}
    defaults = {field: spec[1] for field, spec in fields.items()}
    own = body.pop("annotations", {})
    keys = {"primary": Key("OWNER#{owner}", f"{name.upper()}#{{number:04d}}")}
    return type(
        name, (Entity,), {"__module__": __name__, "__annotations__": annotations | own, **defaults, **keys, **body}
    )


def pattern(number: int, condition: Condition, given: Any, kind: str) -> Any:
    """Return a read whose filter is the condition."""

    def body(self: Any, **_: Any) -> Any: ...

    result = {"list": list[given], "page": Page[given], "count": int, "any": bool}[kind]
    scan = kind == "list" and not condition.values
    body.__name__ = f"read{number}"
    known = {} if scan else {"owner": str}
    body.__annotations__ = {
        **known,
        **{name: annotation for name, (_, annotation) in condition.values.items()},
        "return": result,
    }
    more = "limit=100" if kind == "page" else ""
    if more:
        body.__annotations__["limit"] = int
    parameters = ", ".join(["self", *known, *condition.values, *[more] * bool(more)])
    made: dict[str, Any] = {}
    exec(f"def read{number}({parameters}): ...", made)
    function = made[f"read{number}"]
    function.__annotations__, function.__module__ = body.__annotations__, __name__
    of: dict[str, Any] = {"entity": given} if kind in {"count", "any"} else {}
    return read(f"R{number}", where=condition.constants or condition.text, scan=scan, **of)(function)


class Pair:
    """A design, an older version of the design, and the items that the older version wrote."""

    def __init__(self, random: Random, opened: Callable[[type[Any], Path], Any], folder: Path) -> None:
        self.random = random
        make = Conditions(random, is_read=True)
        old_fields = {name: spec for name, spec in FIELDS.items() if random.random() < 0.5}
        self.old = entity("Task", old_fields, {})
        more: dict[str, Any] = {"annotations": {}}
        if random.random() < 0.5:
            more["version"], more["annotations"] = 0, {"version": Version}
        if random.random() < 0.5:
            more["by_status"] = Key("STATUS#{status}", "{stars:04d}#{number:04d}", index=GSI)
        self.new = entity("Task", FIELDS, more)
        self.conditions = [make.constant() if random.random() < 0.2 else make.make() for _ in range(12)]
        kinds = [random.choice(["list", "page", "count", "any"]) for _ in self.conditions]
        patterns = {
            f"read{at}": pattern(at, condition, self.new, kinds[at]) for at, condition in enumerate(self.conditions)
        }
        self.kinds = kinds
        design: Any = type(
            "New",
            (Design,),
            {"__module__": __name__, "table": Table("tasks", indexes=[GSI], entities=[self.new]), **patterns},
        )
        older: Any = type(
            "Old", (Design,), {"__module__": __name__, "table": Table("tasks", indexes=[GSI], entities=[self.old])}
        )
        self.design = opened(design, folder)
        before = older.open(self.design.store)
        for number in range(8):
            before.put(self.old(owner="o", number=number, **self.some(old_fields)))
        for number in range(8, 12):  # written by the current design, then stripped of attributes
            self.design.put(self.new(owner="o", number=number, **self.some(FIELDS)))
            item = self.design.store.transport.call("GetItem", {"TableName": self.table, "Key": key(number)})["Item"]
            removed = [name for name in FIELDS if random.random() < 0.3]
            removed += ["gsi1pk", "gsi1sk"] if {"status", "stars"} & {*removed} else []
            self.put_raw({name: value for name, value in item.items() if name not in removed})
        self.put_raw(
            {
                **key(12),
                "owner": {"S": "o"},
                "number": {"N": "12"},
                "spot": {"M": {"floor": {"N": "2"}}},
                "x": {"S": ""},
            }
        )

    @property
    def table(self) -> str:
        return str(self.design.store.table_name)

    def put_raw(self, item: Any) -> None:
        self.design.store.transport.call("PutItem", {"TableName": self.table, "Item": item})

    def some(self, fields: dict[str, Any]) -> dict[str, Any]:
        return {name: self.random.choice(spec[2]) for name, spec in fields.items() if self.random.random() < 0.8}

    def rows(self) -> list[tuple[Any, Any]]:
        """Return every item, as read and as stored."""
        items = self.design.store.transport.call("Scan", {"TableName": self.table})["Items"]
        return sorted(
            ((self.design.get(self.new, owner="o", number=int(item["number"]["N"])), item) for item in items),
            key=lambda row: row[0].number,
        )

    def check_reads(self) -> None:
        rows = self.rows()
        for at, condition in enumerate(self.conditions):
            values = {name: value for name, (value, _) in condition.values.items()}
            right = [row[0].number for row in rows if condition.holds(*row)]
            if self.kinds[at] != "list" or values:
                values["owner"] = "o"
            answer = getattr(self.design, f"read{at}")(**values)
            given = {"count": len(right), "any": bool(right)}.get(self.kinds[at], right)
            shown = sorted(each.number for each in answer) if isinstance(given, list) else answer
            assert shown == given, f"{condition.text} {values}"

    def check_writes(self) -> None:
        for _ in range(25):
            number, condition = self.random.randrange(14), Conditions(self.random).make()
            values = {name: value for name, (value, _) in condition.values.items()}
            row = next((row for row in self.rows() if row[0].number == number), None)
            by_key, kind = (
                {"owner": "o", "number": number},
                self.random.choice(["class", "instance", "put", "delete", "check", "create"]),
            )
            right = condition.holds(*(row or (None, {})))
            item = self.new(**by_key) if row is None else row[0]
            action: Any
            match kind:
                case "class":
                    action, right = Update(self.new, **by_key).set(note="w"), right and row is not None
                case "instance":
                    action, right = Update(item, opt="w", status="closed"), right and row is not None
                case "put":
                    action = Put(item)
                case "delete":
                    action = Delete(self.new, **by_key)
                case "create" if self.design.compiled.entities[self.new].version is None and row is None:
                    action = Update(self.new, **by_key).set(status="closed", stars=1).or_create()
                case _:
                    action, right = Check(self.new, **by_key), right and row is not None
            assert self.succeeds(action.only_if(condition.text, **values)) is right, (
                f"{kind} {condition.text} {values} {row}"
            )

    def succeeds(self, action: Any) -> bool:
        try:
            self.design.transact([action])
        except (ConditionFailed, TransactionFailed):
            return False
        return True

    def check_expectations(self) -> None:
        """Update each item if some fields have the values as read, and check that every item is in the index."""
        for item, _ in self.rows():
            some = {
                name: got(item, name) for name in self.random.sample(sorted(FIELDS), 3) if got(item, name) is not None
            }
            self.design.update(Update(item, status=item.status).only_if(**some))
        if self.design.compiled.entities[self.new].index_keys:
            found = self.design.store.transport.call("Scan", {"TableName": self.table, "IndexName": "GSI1"})["Items"]
            assert len(found) == len(self.rows())


def key(number: int) -> dict[str, Any]:
    return {"pk": {"S": "OWNER#o"}, "sk": {"S": f"TASK#{number:04d}"}}


STORES = [pytest.param(name, marks=() if name in {"memory", "server"} else pytest.mark.nightly) for name in OPENERS]


@pytest.mark.parametrize("store", STORES)
def test_conditions_on_missing_attributes_match_the_values_that_a_read_returns(store: str, tmp_path: Path) -> None:
    start = seed(0)
    for number in range(start, start + examples(12 if store == "memory" else 3, 40)):
        folder = tmp_path / str(number)
        folder.mkdir()
        pair = Pair(Random(number), OPENERS[store], folder)
        with pair.design:
            try:
                pair.check_reads()
                pair.check_expectations()
                pair.check_reads()
                pair.check_writes()
            except AssertionError as error:
                raise AssertionError(f"example {number}: {error}") from error
