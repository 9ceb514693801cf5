"""Models as people publish them: without facets, with an attribute that says what an item is, with natural names, with
slips in the sample. All are of our own making; a folder of others' is read where KEYPLAN_MODELS names one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keyplan.cli.import_workbench import working_module
from keyplan.formats.workbench.module import MadeModule
from keyplan.formats.workbench.reading import read_model
from keyplan.formats.workbench.samples import sample_faults
from keyplan.model.compiled.compiled_design import CompiledDesign
from tests.workbench.support import compiled_of, item, made, table

Row = dict[str, Any]
MOMENTS = ["2026-03-01T08:00:00", "2026-03-02T09:30:00", "2026-03-04T10:15:00"]


def of(rows: Sequence[Row], **more: Any) -> MadeModule:
    """The module of a table with these items, and no facets."""
    return made(table({}, TableFacets=[], TableData=[item(row) for row in rows], **more))


def read_notes(module: MadeModule) -> list[str]:
    """What of the sample can't be read, or put back."""
    return [*sample_faults(compiled_of(module), module.samples[module.designs[0]])]


def keys(module: MadeModule) -> dict[str, str]:
    """Each entity's keys, in one line."""
    design: CompiledDesign = compiled_of(module)
    return {
        name: " | ".join(" ".join(str(template) for _, template in key.attributes) for key in entity.keys)
        for name, entity in design.by_name.items()
    }


def key_attributes(partition: str, sort: str) -> dict[str, Any]:
    names = {"PartitionKey": partition, "SortKey": sort}
    return {side: {"AttributeName": name, "AttributeType": "S"} for side, name in names.items()}


def on(name: str, partition: str, sort: str) -> dict[str, Any]:
    """An index."""
    return {"IndexName": name, "KeyAttributes": key_attributes(partition, sort)}


@pytest.mark.parametrize("kind", ["type", "EntityType", "entity_type", "Entity", "_et", "__typename", "_type"])
def test_what_an_item_says_it_is_groups_it(kind: str) -> None:
    """The keys alone would not tell a boat from a berth in it."""
    rows: list[Row] = [
        {"PK": "h#kiel", "SK": "h#kiel", kind: "harbour", "town": "Kiel"},
        {"PK": "h#riga", "SK": "h#riga", kind: "harbour", "town": "Riga"},
        {"PK": "h#kiel", "SK": "b#aurora", kind: "boat", "metres": 12},
        {"PK": "h#riga", "SK": "b#carina", kind: "boat", "metres": 9},
    ]
    module = of(rows)
    assert keys(module) == {
        "Harbour": "h#{harbour_id} h#{harbour_id}",
        "Boat": "h#{harbour_id} b#{boat_id}",
    }
    assert f'Discriminator("{kind}", "boat")' in module.text
    entity = compiled_of(module).by_name["Boat"]
    assert not entity.matches(item({"PK": "h#kiel", "SK": "b#aurora", kind: "raft"}))
    assert entity.to_item(entity.from_item(item(rows[2]))).items() >= item(rows[2]).items()


def test_the_kind_of_a_thing_is_no_entity() -> None:
    """Payments by card and by cash are payments: their keys and attributes are the same."""
    rows = [
        {"PK": "ORDER#1", "SK": f"PAYMENT#{number}", "type": kind, "cents": number}
        for number, kind in enumerate(["card", "cash", "card"], 1)
    ]
    module = of([*rows, {"PK": "ORDER#1", "SK": "META", "type": "express"}])
    assert keys(module) == {"Payment": "ORDER#{order_id} PAYMENT#{payment_id}", "Order": "ORDER#{order_id} META"}


