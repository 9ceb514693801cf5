"""The studio's bounds, on either side of each: how many tables are named, edits go into one transaction, rows of a file
are compared, collections of a kind are shown; and what is cut to how much.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

import json
import linecache
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keyplan import Binary, Create, Design, Entity, Index, Key, Number, Table, Writes, read, write
from keyplan.client.conversations import Conversation, Request, Transport
from keyplan.errors import RequestError, StoreError
from keyplan.studio.actions import Studio, run
from keyplan.studio.changing import Source, change_made, loaded, source_of
from keyplan.studio.collections import picture
from keyplan.studio.drawing import item_json
from keyplan.studio.editing import edit_json
from keyplan.studio.exchange import brought_json
from keyplan.studio.finding import data_json
from keyplan.studio.items import attribute_text
from keyplan.studio.paths import Path as CallPath
from keyplan.studio.paths import _EnoughError, followed
from keyplan.studio.reviewing import cost_json, questions_json
from keyplan.studio.running import form_json, run_json
from keyplan.studio.sampling import CollectionPart, _Candidate, sample
from keyplan.studio.subject import Endpoint, Subject, of_design, of_uncompiled
from tests.studio.school import Report, School


class _Tables:
    """An endpoint with so many tables, a hundred a page."""

    def __init__(self, number: int) -> None:
        self.tables = [f"t{at:04d}" for at in reversed(range(number))]
        self.asked = 0

    def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
        assert operation == "ListTables"
        self.asked += 1
        at = self.tables.index(parameters["ExclusiveStartTableName"]) + 1 if parameters else 0
        page = self.tables[at : at + 100]
        more = {"LastEvaluatedTableName": page[-1]} if at + 100 < len(self.tables) else {}
        return {"TableNames": page, **more}

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


@pytest.mark.parametrize(("number", "named", "asked"), [(3, 3, 1), (250, 250, 3), (1000, 1000, 10), (1250, 1000, 10)])
def test_a_thousand_tables_are_named(number: int, named: int, asked: int) -> None:
    transport = _Tables(number)
    endpoint = Endpoint("http://x", transport, local=True, writable=True, table="t0000", others=True)
    names = endpoint.names()
    assert (len(names), transport.asked) == (named, asked)
    assert names == sorted(transport.tables[:named])
    alone = replace(endpoint, others=False)
    assert (alone.names(), transport.asked) == (["t0000"], asked)


# What is written


def created(entity: str, number: int) -> dict[str, Any]:
    fields = {"pupil_id": f"n{number}", "name": "N", "email": f"n{number}@example.org"}
    return {"do": "create", "entity": entity, "fields": fields if entity == "Pupil" else {"course_id": f"c{number}"}}


def test_a_hundred_operations_go_into_one_transaction(empty: Subject) -> None:
    """A pupil's claim is an operation too."""
    made = edit_json(empty, [created("Pupil", number) for number in range(50)], save=False)
    assert len(made["requests"][0]["parameters"]["TransactItems"]) == 100
    with pytest.raises(RequestError, match="these edits are 102 operations"):
        edit_json(empty, [created("Pupil", number) for number in range(51)], save=False)


def test_so_many_rows_of_a_file_are_compared(subject: Subject) -> None:
    line = json.dumps({"Item": {"pk": {"S": "COURSE#art"}, "sk": {"S": "#COURSE"}, **_course(subject)}})
    brought = brought_json(subject, {"form": "jsonl", "text": f"{line}\n" * 1000})
    assert (brought["edits"], brought["same"]) == ([], 1000)
    with pytest.raises(RequestError, match="1001 items"):
        brought_json(subject, {"form": "jsonl", "text": f"{line}\n" * 1001})
    new = "".join(f'{{"course_id": "c{number}", "title": "C"}}\n' for number in range(100))
    assert len(brought_json(subject, {"form": "jsonl", "text": new, "entity": "Course"})["edits"]) == 100
    with pytest.raises(RequestError) as caught:
        brought_json(subject, {"form": "jsonl", "text": "[]\n" * 60})
    assert [fault.place for fault in caught.value.errors] == [f"line {number}" for number in range(1, 51)]


