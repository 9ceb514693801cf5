"""The studio's smaller steps, at every length and kind: what is agreed upon of texts, keys, tables that are described,
numbers that are given; and each question of two systems, asked by what is there.
"""

from __future__ import annotations

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan import Put
from keyplan.client.conversations import Pause
from keyplan.errors import KeyplanError
from keyplan.studio import drawing, planning
from keyplan.studio.application import _static
from keyplan.studio.collections import Collection, Entry, Picture, Place, picture, template_picture
from keyplan.studio.items import attribute_text, kind_of, pieces, plain_pieces, template_pieces
from keyplan.studio.layout import laid_out
from keyplan.studio.paths import Path as Asked
from keyplan.studio.paths import example_arguments, followed, read_path, write_path
from keyplan.studio.reviewing import cost_json
from keyplan.studio.sampling import Count, sample
from keyplan.studio.subject import described, of_design
from keyplan.systems import system
from tests.agreed import assert_agreed
from tests.contract.design import Everything
from tests.studio.school import Course, School, fill
from tests.web.library import Library


def test_attributes_in_few_words() -> None:
    values: list[Any] = [{"B": base64.b64encode(bytes(range(1, 1 + size))).decode()} for size in range(14)]
    values += [{"S": "x" * length} for length in (0, 1, 39, 40, 41, 399, 400, 401)]
    values += [{"L": [{"N": str(number)} for number in range(size)]} for size in (0, 1, 7, 8, 9, 10)]
    values += [{"M": {f"m{number}": {"S": "a" * 50} for number in range(size)}} for size in (0, 1, 8, 9)]
    values += [{}, {"NULL": True}, {"BOOL": True}, {"BOOL": False}, {"SS": ["a", "b"]}, {"NS": ["1"]}, {"BS": ["YQ=="]}]
    values += [{"S": " a\n b\t"}, {"L": [{"M": {"deep": {"L": [{"S": "c" * 60}]}}}]}]
    assert_agreed("\n".join(f"{attribute_text(value)} | {attribute_text(value, 9)}" for value in values))


KEYS = ("", "#", "A", "A#", "#A", "A#b", "A#b#c", "USER#7", "ORDER#7#3", "POST#1|2", "u_1", "2026", "a:b", "USER#7#0")


def test_keys_in_their_parts() -> None:
    lines = [f"{key}: {[piece.as_json() for piece in plain_pieces(key)]}" for key in KEYS]
    templates = {
        (template.source, key.shards > 1): template
        for entity in Everything.compiled.entities.values()
        for key in (entity.primary, *entity.index_keys)
        for _, template in (*key.partition, *key.sort)
    }
    for (source, sharded), template in templates.items():
        for named in (False, True):
            shown = template_pieces(template, sharded=sharded or named)
            lines.append(f"{source} {named}: {[(piece.text, piece.field) for piece in shown]}")
        for text in (source.replace("{", "").replace("}", ""), "USER#7", "USER#7#3"):
            lines += [
                f"  {text} {named}: {[(each.text, each.field) for each in pieces(text, template, sharded=named)]}"
                for named in (False, True)
            ]
    assert_agreed("\n".join(lines))


def test_whose_an_item_is_without_a_design() -> None:
    table = Everything.compiled.table
    lines: list[str] = []
    for partition in KEYS:
        for sort in (None, "ORDER#1", "A#1", "x" * 26 + "#1", "x" * 25 + "#1"):
            item: dict[str, Any] = {table.partition.name: {"S": partition}}
            if table.sort is not None and sort is not None:
                item[table.sort.name] = {"S": sort}
            kind = kind_of(item, None, table)
            lines.append(
                f"{partition} {sort}: {kind.label} {kind.role} {kind_of(item, Everything.compiled, table).label}"
            )
    assert_agreed("\n".join(lines))


def test_a_table_as_it_is_described() -> None:
    def keys(*names: str) -> list[dict[str, str]]:
        return [{"AttributeName": name, "KeyType": "HASH" if at == 0 else "RANGE"} for at, name in enumerate(names)]

    names = {"pk": "S", "sk": "N", "a": "S", "b": "B", "c": "N"}
    description: dict[str, Any] = {
        "TableName": "things",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in names.items()],
        "KeySchema": keys("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {"IndexName": "Z", "KeySchema": keys("a"), "Projection": {"ProjectionType": "KEYS_ONLY"}},
            {"IndexName": "A", "KeySchema": keys("a", "b", "c"), "Projection": {"ProjectionType": "ALL"}},
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "L",
                "KeySchema": keys("pk", "c"),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["d", "e"]},
            }
        ],
    }
    small = {**description, "KeySchema": keys("pk"), "GlobalSecondaryIndexes": [], "LocalSecondaryIndexes": None}
    lines: list[str] = []
    for table in (described(description), described(small)):
        lines.append(f"{table.name} {table.partition} {table.sort}")
        lines += [f"{each.name} {each.partition} {each.sort} {each.projection} {each.local}" for each in table.indexes]
    assert_agreed("\n".join(lines))