def test_moments_codes_and_names_are_values_and_no_entities() -> None:
    """One entity, whatever its sort keys begin with; and no sample value is text of a template."""
    rows: list[Row] = [
        {"PK": f"SENSOR#{name}", "SK": f"{at}#{code}", "celsius": 20}
        for name, at, code in zip(["HALL", "attic", "X9"], MOMENTS, ["OK", "FAIL", "OK"], strict=True)
    ]
    (text,) = keys(of(rows)).values()
    assert text.startswith("SENSOR#{sensor_id} {")
    assert not any(word in text for word in ("HALL", "OK", "2026"))
    (one,) = keys(of([{"PK": "P#teapot", "SK": "W#lisbon", "count": 3}])).values()
    assert one == "P#{p_id} W#{w_id}"


def test_words_tell_items_apart_where_nothing_else_does() -> None:
    rows: list[Row] = [
        {"PK": "g#7", "SK": "info", "title": "Chess"},
        {"PK": "g#7", "SK": "count", "members": 2},
        {"PK": "g#7#member", "SK": "u#1"},
        {"PK": "g#7#member", "SK": "u#2"},
        {"PK": "g#7#move", "SK": "m#1#u#2", "text": "e4"},
        {"PK": "g#7#move", "SK": "m#2#u#1", "text": "e5"},
    ]
    assert set(keys(of(rows)).values()) == {
        "g#{g_id} info",
        "g#{g_id} count",
        "g#{g_id}#member u#{u_id}",
        "g#{g_id}#move m#{m_id}#u#{u_id}",
    }


def test_names_go_before_coincidence() -> None:
    """The first attribute that fits isn't the one that is meant."""
    rows = [
        {"PK": f"P#{number}", "SK": "META", "shelfId": str(number), "productId": str(number)} for number in (1, 2, 3)
    ]
    assert keys(of(rows)) == {"P": "P#{product_id} META"}
    (text,) = keys(of([{"PK": "ACC#123", "SK": "SUB#123", "accountId": "123"}])).values()
    assert text == "ACC#{account_id} SUB#{sub_id}"


def test_an_alias_names_the_values_of_a_key() -> None:
    rows = [{"PK": "ACC#123", "SK": "SUB#123#SKU#999", "SKU": "999"}]
    module = made(table({"Subscription": (("AccountId", "SubId#SKU"), rows)}))
    assert keys(module) == {"Subscription": "ACC#{account_id} SUB#{sub_id}#SKU#{sku}"}


def test_natural_names_are_the_fields() -> None:
    """A key attribute whose name says what it holds is that field; one that joins two names is made of both."""
    rows = [
        {"StationId": station, "Level#At": f"{level}#{at}", "Level": level, "At": at, "Keeper": keeper}
        for station, level, at, keeper in [
            ("s#1", "LOW", MOMENTS[0], "Ines"),
            ("s#1", "HIGH2", MOMENTS[1], "Ines"),
            ("s#2", "LOW", MOMENTS[2], "Odo"),
        ]
    ]
    module = of(
        rows,
        KeyAttributes=key_attributes("StationId", "Level#At"),
        GlobalSecondaryIndexes=[on("ByKeeper", "Keeper", "At"), on("Inverse", "Level#At", "StationId")],
    )
    assert list(keys(module).values()) == ["{station_id} {level}#{at} | {keeper} {at} | {level}#{at} {station_id}"]
    assert module.notes == ()


def test_an_index_on_plain_attributes_is_sparse_by_itself() -> None:
    rows = [
        {"PK": "Case11", "SK": "metadata", "case_id": "Case11", "owner": "ada"},
        {"PK": "Case12", "SK": "metadata", "case_id": "Case12", "owner": "eve", "raised_to": "bob", "raised_at": "x1"},
        {"PK": "Case11", "SK": f"note#{MOMENTS[0]}#n1", "note_id": "n1", "written_at": MOMENTS[0]},
        {"PK": "Case12", "SK": f"note#{MOMENTS[1]}#n2", "note_id": "n2", "written_at": MOMENTS[1]},
    ]
    module = of(rows, GlobalSecondaryIndexes=[on("Raised", "raised_to", "raised_at")])
    assert keys(module) == {
        "Case": "{case_id} metadata | {raised_to} {raised_at}",
        "Note": "{case_id} note#{written_at}#{note_id}",
    }