def _course(subject: Subject) -> dict[str, Any]:
    (row,) = data_json(subject, {"entity": "Course", "partition": "COURSE#art"})["items"].values()
    return {name: value for name, value in row.items() if name not in {"pk", "sk"}}


def test_a_cell_that_is_of_no_type_of_its_field_comes_in_as_it_stands(subject: Subject) -> None:
    text = "pupil_id,number,text,nothing\np0,many,[1],[1]\np0,[1,3,3\n"
    given = {"form": "csv", "entity": "Report", "text": text}
    assert [edit["fields"] for edit in brought_json(subject, given)["edits"]] == [
        {"pupil_id": "p0", "number": "many", "text": "[1]", "nothing": "[1]"},
        {"pupil_id": "p0", "number": "[1", "text": "3", "nothing": "3"},
    ]


def test_what_no_edit_creates(subject: Subject) -> None:
    claim = {"do": "create", "item": {"pk": {"S": "EMAIL#new@example.org"}, "sk": {"S": "CLAIM"}}}
    with pytest.raises(RequestError) as caught:
        edit_json(subject, [claim, created("Nobody", 1)], save=False)
    assert [fault.message for fault in caught.value.errors] == [
        "a claim is written with its item",
        "there is no such entity",
    ]
    with pytest.raises(RequestError) as caught:
        edit_json(replace(subject, design=None), [created("Course", 1)], save=False)
    assert [fault.message for fault in caught.value.errors] == ["there is no such entity"]
    assert len(edit_json(replace(subject, design=None), [claim], save=False)["changes"]) == 1


# What is priced


@pytest.mark.parametrize(
    ("given", "faulty"),
    [
        ({"rates": {"pupil": 0, "reports": 1_000_000}, "counts": {"Pupil": 10**12}, "bytes": {"Pupil": 409_600}}, []),
        ({"rates": {"pupil": 1_000_001}}, ["rates.pupil"]),
        ({"rates": {"pupil": True}}, ["rates.pupil"]),
        ({"counts": {"Pupil": 10**12 + 1, "Report": -1}}, ["counts.Pupil", "counts.Report"]),
        ({"bytes": {"Pupil": 409_601, "nobody": 3}}, ["bytes.Pupil", "bytes.nobody"]),
        ({"region": "eu-west-1"}, []),
        ({"region": "mars"}, ["region"]),
        ({"rates": [], "counts": 3}, ["counts"]),
    ],
)
def test_numbers_that_can_be_priced(given: dict[str, Any], faulty: list[str]) -> None:
    if not faulty:
        assert cost_json(School, given)["region"] == given.get("region", "us-east-1")
        return
    with pytest.raises(RequestError) as caught:
        cost_json(School, given)
    assert [fault.place for fault in caught.value.errors] == faulty


class Rack(Entity):
    """A rack."""

    rack_id: str

    primary = Key("RACK#{rack_id}", "#")


class Racks(Design):
    """Racks."""

    table = Table("racks")

    @read("R1")
    def rack(self, rack_id: str) -> Rack | None:
        """One."""
        ...

    @write("W1")
    def build(self, rack_id: str) -> Writes:
        """Nobody knows what it writes: it looks for a rack that is never there."""
        yield Create(Rack(rack_id=str(int(rack_id[:0]))))


def test_what_cannot_be_estimated_has_no_price() -> None:
    rack, build = questions_json(Racks)["questions"]
    assert (rack["failure"], rack["usd_million"]) == (None, 0.0625)
    assert build["failure"] is not None
    assert (build["usd_million"], build["usd_month"], build["calls"]) == (None, None, 0)
    source = source_of(Racks)
    assert source is not None
    text = "from tests.studio.test_bounds import Racks\n"
    answer = change_made(source, text, text)
    assert [prices["questions"] for prices in answer["prices"]] == [{"rack": 0.0625, "build": None}] * 2
    assert [prices["failures"] for prices in answer["prices"]] == [[f"W1 build: {build['failure']}"]] * 2


