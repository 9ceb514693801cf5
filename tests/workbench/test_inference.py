"""What sample items show of a key, in models that others made."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.model.compiled.compiled_design import CompiledDesign
from tests.workbench.support import compiled_of, item, made, table

PLAIN = ("PK", "SK")


def templates(design: CompiledDesign, entity: str) -> list[str]:
    """The primary key's templates, then those of each index key."""
    return [str(template) for key in design.by_name[entity].keys for _, template in key.attributes]


def of(aliases: tuple[str, str], *items: dict[str, Any], **more: Any) -> CompiledDesign:
    return compiled_of(made(table({"Order": (aliases, items)}, **more)))


@pytest.mark.parametrize(
    ("aliases", "items", "wanted"),
    [
        # A part that an attribute repeats is that attribute
        (
            PLAIN,
            [{"PK": "CUST#1", "SK": "ORDER#9", "customerId": "1", "orderId": "9"}],
            "CUST#{customer_id} ORDER#{order_id}",
        ),
        # One that none repeats is named for the alias, or for the text before it
        (("customerId", "orderId"), [{"PK": "CUST#1", "SK": "ORDER#9"}], "CUST#{customer_id} ORDER#{order_id}"),
        (PLAIN, [{"PK": "CUST#1", "SK": "ORDER#9"}], "CUST#{cust_id} ORDER#{order_id}"),
        # A word at the beginning is text, and so is one that everybody pads keys with; what follows a word is a value
        (PLAIN, [{"PK": "user#7", "SK": "#META"}], "user#{user_id} #META"),
        (PLAIN, [{"PK": "A#1", "SK": "S#open#1"}, {"PK": "A#2", "SK": "S#open#2"}], "A#{a_id} S#{s_id}#{a_id}"),
        (PLAIN, [{"PK": "A#1", "SK": "S#open#1"}, {"PK": "A#2", "SK": "S#shut#2"}], "A#{a_id} S#{s_id}#{a_id}"),
        # A number is padded where it is so in all items, and else a text in a sort key
        (PLAIN, [{"PK": "A#1", "SK": "V#007", "n": 7}, {"PK": "A#1", "SK": "V#010", "n": 10}], "A#{a_id} V#{n:03d}"),
        (PLAIN, [{"PK": "A#1", "SK": "V#7", "n": 7}], "A#{a_id} V#{v_id}"),
        (PLAIN, [{"PK": "A#12", "SK": "META", "n": 12}, {"PK": "A#3", "SK": "META", "n": 3}], "A#{n} META"),
        # What only one short value shows may be chance
        (PLAIN, [{"PK": "A#1", "SK": "META", "quantity": 1}], "A#{a_id} META"),
        # A whole value without text is the attribute itself
        (PLAIN, [{"PK": "ada", "SK": "2026"}, {"PK": "eve", "SK": "2027"}], "{pk} {sk}"),
        # Four letters before a number name it, three may be anything
        (PLAIN, [{"PK": "A#1", "SK": "user7"}, {"PK": "A#2", "SK": "user8"}], "A#{a_id} {user_id}"),
        (PLAIN, [{"PK": "A#1", "SK": "usr7"}, {"PK": "A#2", "SK": "usr8"}], "A#{a_id} {sk}"),
        # Keys of several lengths end in a field of many parts
        (PLAIN, [{"PK": "T#1", "SK": "P#a"}, {"PK": "T#1", "SK": "P#a#b"}], "T#{t_id} P#{p_id}"),
        # Other ways of writing a template in an alias
        (("USER#<userId>", "ORDER#[order id]"), [{"PK": "USER#1", "SK": "ORDER#2"}], "USER#{user_id} ORDER#{order_id}"),
        (("USER#{u}", "ORDER#{o}"), [{"PK": "USER#1", "SK": "ORDER#2", "id": "2"}], "USER#{u} ORDER#{o}"),
        # An alias that its sample isn't made by is only a name
        (("USER#{u}", "ORDER#{o}"), [{"PK": "CUST#1", "SK": "X#2"}], "CUST#{cust_id} X#{x_id}"),
        (("a{b", "}"), [{"PK": "CUST#1", "SK": "X#2"}], "CUST#{cust_id} X#{x_id}"),
    ],
)
def test_primary_keys(aliases: tuple[str, str], items: list[dict[str, Any]], wanted: str) -> None:
    assert " ".join(templates(of(aliases, *items), "Order")) == wanted


