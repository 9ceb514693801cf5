"""Which keys can be the same text, pair by pair; and whose items a query reads besides those that are asked for."""

from __future__ import annotations

import types
from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Any

import pytest

from keyplan import Design, Entity, Index, Key, KeyStyle, Range, Table, Unique, read
from keyplan.design.compiled.collisions import can_collide
from keyplan.design.compiled.neighbours import neighbours, others_between, same_partition
from keyplan.design.compiled.plans import QueryPlan
from keyplan.design.stored.keys import CompiledKey
from tests.agreed import assert_agreed
from tests.design.items import compiled

ONE, TWO = Index("ONE", "opk"), Index("TWO", "tpk", "tsk")
RAW = KeyStyle(raw=True)
FIELDS = {"t": str, "u": str, "n": int, "m": int, "at": datetime, "on": bool, "path": tuple[str, ...]}

OURS = [
    "A", "B", "A#B", "A#", "A#B#C", "A#{t}", "A#{u}", "A#B{t}", "AB{t}", "B{t}", "A{n:02d}", "A{n:03d}", "A#{n:02d}",
    "A#{n:d}", "A07", "A#07", "A#B7", "{t}", "{n:02d}", "{t}#A", "{t}#{u}", "{t}#B#{u}", "{path}", "A#{path}", "A#{on}",
    "A#true", "A#{at:%Y}", "A#{at:%Y}#{t}", "A#2026#x",
]  # fmt: skip
SHARDED = ["A", "A#{t}", "A#{n:02d}", "A#{path}", "{t}", "A#B"]
OF_OTHERS = ["A", "A{t}", "AB", "{t}B", "{t}", "{t}-{u}", "A-{t}", "B-{t}", "x-y", "A#{n:d}"]


def key(source: str, **more: Any) -> CompiledKey:
    namespace = {"__annotations__": FIELDS, "__module__": __name__, "primary": Key("X#{t}", "M")}
    cls: Any = type("E", (Entity,), {**namespace, "by": Key(*source.split(" "), **more)})
    return compiled(cls, more["index"]).index_keys[0]


def meetings(keys: Iterable[CompiledKey]) -> str:
    """By each key those that can be the same; two keys are so either way round."""
    known = list(keys)
    lines: list[str] = []
    for each in known:
        met = [other for other in known if can_collide(each, other)]
        assert met == [other for other in known if can_collide(other, each)]
        lines.append(f"{shown(each)}: {', '.join(shown(other) for other in met if other is not each)}")
        assert each in met
    return "\n".join(lines)


def shown(each: CompiledKey) -> str:
    style = "raw " * any(variable.style.raw for _, template in each.attributes for variable in template.variables)
    texts = " + ".join(template.source for _, template in each.attributes)
    return f"{style}{texts}{f' in {each.shards}' if each.shards > 1 else ''}"


def test_which_texts_can_be_the_same() -> None:
    assert_agreed(meetings(key(source, index=ONE) for source in OURS))


def test_which_texts_of_others_can_be_the_same() -> None:
    theirs = [key(source, index=ONE, style=RAW) for source in OF_OTHERS]
    assert_agreed(meetings([*theirs, *(key(source, index=ONE) for source in ("A", "A#{t}", "B#{n:02d}", "AB"))]))


def test_which_texts_in_shards_can_be_the_same() -> None:
    """A shard's number stands behind the partition key, and not behind the sort key."""
    keys = [key(f"{source} {{t}}", index=TWO, shards=count) for source in SHARDED for count in (1, 2, 10, 11)]
    keys += [key(f"{source} {{t}}", index=TWO) for source in ("A#0", "A#1", "A#10", "A#00", "A#{t}#0", "A#x#07")]
    keys += [key("A S#{u}", index=TWO, shards=2), key("A#{t} S#{u}", index=TWO), key("A {u}#S", index=TWO, shards=2)]
    assert_agreed(meetings(keys))


def entity(name: str, *sources: str, **more: Any) -> Any:
    namespace = {"__annotations__": {"p": str, "n": int, "t": str}, "__module__": __name__, "primary": Key(*sources)}
    return type(name, (Entity,), {**namespace, **more})


