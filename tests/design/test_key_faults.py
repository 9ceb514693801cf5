# mypy: disable-error-code="empty-body"
"""Keys and entities that can't work are refused when the class of a design is made."""

from __future__ import annotations

import enum
import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from keyplan import (
    Binary,
    Design,
    Entity,
    IdempotencyTokens,
    Index,
    Key,
    Number,
    Table,
    Ttl,
    Unique,
)
from keyplan.errors import DesignError
from tests.design.refused import GSI1, GSI2, LOCAL, NATIVE, OTHER, told


def test_keys_that_can_collide() -> None:
    class One(Entity):
        one: str
        primary = Key("X#{one}", "META")

    class Two(Entity):
        two: str
        primary = Key("X#{two}", "META")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One, Two])

    told(error, r"Two\.primary", r"can be the same as One\.primary's", "begin one of the templates with another word")


def test_the_number_of_a_shard_is_part_of_what_can_collide() -> None:
    class Spread(Entity):
        one: str
        at: int
        primary = Key("X#{one}", "{at:04d}", shards=3)

    class Numbered(Entity):
        one: str
        number: int
        at: int
        primary = Key("X#{one}#{number:01d}", "{at:04d}")

    class Plain(Entity):
        one: str
        at: int
        primary = Key("X#{one}", "{at:04d}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[Spread, Numbered])

    told(error, r"Numbered\.primary", r"can be the same as Spread\.primary's")

    class Apart(Design):
        table = Table("ttt", entities=[Spread, Plain])

    with Apart.open(":memory:") as store:
        store.put(Spread(one="a", at=1))
        store.put(Plain(one="a", at=1))
        assert store.get(Spread, one="a", at=1) == Spread(one="a", at=1)
        assert store.get(Plain, one="a", at=1) == Plain(one="a", at=1)


def test_a_claim_can_collide_with_an_entity() -> None:
    class One(Entity):
        one: str
        primary = Key("X#{one}", "CLAIM")
        unique = Unique("X#{one}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One])

    told(error, r"One\.unique: its key can be the same as One\.primary's")


def test_a_template_that_names_no_field() -> None:
    class One(Entity):
        one: str
        primary = Key("X#{two}", "{}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One])

    told(error, r"One\.primary: 'X#\{two\}': One has no field 'two'", "its fields are one")
    told(error, r"One\.primary: '\{\}': \{\} doesn't name a field")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{one", "the braces of '{one' don't match"),
        ("", "the template is empty"),
        ("{one}{one}", "put '#' behind it"),
        ("{one}-x", "put '#' behind it"),
    ],
)
def test_malformed_templates(template: str, said: str) -> None:
    class One(Entity):
        one: str
        primary = Key("X#{one}", template)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One])

    told(error, re.escape(said))


def test_an_unpadded_number_in_a_sort_key() -> None:
    class One(Entity):
        one: str
        number: int
        primary = Key("X#{one}", "N#{number}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One])

    told(error, r"10 comes before 2", r"pad it, as in \{version:08d\}")


class Level(enum.Enum):
    """Numbers in an enum."""

    LOW = 2
    HIGH = 10


@pytest.mark.parametrize(
    ("field_type", "template", "said"),
    [
        (Decimal, "{field}", "a fraction has no fixed-width text that sorts"),
        (float, "{field}", "a fraction has no fixed-width text that sorts"),
        (list[str], "{field}", "a field of type list can't stand in a key"),
        (Level, "{field}", "don't sort as such"),
        (int, "{field:x}", "isn't a number's format"),
        (str, "{field:08d}", "this type takes no format"),
        (str, "{field:desc}", "only numbers and times can be turned"),
        (datetime, "{field:%B}", "isn't a fixed-width time"),
        (datetime, "{field:%d%Y}", "doesn't sort by time"),
        (datetime, "{field:%Y#%m}", "holds the delimiter"),
        (tuple[str, ...], "{field}#x", "nothing can follow it"),
        (tuple[int, ...], "{field}", "isn't a tuple of strings"),
    ],
)
def test_formats_that_do_not_fit_a_type(field_type: Any, template: str, said: str) -> None:
    namespace = {
        "__annotations__": {"one": str, "field": field_type},
        "primary": Key("X#{one}", template),
        "__module__": __name__,
    }
    element = type("One", (Entity,), namespace)
    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[element])

    told(error, said)