def test_the_delimiter_within_a_value_is_read_back() -> None:
    """Keyplan writes # within a value as $c."""
    design = of(PLAIN, {"PK": "A#x$cy", "SK": "META", "name": "x#y"})
    assert templates(design, "Order") == ["A#{name}", "META"]
    (entity,) = design.entities.values()
    assert entity.from_item(item({"PK": "A#x$cy", "SK": "META", "name": "x#y"})).__dict__ == {"name": "x#y"}


def test_an_index_key_is_found_among_the_items_that_have_it() -> None:
    design = of(
        PLAIN,
        {"PK": "O#1", "SK": "META", "GSI1PK": "M#m", "GSI1SK": "O#1", "merchant": "m", "status": "open"},
        {"PK": "O#2", "SK": "META", "merchant": "m", "status": "paid"},
    )
    assert templates(design, "Order") == ["O#{order_id}", "META", "M#{merchant}", "O#{order_id}"]
    (key,) = design.by_name["Order"].index_keys
    assert dict(key.when) == {"status": ("open",)}
    (question,) = [pattern for pattern in design.reads.values() if pattern.name == "order_by_gsi1"]
    assert question.constants == {"status": "open"}


def test_a_missing_field_keeps_an_item_out_by_itself() -> None:
    design = of(
        PLAIN,
        {"PK": "O#1", "SK": "META", "GSI1PK": "M#m", "GSI1SK": "O#1", "merchant": "m"},
        {"PK": "O#2", "SK": "META"},
    )
    (key,) = design.by_name["Order"].index_keys
    assert not key.when


def test_an_index_on_plain_attributes_is_on_fields() -> None:
    design = of(PLAIN, {"PK": "O#1", "SK": "META", "GSI1PK": "ada@example.com", "GSI1SK": "Ada"})
    assert templates(design, "Order")[2:] == ["{gsi1_pk}", "{gsi1_sk}"]
    assert {field.attribute for field in design.by_name["Order"].fields.values()} == {"order_id", "GSI1PK", "GSI1SK"}


def test_a_number_of_a_primary_key_is_a_field() -> None:
    """A moment's milliseconds wouldn't tell two moments of one millisecond apart."""
    key = {
        "PartitionKey": {"AttributeName": "PK", "AttributeType": "S"},
        "SortKey": {"AttributeName": "at", "AttributeType": "N"},
    }
    moment = {"PK": "E#1", "at": 1767225600000, "made": "2026-01-01T00:00:00.000000Z"}
    number = {"PK": "E#1", "at": 17}
    for given, wanted in ((moment, "{at}"), (number, "{at}")):
        model = table({"Event": (PLAIN, [given])}, KeyAttributes=key, GlobalSecondaryIndexes=[])
        assert templates(compiled_of(made(model)), "Event") == ["E#{event_id}", wanted]


@pytest.mark.parametrize(("number", "unit"), [(1767225600000, "ms"), (1767225600, "s"), (1767225601, None)])
def test_a_number_of_an_index_key_may_be_a_moment(number: int, unit: str | None) -> None:
    index = {
        "IndexName": "GSI1",
        "KeyAttributes": {
            "PartitionKey": {"AttributeName": "GSI1PK", "AttributeType": "S"},
            "SortKey": {"AttributeName": "GSI1SK", "AttributeType": "N"},
        },
    }
    event = {
        "PK": "E#1",
        "SK": "META",
        "GSI1PK": "EVENT",
        "GSI1SK": number,
        "made": "2026-01-01T00:00:00.000000Z",
    }
    design = of(PLAIN, event, GlobalSecondaryIndexes=[index])
    assert templates(design, "Order") == [
        "E#{e_id}",
        "META",
        "EVENT",
        "{gsi1_sk}" if unit is None else f"{{made:{unit}}}",
    ]