def test_kinds_that_only_a_label_tells_apart() -> None:
    """Their keys could be the same; what an item says it is decides."""
    rows: list[Row] = [
        {"PK": "T1", "SK": "A", "type": "tram", "line": "U4"},
        {"PK": "D1", "SK": "A", "type": "driver", "name": "Ida"},
        {"PK": "D1", "SK": MOMENTS[0], "type": "start", "by": "x"},
        {"PK": "D1", "SK": MOMENTS[1], "type": "stop", "reason": "y", "cost": 3},
    ]
    module = of(rows)
    assert keys(module) == {
        "Tram": "{tram_id} A",
        "Driver": "{driver_id} A",
        "Start": "{driver_id} {timestamp}",
        "Stop": "{driver_id} {timestamp}",
    }
    design = compiled_of(module)
    for row in rows:
        entity = design.entity_of(item(row))
        assert entity is not None
        assert entity.name == row["type"].title()
        assert entity.to_item(entity.from_item(item(row))) == item(row)


def facets_of(*kinds: tuple[str, list[Row]]) -> MadeModule:
    return made(table({name: (("PK", "SK"), rows) for name, rows in kinds}))


def test_kinds_that_only_letters_tell_apart() -> None:
    rows: list[Row] = [{"PK": "T1", "SK": "A", "line": "U4"}, {"PK": "T2", "SK": "A", "line": "U6"}]
    module = facets_of(("tram", rows), ("driver", [{"PK": "D1", "SK": "A", "name": "Ida"}]))
    assert keys(module) == {"Tram": "T{tram_number} A", "Driver": "D{driver_number} A"}
    assert "Tram.primary: 'T' in PK is taken for text, to tell it from other entities" in module.notes


def test_keys_that_nothing_tells_apart_are_one_entity_with_a_note() -> None:
    kinds: dict[str, list[Row]] = {
        "start": [{"PK": "42", "SK": MOMENTS[0], "by": "x"}],
        "stop": [{"PK": "43", "SK": MOMENTS[1], "reason": "y", "cost": 3}],
    }
    module = facets_of(*kinds.items())
    assert list(keys(module)) == ["StartOrStop"]
    assert any("can't be told apart" in note for note in module.notes)
    entity = compiled_of(module).by_name["StartOrStop"]
    for (row,) in kinds.values():
        assert entity.to_item(entity.from_item(item(row))) == item(row)


def test_a_facet_of_several_kinds_is_several_entities() -> None:
    rows = [
        {"PK": "CAR#7", "SK": "#META#", "colour": "red"},
        {"PK": "CAR#7", "SK": "PART#WHEEL", "price": 3},
        {"PK": "CAR#7", "SK": "PART#DOOR", "price": 4},
        {"PK": "CAR#7", "SK": "DRIVER#ida"},
    ]
    module = made(table({"Car": (("PK", "SK"), rows)}))
    assert keys(module) == {
        "Car": "CAR#{car_id} #META#",
        "CarPart": "CAR#{car_id} PART#{part_id}",
        "CarDriver": "CAR#{car_id} DRIVER#{driver_id}",
    }
    assert "Car: the facet Car shows items of 3 kinds, told apart by their keys" in module.notes


def test_what_an_item_shows_in_two_facets_is_one_item() -> None:
    row = {"PK": "CAR#7", "SK": "DRIVER#ida", "name": "Ida"}
    module = made(table({"Driver": (("PK", "SK"), [row]), "Cars of a driver": (("PK", "SK"), [row])}))
    assert module.samples["Shop"]["Driver"] == [item(row)]
    assert any("stands before" in note for note in module.notes)