def test_native_attributes_take_what_they_can_hold() -> None:
    class One(Entity):
        one: str
        at: datetime
        primary = Key("X#{one}", "M")
        a = Key("A", "{one}", index=GSI2)
        b = Key("B", "{at}", index=Index("NNN", "npk", Number("nsk")))
        c = Key("C", "x{one}", index=Index("BBB", "bpk", Binary("bsk")))

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[GSI2, One.b.index or GSI2, One.c.index or GSI2], entities=[One])

    told(error, r"One\.a", "a Number key attribute takes an int, Decimal, float")
    told(error, r"One\.b", r"needs its unit \(write '\{field:ms\}' or '\{field:s\}'\)")
    told(error, r"One\.c", "bsk is of type B: it must be a single field without other text")


def test_a_primary_key_that_holds_a_field_only_in_part() -> None:
    class One(Entity):
        one: str
        at: datetime
        primary = Key("X#{one}", "{at:%Y%m%d}")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One])

    told(error, r"One\.primary: it contains only a part of at")


def test_keys_that_share_an_attribute_must_agree() -> None:
    class One(Entity):
        one: str
        two: str
        primary = Key("X#{one}", "M")
        a = Key("A#{one}", "{two}", index=GSI1)
        b = Key("B#{one}", "{two}", index=Index("GSI9", "gsi1pk", "nine"))
        c = Key("C#{one}", "{two}", index=LOCAL)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[GSI1, One.b.index or GSI1, LOCAL], entities=[One])

    told(error, r"One\.b: it shares the attribute gsi1pk with a, which holds A#{one} there", "the same template")
    told(error, r"One\.c: it shares the attribute pk with primary, which holds X#{one} there")


def test_a_key_attribute_that_is_also_a_field() -> None:
    class One(Entity):
        one: str
        gsi1pk: str
        primary = Key("X#{one}", "M")
        a = Key("A#{one}", "{one}", index=GSI1)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[GSI1], entities=[One])

    told(error, "the key attribute gsi1pk also stores the field gsi1pk, with another value")


def test_an_index_that_the_table_does_not_have() -> None:
    class One(Entity):
        one: str
        primary = Key("X#{one}", "M")
        a = Key("A#{one}", "M", index=OTHER)

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One])

    told(error, r"One\.a: OTHER isn't an index of the table")


def test_a_sparse_key_of_native_attributes_only() -> None:
    class One(Entity):
        one: str
        kind: str
        name: str
        on: bool
        primary = Key("X#{one}", "M")
        a = Key("{kind}", "{name}", index=NATIVE, when={"on": True})

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[NATIVE], entities=[One])

    told(error, "when= has no effect")


def test_entities_need_one_primary_key() -> None:
    class Zero(Entity):
        one: str

    class Two(Entity):
        one: str
        a = Key("A#{one}", "M")
        b = Key("B#{one}", "M")

    class Odd(Entity):
        one: str
        a = Key(["A", "B"], "M")
        b = Key("B#{one}", "x", index=GSI1, shards=3)
        c = Key("B#{one}", "M", index=GSI1, when={"two": 1})

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[GSI1], entities=[Zero, Two, Odd])

    told(error, "^Zero: has no primary key")
    told(error, "^Two: has several primary keys: a, b")
    told(error, r"^Odd\.a: the table has 1 partition and 1 sort key attributes")


def test_sparse_primary_keys_and_unknown_fields_in_when() -> None:
    class One(Entity):
        one: str
        a = Key("A#{one}", "M", when={"one": "x"})
        c = Key("B#{one}", "M", index=GSI1, when={"two": 1})

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", indexes=[GSI1], entities=[One])

    told(error, r"One\.a: a primary key can't be sparse")
    told(error, r"One\.c: when= names 'two', which isn't a field of One")


def test_one_attribute_of_expiry_a_table() -> None:
    class One(Entity):
        one: str
        expires: Ttl
        primary = Key("ONE#{one}", "M")

    class Two(Entity):
        two: str
        ends: Ttl
        primary = Key("TWO#{two}", "M")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[One, Two])

    told(error, "^Two: it expires by ends, and One by expires")


def test_one_set_of_tokens_an_entity_which_begins_empty() -> None:
    class Twice(Entity):
        name: str
        applied: IdempotencyTokens = set()  # noqa: RUF012 - pydantic copies it
        again: IdempotencyTokens = {"a"}  # noqa: RUF012
        primary = Key("TWICE#{name}", "HEAD")

    with pytest.raises(DesignError) as error:

        class D(Design):
            table = Table("ttt", entities=[Twice])

    told(error, r"^Twice\.again: applied keeps the tokens")
    told(error, r"^Twice\.again: tokens must start as an empty set")
