"""What the importer is made of, part by part, as agreed upon: which lines of a description are declarations, types and
values as texts, tables as other files have them, names and texts of the module, keys that can meet.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, PlainSerializer

from keyplan import Design, Each, Entity, Id, Key, Page, Prefix, Range, Stored, Table, Ttl
from keyplan.design.declared.fields import SLOTS_MAX
from keyplan.design.declared.styles import KeyStyle
from keyplan.plain.answers import pretty
from keyplan.workbench.columns import _tag, _value
from keyplan.workbench.declarations import IndexDeclaration, KeyDeclaration, declarations_in
from keyplan.workbench.declared import FieldDeclaration, ReadDeclaration, field_in, read_in, result_in
from keyplan.workbench.meeting import can_meet
from keyplan.workbench.module import (
    _class_name,
    _comments,
    _constant,
    _declared_line,
    _declared_read,
    _doc,
    _index,
    _Question,
    _text,
    _wrapped,
)
from keyplan.workbench.reading import read_model
from keyplan.workbench.samples import sample_faults
from keyplan.workbench.tables import as_workbench
from keyplan.workbench.templates import is_escaped, shape_of, variables, with_braces
from keyplan.workbench.types import is_type, is_value, literal_text, serialized_text, stored_text, type_text
from tests.agreed import assert_agreed
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

DESCRIBED = (
    "User.primary = Key('USER#{user_id}', 'META')",
    "User.by_mail = Key(['a', 'b'], ['c', 'd'], index='GSI1', when={'open': (True,)}, shards=4, style=KeyStyle())",
    "User.alone = Key('A#{a}')",
    "User.none = Key()",
    "User.a-b = Key('x', 'y')",
    "User.claim = Unique('MAIL#{mail}', style=KeyStyle(case='lower'))",
    "User.claim = Unique('MAIL#{mail}', style=KeyStyle(case='title'))",
    "User.claim = Unique('MAIL#{mail}', style=KeyStyle(True))",
    "User.claim = Unique('MAIL#{mail}', style=KeyStyle(raw=1))",
    "User.claim = Unique('MAIL#{mail}', style=KeyStyle(size=1))",
    "User.claim = Unique('MAIL#{mail}', style=Other(raw=True))",
    "User.kind = Label('type', 'user')",
    "User.kind-of = Label('type', 'user')",
    "User.kind = Label('type')",
    "GSI2 = Index('GSI2', 'a', Number('n'))",
    "GSI3 = Index('GSI3', ['a', Binary('b')], projection='KEYS_ONLY', local=True)",
    "GSI4 = Index('GSI4', 'a', projection=('x', 'y'))",
    "GSI5 = Index('GSI5', Other('a'))",
    "GSI6 = Index('GSI6', Number('a', 'b'))",
    "GSI7 = Index(['x', 'y'], 'a')",
    "table = Table(key_style=KeyStyle(raw=True, case='upper'))",
    "table = Table(raw=True)",
    "class User(Entity, extra='allow')",
    "class User(Entity, extra='forbid')",
    "User.at: Ttl",
    "User.number: Version",
    "User.words: Tokens",
    "User.name: str",
    "User.primary = Key('x' 'y', 3)",
    "User.primary = Key(x, y)",
    "User.primary = Key('x', **{})",
    "User.primary = Key('x'",
)


def test_a_declaration_of_a_description_is_as_agreed_upon() -> None:
    """Each by itself: what it declares, or nothing."""

    def declared(line: str) -> str:
        found = vars(declarations_in(f"Text\nDeclarations, as Keyplan reads them back:\n  {line}  \n"))
        return str({name: value for name, value in found.items() if value and name not in {"text", "key_style"}}) + (
            f" {found['key_style']}" if found["key_style"] != KeyStyle() else ""
        )

    assert_agreed(lines(DESCRIBED, declared))


def test_marked_fields_alone_are_no_fields() -> None:
    """As descriptions of old have them; beside others they are."""
    head = "Declarations, as Keyplan reads them back:\nUser.at: Ttl\n"
    assert declarations_in(head).fields == {}
    assert list(declarations_in(head + "User.name: str\n").fields) == ["User"]
    assert (declarations_in(" a \n b ").text, declarations_in(head).text) == ("a \n b", "")


FIELDS = (
    "User.name: str",
    "User.name: str = Field(alias='Name')",
    "User.name: str = Field('x', alias='Name')",
    "User.name: str = Field('x', 'y')",
    "User.name: str = Field(x)",
    "User.name: str = Field(default='x')",
    "User.tags: set[str] = Field(default_factory=set)",
    "User.tags: set[str] = Field(default_factory=open)",
    "User.name: str = Field(alias=3)",
    "User.name: str = 'x'",
    "User.hits: int = Slots(1)",
    "User.hits: int = Slots(2)",
    f"User.hits: int = Slots({SLOTS_MAX})",
    f"User.hits: int = Slots({SLOTS_MAX + 1})",
    "User.hits: int = Slots('2')",
    "User.hits: int = Slots(2, 3)",
    "User.hits: int = Slots(count=2)",
    "User.name: open",
    "User.name: Order",
    "User.name.first: str",
    "name: str",
    "User.name = str",
    "User.a: str; User.b: str",
    "User.(",
)
RESULTS = (
    "class Found(NamedTuple): user: User; orders: list[Order]",
    "class Found(View[User]): name: str",
    "class Found(View[Nobody]): name: str",
    "class Found(Other): name: str",
    "class Found(NamedTuple): name: str = 'x'",
    "class Found(NamedTuple): name: open",
    "class Found(NamedTuple): user.name: str",
    "class Found(NamedTuple): name(",
    "class Found(NamedTuple): ",
)
READS = (
    "@read('Q1') def users(name: str) -> list[User]",
    "@read('Q1', newest_first=True, of=[User, Order]) def users(name: str, limit: int = 3) -> Page[User]",
    "@read('Q1', key=User.by_mail, all_of='GSI1') def users() -> User | None",
    "@read('Q1', key=Nobody.by_mail) def users() -> User | None",
    "@read('Q1', through=Through(Order, user_id='id')) def users(order_id: str) -> list[User]",
    "@read('Q1', through=Through(Nobody)) def users(order_id: str) -> list[User]",
    "@read('Q1', through=Through(Order, user_id=id)) def users(order_id: str) -> list[User]",
    "@read('Q1', where={'open': True}, per_second=3) def users(name: str = 'x') -> int",
    "@read('Q1', where=open) def users(name: str) -> int",
    "@read('Q1', other=3) def users(name: str) -> int",
    "@read('Q1', 'Q2') def users(name: str) -> int",
    "@read() def users(name: str) -> int",
    "@read('Q1') def users(name) -> int",
    "@read('Q1') def users(name: str, name: str) -> int",
    "@read('Q1') def users(*name: str) -> int",
    "@read('Q1') def users(**name: str) -> int",
    "@read('Q1') def users(*, name: str) -> int",
    "@read('Q1') def users(name: str, /) -> int",
    "@read('Q1') def users(name: str = open()) -> int",
    "@read('Q1') def users(name: Nobody) -> int",
    "@read('Q1') def users(name: str) -> Nobody",
    "@read('Q1') def users(name: str)",
    "@write('Q1') def users(name: str) -> int",
    "@read('Q1') def class(name: str) -> int",
    "@read(Q1) def users(name: str) -> int",
    "@read(User) def users(name: str) -> int",
)


def test_a_line_is_a_field_a_result_or_a_question_as_agreed_upon() -> None:
    names = ("User", "Order")
    assert_agreed(lines(FIELDS, field_in))
    assert_agreed(lines(RESULTS, lambda line: result_in(line, names)))
    assert_agreed(lines(READS, lambda line: read_in(line, names)))


def test_what_a_question_mentions() -> None:
    options = "'Q1', all_of='GSI1', through=[User, Through(Order, at='x')], key=User.by_mail"
    read = ReadDeclaration("users", options, ("self_id: str", "limit: int = 3"), "Page[User] | Found")
    assert read.mentions == {"User", "Order", "Through", "str", "int", "Page", "Found"}
    assert (read.keys, read.indexes) == ([("User", "by_mail")], ["GSI1"])
    assert read.options_with({"GSI1": "THE_INDEX"}).startswith("'Q1', all_of=THE_INDEX, through=[User, ")
    plain = ReadDeclaration("users", '"Q1"', (), "int")
    assert plain.options_with({"GSI1": "X"}) == '"Q1"'


# Types and values


class Colour(Enum):
    """A colour."""

    RED = "red"
    BLUE = 3


class Inner(BaseModel):
    """A part."""

    n: int = 1


class Whole(BaseModel):
    """Fields whose serializers make another type of them."""

    a: Annotated[int, PlainSerializer(str, return_type=str)] = 1
    b: Annotated[int, PlainSerializer(lambda value: [value], return_type=list[int])] = 1
    c: Annotated[int, PlainSerializer(lambda value: value or None, return_type=float | None)] = 1
    d: Annotated[int, PlainSerializer(str)] = 1


TYPES: tuple[Any, ...] = (
    str, int, object, None, list, list[int], tuple[int, ...], dict[str, Any], set[str] | None, Colour, Inner,
    Page[Inner], Range[datetime], Each[str], Id[int], Id[Annotated[str, Stored(layout="%Y")]], Ttl, Ttl | None, Prefix,
    Prefix | None, Literal["a", 3, True, None], Annotated[datetime, Stored("ms")],
    Annotated[datetime, Stored(write=str, read=int)], IPv4Address, list[IPv4Address], 3, "str",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    "a", 3, -2.5, True, None, b"\x00", (1, "a"), {"a": [1]}, Decimal("1.50"), UUID(int=3), date(2026, 3, 1),
    datetime(2026, 3, 1, 9, tzinfo=UTC), time(9, 30), timedelta(1, 2, 3), Colour.RED, Colour.BLUE, Inner(n=3),
    Range(ge=1), Range(gt=Decimal(1), lt=Decimal(2)), float("nan"), float("inf"), object, {1, 2},
    IPv4Address("1.2.3.4"),
)  # fmt: skip


def test_types_and_values_have_the_texts_agreed_upon() -> None:
    numbers = map(str, range(len(TYPES)))
    assert_agreed(lines(numbers, lambda number: type_text(TYPES[int(number)], {Inner: "Inner"})))
    kinds = (*TYPES[:10], Decimal, IPv4Address, float | None, int | str, Colour, datetime, bytes)
    assert_agreed(lines(kinds, stored_text))
    assert_agreed(lines("abcde", lambda name: serialized_text(Whole, name)))
    assert_agreed("\n".join(literal_text(value) if _has_text(value) else f"none: {type(value)}" for value in VALUES))


def _has_text(value: Any) -> bool:
    try:
        return bool(literal_text(value))
    except ValueError:
        return False


EXPRESSIONS = (
    "str", "Nobody", "User", "None", "...", "str | None", "str | Nobody", "list[str]", "list[Nobody]", "dict[str, Any]",
    "tuple[str, ...]", "Literal['a']", "Literal['a', -3, b'x', True]", "Literal[open]", "Literal[1.5]", "Literal[-x]",
    "Annotated[str, Stored('ms')]", "Annotated[str, Stored('other')]", "Annotated[str, Stored(layout='%Y')]",
    "Annotated[str, Stored(layout=3)]", "Annotated[str, Stored('ms', x=1)]", "Annotated[str, Stored(write=str)]",
    "Annotated[Nobody, Stored('ms')]", "Annotated[str, 3]", "Page[User]", "Nobody[User]", "Each[Literal['a']]", "3",
    "'a'", "[1, 'a']", "{'a': (1, None)}", "x", "f()", "Decimal('1.5')", "Decimal('x')", "Decimal(x)", "UUID('1')",
    "Decimal(value='1')", "timedelta(1, 2)", "date.fromisoformat('2026-03-01')", "date.fromisoformat('x')",
    "datetime.now()", "Range(ge=1)", "Range(ge=1, lt=Decimal('2'))", "Range(ge=1, gt=2)", "Range(le=1, lt=2)",
    "Range()", "Range(1)", "Range(x=1)", "Range(ge=x)", "-1", "1 + 1", "{*x}", "Range(**x)",
)  # fmt: skip


def test_which_expressions_are_types_and_values_is_as_agreed_upon() -> None:
    def judged(text: str) -> list[str]:
        node = ast.parse(text, mode="eval").body
        return [*(["type"] if is_type(node, ["User"]) else []), *(["value"] if is_value(node) else [])]

    assert_agreed(lines(EXPRESSIONS, judged))


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


def test_names_and_texts_of_the_module_are_as_agreed_upon() -> None:
    names = (
        "user", "USER", "lineItem", "line item", "HTTPServer", "2nd Name", "", "é", "A", "X1Y", "a-LINE_item", "ABc",
    )  # fmt: skip
    assert_agreed(lines(names, lambda name: f"{_class_name(name)} {_constant(name)} {_text(name)} {_doc(name)}"))
    texts = ('a"b', "a'b", "a'\"b", "back\\slash", "two\nlines", '"""')
    assert_agreed(lines(texts, lambda text: f"{_text(text)} {_doc(text)}"))
    indexes = (
        IndexDeclaration("I", (("a", "S"),), ()),
        IndexDeclaration("I", (("a", "N"), ("b", "B")), (("c", "S"),), "KEYS_ONLY"),
        IndexDeclaration("I", (("a", "S"),), (("b", "N"), ("c", "S")), ("x", 'y"'), local=True),
    )
    assert_agreed("\n".join(map(_index, indexes)))
    fields = (
        FieldDeclaration("a", "str", "a"),
        FieldDeclaration("a", "str", "A"),
        FieldDeclaration("a", "str", "a", "'x'"),
        FieldDeclaration("a", "str", "A", "'x'"),
        FieldDeclaration("a", "set[str]", "a", None, "set"),
        FieldDeclaration("a", "set[str]", "A", None, "set"),
        FieldDeclaration("a", "int", "a", None, None, 4),
    )
    assert_agreed("\n".join(_declared_line("a", field.type, field) for field in fields))
    assert_agreed(lines([*fields[:1], *(FieldDeclaration("a", kind, "a") for kind in KINDS)], _tag))


