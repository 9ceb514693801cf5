"""Key templates are injective and keep the sort order: encoded strings have the same order as the values."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cmp_to_key
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keyplan import Binary, Entity, Index, Key, Number, Table
from keyplan.dynamodb.values import key_text
from keyplan.errors import KeyFieldError
from keyplan.model.compiled.compiled_design import CompiledDesign, compile_design
from keyplan.model.stored.key_templates import Template, escape, unescape

NASTY = st.text(st.sampled_from('#$ab@cd !"%&\x00\x01\x1f~\u00e9\ufffd\uffff\U0001f600'), min_size=1, max_size=6)
TEXTS = NASTY | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def compiled(entity: type[Entity], **table: Any) -> CompiledDesign:
    namespace = {"table": Table("ttt", entities=[entity], **table), "__module__": __name__}
    return compile_design(type("D", (), namespace), {})


def sort_template(field_type: Any, source: str, **more: Any) -> Template:
    """Return the compiled sort key template of the fields a, b and c, which all have the same type."""
    names = dict.fromkeys(("a", "b", "c"), field_type)
    namespace = {"__annotations__": names, "__module__": __name__, "primary": Key("X#{a}#{b}#{c}", "M")}
    index = Index("GSI", "gpk", more.get("attribute", "gsk"))
    entity = type("E", (Entity,), {**namespace, "by": Key("G", source, index=index)})
    if field_type in {bytes, float, Decimal} or "tuple" in str(field_type):
        only = {
            "__annotations__": {"a": field_type, "key": str},
            "primary": Key("X#{key}", "M"),
            "__module__": __name__,
        }
        entity = type("E", (Entity,), {**only, "by": Key("G", source, index=index)})
    return compiled(entity, indexes=[index]).by_name["E"].index_keys[0].sort[0][1]


THREE = sort_template(str, "P#{a}#{b}#{c}")
BARE = sort_template(str, "{a}")
PARTS = sort_template(tuple[str, ...], "T#{a}")


def text_of(template: Template, values: Sequence[Any]) -> str:
    return template.text(dict(zip("abc", values, strict=False)))


def order(value: Any, other: Any) -> int:
    return int(value > other) - int(value < other)


@given(st.tuples(TEXTS, TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, TEXTS))
@example(("1#b_2", "3", "x"), ("1", "2#b_3", "x"))
@example(("a", "a", "a"), ("a#", "a", "a"))
@example(("a", "b", "c"), ("a\x00", "b", "c"))
@example(("a", "$", "c"), ("a", "#", "c"))
def test_encoded_keys_compare_like_tuples_of_their_values(element: tuple[str, ...], other: tuple[str, ...]) -> None:
    left, right = text_of(THREE, element), text_of(THREE, other)
    assert order(left, right) == order(element, other)
    assert order(left.encode(), right.encode()) == order(element, other)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=4))
@example(["a"], ["a", "b"])
@example(["a", "b"], ["a\x00"])
def test_encoded_paths_compare_like_tuples_of_their_parts(element: list[str], other: list[str]) -> None:
    assert order(PARTS.text({"a": tuple(element)}), PARTS.text({"a": tuple(other)})) == order(element, other)


@given(st.tuples(TEXTS, TEXTS, TEXTS))
def test_strings_in_key_templates_round_trip(values: tuple[str, ...]) -> None:
    assert THREE.values(text_of(THREE, values)) == dict(zip("abc", values, strict=True))
    assert BARE.values(values[0]) == {"a": values[0]}
    assert PARTS.values(PARTS.text({"a": values})) == {"a": values}


@given(TEXTS, st.booleans())
def test_escaped_strings_in_key_templates_round_trip(text: str, last: bool) -> None:
    escaped = escape(text, last=last)
    assert "#" not in escaped
    assert unescape(escaped) == text


@pytest.mark.parametrize("text", ["$", "a$", "$x", "$e", "$?"])
def test_invalid_escapes_in_stored_keys_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        unescape(text)
    assert THREE.values(f"P#{text}#b#c") is None


@given(TEXTS, TEXTS, TEXTS)
def test_an_encoded_key_prefix_matches_exactly_the_strings_with_that_prefix(start: str, rest: str, other: str) -> None:
    variable = THREE.variables[0]
    assert variable.text(start + rest).startswith(variable.prefix_text(start))
    assert variable.text(other).startswith(variable.prefix_text(start)) == other.startswith(start)


def test_a_template_of_only_one_field_stores_the_value_unescaped() -> None:
    assert BARE.text({"a": "a#$b"}) == "a#$b"


@pytest.mark.parametrize("value", [None, ""])
def test_a_template_without_a_value_for_one_of_its_fields_produces_no_key(value: str | None) -> None:
    with pytest.raises(KeyFieldError) as error:
        THREE.text({"a": value, "b": "b", "c": "c"})
    assert error.value.place == "a"
    with pytest.raises(KeyFieldError):
        PARTS.text({"a": ("a", "")})
    with pytest.raises(KeyFieldError):
        PARTS.text({"a": ()})


NUMBERS = st.integers(0, 99_999) | st.sampled_from([0, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999])
PADDED = sort_template(int, "N#{a:05d}#{b:05d:desc}")
TURNED = sort_template(int, "{a:05d:desc}")


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS))
def test_keys_with_padded_or_reversed_numbers_sort_by_value(element: tuple[int, int], other: tuple[int, int]) -> None:
    left, right = text_of(PADDED, element), text_of(PADDED, other)
    assert order(left, right) == order((element[0], -element[1]), (other[0], -other[1]))
    assert PADDED.values(left) == {"a": element[0], "b": element[1]}
    assert order(text_of(TURNED, element), text_of(TURNED, other)) == order(other[0], element[0])


@pytest.mark.parametrize("value", [-1, 100_000])
def test_numbers_that_exceed_their_key_format_are_rejected(value: int) -> None:
    with pytest.raises(KeyFieldError, match=r"more than 5 digits|is negative"):
        PADDED.text({"a": value, "b": 1})


ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES)  # noqa: DTZ001 - given zones
TIMES = sort_template(datetime, "T#{a}#{b:desc}")


@given(st.tuples(MOMENTS, MOMENTS), st.tuples(MOMENTS, MOMENTS))
@example((datetime(999, 12, 31, tzinfo=UTC),) * 2, (datetime(1000, 1, 1, tzinfo=UTC),) * 2)
def test_timestamps_in_any_time_zone_sort_by_time(element: tuple[datetime, ...], other: tuple[datetime, ...]) -> None:
    left, right = text_of(TIMES, element), text_of(TIMES, other)
    assert order(left, right) == (order(element[0], other[0]) or order(other[1], element[1]))
    assert TIMES.values(left) == {"a": element[0], "b": element[1]}


LAYOUT = sort_template(datetime, "{a:%Y%m%dT%H%M%S.%f}")
DAYS_OF_TIMES = sort_template(datetime, "{a:%Y-%m-%d}#{b}")


@given(MOMENTS, MOMENTS)
def test_keys_with_custom_time_formats_sort_by_time(element: datetime, other: datetime) -> None:
    assert order(LAYOUT.text({"a": element}), LAYOUT.text({"a": other})) == order(element, other)
    assert LAYOUT.values(LAYOUT.text({"a": element})) == {"a": element}
    left, right = (DAYS_OF_TIMES.text({"a": moment, "b": moment}) for moment in (element, other))
    assert order(left, right) == order(element, other)
    assert DAYS_OF_TIMES.values(left) == {"b": element}, "a day alone says less than the moment"


def test_a_timestamp_without_a_time_zone_is_rejected() -> None:
    with pytest.raises(KeyFieldError, match="has no time zone"):
        TIMES.text({"a": datetime(2026, 3, 1), "b": datetime(2026, 3, 1)})  # noqa: DTZ001 - that is the point


DATES = sort_template(date, "D#{a}#{b:desc}")


@given(st.tuples(st.dates(), st.dates()), st.tuples(st.dates(), st.dates()))
def test_keys_with_dates_sort_by_time(element: tuple[date, date], other: tuple[date, date]) -> None:
    left, right = text_of(DATES, element), text_of(DATES, other)
    assert order(left, right) == (order(element[0], other[0]) or order(other[1], element[1]))
    assert DATES.values(left) == {"a": element[0], "b": element[1]}


class Color(enum.Enum):
    """An enum of strings."""

    RED = "r#ed"
    GREEN = "g"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (bool, [False, True]),
        (UUID, [UUID(int=1), UUID(int=2**64), UUID(int=2**127)]),
        (Color, [Color.GREEN, Color.RED]),
    ],
)
def test_keys_with_uuids_and_other_types_sort_by_the_string_form(kind: Any, values: list[Any]) -> None:
    template = sort_template(kind, "{a}#{b}")
    texts = [template.text({"a": value, "b": other}) for value in values for other in values]
    assert texts == sorted(set(texts))


NATIVE = sort_template(Decimal, "{a}", attribute=Number("gsk"))
MILLIS = sort_template(datetime, "{a:ms}", attribute=Number("gsk"))
SECONDS = sort_template(datetime, "{a:s}", attribute=Number("gsk"))
BYTES = sort_template(bytes, "{a}", attribute=Binary("gsk"))


@given(st.lists(st.decimals(-(10**20), 10**20, allow_nan=False, places=5), min_size=2, max_size=6))
def test_numbers_in_number_key_attributes_sort_by_value(numbers: list[Decimal]) -> None:
    stored = [key_text({"N": NATIVE.text({"a": number})}) for number in sorted(numbers)]
    assert stored == sorted(stored)


@given(MOMENTS, MOMENTS)
@example(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC))
def test_timestamps_stored_as_numbers_in_keys_are_truncated_to_whole_units(element: datetime, other: datetime) -> None:
    for template, unit in ((MILLIS, timedelta(milliseconds=1)), (SECONDS, timedelta(seconds=1))):
        left, right = (int(template.text({"a": moment})) for moment in (element, other))
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        assert (left, right) == ((element - epoch) // unit, (other - epoch) // unit)


def test_numbers_that_dynamodb_cannot_store_are_rejected_in_keys() -> None:
    for number in (Decimal("1E+200"), Decimal("1." + "1" * 40)):
        with pytest.raises(KeyFieldError):
            NATIVE.text({"a": number})


@given(st.lists(st.binary(min_size=1, max_size=4), min_size=2, max_size=5))
def test_bytes_in_key_templates_round_trip(values: list[bytes]) -> None:
    ordered = sorted(values, key=cmp_to_key(order))
    assert [BYTES.values(BYTES.text({"a": element})) for element in ordered] == [{"a": element} for element in ordered]


class Sharded(Entity):
    """An entity whose shard number is computed from the field in its sort key."""

    group: str
    number: int

    primary = Key("G#{group}", "{number:04d}", shards=7)


@given(TEXTS, st.integers(0, 9999))
def test_the_shard_number_of_an_item_is_deterministic_and_read_from_its_key(group: str, number: int) -> None:
    entity = compiled(Sharded).by_name["Sharded"]
    values = {"group": group, "number": number}
    key = entity.primary.item_key(values)
    assert key == entity.primary.item_key(values)
    assert entity.matches(key)
    assert entity.primary.values(key) == values
