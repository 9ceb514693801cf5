# mypy: disable-error-code="empty-body"
"""Arguments of declarations with a wrong type are reported with the argument's name and the expected type."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from keyplan import (
    Binary,
    Create,
    Design,
    Discriminator,
    Each,
    Entity,
    Index,
    Key,
    KeyStyle,
    Number,
    StoredAs,
    Table,
    Unique,
    Writes,
    read,
    write,
)
from keyplan.errors import DesignError

WRONG: list[Any] = [0, 2.5, "", True, {"a": 1}, [3], b"x", int, float("nan"), None, {"a", 3}]
DECLARED: dict[Callable[..., Any], dict[str, Any]] = {
    Table: {"name": "things"},
    Index: {"name": "GSI1", "partition": "a"},
    Key: {"partition": "THING#{thing_id}"},
    Unique: {"partition": "THING#{thing_id}"},
    KeyStyle: {},
    Discriminator: {"attribute": "type", "value": "thing"},
    StoredAs: {},
    Number: {"name": "n"},
    Binary: {"name": "b"},
}
RIGHT = {
    "Index(sort=)": "None",
    "Index(local=)": "True",
    "Table(sort=)": "None",
    "Key(partition=)": "an empty text is the compiler's",
    "Key(sort=)": "None; an empty text is the compiler's",
    "Key(index=)": "None",
    "Key(when=)": "None, a mapping",
    "Key(style=)": "None",
    "Unique(partition=)": "an empty text is the compiler's",
    "Unique(sort=)": "an empty text is the compiler's",
    "Unique(style=)": "None",
    "KeyStyle(raw=)": "True",
    "KeyStyle(case=)": "None",
    "StoredAs(form=)": "None; the compiler knows the names",
    "StoredAs(layout=)": "None, a text",
    "StoredAs(write=)": "None, what can be called",
    "StoredAs(read=)": "None, what can be called",
}
"""Arguments that take something among the wrong ones, and what."""


class Thing(Entity):
    thing_id: str
    price: int = 0

    primary = Key("THING#{thing_id}", "#METADATA")


def test_each_argument_of_a_declaration_is_checked() -> None:
    """Every argument rejects all values in ``WRONG``, except the arguments in ``RIGHT``, which accept some."""
    taken: set[str] = set()
    for make, others in DECLARED.items():
        for name in inspect.signature(make).parameters:
            for given in WRONG:
                try:
                    make(**{**others, name: given})
                except DesignError as error:
                    (fault,) = error.errors
                    assert ", not " in fault.message
                else:
                    taken.add(f"{make.__name__}({name}=)")
    assert taken == set(RIGHT)


def test_all_wrong_arguments_of_a_declaration_are_reported_together() -> None:
    anything: Any = 3
    with pytest.raises(DesignError) as error:
        Index(anything, [], projection=anything, local=anything)
    assert [fault.place for fault in error.value.errors] == [
        "Index(name=)",
        "Index(partition=)",
        "Index(projection=)",
        "Index(local=)",
    ]
    assert error.value.place == "Index"
    assert "takes True or False, not 3" in str(error.value)


def test_valid_arguments_of_declarations_are_accepted() -> None:
    """A sequence can be a list, a tuple or, if the order doesn't matter, a generator. A string is one value."""
    first, second = Index("ONE", ["a", Number("b")], (), projection=("x",)), Index("TWO", Binary("c"))
    table = Table("things", indexes=(each for each in (first, second)), entities={Thing}, sort=None)
    assert table.indexes == (first, second)
    assert table.entities == (Thing,)
    assert Key(("A", "B"), ["C"]).sort == ("C",)


OPTIONS: dict[str, Any] = {
    "newest_first": 3,
    "order_by": 4,
    "key": "primary",
    "consistent": "no",
    "where": 5,
    "through": 6,
    "scan": 1,
    "scan_index": "GSI1",
    "segments": "8",
    "entity": "Thing",
    "total": 7,
    "complete": "yes",
    "per_second": "many",
    "items": -1,
    "item_bytes": 2.5,
}


def _fault(option: dict[str, Any], pattern_id: Any = "R1") -> str:
    with pytest.raises(DesignError) as error:

        class Shop(Design):
            table = Table("things", entities=[Thing])

            @read(pattern_id, **option)
            def things(self, thing_id: str) -> list[Thing]: ...

    return "\n".join(map(str, error.value.errors))


def test_every_read_option_has_a_test_case_with_a_wrong_type() -> None:
    assert set(OPTIONS) == set(inspect.signature(read).parameters) - {"id"}