def test_items_without_facets_are_told_apart_by_the_words_of_their_keys() -> None:
    items = [
        {"PK": "USER#1", "SK": "PROFILE", "name": "Ada"},
        {"PK": "USER#1", "SK": "ORDER#1"},
        {"PK": "USER#1", "SK": "ORDER#2"},
        {"PK": "SHOP#1", "SK": "ORDER#1"},
    ]
    model = table({}, TableFacets=[], TableData=[item(element) for element in items])
    design = compiled_of(made(model))
    assert {name: templates(design, name) for name in design.by_name} == {
        "Profile": ["USER#{user_id}", "PROFILE"],
        "UserOrder": ["USER#{user_id}", "ORDER#{order_id}"],
        "ShopOrder": ["SHOP#{shop_id}", "ORDER#{order_id}"],
    }


def test_types_are_those_of_the_sample() -> None:
    design = of(
        PLAIN,
        {
            "PK": "O#1", "SK": "META", "count": 3, "price": {"N": "1.5"}, "open": {"BOOL": True}, "tags": {"SS": ["a"]},
            "sizes": {"NS": ["1"]}, "lines": {"L": [{"M": {}}]}, "words": {"L": [{"S": "a"}]}, "map": {"M": {}},
            "data": {"B": "AA=="}, "at": "2026-01-01T00:00:00.000000Z", "day": "2026-01-01", "copy": "x", "class": "y",
            "sometimes": "z", "nothing": {"NULL": True}, "mixed": "a", "2nd Name": "b",
        },
        {"PK": "O#2", "SK": "META", "mixed": 1},
    )  # fmt: skip
    fields = design.by_name["Order"].fields
    kinds = {
        name: str(field.annotation).replace("typing.", "").replace(" | None", "") for name, field in fields.items()
    }
    assert {name: kind.removeprefix("<class '").removesuffix("'>") for name, kind in kinds.items()} == {
        "order_id": "str", "count": "int", "price": "decimal.Decimal", "open": "bool", "tags": "set[str]",
        "sizes": "set[decimal.Decimal]", "lines": "list[Any]", "words": "list[str]", "map": "dict[str, Any]",
        "data": "bytes", "at": "datetime.datetime", "day": "str", "copy_": "str", "class_": "str",
        "sometimes": "str", "nothing": "Any", "mixed": "Any", "field_2nd_name": "str",
    }  # fmt: skip
    assert (fields["copy_"].attribute, fields["field_2nd_name"].attribute) == ("copy", "2nd Name")


def test_a_facet_without_a_sample_has_a_guess_for_a_key() -> None:
    module = made(table({"Late Order": (("customerId", "SK"), []), "Other": (PLAIN, [])}))
    design = compiled_of(module)
    assert templates(design, "LateOrder") == ["LATE_ORDER#{customer_id}", "LATE_ORDER"]
    assert len(module.notes) == 2


def test_what_stands_in_a_model_is_text_in_the_module() -> None:
    """Nothing of a model is run."""
    nasty = '"""\nraise SystemExit(1)\n"""\\'
    model = table({f"Order {nasty}": (PLAIN, [{"PK": f"O#{nasty}", "SK": "META", nasty: nasty}])})
    model["ModelName"] = f"Shop {nasty}"
    model["ModelMetadata"]["Description"] = (
        f"{nasty}\nDeclarations, as Keyplan reads them back:\nX.y = Key(__import__('os').abort())\nX = Index(1)\n"
    )
    design = compiled_of(made(model))
    assert [
        field.attribute for field in next(iter(design.entities.values())).fields.values() if field.attribute == nasty
    ]