KINDS = ("int", "Decimal", "float", "bytes", "Version", "tuple[str, ...]", "list[str]", "datetime")


def test_values_as_columns_compare_them() -> None:
    given: tuple[Any, ...] = (
        None, {"NULL": True}, {"S": "a"}, {"N": "1"}, {"N": 1}, {"BOOL": False}, {"L": [{"S": "a"}, {"S": "b"}]},
        {"L": []}, {"L": [{"S": "a"}, {"N": "1"}]}, {"L": ["a"]}, {"M": {"a": {"S": "b"}}},
    )  # fmt: skip
    assert_agreed(lines(given, _value))


def test_templates_are_read_as_agreed_upon() -> None:
    texts = (
        "USER#{user_id}", "USER#<userId>", "USER#[user id]", "USER#${userId}", "USER#(a-b)", "USER#{{a}", "{a:08d}#{b}",
        "<7>", "USER", "{", "a{b}c{d}", "",
    )  # fmt: skip
    assert_agreed(lines(texts, lambda text: f"{variables(text)} {with_braces(text)} {_pattern(text)}"))
    segments = ("a", "a#b", "a$cb", "a$", "$c", "", "$x", "#")
    assert_agreed(lines(segments, lambda text: [is_escaped(text, last=last) for last in (False, True)]))