ENTITIES = {
    "Ant": entity("Ant", "P#{p}", "A#{n:03d}"),
    "Axe": entity("Axe", "P#{p}", "A"),
    "Abe": entity("Abe", "P#{p}", "AB#{n:03d}", listed=Key("P#{p}", "L#{n:03d}", index=TWO)),
    "Bee": entity("Bee", "P#{p}", "B#HEAD", named=Unique("P#{p}", "CA#{t}"), alone=Unique("T#{t}", "HEAD")),
    "Cat": entity("Cat", "P#{p}", "C#{n:03d}", listed=Key("P#{p}", "M#{n:03d}", index=TWO)),
    "Dog": entity("Dog", "P#{p}", "D{n:03d}", named=Unique("P#{p}", "D#{t}")),
    "Fox": entity("Fox", "R#{p}", "{n:03d}#F"),
    "Gnu": entity("Gnu", "R#{p}", "{n:03d}#G", together=Key("T#{t}", index=ONE)),
    "Hen": entity(
        "Hen", "H#{p}", "H#{n:03d}", together=Key("T#{t}", index=ONE), listed=Key("P#{p}", "M#{n:03d}", index=TWO)
    ),
    "Elk": entity("Elk", "Q#{p}", "B#{n:03d}", listed=Key("P#{p}", "N#{n:03d}", index=TWO)),
}
KNOWN: dict[str, dict[str, Any]] = {
    "p": {"p": str},
    "p and n": {"p": str, "n": int},
    "some n": {"p": str, "n": Range[int]},
    "t": {"t": str},
}


def plan_of(asked: Iterable[str], known: dict[str, Any], **options: Any) -> tuple[Any, list[Any]]:
    """The query for entities that are asked for by what is known, and all entities of the design."""
    namespace: dict[str, Any] = {}
    exec(f"def question(self, {', '.join(known)}): ...", namespace)
    function = namespace["question"]
    answer = reduce(or_, [ENTITIES[name] for name in asked])
    function.__annotations__ = {**known, "return": types.GenericAlias(list, (answer,))}
    table = Table("things", entities=[*ENTITIES.values()], indexes=[ONE, TWO])
    made = {"table": table, "question": read("T1", **options)(function), "__module__": __name__}
    design: Any = type("Things", (Design,), made)
    return design.compiled.reads["question"].plan, [*design.compiled.entities.values()]


def line(asked: Iterable[str], known: str, **options: Any) -> str:
    plan, entities = plan_of(asked, KNOWN[known], **options)
    assert isinstance(plan, QueryPlan)
    besides, between = (
        ", ".join(f"{each.name}.{own.name}" for each, own in found(plan, entities)) or "nothing"
        for found in (neighbours, others_between)
    )
    return f"{' '.join(asked)}, by {known}: besides {besides}; between {between}"


def test_what_is_read_besides() -> None:
    names = ["Axe", "Ant", "Abe", "Cat"]
    lines = [line([name], "p") for name in ("Ant", "Axe", "Abe", "Bee", "Cat", "Dog", "Elk")]
    lines += [line(pair, "p") for pair in combinations(names, 2)]
    lines += [
        line(pair, known) for pair in (["Ant", "Cat"], ["Abe", "Ant"], ["Cat"]) for known in ("p and n", "some n")
    ]
    lines += [line(pair, "p", key=ENTITIES["Cat"].listed) for pair in (["Cat"], ["Cat", "Abe"], ["Elk", "Cat"])]
    lines += [line(["Fox"], "p and n"), line(["Fox", "Gnu"], "p and n"), line(["Gnu"], "t"), line(["Gnu", "Hen"], "t")]
    lines += [line(["Cat"], known, key=ENTITIES["Cat"].listed) for known in ("p and n", "some n")]
    lines += [line(["Dog", "Bee"], "p"), line(["Bee", "Cat", "Axe"], "p")]
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize("source", ["P#{p}", "P#{t}", "{p}"])
def test_items_of_one_partition(source: str) -> None:
    """In one place only: an index's partition isn't the table's."""
    first = compiled(entity("First", "P#{p}", "A#{n:03d}", by=Key("P#{p}", "A", index=TWO)), TWO)
    second = compiled(entity("Second", "Q#{p}", "B", by=Key(source, "Z#{n:03d}", index=TWO)), TWO)
    (own,), (other,) = first.index_keys, second.index_keys
    assert same_partition(own, other)
    assert not same_partition(first.primary, other)
    assert not same_partition(first.primary, second.primary)
