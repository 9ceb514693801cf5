"""What the values of a key attribute show, where one thing decides: values that chance could explain, numbers that are
moments, values behind their names, those that agree in most items. Besides, samples of ``test_values.py`` further on.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from keyplan.workbench.inference import Column, Sample, infer
from keyplan.workbench.texts import WordList
from tests.agreed import assert_agreed
from tests.workbench.test_values import drawn, shown

MOMENTS = ["2026-03-01T08:00:00.000000Z", "2026-03-02T08:00:00.250000Z"]


def of(values: Sequence[str], *columns: tuple[str, str, list[Any]], **more: Any) -> Sample:
    """A sample with columns of these names, types and values; the values of a general sort key, if nothing else is
    said.
    """
    made = [Column(name, name.title().replace("_", ""), tag, held) for name, tag, held in columns]
    made += more.pop("also", [])
    names = more.pop("names", ("customer", "order"))
    given: dict[str, Any] = {
        "attribute": "SK", "kind": "S", "values": values, "columns": made, "words": WordList(values, names),
        "alias": "", "sorts": True, "whole": True, "start": "", "called": (), "entity": "", "single": False, **more,
    }  # fmt: skip
    return Sample(**given)


NUMBERS = ("n", "N", ["1", "2"])
MADE = ("made", "S", MOMENTS)
SAMPLES = {
    # The attribute is a field itself, or another that holds the whole value
    "itself": of(["X#7", "X#8"], also=[Column("at", "SK", "S", ["X#7", "X#8"])]),
    "itself, beside another": of(["7", "8"], ("a", "S", ["7", "8"]), also=[Column("at", "SK", "S", ["7", "8"])]),
    "itself, in some": of(["X#7", "X#8"], also=[Column("at", "SK", "S", ["X#7", None])]),
    "the whole": of(["X#7", "X#8"], ("other", "S", ["Y#7", "X#8"]), ("code", "S", ["X#7", "X#8"])),
    "the whole, constant": of(["X#7", "X#8"], also=[Column("code", "Code", "S", ["X#7", "X#8"], constant=True)]),
    "the whole, a key's": of(["X#7", "X#8"], also=[Column("code", "Code", "S", ["X#7", "X#8"], before="Y")]),
    "the whole, no text": of(["X#7", "X#8"], also=[Column("code", "Code", "B", ["X#7", "X#8"])]),
    # Numbers: of two that are equal the one that is called so; moments by their units
    "numbers": of(["1", "2"], NUMBERS, ("rank", "N", ["1", "2"]), kind="N", alias="rank"),
    "numbers, general": of(["1", "2"], NUMBERS, ("sk", "N", ["1", "2"]), kind="N", alias="PK"),
    "numbers of a text": of(["1", "2"], ("n", "S", ["1", "2"]), kind="N"),
    "milliseconds": of(["1772352000000", "1772438400250"], NUMBERS, MADE, kind="N", whole=False),
    "seconds": of(["1772352000", "1772438400"], ("text", "S", ["a", "b"]), MADE, kind="N", whole=False),
    "no seconds": of(["1772352000", "1772438401"], MADE, kind="N", whole=False),
    "seconds of a whole key": of(["1772352000", "1772438400"], MADE, kind="N"),
    "binary": of(["1772352000", "1772438400"], MADE, kind="B", whole=False),
    "a moment in some": of(["1772352000", "1"], ("made", "S", [MOMENTS[0], None]), kind="N", whole=False),
    # Words and what might be values
    "two words": of(["USER#OPEN", "USER#OPEN"]),
    "capitals alone": of(["OPEN", "OPEN"], names=()),
    "letters alone": of(["open", "open"], names=()),
    "letters alone of a partition": of(["open", "open"], names=(), sorts=False),
    "a word between": of(["x#OPEN#1", "x#OPEN#2"], names=()),
    "what changes": of(["7#OPEN#1", "8#OPEN#1", "9#OPEN#1"], names=()),
    "what stays": of(["7#OPEN#1", "7#OPEN#1"], names=()),
    # Behind its name
    "behind": of(["project_7", "project_8"], ("title", "S", ["a", "b"]), ("project", "S", ["7", "8"])),
    "behind, a list": of(["project_7"], ("n", "L", [["7"]]), ("project", "S", ["7"])),
    "behind, a number": of(["project_7", "project_8"], ("project", "N", ["7", "8"])),
    "behind, of a partition": of(["project_7", "project_8"], ("project", "N", ["7", "8"]), sorts=False),
    "behind, of an index": of(["project_7", "project_8"], ("project", "N", ["7", "8"]), sorts=False, whole=False),
    "behind, in some": of(["project_7", "project_8"], ("project", "S", ["7", "9"])),
    "behind two": of(["project_7", "projects_8"], ("project", "S", ["7", "8"])),
    "behind nothing": of(["project7", "project8"], ("project", "S", ["7", "8"])),
    "behind another": of(["x_7", "x_8"], ("project", "S", ["7", "8"])),
    # Names that say a little: their likeness is one, two, three or four
    "one": of(["A#7"], ("cust", "S", ["7"]), alias="customer_code"),
    "one, two letters": of(["A#7"], ("cu", "S", ["7"]), alias="customer_code"),
    "one, three letters": of(["A#7"], ("cus", "S", ["7"]), alias="customer_code"),
    "one, half": of(["A#7", "A#8"], ("code", "S", ["7", "x"]), alias="codex"),
    "two": of(["A#7"], ("customer_code_of", "S", ["7"]), alias="customer_code"),
    "within": of(["A#7"], ("the_code", "S", ["7"]), alias="code"),
    "within, three letters": of(["A#7"], ("the_cod", "S", ["7"]), alias="cod"),
    "within, two letters": of(["A#7"], ("the_co", "S", ["7"]), alias="co"),
    "many": of(["A#7"], ("tag_id", "S", ["7"]), alias="tags"),
    "many, itself": of(["A#7"], ("tag", "S", ["7"]), ("tag_id", "S", ["7"]), alias="tags"),
    "many, less than itself": of(["A#7"], ("tag", "S", ["7"]), ("tags_name", "S", ["7"]), alias="tags"),
    "many, of another name": of(["A#7"], ("zone", "S", ["7"]), alias="tags"),
    "many, beside the entity": of(["CUST#7"], ("tag", "S", ["7"]), ("customer", "S", ["7"]), alias="tags"),
    "the entity, beside many": of(["CUST#7"], ("customer", "S", ["7"]), ("tag", "S", ["7"]), alias="tags"),
    "its own word, beside its name": of(
        ["A#7"], alias="code", also=[Column("x", "x", "S", ["7"], before="A"), Column("code", "code", "S", ["7"])]
    ),
    "its name, beside its own word": of(
        ["A#7"], alias="code", also=[Column("code", "code", "S", ["7"]), Column("x", "x", "S", ["7"], before="A")]
    ),
    "the entity": of(["CUST#7"], ("a", "S", ["7"]), ("customer_id", "S", ["7"])),
    "the entity, short": of(["CUST#7"], ("cust_x", "S", ["7"]), ("customer", "S", ["7"])),
    "two of a likeness": of(["ORDER#7"], ("order_id", "S", ["7"]), ("order", "S", ["7"]), ("n", "S", ["7"])),
    "another's word": of(["A#7777777"], also=[Column("x", "x", "S", ["7777777"], before="B")]),
    "its own word": of(["A#7"], also=[Column("x", "x", "S", ["7"], before="A")]),
    "another's word, short": of(["A#7"], also=[Column("a_code", "a", "S", ["7"], before="B")]),
    # Numbers as texts
    "unpadded": of(["V#7", "V#10"], ("v_id", "N", ["7", "10"])),
    "unpadded, of a partition": of(["V#7", "V#10"], ("v_id", "N", ["7", "10"]), sorts=False),
    "padded": of(["V#07", "V#10"], ("v_id", "N", ["7", "10"])),
    "zeros": of(["V#0", "V#0"], ("v_id", "N", ["0", "0"])),
    "three digits": of(["V#107", "V#110"], ("v_id", "N", ["107", "110"])),
    "four digits": of(["V#1007", "V#1010"], ("v_id", "N", ["1007", "1010"])),
    "two lengths": of(["V#1007", "V#11010"], ("v_id", "N", ["1007", "11010"])),
    "signed": of(["V#-7", "V#-8"], ("v_id", "N", ["-7", "-8"])),
    # What most items agree on, by name and by value
    "half, one": of(["A#7", "A#8"], ("cust", "S", ["7", "x"]), alias="customer_code"),
    "half, two": of(["A#7", "A#8"], ("customer_code_of", "S", ["7", "x"]), alias="customer_code"),
    "a third, two": of(["A#7", "A#8", "A#9"], ("customer_code_of", "S", ["7", "x", "y"]), alias="customer_code"),
    "two thirds": of([f"A#{n}" for n in range(6)], ("b", "S", ["0", "1", "2", "3", "x", "y"])),
    "more than two thirds": of([f"A#{n}" for n in range(6)], ("b", "S", ["0", "1", "2", "3", "4", "y"])),
    "most, of two values": of(["A#1", "A#1", "A#2", "A#2", "A#3"], ("b", "S", ["1", "1", "2", "2", "y"])),
    "most, not whole": of([f"A#{n}" for n in range(4)], ("b", "S", ["0", "1", "2", None])),
    "most, another first": of(
        [f"A#{n}" for n in range(4)], ("n", "N", ["0", "1", "2", "4"]), ("b", "S", ["0", "1", "2", "y"])
    ),
    # Names of what no attribute holds
    "written": of(["A#<customer id>", "A#<customer id>"]),
    "written twice": of(["A#<customer id>", "A#<order id>"]),
    "compound": of(["A#StartDate", "A#StartDate"]),
    "a day": of(["2026-11-21", "2026-11-22"]),
    "a moment": of(["2026-11-21T08", "2026-11-22T09"]),
    "a day of": of(["LOG#2026-11-21", "LOG#2026-11-22"]),
    "called": of(["c-17171", "c-18181"], called=[("client", frozenset(("c-17171", "c-18181")))]),
    "called id": of(["CLI#c-17171"], called=[("id", frozenset(["c-17171"]))], names=()),
    "a name of two": of(["unit7", "unit8"], attribute="Level#At"),
    "called, short": of(["7", "8"], called=[("client", frozenset("78"))]),
    "called behind its word": of(["CLI#7", "CLI#8"], called=[("id", frozenset("78")), ("client", frozenset("789"))]),
    "called behind another": of(["ORD#7", "ORD#8"], called=[("client", frozenset("789"))]),
    "four letters": of(["unit7", "unit8"], entity="Order", single=True),
    "three letters": of(["uni7", "uni8"], entity="Order", single=True, sorts=False),
    "a start": of(["T7", "T8"], start="T", entity="Thing", single=True),
    "a start, not single": of(["T7", "T8"], start="T", entity="Thing"),
    "a start of a partition": of(["T7", "T8"], start="T", entity="Thing", single=True, sorts=False),
    "a start of an entity": of(["C7", "C8"], start="C", sorts=False),
    "behind a word": of(["A#OPEN#7#8", "A#OPEN#9#1"], entity="Order"),
    "behind nothing that names": of(["7#8", "9#1"], entity="Order"),
    "behind nothing, of a partition": of(["7#8", "9#1"], entity="Order", sorts=False, whole=False),
    "an id": of(["PAID#7", "PAID#8"]),
    "a namesake": of(["A#7", "A#8"], ("customer_id", "S", ["x", "y"]), alias="customerId"),
    # Of several lengths
    "three of many parts": of(["P#a", "P#a#b", "P#a#b#c", "P#a"]),
    "a list": of(["P#a#x", "P#a#b#y"], ("n", "L", [["a"]]), ("parts", "L", [["a", "x"], ["a", "b", "y"]])),
    "of many, called": of(["P#a#x", "P#a#b#y"], alias="place"),
    "of many, a template": of(["P#a#x", "P#a#b#y"], alias="P#x"),
    "of many, all": of(["a#x", "b#x#y"]),
    "of many, an empty start": of(["#a", "#a#b", "#c#d#e"]),
    "of many, the entity's": of(["CUST#a#x", "CUST#a#b#y", "CUST#b#a#b#y"]),
    "most of a length": of(["A#1", "A#2", "A#3#4"], ("a_id", "S", ["1", "2", "3"])),
    "half of a length": of(["A#1", "A#2#1", "A#3#4", "A#5"]),
}  # fmt: skip


def test_what_one_thing_decides_is_as_it_was_agreed_upon() -> None:
    assert_agreed("\n".join(f"{name}: {shown(sample, infer(sample))}" for name, sample in SAMPLES.items()))


FURTHER_ON = (
    (100, 6), (100, 33), (101, 43), (101, 49), (102, 30), (102, 45), (109, 32), (114, 49), (116, 9), (130, 45),
    (134, 1), (135, 8), (135, 38),
)  # fmt: skip
"""Samples that tell what those before them don't: the seed, and which of its samples."""


@pytest.mark.parametrize(("seed", "number"), FURTHER_ON)
def test_samples_further_on_are_as_they_were_agreed_upon(seed: int, number: int) -> None:
    random = Random(seed)
    sample = [drawn(random) for _ in range(number + 1)][number]
    assert_agreed(shown(sample, infer(sample)))