GIVEN: list[Any] = [
    {},
    {"rates": {"on_shelf": 0, "lend": 2.5}},
    {"rates": {"on_shelf": -1, "lend": True, "nothing": 1, "priced": "1"}, "counts": [1], "bytes": {"Book": 500_000}},
    {"rates": {"on_shelf": 1}, "counts": {"Book": 10**12}, "bytes": {"Book": 409_600}},
    {"counts": {"Book": 10**12 + 1}, "bytes": {"Book": 409_601}},
    {"rates": {"on_shelf": 1}, "counts": {"Book": 1000, "Loan": 0}, "bytes": {"Book": 0, "Loan": 1.5}},
    {"region": "eu-west-1", "rates": {"lend": 1}},
    {"region": "nowhere", "counts": None},
]


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_numbers_that_the_page_gives(number: int) -> None:
    try:
        answer = cost_json(Library, GIVEN[number])
    except KeyplanError as error:
        assert_agreed(f"{error}\n" + "\n".join(f"{each.place}: {each.message} {each.hint}" for each in error.faults))
        return
    lines = [f"{each['entity']}: {each['count']} {each['item_bytes']}" for each in answer["entities"]]
    lines += [f"{each['times']}: {each['on_demand']} {each['provisioned']}" for each in answer["curve"]]
    assert_agreed("\n".join([answer["region"], f"{len(answer['regions'])} regions", *lines]))


# Questions by what is there


def items_of(design: Any) -> list[Any]:
    answer = design.store.transport.call("Scan", {"TableName": design.store.table_name})
    return list(answer["Items"])


def walked(design: Any) -> list[str]:
    """Each question, asked by the first items that give its arguments; each write, rehearsed."""
    lines: list[str] = []
    items = sorted(items_of(design), key=str)
    for pattern in design.compiled.patterns.values():
        examples = list(example_arguments(design.compiled, pattern, items))
        first = list(example_arguments(design.compiled, pattern, items, items[-1]))
        lines.append(f"{pattern.name}: {len(examples)} {len(first)} {examples[:1]} {first[:1] == examples[:1]}")
        for arguments in examples[:2]:
            path = (
                read_path(design, pattern, arguments)
                if pattern.name in design.compiled.reads
                else write_path(design, pattern.name, arguments, send=False)
            )
            steps = [
                f"{step.operation} {len(step.items)} {step.units} {[mark for mark, _ in step.touched]}"
                for step in path.steps
            ]
            answer = len(path.answer) if isinstance(path.answer, list) else type(path.answer).__name__
            lines.append(f"  {'; '.join(steps)} -> {answer} {path.cut} {path.error or ''}")
    return lines


def test_each_question_of_a_school_is_asked_by_what_is_there() -> None:
    with School.open(":memory:") as school:
        fill(school)
        assert_agreed("\n".join(walked(school)))


@pytest.mark.parametrize("name", ["shop", "papers"])
def test_each_question_of_a_system_is_asked_by_what_is_there(name: str) -> None:
    found = system(name)
    assert found.sample is not None
    with found.design.open(":memory:") as design:
        found.sample(design, 2, lambda _done, _whole: None)
        assert_agreed("\n".join(walked(design)))


# Plans that are kept


class Process:
    """A planning process that isn't begun."""

    def __init__(self) -> None:
        self.killed = 0

    def kill(self) -> None:
        self.killed += 1