# What is shown


@pytest.mark.parametrize(("kinds", "each"), [(1, 3), (4, 3), (5, 2), (10, 2), (11, 1)])
def test_so_many_collections_of_a_kind_are_shown(empty: Subject, kinds: int, each: int) -> None:
    """Three where there are few kinds, one where there are many."""
    for kind in range(kinds):
        for number in range(4):
            item = {"pk": {"S": f"{'ABCDEFGHIJK'[kind]}#{number}"}, "sk": {"S": "x"}}
            empty.transport.call("PutItem", {"TableName": "school", "Item": item})
    assert len(sample(replace(empty, design=None)).stretches) == each * kinds
    assert len(sample(replace(empty, design=None), each=2).stretches) == 2 * kinds


def test_of_a_long_answer_so_much_is_shown(school: School) -> None:
    for number in range(10, 240):
        school.put(Report(pupil_id="p0", number=number, text="good"))
    subject = of_design(school)
    made = run_json(subject, "reports", {"pupil_id": "p0", "limit": 210}, send=False)
    assert (len(made["steps"][0]["items"]), made["steps"][0]["found"]) == (200, 211)
    lit = run(Studio(subject), "map", {"question": "reports", "arguments": {"pupil_id": "p0", "limit": 30}})
    assert lit["svg"].count(' hit"') == 14
    assert len(form_json(subject, "reports_between")["examples"]) == 8
    each = data_json(subject, {"partition": "PUPIL#p0", "limit": 2})
    assert [len(each["rows"]), each["looked_at"]] == [2, 240]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"S": "x" * 400}, "x" * 400),
        ({"S": "x" * 401}, f"{'x' * 399}…"),
        ({"B": "AQIDBAUGBwg="}, "0x0102030405060708"),
        ({"B": "AQIDBAUGBwgJ"}, "0x0102030405060708… 9 bytes"),
        ({"B": "AQIDBAUGBw=="}, "0x01020304050607"),
        ({"B": ""}, "0x"),
        ({"L": [{"N": "1"}] * 8}, f"[{', '.join('1' * 8)}]"),
        ({"L": [{"N": "1"}] * 9}, f"[{', '.join('1' * 8)}, and 1 more]"),
        ({"L": [{"S": "x" * 40}, {"S": "x" * 41}]}, f"[{'x' * 40}, {'x' * 39}…]"),
        ({"M": {"a": {"S": "x" * 41}, "b": {"BOOL": False}}}, f"{{a: {'x' * 39}…, b: false}}"),
        ({"NS": ["1", "2"]}, "{1, 2}"),
        ({"BS": ["AA==", "AQ=="]}, "2 binary values"),
        ({"NULL": True}, "null"),
        ({}, "null"),
        ({"S": " a \n  b "}, "a b"),
    ],
)
def test_an_attribute_in_few_words(value: dict[str, Any], shown: str) -> None:
    assert attribute_text(value) == shown


def test_an_entry_of_a_kind_that_would_not_be_seen_stands_apart(subject: Subject) -> None:
    (pupil,) = [part for part in sample(subject, rows=1).stretches if part.items[0].get("pupil_id") == {"S": "p0"}]
    assert [item["sk"]["S"][:6] for item in (*pupil.items, *pupil.apart)] == ["#PUPIL", "REPORT"]


