"""What is tried next after a call has raised: every turn that the branch suggests, in its order, as agreed upon."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from keyplan import Design, Entity, Field, Key, Table
from keyplan.design.compiled.questions import Parameter, ParameterKind
from keyplan.rehearsal.hindsight import Hindsight, Turn, _led_to
from tests.agreed import assert_agreed


class Mood(Enum):
    CALM = "calm"
    CROSS = "cross"


class Coat(BaseModel):
    colour: str = "grey"
    length_cm: Annotated[int, Field(ge=5)] = 9

    @property
    def warm(self) -> bool:
        return self.length_cm > 20


class Cat(Entity):
    cat_id: str
    mood: Mood = Mood.CALM
    state: Literal["in", "out", "lost"] = "in"
    weight: Annotated[int, Field(ge=2, le=30)] = 5
    price: Decimal = Decimal(10)
    born: datetime = datetime(2026, 3, 1, tzinfo=UTC)
    chipped: date | None = None
    slept: timedelta = timedelta(hours=3)
    tags: set[str] = Field(default_factory=lambda: {"soft"})
    wild: bool = False
    coat: Coat = Coat()
    friend_id: str | None = None
    known: bool | None = False
    happy: bool = True
    age: Annotated[int, Field(gt=3)] = 5
    toys: int = 3

    primary = Key("CAT#{cat_id}", "HEAD")

    @property
    def heavy(self) -> bool:
        return self.weight > 9


class Cats(Design):
    table = Table("cats", entities=[Cat])


PARAMETERS = {
    name: Parameter(name, ParameterKind.VALUE, annotation, annotation)
    for name, annotation in {
        "cat_id": str,
        "number": Annotated[int, Field(ge=1, lt=50)],
        "ids": list[str],
        "counts": dict[str, int],
        "flag": bool,
        "none": str | None,
        "word": Literal["a", "b"],
        "amount": Decimal,
        "cat": Cat,
        "count": int,
    }.items()
}


def in_a_state(cat: Cat, **_: Any) -> None:
    if cat.state != "out":
        raise ValueError


def in_another_state(cat: Cat, **_: Any) -> None:
    if cat.state != "in":
        return
    raise ValueError  # in no branch


def in_a_mood(cat: Cat, **_: Any) -> None:
    if cat.mood is Mood.CALM and not cat.wild:
        raise ValueError


def not_both(cat: Cat, **_: Any) -> None:
    if not (cat.mood is Mood.CROSS and cat.wild and cat.state == "in"):
        raise ValueError


def either(cat: Cat, **_: Any) -> None:
    if cat.wild or cat.weight < 7 or cat.state == "lost":
        raise ValueError


def asserted(cat: Cat, number: int, **_: Any) -> None:
    assert cat.weight > number + 2, "too light"


def in_an_else(cat: Cat, flag: bool, **_: Any) -> None:
    if flag:
        cat.touch()  # type: ignore[attr-defined]
    else:
        if cat.weight >= 9:
            return
        raise ValueError(
            "in a long statement",
        )


def behind_a_try(cat: Cat, number: int, **_: Any) -> None:
    if number < 20:
        try:
            if cat.price * 3 > 25:
                raise ValueError
        finally:
            number += 1


def in_a_finally(cat: Cat, **_: Any) -> None:
    try:
        pass
    finally:
        if cat.chipped is None:
            raise ValueError


def in_a_loop(cat: Cat, ids: list[str], **_: Any) -> None:
    for each in ids:
        while each != cat.friend_id:
            if each not in cat.tags:
                raise ValueError


def in_time(cat: Cat, **_: Any) -> None:
    if cat.born > datetime(2026, 2, 1, 12, tzinfo=UTC) and cat.slept < timedelta(hours=9):
        raise ValueError


def before_a_time(cat: Cat, **_: Any) -> None:
    if cat.born < datetime(2026, 4, 1, tzinfo=UTC) <= datetime(2026, 5, 1, tzinfo=UTC):
        raise ValueError


def of_a_coat(cat: Cat, **_: Any) -> None:
    if cat.coat.colour == "grey" or cat.coat.length_cm < 12:
        raise ValueError


def by_the_way(cat: Cat, amount: Decimal, **_: Any) -> None:
    double = cat.price * 2
    rest: Decimal = double - amount
    left = rest
    much = left > 3
    if much:
        raise ValueError


def by_a_value_that_has_changed(cat: Cat, number: int, **_: Any) -> None:
    weight = cat.weight
    cat = cat.model_copy(update={"weight": 6})
    if weight > number:
        raise ValueError


def among_several(cat: Cat, ids: list[str], counts: dict[str, int], **_: Any) -> None:
    if any(each == cat.cat_id for each in ids) or [cat for cat in counts if cat == "x"]:
        raise ValueError


def of_ids(ids: list[str], counts: dict[str, int], **_: Any) -> None:
    if len(ids) > 1 and "c9" not in counts:
        raise ValueError


def of_choices(word: str, none: str | None, flag: bool, **_: Any) -> None:
    if word == "a" and none is None and not flag:
        raise ValueError


def of_a_key(cat: Cat, cat_id: str, **_: Any) -> None:
    if cat.cat_id == cat_id or cat.weight < 0:
        raise ValueError


def of_what_is_no_field(cat: Cat, **_: Any) -> None:
    if not cat.heavy and cat.price and len(cat.tags) == 1:
        raise ValueError


def handed_on(number: int, amount: Decimal, **_: Any) -> None:
    def helper(size: int, price: Decimal) -> None:
        if size < 40 and price > size:
            raise ValueError

    helper(number, amount)


def by_a_type_of_its_own(cat: Cat, number: int, **_: Any) -> None:
    if number in {3, 4, 77} and cat.state in ("in", "out"):
        raise ValueError


def of_many(cat: Cat, number: int, **_: Any) -> None:
    if number < 2 * cat.weight < 29 and number + cat.price < 40 and cat.price < 30 and number < 41:
        raise ValueError


def of_flags(cat: Cat, **_: Any) -> None:
    if cat.happy:
        raise ValueError


def of_flags_that_may_be_missing(cat: Cat, **_: Any) -> None:
    if cat.known is False:
        raise ValueError


def of_numbers_by_themselves(cat: Cat, **_: Any) -> None:
    if cat.age % 2 or cat.toys:
        raise ValueError


def of_a_number_with_a_least(cat: Cat, **_: Any) -> None:
    if cat.weight % 2:
        raise ValueError


def by_a_name_that_stands_for_another(cat: Cat, number: int, **_: Any) -> None:
    each = cat.weight
    if each and not any(each > 6 for each in [number]):
        raise ValueError


def by_a_name_of_a_lambda(cat: Cat, number: int, **_: Any) -> None:
    each = cat.weight
    if each and not min([number], key=lambda each: each > cat.weight) > 6:
        raise ValueError


def of_what_is_no_field_of_a_coat(cat: Cat, **_: Any) -> None:
    if not cat.coat.warm or not Coat().warm or Coat().length_cm < 10:
        raise ValueError


def of_the_second_of_two_alike(count: int, **_: Any) -> None:
    if count < 4:
        raise ValueError


def of_nothing_that_was_handed_on(none: str | None, flag: bool, **_: Any) -> None:
    def helper(other: str | None, another: bool) -> None:
        if other is None and not another:
            raise ValueError

    helper(none, flag)


class Odd:
    """Compares with nothing."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __eq__(self, other: object) -> bool:
        raise TypeError

    __hash__ = None  # type: ignore[assignment]