def _pattern(text: str) -> str | None:
    shape = shape_of(text)
    return None if shape is None else shape.pattern


KEYS = (
    KeyDeclaration("k", ("USER#{a}",), ("META",)),
    KeyDeclaration("k", ("USER#{a}",), ("ORDER#{b}",)),
    KeyDeclaration("k", ("USER#{a}",), ("{b}",)),
    KeyDeclaration("k", ("USER#{a:04d}",), ("META",)),
    KeyDeclaration("k", ("USER#{a:04d:desc}",), ("META",), None, {}, 4),
    KeyDeclaration("k", ("USER#{a}",), ("ORDER#{parts}",)),
    KeyDeclaration("k", ("USER#{a}#x",), ("ORDER#{b}#{c}",)),
    KeyDeclaration("k", ("USER#{a}",), ()),
    KeyDeclaration("k", ("USER#{",), ("META",)),
    KeyDeclaration("k", ("USER#{a}",), ("{n:04d}",)),
    KeyDeclaration("k", ("USER#{a}",), ("ORDER#{n:04d:desc}",)),
    KeyDeclaration("k", ("USER#{a}",), ("ORDER#META",)),
    KeyDeclaration("k", ("USER#{a}",), ("ORDER#0007",)),
    KeyDeclaration("k", ("{a}|{b}",), ("META",), style=KeyStyle(raw=True)),
)