def test_an_index_of_numbers_or_bytes_is_in_their_order(empty: Subject) -> None:
    table = Table("numbers", indexes=[Index("ByN", "day", Number("n"))])
    items = [{"pk": {"S": f"a{n}"}, "sk": {"S": "x"}, "day": {"S": "d"}, "n": {"N": str(n)}} for n in (10, -3, 9, 2)]
    drawn = picture("numbers", table, None, [CollectionPart([item], [], None) for item in items])
    (collection,) = drawn.places[1].collections
    assert ["".join(piece.text for piece in entry.sort) for entry in collection.entries] == ["-3", "2", "9", "10"]
    table = Table("bytes", indexes=[Index("ByB", "day", Binary("b"))])
    held = [{**item, "b": {"B": base64}} for item, base64 in zip(items, ("/w==", "AQ==", "AQI=", ""), strict=True)]
    drawn = picture("bytes", table, None, [CollectionPart([item], [], None) for item in held])
    (collection,) = drawn.places[1].collections
    texts = ["".join(piece.text for piece in entry.sort) for entry in collection.entries]
    assert texts == ["0x", "0x01", "0x0102", "0xff"]
    table = Table("numbers", indexes=[Index("ByN", "day", Number("n"))])
    shown = item_json(replace(empty, table=table, design=None), items[0])
    assert [[each["template"] for each in place["attributes"]] for place in shown["keys"]] == [[None, None]] * 2
    assert [piece["text"] for piece in shown["keys"][1]["attributes"][1]["pieces"]] == ["10"]


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_pages_of_any_length(subject: Subject, limit: int) -> None:
    assert len(data_json(subject, {"limit": limit})["rows"]) == min(limit, 22)


@pytest.mark.parametrize("limit", [0, 501, True, "1", None])
def test_pages_of_no_length_are_refused(subject: Subject, limit: Any) -> None:
    with pytest.raises(RequestError) as caught:
        data_json(subject, {"limit": limit})
    assert [fault.message for fault in caught.value.errors] == ["isn't a whole number from 1 to 500"]


def worth(items: int, kinds: int, shared: int) -> int:
    values = frozenset(f"text{number}" for number in range(shared))
    return _Candidate([{}] * items, kinds, values).worth({*values, "another"})


def test_what_makes_a_collection_worth_showing() -> None:
    """A kind more weighs as much as ten items or five ties; more than a row full, or a dozen ties, is no more worth."""
    assert [worth(0, kinds, 0) for kinds in (1, 2)] == [10, 20]
    assert [worth(items, 0, 0) for items in (1, 6, 7, 8)] == [1, 6, 7, 7]
    assert [worth(0, 0, shared) for shared in (1, 11, 12, 13)] == [2, 22, 24, 24]


def test_a_store_that_says_nothing_of_units_took_none(subject: Subject) -> None:
    class Silent:
        def call(self, operation: str, parameters: dict[str, Any], /) -> dict[str, Any]:
            answer = subject.transport.call(operation, parameters)
            answer.pop("ConsumedCapacity", None)
            return answer

        call_all = subject.transport.call_all

    made = data_json(replace(subject, transport=Silent()), {})
    assert (made["units"], len(made["rows"])) == (0.0, 22)


def test_orphans_are_looked_for_where_whole_items_are(subject: Subject) -> None:
    places = {"": "", "GSI1": "GSI1"}
    assert [data_json(subject, {"only": "orphans", "index": index})["rows"] for index in places] == [[], []]
    (index,) = subject.table.indexes
    narrow = replace(subject, table=_with(subject, replace(index, projection="KEYS_ONLY")))
    with pytest.raises(RequestError) as caught:
        data_json(narrow, {"only": "orphans", "index": "GSI1"})
    assert [str(fault) for fault in caught.value.errors] == ["only: takes the table, or an index that has whole items"]
    assert data_json(narrow, {"only": "orphans"})["rows"] == []
    assert data_json(narrow, {"index": "GSI1"})["rows"]


def _with(subject: Subject, index: Any) -> Any:
    table = type(subject.table)("school", indexes=[index])
    assert table.key_names == subject.table.key_names
    return table


# The way of a call