def test_the_templates_that_an_author_wrote_beside_the_sample_are_taken() -> None:
    rows = [{"PK": "z1", "SK": f"2026-01-01#{MOMENTS[0]}", "type": "visit", "day": "2026-01-01", "seenAt": MOMENTS[0]}]
    schema = {"models": {"visit": {"SK": {"value": "${day}#${seenAt}"}, "GSI1PK": {"value": "${PK}"}}}}
    rows[0] |= {"GSI1PK": "z1", "GSI1SK": "q"}
    result = keys(of(rows, ModelSchema=schema))
    assert result == {"Visit": "{pk} {day}#{seen_at} | {pk} {gsi1_sk}"}


def test_templates_of_an_author_name_each_other() -> None:
    """By a chain, in whichever order; a circle of them is no template."""
    rows = [{"PK": "v#2026-01-01", "SK": "2026-01-01", "type": "visit", "day": "2026-01-01"}]
    chain = {"PK": {"value": "v#${SK}"}, "SK": {"value": "${day}"}}
    assert keys(of(rows, ModelSchema={"models": {"visit": chain}})) == {"Visit": "v#{day} {day}"}
    twin = [{**row, "made": row["day"]} for row in rows]
    assert keys(of(twin, ModelSchema={"models": {"visit": chain}})) == {"Visit": "v#{day} {day}"}
    chain["SK"] = {"value": "${made}"}
    assert keys(of(twin, ModelSchema={"models": {"visit": chain}})) == {"Visit": "v#{made} {made}"}
    circle = {"PK": {"value": "v#${SK}"}, "SK": {"value": "${PK}"}}
    assert keys(of(rows, ModelSchema={"models": {"visit": circle}})) == keys(of(rows))


def test_another_delimiter_is_text_before_the_value() -> None:
    rows = [
        {"PK": "User:ada", "SK": MOMENTS[0], "RoomId": "Art", "text": "Hi"},
        {"PK": "User:eve", "SK": MOMENTS[1], "RoomId": "Art", "text": "Yo"},
        {"PK": "Room:Art", "SK": "meta", "madeBy": "ada"},
    ]
    assert keys(of(rows)) == {"User": "User:{user_id} {timestamp}", "Room": "Room:{room_id} meta"}


@pytest.mark.parametrize("mark", ["|", "::", ":", "/", "~"])
def test_other_delimiters(mark: str) -> None:
    """What ends a value is text of the template, and the key has no escapes. A clock's colons are a value's."""
    rows: list[Row] = [
        {"PK": "USER#7", "SK": "PROFILE", "name": "Ada"},
        {"PK": "USER#7", "SK": f"ORDER#{MOMENTS[0]}#o1", "orderId": "o1", "at": MOMENTS[0]},
        {"PK": "USER#8", "SK": f"ORDER#{MOMENTS[1]}#o2", "orderId": "o2", "at": MOMENTS[1]},
    ]
    rows = [{name: str(value).replace("#", mark) for name, value in row.items()} for row in rows]
    module = of(rows)
    wanted = {"Profile": "USER#{user_id} PROFILE", "Order": "USER#{user_id} ORDER#{at}#{order_id}"}
    assert keys(module) == {name: text.replace("#", mark) for name, text in wanted.items()}
    design = compiled_of(module)
    assert [entity.name for row in rows if (entity := design.entity_of(item(row))) is not None] == [
        "Profile",
        "Order",
        "Order",
    ]
    unread = [note for note in read_notes(module) if "can't be read" in note]
    assert len(unread) == (2 if mark == ":" else 0)  # where a clock's colons end a value too, it can't be told


def test_capitals_before_a_number_are_text() -> None:
    rows: list[Row] = [
        {"PK": "USER-7", "SK": "PROFILE", "name": "Ada"},
        {"PK": "USER-7", "SK": "ORDER-1", "total": 3},
        {"PK": "PRODUCT-1", "SK": "PROFILE", "price": 3},
    ]
    assert set(keys(of(rows)).values()) == {
        "USER-{user_id} PROFILE",
        "USER-{user_id} ORDER-{order_id}",
        "PRODUCT-{product_id} PROFILE",
    }
    (text,) = keys(of([{"PK": "INV-2026-1", "SK": "META", "invoice": "INV-2026-1"}])).values()
    assert text == "{invoice} META"


