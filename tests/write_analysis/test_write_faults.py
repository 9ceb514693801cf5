# mypy: disable-error-code="empty-body"
"""Analysis of writes that use actions under other names, and of writes that always fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan import Add, Delete, Design, Entity, Key, Table, Update, Writes, read, write
from keyplan.analysis.check import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.traffic import traffic_from
from keyplan.analysis.write_analysis.analysis import WriteAnalysis, WriteAnalyzer
from keyplan.errors import TrafficError
from keyplan.testing import verify
from tests.write_analysis import renamed
from tests.write_analysis.renamed import Things

ANALYZER = WriteAnalyzer(Things.compiled, Things)


def analysis(name: str) -> WriteAnalysis:
    return ANALYZER.analysis(Things.compiled.writes[name])


@pytest.mark.parametrize(
    ("name", "rights"),
    [
        ("made", ("PutItem",)),
        ("counted", ("UpdateItem",)),
        ("named", ("PutItem",)),
        ("aliased", ("PutItem",)),
        ("helped", ("DeleteItem",)),
        ("imported", ("PutItem",)),
        ("in_a_branch", ("UpdateItem",)),
    ],
)
def test_actions_imported_under_other_names_need_the_same_permissions(name: str, rights: tuple[str, ...]) -> None:
    assert analysis(name).rights == rights


def test_actions_imported_under_other_names_are_explained() -> None:
    explanation = explain(Things, "made")
    assert explanation.operation == "PutItem"
    assert "The only action (Create)" in explanation.proof
    assert explain(Things, "named").operation == "PutItem"


def test_a_lost_update_by_an_action_imported_under_another_name_is_found() -> None:
    assert ("KP308", "Things.counted") in {(finding.code, finding.place) for finding in check(Things).findings}


FAULTS = {
    "unknown_field": "Item has no field 'nn'",
    "in_a_branch": "Item.owner: the field is part of the key by_owner",
    "of_another": "Stranger isn't an entity of this design",
    "of_another_type": "Item.number: input should be a valid integer",
    "twice": "two actions of one write use the same item",
    "misspelt": "AttributeError: 'Item' object has no attribute 'nunber'",
    "incomplete": "the body creates an invalid Item: Item.name: field required",
    "renamed": "Item.name: a primary key can't be changed",
}


@pytest.mark.parametrize("name", FAULTS)
def test_writes_that_always_fail_are_reported_by_check_and_cost(name: str) -> None:
    faults = analysis(name).faults()
    assert len(faults) == 1
    assert FAULTS[name] in faults[0].message
    assert ("given:" in faults[0].message) == (name == "of_another_type")  # the argument was never given
    (finding,) = (
        element for element in check(Things).findings if (element.code, element.place) == ("KP108", f"Things.{name}")
    )
    assert FAULTS[name] in finding.message
    assert finding.source is not None
    (pattern,) = (pattern_estimate for pattern_estimate in estimate(Things).patterns if pattern_estimate.name == name)
    assert FAULTS[name] in (pattern.failure or "")


def test_verify_rejects_writes_that_always_fail() -> None:
    with pytest.raises(AssertionError) as raised:
        verify(Things, stores=1, seed=1)
    text = str(raised.value)
    assert all(f"Things.{name}: {message}" in text for name, message in FAULTS.items())
    assert len(text.splitlines()) == 1 + len(FAULTS)


def test_the_analysis_of_valid_writes_finds_no_errors() -> None:
    names = Things.compiled.writes.keys() - FAULTS.keys()
    assert {name: analysis(name).faults() for name in names if analysis(name).faults()} == {}


def test_the_reported_location_of_an_error_is_the_failing_action() -> None:
    (finding,) = (
        element
        for element in check(Things).findings
        if element.place == "Things.unknown_field" and element.code == "KP108"
    )
    assert finding.source is not None
    line = Path(finding.source.file).read_text(encoding="utf-8").splitlines()[finding.source.line - 1]
    assert line.strip() == "yield Change(item, nn=3)"


def test_a_write_with_side_effects_is_not_run_by_the_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("writing", "swallowing"):
        assert analysis(name).unknown == ("the body isn't run: it opens a file",)
        assert analysis(name).rights == ("PutItem",)
    assert {f.place for f in check(Things).findings if f.code == "KP312"} == {"Things.writing", "Things.swallowing"}
    assert list(tmp_path.iterdir()) == []


def test_write_functions_are_run_once_by_the_analysis_and_never_by_explain() -> None:
    renamed.RUNS.clear()
    with Things.open(":memory:"):
        pass
    explain(Things, "stubborn")
    assert renamed.RUNS == []
    runs = WriteAnalyzer(Things.compiled, Things).analysis(Things.compiled.writes["stubborn"]).runs
    assert runs.unknown == "every dry run raises: RuntimeError: not today (add an example= to the write)"
    assert len(renamed.RUNS) == 1


class Thing(Entity):
    name: str
    n: int = 0

    primary = Key("THING#{name}", "HEAD")


class Caller(Design):
    """A design with writes that call reads and writes directly, without ``read`` and ``in_transaction``."""

    table = Table("callers")

    @read("C1")
    def thing(self, name: str) -> Thing: ...

    @read("C2")
    def things(self, name: str) -> Iterator[Thing]: ...

    @write("C3")
    def add(self, name: str) -> Writes:
        yield Update(Thing, name=name).set(n=Add(1))

    @write("C4")
    def calls_a_read(self, name: str) -> Writes:
        yield Update(self.thing(name), n=1)

    @write("C5")
    def iterates(self, name: str) -> Writes:
        for element in self.things(name):
            yield Delete(element)

    @write("C6")
    def calls_a_write(self, name: str) -> Writes:
        self.add(name)
        yield Delete(Thing, name=name)

    @write("C7")
    def calls_a_verb(self, name: str) -> Writes:
        result = self.get(Thing, name=name)
        if result is not None:
            yield Delete(result)


class Joiner(Design):
    """A design with writes that include the actions of other writes in the same transaction."""

    table = Table("joiners", entities=[Thing])

    @write("J1")
    def add(self, name: str) -> Writes:
        yield Update(Thing, name=name).set(n=Add(1))

    @write("J2")
    def added(self, name: str) -> Writes[int]:
        thing = yield from Update(Thing, name=name).set(n=Add(1))
        return thing.n

    @write("J3", in_transaction=True)
    def part(self, name: str) -> Writes:
        yield Update(Thing, name=name).set(n=Add(1))

    @write("J4", in_transaction=True)
    def asking_part(self, name: str) -> Writes[int]:
        return (yield from self.added.in_transaction(name))

    @write("J5")
    def two(self, name: str, other: str) -> Writes:
        yield from self.add.in_transaction(name)
        yield from self.add.in_transaction(other)

    @write("J6")
    def twice(self, name: str) -> Writes:
        yield from self.add.in_transaction(name)
        yield from self.add.in_transaction(name)

    @write("J7")
    def unknown(self, name: str, other: str) -> Writes[int]:
        yield from self.add.in_transaction(name)
        return (yield from self.added.in_transaction(other))

    @write("J8")
    def endless(self, name: str) -> Writes:
        for number in range(101):
            yield from self.add.in_transaction(f"{name}{number}")

    @write("J9")
    def as_many_as_said(self, name: str, count: int) -> Writes:
        for number in range(count * 1000):
            yield from self.add.in_transaction(f"{name}{number}")

    @write("J10")
    def each(self, names: list[str]) -> Writes:
        for name in [*names, *names]:
            yield from self.add.in_transaction(name)


def test_writes_joined_in_a_transaction_are_checked_as_one() -> None:
    faults = {f.place: f.message for f in check(Joiner).findings if f.code == "KP108"}
    beside = "the item after Update isn't available: the transaction of the write returns no items"
    assert faults == {
        "Joiner.asking_part": beside,
        "Joiner.twice": "two actions of one write use the same item: Update Thing",
        "Joiner.unknown": beside,
        "Joiner.endless": "more than 100 operations in one transaction",
    }


def test_the_cost_of_joined_writes_is_that_of_a_transaction() -> None:
    requests = {part.name: part.requests for part in estimate(Joiner).patterns}
    both = [(request.operation, request.units("write")) for name in ("part", "two") for request in requests[name]]
    assert both == [("TransactWriteItems", 2.0), ("TransactWriteItems", 4.0)]
    assert [(request.operation, request.units("write")) for request in requests["add"]] == [("UpdateItem", 1.0)]
    assert explain(Joiner, "two").operation == explain(Joiner, "part").operation == "TransactWriteItems"
    explanation = explain(Joiner, "part", {"name": "a"})
    assert [request.operation for request in explanation.requests] == ["TransactWriteItems"]
    assert len(explanation.requests[0].parameters["TransactItems"]) == 1
    assert "in one TransactWriteItems with the actions of the writes that it calls" in explanation.proof
    assert explain(Joiner, "add", {"name": "a"}).requests[0].operation == "UpdateItem"


def test_a_traffic_file_can_mark_a_write_as_part_of_a_transaction() -> None:
    traffic = traffic_from({"patterns": {"J1": {"in_transaction": True}}}, Joiner.compiled)
    estimated = next(part for part in estimate(Joiner, traffic).patterns if part.name == "add")
    assert [request.operation for request in estimated.requests] == ["TransactWriteItems"]
    counted_twice = {finding.place for finding in check(Joiner, traffic=traffic).findings if finding.code == "KP314"}
    assert counted_twice == {"Joiner.added"}
    with pytest.raises(TrafficError, match=r"thing is a read, which isn't part of a transaction"):
        traffic_from({"patterns": {"thing": {"in_transaction": True}}}, Caller.compiled)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("calls_a_read", "yield from self.thing.read(...)"),
        ("iterates", "yield from self.things.read(...)"),
        ("calls_a_write", "yield from self.add.in_transaction(...)"),
        ("calls_a_verb", "the body calls self.get(...)"),
    ],
)
def test_the_error_for_a_pattern_called_in_a_write_suggests_the_fix(name: str, word: str) -> None:
    result = [
        f"{finding.message}: {finding.hint}"
        for finding in check(Caller).findings
        if finding.place == f"Caller.{name}" and finding.code == "KP108"
    ]
    assert len(result) == 1
    assert word in result[0]
