"""Relative changes of a missing attribute, such as Add, start at the field's default."""

from __future__ import annotations

import itertools
import random
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field as PydanticField

from keyplan import Add, Append, Design, Entity, Field, Key, SetAdd, SetRemove, Table, Update, Version
from keyplan.errors import ConditionFailed, KeyplanError, UpdateRejected

MADE = itertools.count(1)


class Item(Entity):
    """An entity with a field for each kind of relative change. Older items don't have these attributes."""

    name: str
    n: int = 5
    ratio: Decimal = Decimal("0.5")
    least: Annotated[int, PydanticField(ge=0, le=20)] = 12
    zero: int = 0
    perhaps: int | None = None
    words: list[str] = Field(default_factory=lambda: ["first"])
    lines: list[str] = ["a", "b"]  # noqa: RUF012 - pydantic copies it
    empty: list[int] = Field(default_factory=list)
    marks: set[str] = {"x"}  # noqa: RUF012 - pydantic copies it
    tags: set[str] = Field(default_factory=set)
    anew: int = Field(default_factory=lambda: next(MADE))

    primary = Key("ITEM#{name}", "HEAD")


class Locked(Entity):
    name: str
    n: int = 5
    lines: list[str] = ["a", "b"]  # noqa: RUF012 - pydantic copies it
    version: Version = 0

    primary = Key("LOCKED#{name}", "HEAD")


class Items(Design):
    table = Table("items", entities=[Item, Locked])


def _older(items: Items, name: str, **attributes: Any) -> None:
    """Store an item as it was written before the entity had these fields."""
    item = {"pk": {"S": f"ITEM#{name}"}, "sk": {"S": "HEAD"}, "name": {"S": name}, **attributes}
    items.store.transport.call("PutItem", {"TableName": "items", "Item": item})


CHANGES: list[dict[str, Any]] = [
    {"n": Add(2)},
    {"n": Add(-7)},
    {"ratio": Add(Decimal("0.25"))},
    {"least": Add(8)},
    {"least": Add(-12)},
    {"zero": Add(3)},
    {"perhaps": Add(3)},
    {"lines": Append(["c"])},
    {"lines": Append([])},
    {"empty": Append([1])},
    {"tags": SetAdd({"t"})},
    {"tags": SetRemove({"t"})},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("way", ["instance", "class", "or_create"])
def test_each_change_has_the_same_result_as_on_an_instance_with_defaults(changes: dict[str, Any], way: str) -> None:
    with Items.open(":memory:") as items:
        if way != "or_create":
            _older(items, "a")
        (name, change), before = next(iter(changes.items())), Item(name="a", anew=1)
        action: Any = Update(Item, name="a").set(**changes)
        match way:
            case "instance":
                after = items.update(items.get(Item, name="a") or before, **changes)
            case "class":
                after = items.update(action)
            case _:
                after = items.update(Update(Item, name="a").set(words=[], anew=1, **changes).or_create())
        wanted = _applied(getattr(before, name), change)
        assert getattr(after, name) == getattr(items.get(Item, name="a"), name) == wanted


def _applied(value: Any, change: Any) -> Any:
    match change:
        case Add():
            return (value or 0) + change.amount
        case Append():
            return [*value, *change.items]
        case SetAdd():
            return {*value, *change.elements}
        case _:
            return {*value} - set(change.elements)


@pytest.mark.parametrize("change", [Add(9), Add(-13)], ids=str)
def test_bounds_apply_to_changes_that_start_at_a_default(change: Add) -> None:
    with Items.open(":memory:") as items:
        _older(items, "a")
        with pytest.raises(ConditionFailed):
            items.update(Item, name="a", least=change)
        assert items.get(Item, name="a").least == 12  # type: ignore[union-attr]


@pytest.mark.parametrize("change", [SetAdd({"y"}), SetRemove({"x"})], ids=str)
@pytest.mark.parametrize("by_class", [True, False])
def test_a_change_of_a_set_with_a_nonempty_default_is_rejected(change: Any, by_class: bool) -> None:
    with Items.open(":memory:") as items:
        _older(items, "a")
        target: Any = Item if by_class else items.get(Item, name="a")
        with pytest.raises(UpdateRejected, match="doesn't support the non-empty default"):
            items.update(target, **({"name": "a"} if by_class else {}), marks=change)


@pytest.mark.parametrize(("name", "change"), [("anew", Add(1)), ("words", Append(["second"]))])
def test_a_change_of_a_missing_attribute_with_a_default_factory_fails(name: str, change: Any) -> None:
    with Items.open(":memory:") as items:
        _older(items, "a")
        with pytest.raises(ConditionFailed):
            items.update(Item, name="a", **{name: change})
        whole = items.put(Item(name="b"))
        after = items.update(Item, name="b", **{name: change})
        assert getattr(after, name) == _applied(getattr(whole, name), change)


def test_changes_of_old_items_use_defaults_for_missing_attributes() -> None:
    """Random changes have the same results as on a dictionary that contains the defaults."""
    seed = random.Random("defaults")
    stored = {"n": {"N": "1"}, "lines": {"L": [{"S": "z"}]}, "zero": {"N": "4"}, "tags": {"SS": ["t", "u"]}}
    for _ in range(150):
        with Items.open(":memory:") as items:
            _older(items, "a", **{name: stored[name] for name in seed.sample(sorted(stored), seed.randint(0, 4))})
            for _ in range(3):
                before: Any = items.get(Item, name="a")
                changes = seed.choice(CHANGES)
                name, change = next(iter(changes.items()))
                try:
                    after = items.update(Item, name="a", **changes)
                except KeyplanError:
                    assert name == "least"
                    continue
                assert getattr(after, name) == _applied(getattr(before, name), change)


class Bounded(Entity):
    """An entity with an exclusive lower bound of one number, and an exclusive upper bound of another."""

    name: str
    above: Annotated[int, PydanticField(gt=-5)] = 0
    below: Annotated[int, PydanticField(lt=5)] = 0

    primary = Key("BOUNDED#{name}", "HEAD")


class Bounds(Design):
    table = Table("bounds", entities=[Bounded])


@pytest.mark.parametrize(
    ("changes", "allowed"), [({"above": -4}, True), ({"above": -5}, False), ({"below": 4}, True), ({"below": 5}, False)]
)
def test_a_change_of_a_missing_number_respects_an_exclusive_bound(changes: dict[str, int], *, allowed: bool) -> None:
    with Bounds.open(":memory:") as bounds:
        item = {"pk": {"S": "BOUNDED#a"}, "sk": {"S": "HEAD"}, "name": {"S": "a"}}
        bounds.store.transport.call("PutItem", {"TableName": "bounds", "Item": item})
        action = Update(Bounded, name="a").set(**{name: Add(amount) for name, amount in changes.items()})
        if allowed:
            bounds.transact([action])
        else:
            with pytest.raises(ConditionFailed):
                bounds.transact([action])