def test_two_tables_are_two_designs() -> None:
    model = table({"Order": (PLAIN, [{"PK": "O#1", "SK": "META"}])})
    other = table({"Order": (PLAIN, [{"PK": "O#1", "SK": "META"}])}, TableName="Other")
    model["DataModel"] += other["DataModel"]
    module = made(model)
    assert module.designs == ("Shop", "Other")
    assert compiled_of(module, "Other").table.name == "Other"
    assert [entity.name for entity in compiled_of(module, "Other").entities.values()] == ["OrderItem"]


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        # Items of which there is one each, and which differ in a later word, are one entity
        (["F#ACTIVE#CAMERAS", "F#EXPIRED#SEATS"], {"F": "F#{f_id}#{f_id_2}"}),
        # Where there are several of a word, it says what they are
        (
            [f"F#{word}#{number}" for word in ("OPEN", "OPEN#CAMERAS", "SHUT#SEATS") for number in range(3)],
            {
                "F": "F#OPEN#{open_id}",
                "Cameras": "F#OPEN#CAMERAS#{cameras_id}",
                "Seats": "F#SHUT#SEATS#{seats_id}",
            },
        ),
        (
            ["F#OPEN#CAMERAS", "F#SHUT#SEATS", "F#OPEN#SEATS#1", "F#OPEN#SEATS#2"],
            {"F": "F#{f_id}#{f_id_2}", "Seats": "F#OPEN#SEATS#{seats_id}"},
        ),
        # First words that all differ are values, unless they are few, or in capitals
        (["paris#0", "rome#1", "oslo#2", "bern#3"], {"ShopItem": "{shop_id}#{shop_id_2}"}),
        (
            ["paris#0", "rome#1", "oslo#2"],
            {"Paris": "paris#{paris_id}", "Rome": "rome#{rome_id}", "Oslo": "oslo#{oslo_id}"},
        ),
        (
            ["paris#0", "rome#1", "oslo#2", "bern#3", "bern#4", "bern#5"],
            {name: f"{name.lower()}#{{{name.lower()}_id}}" for name in ("Paris", "Rome", "Oslo", "Bern")},
        ),
        (
            ["CITY#0", "BOAT#1", "CREW#2", "PORT#3"],
            {name.title(): f"{name}#{{{name.lower()}_id}}" for name in ("CITY", "BOAT", "CREW", "PORT")},
        ),
    ],
)
def test_words_of_keys_are_kinds_or_values(keys: list[str], wanted: dict[str, str]) -> None:
    items = [item({"PK": key, "SK": "META"}) for key in keys]
    design = compiled_of(made(table({}, TableFacets=[], TableData=items)))
    assert {name: templates(design, name)[0] for name in design.by_name} == wanted


def test_names_that_mean_something_else_are_kept_apart() -> None:
    """Words of Python's, types, parameters of patterns, members of designs and of entities."""
    moment = "2026-01-01T00:00:00.000000Z"
    names = {"class": "1", "self": "2", "limit": 3, "cursor": "4", "date": "5", "datetime": moment, "json": "6"}
    facets = {
        name: (PLAIN, [{"PK": f"{name.upper()}#1", "SK": "META", **names}])
        for name in ("Class", "table", "Compiled", "store", "Entity", "date", "None")
    }
    module = made(table(facets))
    design = compiled_of(module)
    assert len(design.entities) == len(facets)
    assert len(design.reads) == len(facets)
    for items in facets.values():
        stored = item(items[1][0])
        entity = design.entity_of(stored)
        assert entity is not None
        assert {field.attribute for field in entity.fields.values()} | entity.labels.keys() >= names.keys()
        assert entity.to_item(entity.from_item(stored)).items() >= stored.items()


def test_partition_keys_on_fields_with_a_parameters_name() -> None:
    order = {"PK": "O#1", "SK": "META", "GSI1PK": "L#77", "GSI1SK": "C#ccc", "limit": 77, "cursor": "ccc"}
    design = of(PLAIN, order, {**order, "PK": "O#2", "GSI1PK": "L#78", "limit": 78})
    assert templates(design, "Order")[2:] == ["L#{limit_}", "C#{cursor_}"]
    assert "order_by_gsi1" in design.reads