class _Answering:
    """A store that has one answer to everything."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer

    def call(self, _operation: str, _parameters: dict[str, Any], /) -> dict[str, Any]:
        return dict(self.answer)

    def call_all(self, requests: list[Request], /) -> list[dict[str, Any]]:
        return [self.call(*request) for request in requests]


KEY = {"pk": {"S": "a"}}
ITEM = {**KEY, "n": {"N": "1"}}
WRITES: list[tuple[str, dict[str, Any], list[tuple[str, Any]]]] = [
    ("PutItem", {"Item": ITEM}, [("put", ITEM)]),
    ("UpdateItem", {"Key": KEY}, [("update", KEY)]),
    ("DeleteItem", {"Key": KEY}, [("delete", KEY)]),
    (
        "BatchWriteItem",
        {"RequestItems": {"t": [{"PutRequest": {"Item": ITEM}}, {"DeleteRequest": {"Key": KEY}}]}},
        [("put", ITEM), ("delete", KEY)],
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"Item": ITEM}},
                {"Update": {"Key": KEY}},
                {"Delete": {"Key": KEY}},
                {"ConditionCheck": {"Key": KEY}},
            ]
        },
        [("put", ITEM), ("update", KEY), ("delete", KEY), ("check", KEY)],
    ),
]


def one(operation: str, parameters: dict[str, Any]) -> Conversation[Any]:
    return (yield Request(operation, parameters))


def of(conversation: Conversation[Any], answer: dict[str, Any], *, send: bool = True) -> CallPath:
    path = CallPath({})
    transport: Transport = _Answering(answer)
    path.answer = followed(conversation, transport, path, send=send)
    return path


@pytest.mark.parametrize(("operation", "parameters", "touched"), WRITES)
def test_what_a_request_would_write(operation: str, parameters: dict[str, Any], touched: Any) -> None:
    rehearsed = of(one(operation, parameters), {"sent": True}, send=False)
    assert rehearsed.steps[0].touched == touched
    assert rehearsed.answer == ({"UnprocessedItems": {}} if operation == "BatchWriteItem" else {})
    sent = of(one(operation, parameters), {"sent": True})
    assert (sent.steps[0].touched, sent.answer) == (touched, {"sent": True})


@pytest.mark.parametrize(
    ("answer", "items", "units"),
    [
        ({"Item": ITEM, "ConsumedCapacity": {"CapacityUnits": 0.5}}, [ITEM], 0.5),
        ({"Items": [ITEM, KEY], "ConsumedCapacity": {"CapacityUnits": 2}}, [ITEM, KEY], 2.0),
        (
            {
                "Responses": {"t": [KEY], "u": [ITEM]},
                "ConsumedCapacity": [{"CapacityUnits": 1.0}, {"CapacityUnits": 2}],
            },
            [KEY, ITEM],
            3.0,
        ),
        ({}, [], 0.0),
    ],
)
def test_what_a_request_finds_and_takes(answer: dict[str, Any], items: list[Any], units: float) -> None:
    path = of(one("Query", {"TableName": "t"}), answer)
    assert (path.steps[0].items, path.steps[0].units) == (items, units)
    assert path.steps[0].as_json() == {
        "operation": "Query",
        "parameters": {"TableName": "t"},
        "found": len(items),
        "units": units,
    }


def test_a_long_call_is_followed_for_forty_requests(school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10, 50):
        school.put(Report(pupil_id="p0", number=number, text="good"))
    call = school.store.transport.call

    def one_a_page(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return call(operation, {**parameters, "Limit": 1} if operation == "Query" else parameters)

    monkeypatch.setattr(school.store.transport, "call", one_a_page)
    given = {"pupil_id": "p0", "number": {"ge": 1}}
    cut = run_json(of_design(school), "reports_between", given, send=False)
    assert (len(cut["steps"]), cut["cut"], cut["answer"]) == (40, True, None)
    whole = run_json(of_design(school), "reports_between", {"pupil_id": "p0", "number": {"ge": 12}}, send=False)
    assert (len(whole["steps"]), whole["cut"], len(whole["answer"]["items"])) == (39, False, 38)


def test_a_write_on_the_map_is_rehearsed_with_arguments_alone(subject: Subject) -> None:
    studio = Studio(subject)
    assert run(studio, "map", {"question": "enrol"})["path"]["steps"] == []
    given = {"course_id": "art", "pupil_id": "p0"}
    assert len(run(studio, "map", {"question": "enrol", "arguments": given})["path"]["steps"]) == 2


def test_how_long_a_call_took_is_told(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a tenth of a millisecond."""
    monkeypatch.setattr(time, "perf_counter", iter([1.0, 1.1234567, 2.0, 2.0009876]).__next__)
    arguments = {"course_id": "art", "pupil_id": "p0"}
    assert run_json(subject, "pupil", {"pupil_id": "p0"}, send=False)["milliseconds"] == 123.5
    assert run_json(subject, "enrol", arguments, send=False)["milliseconds"] == 1.0


