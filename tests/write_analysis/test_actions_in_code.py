"""Facts read from the source code of writes: actions, the changes of actions, and their conditions."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan import (
    Add,
    Batch,
    Check,
    Create,
    Delete,
    Design,
    Entity,
    Key,
    Put,
    Table,
    Unique,
    Update,
    Writes,
    read,
    write,
)
from keyplan.analysis.write_analysis.analysis import WriteAnalyzer
from keyplan.analysis.write_analysis.code import Action, WrittenCode


class Item(Entity):
    name: str
    number: int = 0
    other: int = 0

    primary = Key("ITEM#{name}", "HEAD")


class Note(Entity):
    name: str
    text: str

    primary = Key("NOTE#{name}", "{text}")


class Named(Entity):
    """An item with a unique name."""

    number: int
    name: str

    primary = Key("NAMED#{number}", "HEAD")
    one_name = Unique("NAME#{name}")


def _both(item: Item) -> Writes:
    yield Create(Note(name=item.name, text="made"))
    yield Update(item, number=item.number + 1)


class Things(Design):
    table = Table("things")

    @read("R1")
    def item(self, name: str) -> Item | None: ...

    @read("R2")
    def note(self, name: str, text: str) -> Note | None: ...

    @write("W1")
    def put_one(self, item: Item) -> Writes:
        yield Put(item)

    @write("W2")
    def reckoned(self, name: str) -> Writes:
        item = yield from self.item.read(name)
        assert item is not None
        number = item.number + 1
        yield Update(item, number=number, other=item.other)

    @write("W3")
    def conditional(self, item: Item) -> Writes:
        yield Update(item, number=item.number * 2).only_if(number=item.number)

    @write("W4")
    def by_class(self, name: str) -> Writes:
        yield Update(Item, name=name).set(number=Add(1)).only_if("number < :most", most=9)

    @write("W5")
    def looped(self, names: list[str]) -> Writes:
        for name in names:
            yield Delete(Item, name=name)
        yield Batch(Put(Note(name=name, text="gone")) for name in names)

    @write("W6")
    def helped(self, item: Item) -> Writes:
        yield Check(item)
        yield from _both(item)
        yield from self._own(item.name)

    @write("W7")
    def handed_on(self, item: Item, changes: dict[str, Any]) -> Writes:
        yield Update(item, **changes)

    @write("W8")
    def copied(self, item: Item, name: str) -> Writes:
        other = Item(name=name, number=item.number)
        yield Create(other)
        if item.number:
            note = Note(name=name, text="x" + item.name)
            yield Put(note)

    def _own(self, name: str) -> Writes:
        yield Put(Item(name=name))


def code(name: str) -> WrittenCode:
    return WriteAnalyzer(Things.compiled, Things).from_code(Things.compiled.writes[name]).code


def actions(name: str) -> list[tuple[str, str]]:
    return [(action.kind, action.entity.name if action.entity else "?") for action in code(name).actions]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("put_one", [("Put", "Item")]),
        ("reckoned", [("Update", "Item")]),
        ("by_class", [("Update", "Item")]),
        ("looped", [("Delete", "Item"), ("Put", "Note")]),
        ("helped", [("Check", "Item"), ("Create", "Note"), ("Update", "Item"), ("Put", "Item")]),
        ("copied", [("Create", "Item"), ("Put", "Note")]),
    ],
)
def test_actions_in_a_write_and_their_entities_are_found(name: str, result: list[tuple[str, str]]) -> None:
    assert actions(name) == result


def only(name: str) -> Action:
    (action,) = code(name).actions
    return action


def test_changes_computed_from_reads_are_found() -> None:
    action = only("reckoned")
    assert dict(action.changes) == {"number": "set", "other": "set"}
    assert action.from_read == {"number"}
    assert not action.conditional
    assert [ask.name for ask in code("reckoned").asks] == ["item"]


def test_conditions_of_actions_and_additions_to_numbers_are_found() -> None:
    assert only("conditional").conditional
    action = only("by_class")
    assert (dict(action.changes), action.conditional, action.by_instance) == ({"number": "Add"}, True, False)


def test_actions_in_loops_and_batches_are_found() -> None:
    deleted, put = code("looped").actions
    assert (deleted.looped, deleted.batched) == (True, False)
    assert (put.looped, put.batched, put.built) == (True, True, frozenset({"name", "text"}))


def test_changes_passed_to_an_action_as_a_mapping_are_unknown() -> None:
    action = only("handed_on")
    assert action.open
    assert not action.changes


def test_the_analysis_does_not_run_a_write_without_source_code() -> None:
    """Without the source code, the functions that the write calls are unknown."""
    namespace: dict[str, Any] = {**globals(), "calls": (calls := list[str]())}
    exec(
        "class Bare(Design):\n"
        "    table = Table('bare')\n"
        "    @write('W1')\n"
        "    def go(self, item: Item) -> Writes:\n"
        "        calls.append('run')\n"
        "        yield Create(item)\n",
        namespace,
    )
    bare = namespace["Bare"]
    analysis = WriteAnalyzer(bare.compiled, bare).analysis(bare.compiled.writes["go"])
    assert analysis.unknown == ("the body isn't run: the source can't be read",)
    assert (calls, analysis.rights_known) == ([], False)