def test_which_keys_can_meet_is_as_agreed_upon() -> None:
    rows = [
        "".join("x" if can_meet(first, second, lists, ["parts"]) else "." for second in KEYS)
        for lists in ([], ["parts"])
        for first in KEYS
    ]
    assert_agreed("\n".join(rows))


# Files

KEY = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "range"}]
TYPED = [{"AttributeName": "pk", "AttributeType": "N"}, {"AttributeName": "x"}, {"AttributeType": "S"}, 3]
FILES: tuple[Any, ...] = (
    {},
    {"DataModel": [1], "KeySchema": KEY},
    {"KeyAttributes": {"PartitionKey": "pk"}},
    {"KeyAttributes": {}, "TableName": "T"},
    {
        "KeySchema": KEY,
        "TableName": "T",
        "AttributeDefinitions": TYPED,
        "Items": [{"pk": {"S": "a"}}, {"PutRequest": 3}],
    },
    {"KeySchema": [*KEY, *KEY, {"AttributeName": 3}, {"AttributeName": "z", "KeyType": "OTHER"}, 3]},
    {"Table": {"KeySchema": KEY, "TableName": "T"}, "TableDescription": {"KeySchema": KEY}, "ModelName": "M"},
    {"CreateTable": {"TableName": "T"}},
    {
        "Resources": {
            "A": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": {"Ref": "x"}, "KeySchema": KEY}},
            "B": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"TableName": "Bs"}},
            "C": {"Type": "AWS::S3::Bucket"},
            "D": 3,
        },
        "Description": "Two tables",
    },
    {
        "tables": [
            {
                "TableName": "T",
                "KeySchema": KEY,
                "LocalSecondaryIndexes": [{"IndexName": "L", "KeySchema": KEY[:1]}, 3],
            },
            {"TableName": 3, "KeySchema": KEY},
            {"TableName": "U"},
            3,
        ],
        "items": {"T": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}], "U": []},
        "name": "N",
    },
    {"tables": 3, "items": 3},
    {"indexes": {"primary": {"hash": "pk"}, "gs1": {"hash": "a", "sort": "b"}, "gs2": 3}, "name": "O", "data": [1]},
    {"indexes": {"primary": {"hash": "pk", "sort": "sk"}}},
    {"indexes": {"primary": {}}},
    {"indexes": 3},
)