def test_codes_of_two_letters_and_a_month() -> None:
    """What leads a value is text once; months and days behind a word are one value."""
    module = facets_of(
        ("Account", [{"PK": "AC_1", "SK": "AC_1", "name": "Ann"}, {"PK": "AC_2", "SK": "AC_2", "name": "Bob"}]),
        ("Offer", [{"PK": "OFR_1", "SK": "OFR_1", "title": "T"}]),
        ("AccountOffer", [{"PK": "AC_1", "SK": "OFR_1", "GSI1PK": "OFR_1", "GSI1SK": "AC_1"}]),
    )
    assert keys(module) == {
        "Account": "AC_{account_id} AC_{account_id}",
        "Offer": "OFR_{ofr_id} OFR_{ofr_id}",
        "AccountOffer": "AC_{account_id} OFR_{ofr_id} | OFR_{ofr_id} AC_{account_id}",
    }
    module = facets_of(
        ("Song", [{"PK": "1", "SK": "Details", "title": "T"}, {"PK": "2", "SK": "Details", "title": "U"}]),
        ("Total", [{"PK": "1", "SK": "Month-01-2018", "sum": 2}, {"PK": "2", "SK": "Month-02-2018", "sum": 2}]),
    )
    assert keys(module) == {"Song": "{song_id} Details", "Total": "{song_id} Month-{month_number}"}


def test_a_value_may_hold_what_keyplan_escapes() -> None:
    places = [("New York", "A 1"), ("Rio", "B")]
    rows = [{"PK": f"CITY#{city}#STREET#{street}", "SK": "META"} for city, street in places]
    module = of(rows)
    assert list(keys(module).values()) == ["CITY#{city_id}#STREET#{street_id} META"]
    design = compiled_of(module)
    assert [design.entity_of(item(row)) is not None for row in rows] == [True, True]


def test_a_value_that_ends_in_the_next_ones_word() -> None:
    rows = [
        {
            "PK": f"P#{number}", "SK": "META", "brandId": brand, "categoryId": category, "productId": str(number),
            "GSI1PK": f"B#{brand}", "GSI1SK": f"C#{category}P#{number}",
        }
        for number, brand, category in ((1, "3", "1"), (2, "1", "2"), (3, "2", "3"))
    ]  # fmt: skip
    assert list(keys(of(rows)).values()) == ["P#{product_id} META | B#{brand_id} C#{category_id}P#{product_id}"]
    (text,) = keys(of([{"PK": "ORG#1|USER#2", "SK": "META"}])).values()
    assert text == "ORG#{org_id}|USER#{user_id} META"


def test_a_value_behind_its_own_name() -> None:
    """As ElectroDB writes keys."""
    rows: list[Row] = [
        {"PK": f"$app#taskid_{name}", "SK": "$task_1", "GSI1PK": f"$app#project_{name * 2}",
         "GSI1SK": f"$task_1#points_{points}", "taskId": name, "project": name * 2, "points": points,
         "__edb_e__": "task"}
        for name, points in (("t1", 8), ("t2", 10))
    ]  # fmt: skip
    assert keys(of(rows)) == {
        "Task": "$app#taskid_{task_id} $task_1 | $app#project_{project} $task_1#points_{points:d}"
    }


