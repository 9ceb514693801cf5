"""What the importer is made of, part by part, as agreed upon: which lines of a description are declarations, types and
values as texts, tables as other files have them, names and texts of the module, keys that can meet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from keyplan import Design, Entity, Key, Table
from keyplan.formats.workbench.declarations import declarations_in
from keyplan.formats.workbench.declared import ReadDeclaration
from keyplan.formats.workbench.module import _comments, _declared_read, _Question, _wrapped
from keyplan.formats.workbench.reading import read_model
from keyplan.formats.workbench.samples import sample_faults
from tests.workbench.support import item, table


def lines(given: Iterable[Any], answer: Any) -> str:
    """A line for each that is given, with the answer, or the kind of its error."""
    made: list[str] = []
    for each in given:
        try:
            told = answer(each)
        except (ValueError, TypeError) as error:
            told = type(error).__name__
        made.append(f"{each if isinstance(each, str) else ascii(each)}  ->  {told}")
    return "\n".join(made)


# Descriptions


def test_marked_fields_alone_are_no_fields() -> None:
    """As descriptions of old have them; beside others they are."""
    head = "Declarations, as Keyplan reads them back:\nUser.at: Ttl\n"
    assert declarations_in(head).fields == {}
    assert list(declarations_in(head + "User.name: str\n").fields) == ["User"]
    assert (declarations_in(" a \n b ").text, declarations_in(head).text) == ("a \n b", "")


def test_what_a_question_mentions() -> None:
    options = "'Q1', scan_index='GSI1', through=[User, Through(Order, at='x')], key=User.by_mail"
    read = ReadDeclaration("users", options, ("self_id: str", "limit: int = 3"), "Page[User] | Found")
    assert read.mentions == {"User", "Order", "Through", "str", "int", "Page", "Found"}
    assert (read.keys, read.indexes) == ([("User", "by_mail")], ["GSI1"])
    assert read.options_with({"GSI1": "THE_INDEX"}).startswith("'Q1', scan_index=THE_INDEX, through=[User, ")
    plain = ReadDeclaration("users", '"Q1"', (), "int")
    assert plain.options_with({"GSI1": "X"}) == '"Q1"'


# Types and values


# The module's text


def exactly(length: int, made: Any) -> str:
    """A text that is made of a name, which is as long as it must be for the text to have a length."""
    short = len(made("x"))
    return str(made("x" * (length - short + 1)))


def test_lines_are_as_long_as_they_may_be() -> None:
    def wrapped(name: str) -> str:
        return "\n".join(_wrapped("    from x import ", ["a", name], "()", ","))

    assert "\n" not in exactly(110, wrapped)
    assert exactly(111, wrapped).split("\n")[:2] == ["    from x import (", "        a,"]
    assert [*_wrapped("  x=", ["a", "b"], "[]", ",", always=True)] == ["  x=[a, b],"]
    assert [*_wrapped("  x=", ["a" * 200], "[]", ",", always=True)] == ["  x=[", f"      {'a' * 200},", "  ],"]

    def asked(name: str) -> list[str]:
        return [*_declared_read(ReadDeclaration(name, "'Q1'", ("a: str",), "int"), {})]

    head = len("    def (self, a: str) -> int: ...")
    assert len(asked("q" * (110 - head))) == 2
    assert asked("q" * (111 - head))[1:] == [
        f"    def {'q' * (111 - head)}(",
        "        self,",
        "        a: str,",
        "    ) -> int: ...",
    ]

    def question(name: str) -> list[str]:
        return [*_Question((name,), ", x=1", ("a: str",), "int", 'What "is" it?').lines(name, 7)]

    head = len("    def (self, a: str) -> int:")
    assert question("q" * (110 - head))[0] == '    @read("R7", x=1)'
    assert question("q" * (110 - head))[2:] == ['        """What \'is\' it?"""', "        ..."]
    assert [len(question("q" * (number - head))) for number in (110, 111)] == [4, 6]
    comment = [*_comments(["word " * 40, "two\n lines"])]
    assert [line[:12] for line in comment] == ["    # note: ", "    #   word", "    #   word", "    # note: "]
    assert max(map(len, comment)) <= 110


# Files


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("abc", "abc"),
        ("ab", "ab-table"),
        ("", "Table"),
        ("--", "---table"),
        ("a b", "a_b"),
        ("_é_", "Table"),
        ("x" * 255, "x" * 255),
        ("x" * 256, "x" * 240),
        (3, "Table"),
    ],
)
def test_a_name_is_made_one_that_can_be_taken(name: Any, taken: str) -> None:
    model = read_model(json.dumps(table({}, TableName=name)), "model.json")
    assert model.tables[0].name == taken
    assert bool(model.notes) is (taken != name)


@pytest.mark.parametrize(("number", "more"), [(5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_of_many_places_five_are_named(number: int, more: str) -> None:
    items = [{"PK": {"S": "A"}} for _ in range(number)]
    (note,) = read_model(json.dumps(table({}, TableFacets=[], TableData=items)), "model.json").notes
    named = ", ".join(f"DataModel[0].TableData[{at}]" for at in range(min(number, 5)))
    assert note == f"{named}{more}: the item has no SK, and is left out"


# Samples


class Note(Entity):
    """A note."""

    note_id: str
    text: str = ""
    number: Decimal | None = None

    primary = Key("NOTE#{note_id}", "#NOTE")


class Notes(Design):
    """Notes."""

    table = Table("notes", entities=[Note], partition="PK", sort="SK")


def note(at: int, **more: Any) -> dict[str, Any]:
    return item({"PK": f"NOTE#{at}", "SK": "#NOTE", "note_id": str(at), "text": "", **more})


@pytest.mark.parametrize(
    ("wrong", "told", "last"), [(0, 0, ""), (5, 5, "Note("), (6, 6, "Note: so it is with 1 more of its 7")]
)
def test_of_many_items_that_change_five_are_told(wrong: int, told: int, last: str) -> None:
    items = [note(number, more="x") for number in range(wrong)] + [note(9)]
    found = [*sample_faults(Notes.compiled, {"Note": items})]
    assert len(found) == told
    assert not found or found[-1].startswith(last)