def by_what_compares_with_nothing(cat: Cat, **_: Any) -> None:
    odd = Odd(cat.weight)
    if odd.size < 9:
        raise ValueError


def within_a_library(cat: Cat, **_: Any) -> None:
    if cat.weight < 9:
        Cat.model_validate({"cat_id": cat.weight})


def by_a_test_that_changes_something(cat: Cat, **_: Any) -> None:
    if cat.weight < (most := 9) and most:
        raise ValueError


def by_a_test_that_may_raise(cat: Cat, **_: Any) -> None:
    if 10 / cat.toys > 2:
        raise ValueError


def asserted_by_what_may_raise(cat: Cat, **_: Any) -> None:
    assert 10 / cat.toys > 5


def by_much(cat: Cat, **_: Any) -> None:
    some = cat.weight + cat.weight + cat.weight + cat.weight + cat.weight + cat.weight + cat.weight
    more = some + some + some + some
    if more < 150:
        raise ValueError


def by_too_much(cat: Cat, **_: Any) -> None:
    some = cat.weight + cat.weight + cat.weight + cat.weight + cat.weight + cat.weight + cat.weight
    more = some + some + some + some + some + some + some + some + some
    if more < 400:
        raise ValueError


BODIES = (
    in_a_state, in_another_state, in_a_mood, not_both, either, asserted, in_an_else, behind_a_try, in_a_finally,
    in_a_loop, in_time, before_a_time, of_a_coat, by_the_way, by_a_value_that_has_changed, among_several, of_ids,
    of_choices, of_a_key, of_what_is_no_field, handed_on, by_a_type_of_its_own, of_many,
    of_flags, of_flags_that_may_be_missing, of_numbers_by_themselves, of_a_number_with_a_least,
    by_a_name_that_stands_for_another, by_a_name_of_a_lambda, of_what_is_no_field_of_a_coat, of_the_second_of_two_alike,
    of_nothing_that_was_handed_on, by_what_compares_with_nothing, within_a_library, by_a_test_that_changes_something,
    by_a_test_that_may_raise, asserted_by_what_may_raise, by_much, by_too_much,
)  # fmt: skip
THERE = [Cat(cat_id="c1"), Cat(cat_id="c2", friend_id="c1", wild=True, coat=Coat(colour="red"))]