def test_copies_in_another_partition_are_an_entity_of_their_own() -> None:
    rows: list[Row] = [
        {"PK": "c#ann", "SK": "c#ann", "type": "customer", "name": "Ann"},
        {"PK": "c#bob", "SK": "c#bob", "type": "customer", "name": "Bob"},
        {"PK": "o#771", "SK": "o#771", "type": "order", "total": 4},
        {"PK": "o#771", "SK": "c#ann", "type": "customer", "name": "Ann"},
    ]
    assert keys(of(rows)) == {
        "Customer": "c#{customer_id} c#{customer_id}",
        "Order": "o#{order_id} o#{order_id}",
        "OrderCustomer": "o#{order_id} c#{customer_id}",
    }


def test_a_sample_may_name_what_it_holds() -> None:
    """A placeholder in place of a value, and a member of a map."""
    rows: list[Row] = [
        {"PK": f"USER#{mail}", "SK": "JOINED#StartDate#<role name>", "data": {"M": {"email": {"S": mail}}}}
        for mail in ("ann@example.com", "bob@example.com")
    ]
    assert list(keys(of(rows)).values()) == ["USER#{email} JOINED#{start_date}#{role_name}"]


def test_whole_sort_keys_that_say_what_an_item_is() -> None:
    """In small letters: each in several partitions, or called as its attribute, with other attributes than the others.
    A game's name is none.
    """
    rows: list[Row] = [
        {"PK": f"user#{user}", "SK": kind, **attributes}
        for user in ("u1", "u2")
        for kind, attributes in [
            ("account", {"name": f"Ann {user}"}),
            ("preferences", {"theme": "dark"}),
            ("street_name", {"street_name": "Lane 1", "GSI1PK": "S#Lane 1", "GSI1SK": f"L-{user}"}),
        ]
    ]
    assert keys(of(rows)) == {
        "Account": "user#{user_id} account",
        "Preferences": "user#{user_id} preferences",
        "StreetName": "user#{user_id} street_name | S#{street_name} {gsi1_sk}",
    }
    games: list[Row] = [{"PK": f"user#{user}", "SK": game, "wins": 3} for user in "ab" for game in ("chess", "go")]
    assert list(keys(of(games)).values()) == ["user#{user_id} {sk}"]


def test_what_ends_a_key_is_named_for_the_entity() -> None:
    rows: list[Row] = [
        {"PK": "FLAT#1", "SK": f"BOOKING#{MOMENTS[0]}#b1", "nights": 3},
        {"PK": "FLAT#2", "SK": f"BOOKING#{MOMENTS[1]}#b2", "nights": 2},
        {"PK": "FLAT#2", "SK": f"{MOMENTS[1]}#T9", "type": "treatment"},
    ]
    assert set(keys(of(rows[:2])).values()) == {"FLAT#{flat_id} BOOKING#{booking_at}#{booking_id}"}
    assert set(keys(of(rows[2:])).values()) == {"FLAT#{flat_id} {timestamp}#{treatment_id}"}


def test_short_codes_are_hardly_the_same_by_chance() -> None:
    rows: list[Row] = [
        {"PK": "R1", "SK": "A", "type": "room", "GSI1PK": "R1", "GSI1SK": "A"},
        {"PK": "P1", "SK": f"{MOMENTS[0]}#R1", "type": "stay", "roomId": "R1", "GSI1PK": "R1", "GSI1SK": MOMENTS[0]},
    ]
    assert keys(of(rows)) == {
        "Room": "{room_id} A | {room_id} A",
        "Stay": "{pk} {timestamp}#{room_id} | {room_id} {timestamp}",
    }


def test_a_table_without_a_sample_keeps_its_attributes() -> None:
    attributes = [{"AttributeName": name, "AttributeType": kind} for name, kind in [("mail", "S"), ("tries", "N")]]
    key = {"PartitionKey": {"AttributeName": "id", "AttributeType": "S"}}
    by_mail = {"IndexName": "mail-index", "KeyAttributes": {"PartitionKey": {"AttributeName": "mail"}}}
    module = of([], KeyAttributes=key, NonKeyAttributes=attributes, GlobalSecondaryIndexes=[by_mail])
    assert list(keys(module).values()) == ["{id} | {mail}"]
    (entity,) = compiled_of(module).entities.values()
    assert list(entity.fields) == ["id", "mail", "tries"]