def test_some_plans_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last eight that were made; what is being made ends when another is asked for."""
    asked: list[Any] = []

    def job(process: Any) -> Any:
        own = SimpleNamespace(
            process=process, state="done", made={"plans": []}, error=None, progress={}, ask=asked.append, stopped=0
        )
        own.stop = lambda: setattr(own, "stopped", own.stopped + 1)
        return own

    def begun(_command: list[str], **more: Any) -> Process:
        assert more["start_new_session"] is True  # Ctrl-C in the terminal is the studio's
        return Process()

    monkeypatch.setattr("subprocess.Popen", begun)
    monkeypatch.setattr(planning, "_Job", job)
    source: Any = SimpleNamespace(path=tmp_path / "x.py", class_name="X", package="", text=lambda: "text")
    planner = planning.Planner(source)
    versions = [planner.plan_json(text=str(number))["version"] for number in range(9)]
    assert len(asked) == len(set(versions)) == 9
    assert list(planner._jobs) == versions[1:]
    for text, again, times in (("8", False, 9), ("1", False, 9), ("1", True, 10), ("0", False, 11), ("2", False, 12)):
        planner.plan_json(text=text, again=again)
        assert len(asked) == times, text
    last = planner.plan_json(text="0")
    assert planner.plan_json(text="0", known=last["version"]) == {
        "version": last["version"],
        "state": "done",
        "unchanged": True,
    }
    running: Any = planner._jobs[last["version"]]
    running.state = "running"
    running.progress = {"done": 3}
    assert planner.plan_json(text="0", again=True) == {
        "version": last["version"],
        "state": "running",
        "file": str(source.path),
        "done": 3,
    }
    assert planner.plan_json(text="0", stop=True)["state"] == "running"
    assert (running.stopped, len(asked)) == (1, 12)
    assert planner.plan_json(text="elsewhere", stop=True)["state"] == "none"
    planner.plan_json(text="another")
    assert (running.process.killed, last["version"] in planner._jobs) == (1, False)
    planner.close()
    assert all(each.process.killed == 0 for each in planner._jobs.values())  # type: ignore[attr-defined]
    assert planning.Planner(None).plan_json()["state"] == "failed"


# The map


def collection(entries: int, gaps: int = 0, condition: str = "", count: int | None = None) -> Collection:
    made = [Entry(f"e{entries}-{at}", "i", "Thing", [], [], "", gap=at < gaps) for at in range(entries)]
    shown = None if count is None else Count(count, exact=True)
    return Collection(f"c{entries}", [], [], "", made, shown, condition)


def zones(table: list[Collection], *indexes: list[Collection]) -> list[tuple[int, int, int, int]]:
    places = [Place("", "", "", "", table), *(Place(f"I{at}", "", "", "", own) for at, own in enumerate(indexes))]
    return [(zone.x, zone.y, zone.width, zone.height) for zone in laid_out(Picture("P", places)).zones]


def test_an_index_that_would_be_the_tallest_has_a_second_column() -> None:
    low = collection(1)
    assert [zones([low], [own])[1][2] for own in (collection(14, 2, "pk"), collection(12, 3, "", 99))] == [704, 330]
    table = [collection(10, 1)]  # 504 with the gap below it, so that 630 is as high as an index may be
    assert [zones(table, [own])[1][2] for own in (collection(14, 2, "pk"), collection(14, 3, "pk"))] == [330, 704]
    # 625 is the most beside any lower table
    several = [collection(6, 1, "", 99), collection(6, 2, "", 99)]
    assert zones([low], several)[1][2] == 704


def test_short_indexes_stand_below_each_other() -> None:
    for size in range(1, 16):
        table = [collection(size) for _ in range(2)]
        index = [collection(size)]
        assert_agreed(str(zones(table, index, index, index)))


def test_facts_have_as_much_room_as_there_is() -> None:
    entry = Entry("e", "i", "Thing", [], [("name", "x" * 90), ("n", "1"), ("title", "y" * 30)], "")
    alone = Entry("e", "i", "Thing", [], [("", "x" * 90)], "")
    widths = (0, 24, 59, 59.9, 60, 61, 66, 68, 70, 80, 100, 131, 200, 400, 900)
    assert_agreed("\n".join(f"{width}: {drawing._facts(each, width)}" for each in (entry, alone) for width in widths))


def test_some_collections_of_an_index_are_shown_at_first() -> None:
    with School.open(":memory:") as school:
        school.batch([Put(Course(course_id=f"c{at:02d}", title="t", room=f"r{at:02d}")) for at in range(14)])
        subject = of_design(school)
        made = picture(subject.name, subject.table, subject.compiled, sample(subject).stretches)
    assert_agreed("\n".join(f"{place.index}: {len(place.collections)} {place.note}" for place in made.places))


@pytest.mark.parametrize("design", [Everything, Library], ids=lambda design: design.__name__)
def test_templates_stand_in_every_place(design: Any) -> None:
    """A local index, one of some attributes, keys in shards, of several attributes and of siblings among them."""
    made = template_picture(design.__name__, design.compiled)
    lines: list[str] = []
    for place in made.places:
        lines.append(f"{place.index}: {place.title}, {place.keys}: {place.note}")
        for shown in place.collections:
            lines.append(f"  {shown.id} {_text(shown.partition)} | {shown.template} {shown.count} {shown.condition}")
            lines += [
                f"    {each.id} {each.item} {each.kind} {_text(each.sort)} | {each.template} {each.facts} {each.gap}"
                for each in shown.entries
            ]
    lines += [f"{tie.kind} {tie.source} {tie.target} {tie.entity} {tie.label}" for tie in made.ties]
    lines += [f"{kind.label} {kind.role}" for kind in made.kinds]
    assert_agreed("\n".join(lines))


def _text(shown: Any) -> str:
    return "".join(f"[{piece.text}]" if piece.field is not None else piece.text for piece in shown)


# Requests of a conversation


def test_a_pause_is_made_only_where_something_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)

    def waiting() -> Any:
        yield Pause(0.25)
        return 7

    nowhere: Any = None
    for send, expected in ((False, []), (True, [0.25])):
        assert followed(waiting(), nowhere, Asked({}), send=send) == 7
        assert slept == expected


@pytest.mark.parametrize(
    "path",
    ["../actions.py", "../studio.js", "vendor/../../x.js", "..", "a b.js", "vendor", "vendor/", "nothing.js", ""],
)
def test_only_files_that_are_meant_are_static(path: str) -> None:
    assert _static(path) is None
    assert _static("vendor/preact.js") is not None


def test_a_column_of_indexes_is_as_high_as_the_table_may_be() -> None:
    low, upper, lower = collection(1), collection(5, 3, "", 99), collection(4, 2, "", 99)
    at_the_limit, over = (zones([low], [upper], [own]) for own in (lower, collection(4, 3, "", 99)))
    assert at_the_limit[2][0] == at_the_limit[1][0]
    assert over[2][0] > over[1][0]
