# mypy: disable-error-code="empty-body"
"""``verify`` finds no difference in correct designs, and finds each deliberate bug."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import strategies as st

import keyplan.client.merged_partitions
import keyplan.client.read_plans
import keyplan.client.results
from keyplan import (
    Create,
    Cursor,
    Design,
    Each,
    Entity,
    Index,
    Key,
    Page,
    Range,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.client import update_expressions as updates
from keyplan.client import write_compiler as writes
from keyplan.client.cursors import Position
from keyplan.client.key_conditions import key_condition
from keyplan.errors import InvalidItemError, KeyFieldError, Refused
from keyplan.model.stored import key_templates as templates
from keyplan.model.stored.key_formats import IntegerFormat
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.testing import verify
from tests.contract.design import Everything
from tests.seeds import examples, seed

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Member(Entity):
    """An entity with each feature that a deliberate bug affects."""

    team: str
    number: int
    email: str
    city: str | None = None
    version: Version = 0

    primary = Key("TEAM#{team}", "MEMBER#{number:04d}")
    by_city = Key("CITY#{city}", "{team}#{number:04d}", index=GSI1)
    one_email = Unique("EMAIL#{email}")


class Guest(Entity):
    """An entity that shares partitions with members."""

    team: str
    name: str

    primary = Key("TEAM#{team}", "GUEST#{name}")


class Club(Design):
    """A small design, in which bugs are found quickly."""

    table = Table("club", indexes=[GSI1])

    @read("A1")
    def member(self, team: str, number: int) -> Member | None: ...

    @read("A2")
    def members(self, team: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Member]: ...

    @read("A3")
    def guests(self, team: str) -> list[Guest]: ...

    @read("A4")
    def members_in(self, city: str, limit: int = 3, cursor: Cursor | None = None) -> Page[Member]: ...

    @read("A5")
    def member_by_email(self, email: str) -> Member | None: ...

    @write("W1")
    def nothing(self, team: str) -> Writes[str]:
        """A write that yields no action."""
        yield from ()
        return team


class Hall(Entity):
    """A hall. Conditions on halls compare with values that aren't among the samples of the fields' types."""

    hall: str
    people: int = 0
    plan: str = ""
    primary = Key("HALL#{hall}", "HEAD")


class Halls(Design):
    table = Table("halls", entities=[Hall])

    @write("W1")
    def exactly(self, hall: str) -> Writes:
        yield Update(Hall, hall=hall).set(people=0).only_if(people=5317)

    @write("W2")
    def beyond(self, hall: str) -> Writes:
        yield Update(Hall, hall=hall).set(plan="").only_if("people > :most AND plan = :plan", most=7431, plan="gold")

    @write("W3")
    def unless(self, hall: Hall) -> Writes:
        if hall.plan != "platinum":
            raise ValueError(hall.plan)
        yield Update(hall, plan="")

    @read("R1", where={"people": 6113})
    def of_size(self, hall: str) -> Hall | None: ...


def test_some_generated_items_match_constants_in_conditions() -> None:
    assert verify(Halls, stores=20, seed=1).unanswered == ()


@pytest.mark.nightly
def test_results_of_the_contract_design_equal_the_brute_force_results() -> None:
    report = verify(Everything, stores=examples(20, 100), seed=seed(1))
    assert report.items_max > 20
    assert all(pattern.answered for pattern in report.patterns if pattern.kind == "read")


def test_verified_stores_are_reproducible_for_a_seed() -> None:
    assert verify(Club, stores=8, seed=7) == verify(Club, stores=8, seed=7)


@pytest.mark.nightly
def test_the_verification_report_shows_calls_and_items() -> None:
    report = verify(Club, stores=30, seed=1)
    assert str(report).startswith("Club: 30 stores, ")
    assert re.search(r"A2 members +\d+ calls +\d+ answered", str(report))
    with pytest.raises(KeyError):
        report.pattern("nobody")


@pytest.mark.nightly
def test_verify_uses_custom_strategies() -> None:
    lonely = st.builds(Guest, team=st.just("reds"), name=st.sampled_from(["a", "b"]))
    with pytest.raises(AssertionError, match=r"member, members, members_in, member_by_email returned no result"):
        verify(Club, stores=10, seed=1, strategies={Guest: lonely, Member: st.nothing()})
    seen: set[str] = set()

    def note(email: str) -> str:
        seen.add(email)
        return email

    named = st.sampled_from(["x@example.org", "y@example.org"]).map(note)
    verify(Club, stores=20, seed=1, strategies={"email": named})
    assert seen == {"x@example.org", "y@example.org"}


class Defaults(Design):
    """A design whose patterns have optional parameters and parameters with defaults."""

    table = Table("defaults", indexes=[GSI1], entities=[Member])

    @read("D1")
    def guests(self, team: str = "a") -> list[Guest]: ...

    @read("D2")
    def guest(self, name: str, team: str = "a") -> Guest | None: ...

    @read("D3", entity=Guest)
    def how_many(self, team: Each[str] = ("a", "b")) -> int: ...

    @read("D4")
    def members(self, team: str, number: Range[int] = Range(ge=2)) -> list[Member]: ...  # noqa: B008 - it is a value

    @read("D5", where="number > :least")
    def later(self, team: str, least: int = 1) -> list[Member]: ...


@pytest.mark.nightly
def test_verify_tests_calls_that_omit_arguments() -> None:
    assert verify(Defaults, stores=25, seed=2).unanswered == ()


class Picky(Design):
    table = Table("picky", entities=[Guest])

    @read("P1")
    def guests(self, team: str) -> list[Guest]: ...

    @read("P3", where="contains(name, :part)")
    def guests_with(self, team: str, part: str) -> list[Guest]: ...

    @write("P2")
    def invite(self, team: str, name: str, word: str) -> Writes:
        if word != "sesame":
            raise Refused("that isn't the word")
        yield Create(Guest(team=team, name=name))


@pytest.mark.nightly
def test_a_write_that_rejects_generated_values_needs_a_custom_strategy() -> None:
    with pytest.raises(AssertionError, match="invite returned no result"):
        verify(Picky, stores=2)
    names = {"name": st.just("agatha"), "part": st.just("gat")}
    report = verify(Picky, stores=2, strategies={"word": st.just("sesame"), **names})
    assert (report.unanswered, report.seed) == ((), 0)


def test_each_store_that_verify_opens_must_be_empty() -> None:
    with Club.open(":memory:") as club:
        club.put(Guest(team="a", name="b"))
        club.close = lambda: None  # type: ignore[method-assign]
        with pytest.raises(AssertionError, match="isn't empty: open= must return an empty store each time"):
            verify(Club, stores=1, open=lambda: club)


# Deliberate bugs

Patch = pytest.MonkeyPatch


def unpadded_keys(patch: Patch) -> None:
    def write(self: IntegerFormat, value: int) -> str:
        return str(value)

    patch.setattr(IntegerFormat, "write", write)
    patch.setattr(IntegerFormat, "read", lambda self, text: int(text))
    patch.setattr(IntegerFormat, "pattern", property(lambda self: "[0-9]+"))
    _forget_shapes(patch)


def unescaped_values(patch: Patch) -> None:
    patch.setattr(templates, "escape", lambda text, *, last: text)
    patch.setattr(templates, "_LAST", re.compile("(?!)"))
    _forget_shapes(patch)


def _forget_shapes(patch: Patch) -> None:
    """Break templates, so that each of their variables accepts any string."""
    patch.setattr(templates.Variable, "pattern", property(lambda self: ".+"))


def stale_index_keys(patch: Patch) -> None:
    patch.setattr(updates, "_keys", lambda entity, update, before, after, changes: None)


def a_key_written_behind_its_back(patch: Patch) -> None:
    whole = CompiledKey.item_key

    def item_key(self: CompiledKey, values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        result = whole(self, values)
        if self.name == "by_city" and values["version"]:
            result["gsi1pk"] = {"S": "CITY#elsewhere"}
        return result

    put = writes.WriteCompiler._create

    def create(self: Any, action: Any) -> Any:
        patch.setattr(CompiledKey, "item_key", item_key)
        try:
            return put(self, action)
        finally:
            patch.setattr(CompiledKey, "item_key", whole)

    patch.setattr(writes.WriteCompiler, "_create", create)


def a_dropped_page_boundary(patch: Patch) -> None:
    reader = keyplan.client.read_plans.QueryReader
    whole = reader._take

    def take(self: Any, items: Any, entries: Any, size: int | None, answer_filter: Any) -> bool:
        more = whole(self, items, entries, size, answer_filter)
        if more and len(entries) > 1:
            del entries[0]
        return more

    patch.setattr(reader, "_take", take)


def a_page_that_begins_where_the_last_ended(patch: Patch) -> None:
    reader = keyplan.client.read_plans.QueryReader
    whole = reader.start_key

    def start_key(self: Any, partition: list[str], position: Position) -> Any:
        start = whole(self, partition, position)
        text = start[self.target.table.sort.name]["S"]
        return {**start, self.target.table.sort.name: {"S": text[:-1]}}

    patch.setattr(reader, "start_key", start_key)


def a_cursor_that_leads_nowhere(patch: Patch) -> None:
    reader = keyplan.client.read_plans.QueryReader
    whole = reader._take

    def take(self: Any, items: Any, entries: Any, size: int | None, answer_filter: Any) -> bool:
        return whole(self, items, entries, size, answer_filter) or len(entries) == size

    patch.setattr(reader, "_take", take)


def the_wrong_direction(patch: Patch) -> None:
    reader = keyplan.client.read_plans.QueryReader
    whole = reader.request

    def request(self: Any, *arguments: Any, **more: Any) -> Any:
        result = whole(self, *arguments, **more)
        return result and {**result, "ScanIndexForward": False}

    patch.setattr(reader, "request", request)


def claims_that_are_never_released(patch: Patch) -> None:
    patch.setattr(CompiledKey, "member", _member_unless_released(CompiledKey.member))


def _member_unless_released(whole: Any) -> Any:
    def member(self: CompiledKey, values: Mapping[str, Any]) -> bool:
        return bool(whole(self, values)) and not (self.is_claim and values["version"] == 2)

    return member


def a_lock_that_is_not_looked_at(patch: Patch) -> None:
    whole = updates._version

    def version(entity: Any, update: Any, target: Any) -> None:
        whole(entity, update, target)
        if entity.version is not None:
            update.pins.pop(entity.version.name)

    patch.setattr(updates, "_version", version)


def other_entities_items(patch: Patch) -> None:
    reader = keyplan.client.read_plans.QueryReader
    patch.setattr(reader, "instance", lambda self, item: self.plan.matches[0].entity.from_item(item))
    patch.setattr(keyplan.client.read_plans, "key_condition", _whole_partition(key_condition))


def _whole_partition(whole: Any) -> Any:
    def condition(*arguments: Any) -> Any:
        result = whole(*arguments)
        text, names, values = result.text.split(" AND ")[0], dict(result.names), dict(result.values)
        names.pop("#s0", None)
        values.pop(":s0", None)
        return type(result)(text, names, values)

    return condition


def an_error_that_is_none_of_ours(patch: Patch) -> None:
    def refuse(self: Any, item: Any) -> Any:
        raise IndexError("list index out of range")

    patch.setattr(keyplan.client.read_plans.QueryReader, "position", refuse)


def keys_that_are_refused(patch: Patch) -> None:
    def refuse(*arguments: Any) -> Any:
        raise KeyFieldError("no")

    patch.setattr(keyplan.client.read_plans, "partition_texts", refuse)


FAULTS = [
    (unpadded_keys, r"returned the wrong items or the wrong order"),
    (unescaped_values, r"overwritten: |is stale|returned \d+ items|or the wrong order"),
    (stale_index_keys, r"is stale: its attribute gsi1\w\w contains|has no claim at|no item owns the claim"),
    (a_key_written_behind_its_back, r"is stale: its attribute gsi1pk contains 'CITY#elsewhere', but its fields"),
    (a_dropped_page_boundary, r"returned \d+ items, expected \d+"),
    (a_page_that_begins_where_the_last_ended, r"returned \d+ items, expected \d+|the last page still has a cursor"),
    (a_cursor_that_leads_nowhere, r"returned an empty page, although the previous page had a cursor"),
    (the_wrong_direction, r"or the wrong order"),
    (
        claims_that_are_never_released,
        r"no item owns the claim|accepted twice|has no claim at|returned nothing",
    ),
    (a_lock_that_is_not_looked_at, r"update succeeded with an outdated version"),
    (other_entities_items, r"returned \d+ items, expected \d+|failed: "),
    (an_error_that_is_none_of_ours, r"IndexError\('list index out of range'\), not a KeyplanError"),
    (keys_that_are_refused, r"rejected the arguments: no"),
]


EVERY_RUN = {stale_index_keys, a_dropped_page_boundary, claims_that_are_never_released}


@pytest.mark.parametrize(
    ("break_it", "told"),
    [pytest.param(*fault, marks=() if fault[0] in EVERY_RUN else pytest.mark.nightly) for fault in FAULTS],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_verify_finds_each_deliberate_bug(monkeypatch: Patch, break_it: Any, told: str) -> None:
    break_it(monkeypatch)

    class Broken(Club):
        """A new class, so that its keys, which cache their formats, are compiled with the bug."""

    with pytest.raises(AssertionError) as caught:
        verify(Broken, stores=300, seed=3)
    message = str(caught.value)
    assert re.search(told, message), message
    assert "the store was filled by:" in message
    assert message.endswith("reproduce it with seed=3")
    steps = re.findall(r"^  \d+\. ", message, re.MULTILINE)
    assert len(steps) <= 8, message


def defaults_that_filters_ignore(patch: Patch) -> None:
    patch.setattr("keyplan.model.compiled.compiled_filters.is_affected", lambda *_: False)


def counts_of_all_items(patch: Patch) -> None:
    patch.setattr("keyplan.client.counting._counted", lambda reader, values, items, measure: len(items))


def invalid_items_that_are_omitted(patch: Patch) -> None:
    reader = keyplan.client.read_plans.QueryReader
    whole = reader.instance

    def instance(self: Any, item: Any) -> Any:
        with suppress(InvalidItemError):
            return whole(self, item)

    patch.setattr(reader, "instance", instance)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (defaults_that_filters_ignore, "an older design wrote"),
        (counts_of_all_items, "another program wrote"),
        (invalid_items_that_are_omitted, "neither raises InvalidItemError nor returns"),
    ],
)
def test_verify_finds_wrong_results_with_unexpected_items(monkeypatch: Patch, break_it: Any, message: str) -> None:
    break_it(monkeypatch)

    class Book(Entity):
        shelf: str
        number: int
        stars: int = 5
        title: str

        primary = Key("SHELF#{shelf}", "{number:04d}")

    class Shelf(Design):
        table = Table("shelf")

        @read("S1", where="stars >= :stars")
        def rated(self, shelf: str, stars: int) -> list[Book]: ...

        @read("S3", where="stars BETWEEN :least AND :most")
        def between(self, shelf: str, least: int, most: int) -> list[Book]: ...

        @read("S2", entity=Book)
        def size(self, shelf: str) -> int: ...

    with pytest.raises(AssertionError, match=message):
        verify(Shelf, stores=60)