@pytest.mark.parametrize("number", range(len(FILES)))
def test_a_file_is_laid_out_as_agreed_upon(number: int) -> None:
    assert_agreed(pretty(as_workbench(FILES[number])))


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


def test_keys_of_a_file_are_read_as_agreed_upon() -> None:
    """Sides and types in every spelling; indexes that are there twice, or have no key."""

    def index(name: Any, partition: Any, sort: Any = None, **more: Any) -> dict[str, Any]:
        return {"IndexName": name, "KeyAttributes": {"PartitionKey": partition, "SortKey": sort}, **more}

    typed = {"AttributeName": "n", "AttributeType": "number"}
    model = table(
        {},
        KeyAttributes={"PartitionKey": {"AttributeName": "PK", "AttributeType": "string"}, "SortKey": "PK"},
        GlobalSecondaryIndexes=[
            index("GSI1", typed, "n"),
            index("GSI1", "a"),
            index("GSI2", None, "a"),
            index("GSI3", "n", {"AttributeName": "b", "AttributeType": "BINARY"}),
            index("GSI4", {"AttributeName": "odd", "AttributeType": "MAP"}, {"AttributeName": "x" * 300}),
            index(
                "I5", "a", Projection={"ProjectionType": "include", "NonKeyAttributes": ["x", "x", "PK", "", 3, "y"]}
            ),
            index("GSI6", "a", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]}),
            index("GSI7", "a", Projection={"ProjectionType": "keys_only"}),
            index("GSI8", "a", Projection={"ProjectionType": "OTHER"}),
        ],
        LocalSecondaryIndexes=[index("LSI1", None, "c"), index("GSI3", None, "c"), index("LSI2", "x"), 3],
        NonKeyAttributes=["plain", {"AttributeName": "t", "AttributeType": "map"}, {"AttributeType": "S"}, 3],
    )
    read = read_model(json.dumps(model), "model.json")
    (made,) = read.tables
    assert_agreed("\n".join([str(made.key), str(made.attributes), *map(str, made.indexes), *read.notes]))


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


def test_what_of_an_item_would_change_is_told_as_agreed_upon() -> None:
    items = [
        note(1, more="x" * 58),
        note(2, more="x" * 59),
        note(3, more={"NULL": True}, number={"N": "1.0"}),
        note(4, text={"N": "3"}),
        note(5, number={"S": "x"}),
        {**note(6), "SK": {"S": "OTHER"}},
        {name: value for name, value in note(7).items() if name != "note_id"},
        note(8, note_id="other"),
    ]
    assert_agreed("\n".join(sample_faults(Notes.compiled, {"Note": items})))