def _arguments() -> dict[str, Any]:
    return {
        "cat_id": "c1", "number": 3, "ids": ["c1", "c7"], "counts": {"c1": 4, "c8": 2}, "flag": False, "none": None,
        "word": "a", "amount": Decimal(5), "cat": THERE[0],
        "count": 3,
    }  # fmt: skip


def _turns(body: Callable[..., None]) -> Iterator[Turn]:
    arguments = _arguments()
    try:
        body(**arguments)
    except (ValueError, AssertionError, AttributeError) as error:
        yield from Hindsight(Cats.compiled, PARAMETERS).turns(error, arguments, THERE)


def _said(value: Any) -> str:
    return repr(sorted(value)) if isinstance(value, set) else repr(value)


def test_what_an_error_suggests_is_as_it_was_agreed_upon() -> None:
    lines: list[str] = []
    for body in BODIES:
        lines.append(f"{body.__name__}:")
        lines += [f"    {turn.entity or 'call'}.{turn.name} = {_said(turn.value)}" for turn in _turns(body)]
    assert_agreed("\n".join(lines))


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def nested(first: int, second: int) -> None:
    if first:
        first += 1
        if second:
            second += 1
        elif first > 3:
            second = 3
        else:
            second = 4
    for _ in range(2):
        if first == 5:
            with _nothing():
                first = 6
                second = 7
    assert first

    def inner() -> int:
        if first:
            return 1
        return 2

    inner()


def test_each_line_is_led_to_by_the_tests_of_its_branches() -> None:
    lines, _ = inspect.getsourcelines(nested)
    (function,) = ast.parse("".join(lines)).body
    assert isinstance(function, ast.FunctionDef)
    shown: list[str] = []
    for number, text in enumerate(lines, 1):
        tests = "; ".join(f"{ast.unparse(test)} is {wanted}" for test, wanted in _led_to(function.body, number))
        shown.append(f"{text.rstrip():<40} | {tests}")
    assert_agreed("\n".join(shown))