def test_most_of_a_sample_decides_and_the_rest_is_noted() -> None:
    rows = [{"PK": "b#1", "SK": f"PART#{number:03d}", "n": number} for number in (1, 2, 3)]
    rows[1]["SK"] = "PART#001PART#002"
    module = of(rows)
    (text,) = keys(module).values()
    assert text.startswith("b#{b_id} PART#{")
    assert any("'PART#001PART#002' is made otherwise" in note for note in module.notes)


def test_an_index_includes_no_key_attribute() -> None:
    """Workbench lists them; DynamoDB refuses them."""
    projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["PK", "SK", "GSI1PK", "total"]}
    index = on("GSI1", "GSI1PK", "GSI1SK") | {"Projection": projection}
    module = of(
        [{"PK": "O#1", "SK": "META", "GSI1PK": "M#1", "GSI1SK": "O#1", "total": 5}], GlobalSecondaryIndexes=[index]
    )
    (result,) = compiled_of(module).table.indexes
    assert result.projection == ("total",)


def test_names_that_several_entities_share_lead_to_one_name() -> None:
    """The order's customer is called as the customer is."""
    rows: list[Row] = [
        {"PK": "customer#ada", "SK": "customer#ada", "mail": "a@b.c"},
        {"PK": "order#77", "SK": "customer#ada", "total": 4},
    ]
    assert set(keys(of(rows)).values()) == {
        "customer#{customer_id} customer#{customer_id}",
        "order#{order_id} customer#{customer_id}",
    }


@pytest.mark.skipif("KEYPLAN_MODELS" not in os.environ, reason="KEYPLAN_MODELS names no folder of models")
def test_models_of_others_compile() -> None:
    paths = sorted(Path(os.environ["KEYPLAN_MODELS"]).glob("**/*.json"))
    assert paths
    for path in paths:
        _, _, error = working_module(read_model(path.read_text(encoding="utf-8"), path.name))
        assert error is None, path


def number_sorted() -> dict[str, Any]:
    """A number is the sort key, and the aliases are templates."""
    key = {**key_attributes("PK", "at"), "SortKey": {"AttributeName": "at", "AttributeType": "N"}}
    rows = [{"PK": f"EVENT#{number}", "at": 1767225600 + number, "text": "x"} for number in (1, 2)]
    return table({"Event": (("EVENT#{event}", "{at}"), rows)}, KeyAttributes=key, GlobalSecondaryIndexes=[])


def without_sample() -> dict[str, Any]:
    """A facet that has no items, and names attributes of every kind."""
    model = table({"Car": (("CAR#{id}", "SK"), []), "Ride": (("PK", "SK"), [{"PK": "RIDE#1", "SK": "META"}])})
    model["DataModel"][0]["TableFacets"][0]["NonKeyAttributes"] = ["GSI1PK", "GSI1SK", "colour", "PK", "wheels"]
    model["DataModel"][0]["NonKeyAttributes"] = [{"AttributeName": "wheels", "AttributeType": "N"}]
    return model


def listed(rows: Sequence[Row], **more: Any) -> dict[str, Any]:
    """Items without facets."""
    return table({}, TableFacets=[], TableData=[item(row) for row in rows], **more)


