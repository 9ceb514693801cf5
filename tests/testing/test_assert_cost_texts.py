# mypy: disable-error-code="empty-body"
"""What ``assert_cost`` lets pass, and what it says of what costs something else: metered, and predicted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyplan import Design, Each, Entity, Index, Key, Table, Update, Writes, read, write
from keyplan.errors import KeyplanError
from keyplan.testing import assert_cost
from keyplan.testing.costs import metering
from tests.agreed import assert_agreed

BY_SIZE = Index("BY_SIZE", "size_key", "size_sort")
LOCAL = Index("LOCAL", "pk", "shelf_sort", local=True)


class Jar(Entity):
    room: str
    name: str
    size: int = 1
    text: str = ""

    primary = Key("ROOM#{room}", "{name}")
    by_size = Key("SIZE#{size}", "{name}", index=BY_SIZE)
    by_shelf = Key("ROOM#{room}", "SHELF#{name}", index=LOCAL)


class Jars(Design):
    table = Table("jars", indexes=[BY_SIZE, LOCAL])

    @read("R1")
    def jar(self, room: str, name: str) -> Jar | None: ...

    @read("R2")
    def jars(self, room: str) -> list[Jar]: ...

    @read("R3")
    def all_jars(self, room: str) -> Iterator[Jar]: ...

    @read("R4")
    def sized(self, size: int) -> list[Jar]: ...

    @read("R5")
    def several(self, room: str, name: Each[str]) -> list[Jar]: ...

    @read("R6", consistent=True)
    def strongly(self, room: str) -> list[Jar]: ...

    @write("W1")
    def resize(self, room: str, name: str, size: int) -> Writes:
        jar = yield from self.jar.ask(room, name)
        if jar is not None:
            yield Update(jar, size=size)


CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("jar", ("r", "0")),
    ("jar", ("r", "nothing")),
    ("jars", ("r",)),
    ("all_jars", ("r",)),
    ("sized", (1,)),
    ("several", ("r", ["0", "1", "9"])),
    ("strongly", ("r",)),
    ("resize", ("r", "0", 2)),
    ("resize", ("r", "nothing", 2)),
]


def said(pattern: object, *arguments: Any, **asked: Any) -> str:
    try:
        assert_cost(pattern, *arguments, **asked)
    except (AssertionError, KeyplanError) as error:
        return f"{type(error).__name__}: {error}".replace("\n", "\n    ")
    return "right"


def test_what_calls_cost() -> None:
    lines: list[str] = []
    with Jars.open(":memory:") as jars:
        for number in range(4):
            jars.put(Jar(room="r", name=str(number), text="x" * 3000))
        plain = jars.store.transport
        for name, arguments in CALLS:
            lines.append(f"{name}{arguments}: {said(getattr(jars, name), *arguments, read_units=0, write_units=0)}")
        lines.append(said(jars.jar, "r", "1", read_units=0.5))
        lines.append(said(jars.jar, "r", "1", read_units=0.5, write_units=0))
        lines.append(said(jars.jar, "r", "1", read_units=0.5 + 1e-8))
        lines.append(said(jars.jar, "r", "1", read_units=0.5 + 1e-10))
        lines.append(said(jars.jar, room="r", name="1", read_units=1))
        lines.append(said(jars.jar, "r", "1"))
        assert jars.store.transport is plain
        with metering(jars) as metered:
            jars.put(Jar(room="r", name="9"))
            jars.get_many(Jar, [{"room": "r", "name": str(number)} for number in range(101)])
        lines += [f"{each} {each.reads}" for each in metered]
        assert jars.store.transport is plain
    assert_agreed("\n".join(lines))


def test_what_is_predicted() -> None:
    lines = [f"{name}: {said(getattr(Jars, name), read_units=100, write_units=100)}" for name in Jars.compiled.patterns]
    predicted: Any = Jars.jar
    lines.append(said(predicted, read_units=0.5, write_units=0))
    lines.append(said(predicted, "r", read_units=0.5))
    lines.append(said(predicted, room="r", read_units=0.5))
    lines.append(said("jar", read_units=0.5))
    assert_agreed("\n".join(lines))