def test_all_errors_of_a_pattern_are_reported_together() -> None:
    wrong: Any = {"newest_first": 1, "consistent": "no", "order_by": 3, "entity": 5}
    with pytest.raises(DesignError) as error:

        class Shop(Design):
            table = Table("things", entities=[Thing])

            @read("", **wrong)
            def thing(self, *thing_id: str) -> Thing: ...

    told = [str(fault).removeprefix("Shop.thing: ") for fault in error.value.errors]
    assert [text.partition(" ")[0] for text in told[:5]] == [
        "the",
        "newest_first=",
        "consistent=",
        "order_by=",
        "entity=",
    ]
    assert "thing_id" in told[5]  # errors in the signature as well


@pytest.mark.parametrize("attempts", [0, -1, 2.5, "3", None])
def test_invalid_values_of_the_attempts_option_are_rejected(attempts: Any) -> None:
    with pytest.raises(DesignError, match=r"Shop.add: attempts= must be an integer of at least 1, not"):

        class Shop(Design):
            table = Table("things", entities=[Thing])

            @write("W1", attempts=attempts)
            def add(self, thing: Thing) -> Writes:
                yield Create(thing)


@pytest.mark.parametrize(("given", "words"), [("", "has no id"), (3, "the id is 3"), (["R1"], "the id is ['R1']")])
def test_invalid_pattern_ids_are_rejected(given: Any, words: str) -> None:
    assert words in _fault({}, given)


def test_decorators_without_parentheses_are_rejected() -> None:
    """Regression test: access patterns below a decorator without parentheses were silently ignored."""
    bare_read: Any = read
    bare_write: Any = write
    with pytest.raises(DesignError) as error:

        class Shop(Design):
            table = Table("things", entities=[Thing])

            @bare_read  # type: ignore[untyped-decorator] # a type checker refuses the typed one
            def thing(self, thing_id: str) -> Thing: ...

            @bare_write  # type: ignore[untyped-decorator]
            def add(self, thing: Thing) -> Writes:
                yield Create(thing)

    told = 'the access pattern has no id (pass a string id, as in @read("R1") or @write("W1"))'
    assert [str(fault) for fault in error.value.errors] == [f"Shop.thing: {told}", f"Shop.add: {told}"]


def test_an_access_pattern_without_a_decorator_is_rejected() -> None:
    """Without a decorator, the pattern would return None. Methods that aren't access patterns are allowed."""
    with pytest.raises(DesignError) as error:

        class Shop(Design):
            table = Table("things", entities=[Thing])

            def thing(self, thing_id: str) -> Thing: ...

            def things(self, thing_id: str) -> list[Thing]:
                """An access pattern whose body is only a docstring."""

            async def awaited(self, thing_id: str) -> Thing: ...

            async def awaited_things(self, thing_id: str) -> list[Thing]:
                """An asynchronous access pattern whose body is only a docstring."""

            def close(self) -> None: ...

            def kind(self) -> str:
                return "shop"

            def documented(self) -> str:
                """A method that isn't an access pattern."""
                return "shop"

            async def nothing(self) -> None:
                """A method that returns nothing, which is allowed."""

            def untyped(self, thing_id: Any): ...  # type: ignore[no-untyped-def]

            @abstractmethod
            def another(self) -> Thing: ...

    assert [(fault.place, fault.message[:15]) for fault in error.value.errors] == [
        (f"Shop.{name}", "the method has ") for name in ("thing", "things", "awaited", "awaited_things")
    ]
    assert error.value.errors[0].hint == 'decorate the method with @read("R1"), or add a body'


def test_an_overriding_method_replaces_the_inherited_pattern() -> None:
    class Promise:
        def size(self) -> int: ...

    class Shop(Design, Promise):
        table = Table("things", entities=[Thing])

        def size(self) -> int:
            return 3

    with Shop.open(":memory:") as shop:
        assert shop.size() == 3


def test_a_key_parameter_of_type_list_is_rejected_and_the_type_each_is_suggested() -> None:
    with pytest.raises(DesignError, match=r"Thing.thing_id is of type str \(write Each\[str\] to pass several"):

        class Wrong(Design):
            table = Table("things")

            @read("R1")
            def things(self, thing_id: list[str]) -> list[Thing]: ...

    class Right(Design):
        table = Table("things")

        @read("R1")
        def things(self, thing_id: Each[str]) -> list[Thing]: ...

    assert set(Right.compiled.reads) == {"things"}


def test_an_invalid_stored_format_is_reported_with_its_field() -> None:
    anything: Any = ["ms"]
    with pytest.raises(DesignError, match=r"StoredAs\(form=\): takes the name of a stored form, .*, not \['ms'\]"):

        class Late(Entity):
            late_id: Annotated[str, StoredAs(anything)]
            primary = Key("LATE#{late_id}", "X")