BY_TYPE = [on("ByType", "type", "createdAt")]
SHAPES: dict[str, dict[str, Any]] = {
    "a number as sort key": number_sorted(),
    "no sample": without_sample(),
    "an index on what an item says it is": listed(
        [{"PK": f"T{n}", "SK": f"T{n}", "type": "tram", "createdAt": MOMENTS[n]} for n in (0, 1)],
        GlobalSecondaryIndexes=BY_TYPE,
    ),
    "an index on what items that can't be told apart say they are": listed(
        [
            {"PK": "42", "SK": MOMENTS[0], "type": "start", "by": "x", "createdAt": MOMENTS[0]},
            {"PK": "43", "SK": MOMENTS[1], "type": "stop", "reason": "y", "cost": 3, "createdAt": MOMENTS[1]},
        ],
        GlobalSecondaryIndexes=BY_TYPE,
    ),
    "a schema whose templates name what the item is": listed(
        [{"PK": f"visit#{n}", "SK": f"visit#at#{n}", "type": "visit", "visitId": str(n)} for n in (17, 18)],
        ModelSchema={
            "models": {"visit": {"PK": {"value": "${type}#${visitId}"}, "SK": {"value": "${type}#at#${visitId}"}}}
        },
    ),
    "a schema whose templates name keys": listed(
        [{"PK": "v#1", "SK": "v#1#7", "type": "visit", "n": 7}, {"PK": "v#2", "SK": "v#2#8", "type": "visit", "n": 8}],
        ModelSchema={"models": {"visit": {"PK": {"value": "v#${id}"}, "SK": {"value": "${PK}#${n}"}}}},
    ),
    "facets of one name": table(
        {
            name: (("PK", "SK"), [{"PK": f"{name}{number}#1", "SK": "META"}])
            for number, name in enumerate(("Note", "note", "NOTE", "nOte"))
        }
    ),
    "a child that names its parent in its own key": listed(
        [
            *({"PK": f"session#{n}", "SK": f"session#{n}", "open": n} for n in (1, 2)),
            *({"PK": f"session#{n}", "SK": f"child#session#{n + 4}", "age": n} for n in (1, 2)),
        ]
    ),
    "a word behind a word that other keys begin with": listed(
        [
            {"PK": "user#3", "SK": "user#3", "name": "Ida"},
            {"PK": "org#user#7", "SK": "desk#9", "floor": 2},
            {"PK": "org#user#8", "SK": "desk#4", "floor": 3},
        ]
    ),
    "another mark between the parts": listed(
        [{"PK": f"USER:{n}:SHOP:{n + 1}", "SK": f"AT:{MOMENTS[n]}", "sum": n} for n in (0, 1)]
    ),
    "a mark in values alone": listed([{"PK": f"k{n}", "SK": f"user:{n}", "sum": n, "link": "a:b"} for n in (17, 18)]),
    "marks of which some lead a word and some don't": listed(
        [{"PK": f"user|{n}|x", "SK": f"{n}|a", "sum": n} for n in (17, 18, 19)]
    ),
    "sets of two kinds that are long": listed(
        [
            {"PK": "BOX#1", "SK": "META", "held": {"NS": [str(n) for n in range(40)]}},
            {"PK": "BOX#2", "SK": "META", "held": {"SS": ["a", "b"]}},
        ]
    ),
    "many items that are made otherwise": listed(
        [{"PK": "b#1", "SK": f"PART#{n:03d}", "n": n} for n in range(40)]
        + [{"PK": "b#1", "SK": f"PART#001PART#{n:03d}", "n": n} for n in range(6)]
    ),
    "items without what the others say they are": listed(
        [{"PK": f"USER#{n}", "SK": "PROFILE", **({} if n == 3 else {"type": "user"}), "age": n} for n in range(6)]
    ),
    "kinds of the same name in other partitions": listed(
        [
            *({"PK": f"CUSTOMER#{n}", "SK": f"NOTE#{n}", "type": "note", "text": "x"} for n in (1, 2)),
            *({"PK": f"ORDER#{n}", "SK": f"NOTE#{n}", "type": "note", "by": "y", "at": n} for n in (1, 2, 3)),
            *({"PK": f"ORDER#{n}", "SK": "META", "type": "order", "sum": n} for n in (1, 2, 3)),
        ]
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_made_of_a_shape_is_as_it_was_agreed_upon(shape: str) -> None:
    made(SHAPES[shape])