@pytest.mark.parametrize("value", [3, {}, {"N": "1", "S": "x"}])
def test_what_is_no_attribute_value_is_not_written(empty: Subject, value: Any) -> None:
    key = {"pk": {"S": "?"}, "sk": {"S": "x"}}
    empty.transport.call("PutItem", {"TableName": "school", "Item": key})
    with pytest.raises(RequestError) as caught:
        edit_json(empty, [{"do": "change", "key": key, "fields": {"n": value}}], save=False)
    assert [fault.message for fault in caught.value.errors] == ["n isn't an attribute value"]


def test_where_there_is_no_store_nothing_is_asked() -> None:
    nowhere = of_uncompiled(Racks).transport
    with pytest.raises(StoreError, match="no store to ask for Scan"):
        nowhere.call_all([Request("Scan", {})])


def test_without_a_design_a_question_has_no_path(subject: Subject) -> None:
    path = run(Studio(replace(subject, design=None)), "map", {"question": "pupil"})["path"]
    assert (path["steps"], path["answer"], path["error"]) == ([], None, None)


def test_a_file_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    """Also by what looks up the lines of a function."""
    source = Source(tmp_path / "changing.py", "Odd", None)
    for text in ("x = 1\n", "x = 1\ny = 2\n"):
        source.path.write_text(text)
        loaded(source, text)
        assert "".join(linecache.getlines(str(source.path))) == text


def test_module_imports_its_neighbors_and_its_package(tmp_path: Path) -> None:
    (tmp_path / "neighbor_of_odd.py").write_text("place = 'own'\n")
    text = "import neighbor_of_odd\nfrom .school import School\nassert neighbor_of_odd.place == 'own'\n"
    assert loaded(Source(tmp_path / "odd.py", "School", "tests.studio"), text) is School


def test_what_is_looked_at_of_a_large_collection(subject: Subject) -> None:
    """The kinds of two hundred items, and the texts of fifty, of five characters at the least."""
    course = {"pk": {"S": "COURSE#c"}}
    courses = [{**course, "sk": {"S": f"PUPIL#{number}"}, "t": {"S": f"{number:04d}"}} for number in range(220)]
    odd = {"pk": {"S": "odd"}, "sk": {"S": "odd"}, "t": {"S": "five5"}}
    for at, kinds in ((199, 2), (200, 1)):
        assert _Candidate.of(subject, [*courses[:at], odd, *courses[at:]]).kinds == kinds
    for at, seen in ((49, True), (50, False)):
        values = _Candidate.of(subject, [*courses[:at], odd, *courses[at:]]).values
        assert ("five5" in values) is seen
        assert "0003" not in values


def test_a_call_that_is_cut_ends_at_once() -> None:
    ended: list[bool] = []

    def endless() -> Conversation[Any]:
        try:
            while True:
                yield Request("Query", {})
        finally:
            ended.append(True)

    conversation = endless()
    with pytest.raises(_EnoughError):
        of(conversation, {})
    assert ended == [True]
