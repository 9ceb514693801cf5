"""What the values of a key attribute show beside the columns of their items: the template, its columns, what of it is a
guess. Samples of every spelling, drawn at random and compared with what was agreed upon.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from keyplan.workbench.inference import Column, Inferred, Sample, infer, is_day, is_moment, is_padded
from keyplan.workbench.plain import attribute_value, key_value
from keyplan.workbench.texts import (
    WordList,
    alpha_start,
    is_capitals,
    is_distinctive,
    is_generic,
    is_moment_like,
    is_vague,
    is_vocabulary,
    is_word,
    led_by,
    snake,
)
from tests.agreed import assert_agreed

NAMES = ("customer", "order", "line item", "Device")
WORDS = ("CUSTOMER", "ORDER", "c", "ord", "DEVICE", "open", "PAID", "META", "A", "", "x-y", "EXPIRED", "<device id>")
COLUMNS = ("customer_id", "order_id", "device", "status", "line_item_name", "at", "owner_id", "devices", "order", "id")
ATTRIBUTES = ("PK", "SK", "GSI1SK", "customerId", "status_by_day", "OrderDate")
ALIASES = ("", "", "customerId", "SubId#SKU", "<orderId>", "ORDER#{order_id}", "customer#device", "SK", "7#8")
VALUES: dict[str, tuple[str, ...]] = {
    "short": ("7", "8", "17", "7"),
    "padded": ("0007", "0008", "0010", "0007"),
    "long": ("1001", "1002", "1003", "1004"),
    "code": ("R1", "R1", "R1", "R1"),
    "name": ("ada", "eve", "bob", "ada"),
    "same": ("lisbon", "lisbon", "lisbon", "lisbon"),
    "chance": ("no", "no", "no", "no"),
    "day": ("2026-03-01", "2026-03-02", "2026-03-03", "2026-12-31"),
    "moment": tuple(f"2026-03-0{day}T08:00:00.000000Z" for day in (1, 2, 3, 4)),
    "letters": ("account17", "account18", "account19", "account20"),
    "lettered": ("T1", "T2", "T3", "T40"),
    "escaped": ("a$cb", "a$c", "$c", "x"),
    "title": ("StartDate", "StartDate", "StartDate", "StartDate"),
    "mail": ("ada@example.com", "eve@example.com", "bob@example.com", "eva@example.com"),
    "behind": ("device-7", "device-8", "device-9", "device-10"),
    "ending": ("7ORDER", "8ORDER", "12ORDER", "9ORDER"),
    "barred": ("7|PAID", "8|PAID", "9|PAID", "9|PAID"),
    "epoch": ("1772352000000", "1772438400000", "1772524800000", "1772611200000"),
}


def drawn(random: Random) -> Sample:
    """A sample of one to four items."""
    count = random.choice((1, 2, 3, 3, 4))
    mark = random.choice(("#", "#", "#", "#", "|", ":"))
    parts: list[list[str]] = []
    columns: list[Column] = []
    names = random.sample(COLUMNS, len(COLUMNS))
    for _ in range(random.choice((1, 2, 2, 3, 3, 4))):
        if random.random() < 0.5:
            parts.append([random.choice(WORDS)] * count)
            continue
        values = list(VALUES[random.choice(list(VALUES))][:count])
        parts.append(values)
        if random.random() < 0.7:
            columns.append(column(random, names.pop(), values))
    for kind in random.choices(list(VALUES), k=random.choice((0, 0, 1, 2))):
        columns += [column(random, names.pop(), list(VALUES[kind][:count]))]
    random.shuffle(columns)
    texts = [mark.join(part[place] for part in parts) for place in range(count)]
    if random.random() < 0.15:
        texts[-1] += f"{mark}more"
    kind = "N" if all(text.isdigit() for text in texts) and random.random() < 0.5 else "S"
    start = "T" if all(text.rpartition(mark)[2].startswith("T") for text in texts) else ""
    return Sample(
        random.choice(ATTRIBUTES), kind, texts, columns, WordList([*texts, "CUSTOMER#7#ORDER#9"], NAMES, ("open",)),
        random.choice(ALIASES), random.random() < 0.5, random.random() < 0.6, start,
        [("order_code", frozenset(VALUES["code"])), ("customer_id", frozenset(VALUES["mail"])),
         ("id", frozenset("78"))],
        random.choice(("", "Order")), random.random() < 0.5,
    )  # fmt: skip


def column(random: Random, name: str, values: list[str]) -> Column:
    """A column that holds a part's values as they are, unescaped, as numbers, in most of the items only, or as text
    that a key holds.
    """
    held: list[Any] = [value.replace("$c", "#") for value in values]
    tag = "S"
    if all(value.isdigit() for value in values) and random.random() < 0.6:
        held, tag = [str(int(value)) for value in values], "N"
    chance = random.random()
    if chance < 0.12:
        held[-1] = None
    elif chance < 0.3:
        held[-1] = "otherwise" if tag == "S" else "-3"
    elif chance < 0.35:
        held = [f"{value}.5" for value in held]
    before = random.choice((None, None, None, "ORDER", "CUSTOMER"))
    attribute = name.title().replace("_", "")
    return Column(name, attribute, tag, held, constant=random.random() < 0.06, before=before)


def shown(sample: Sample, inferred: Inferred) -> str:
    """A sample and what it shows, in a few lines."""
    flags = [name for name in ("sorts", "whole", "single") if getattr(sample, name)]
    given = [
        f"{each.name}{'!' if each.constant else ''}: {each.tag} {each.values}"
        + (f" behind {each.before}" if each.before else "")
        for each in sample.columns
    ]
    lines = [f"{sample.attribute} {sample.kind} {list(sample.values)}", f"{sample.alias!r} {sample.entity!r} {flags}"]
    added = [f"{each.name} ({each.attribute}, {each.tag}) = {each.values} {each.before!r}" for each in inferred.added]
    lines += [*given, f"-> {inferred.template} {inferred.misfits or ''}", *added, *inferred.guesses]
    return "\n    ".join(lines)


@pytest.mark.parametrize("seed", range(6))
def test_what_values_show_is_as_it_was_agreed_upon(seed: int) -> None:
    random = Random(seed)
    samples = [drawn(random) for _ in range(60)]
    assert_agreed("\n".join(shown(sample, infer(sample)) for sample in samples))


WRITTEN: list[Any] = [
    {"S": "a"}, {"S": ""}, {"S": 3}, {"N": "1.50"}, {"N": 3}, {"N": " 4 "}, {"N": "many"}, {"N": "NaN"}, {"N": "1e200"},
    {"BOOL": "true"}, {"BOOL": False}, {"NULL": True}, {"NULL": False}, {"B": "AA=="}, {"B": "!"}, {"SS": ["a", "a"]},
    {"SS": []}, {"NS": ["1", "1.0", 2]}, {"NS": ["x"]}, {"BS": ["AA==", "AA=="]}, {"L": [{"S": "a"}, 3, None, [1]]},
    {"M": {"a": {"S": "b"}, "c": 3}}, {"M": []}, {"S": "a", "N": "1"}, {"X": "a"}, {}, "a", 3, 2.5, True, None,
    [1, "a"], float("nan"), 1e300, {"a": {"N": "1"}}, {"L": {}}, {"SS": "a"}, {"N": True},
]  # fmt: skip
TEXTS = (
    "A", "a", "META", "metadata", '"info"', "'info'", "SFO", "OPEN", "X-Y", "x.y", "$name", "$7", "user7", "USER-7",
    "u-7", "USER_ADMIN-7a", "User:7", "User::7", "User: 7", "a/b", "2026-11-21", "2026-11", "20261121",
    "2026-11-21 08:00", "2026-19-21", "2026-29-21", "1772352000", "1772352000000", "177235200", "abcde1", "abcdef",
    "123456", "a" * 40, "a" * 41, "", "#", "now", "v0", "profile", "é", "日本", "Ünal",
)  # fmt: skip
CALLED = (
    "PK", "SK", "pk", "GSI1PK", "GSI1-SK", "gsi1_pk", "id", "key", "value", "userPK", "userpk", "user_pk", "user hash",
    "inverted", "main", "data", "createdAt", "SubSK2", "-", "7", "lsi3range", "hk", "partitionKey", "sortKeyValue",
)  # fmt: skip


def test_values_as_people_write_them_are_as_it_was_agreed_upon() -> None:
    """Each value as DynamoDB has it, what is noted, and what it is as a key of each type."""
    lines: list[str] = []
    for given in WRITTEN:
        notes: list[str] = []
        value = attribute_value(given, notes.append)
        keys = [None if value is None else key_value(value, kind) for kind in "SNB"]
        lines.append(f"{given!r} -> {_sorted(value)}, as keys {[_sorted(key) for key in keys]} {notes}")
    assert_agreed("\n".join(lines))


def _sorted(value: dict[str, Any] | None) -> Any:
    """The value, with a set's members in an order."""
    return value and {tag: sorted(content) if tag.endswith("SS") else content for tag, content in value.items()}


def test_what_a_text_looks_like_is_as_it_was_agreed_upon() -> None:
    judges = (
        is_word,
        is_vocabulary,
        is_vague,
        is_capitals,
        is_moment_like,
        is_distinctive,
        is_moment,
        is_day,
        is_padded,
    )
    lines = [
        f"{text!r}: {[judge.__name__ for judge in judges if judge(text)]} {led_by(text)} {alpha_start([text])!r} "
        f"{snake(text)!r}"
        for text in (
            *TEXTS,
            "2026-03-01T08:00:00.000000Z",
            "2026-03-01T08:00:00Z",
            "08d",
            "8d",
            "8d:desc",
            "d",
            "08d:x",
        )
    ]
    lines += [f"{name}: {'generic' if is_generic(name) else 'says something'}, {snake(name)}" for name in CALLED]
    assert_agreed("\n".join(lines))
