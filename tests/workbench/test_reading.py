"""Invalid NoSQL Workbench models: all errors are reported with their places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.errors import RequestError
from keyplan.formats.workbench.module import working_module
from keyplan.formats.workbench.reading import read_model
from tests.export.designs import design
from tests.workbench.support import exported, item, table


def refused(model: Any) -> RequestError:
    with pytest.raises(RequestError) as error:
        read_model(model if isinstance(model, str) else json.dumps(model), "model.json")
    return error.value


def test_invalid_json_is_reported_with_its_line() -> None:
    error = refused('{\n  "ModelName": "x"\n  "ModelMetadata": {}}')
    assert error.place == "model.json:3:3"
    assert "invalid JSON" in error.message
    assert refused("[" * 100_000).place == "model.json"
    assert refused("[]").message == "a model must be a JSON object"


def notes(model: Any) -> list[str]:
    return list(read_model(json.dumps(model), "model.json").notes)


def test_invalid_parts_of_a_model_are_omitted_and_reported() -> None:
    """Items without a key, values that aren't DynamoDB JSON, and invalid names are omitted; all others are kept."""
    items = [
        {"PK": {"S": "O#1"}},
        {
            "PK": {"S": "O#2"},
            "SK": {"S": "META"},
            "GSI1PK": {"N": "7"},
            "plain": "text",
            "n": {"N": "x"},
            "f": {"N": "2.5"},
        },
        {"PK": {"S": "O#2"}, "SK": {"S": "META"}},
        "no item",
    ]
    model = table({"Order": (("PK", "SK"), [])})
    model["DataModel"][0]["TableFacets"][0]["TableData"] = items
    model["DataModel"][0]["TableName"] = "My Shop"
    model["DataModel"][0]["GlobalSecondaryIndexes"].append({"IndexName": "GSI1", "KeyAttributes": {}})
    result = read_model(json.dumps(model), "model.json")
    (read,) = result.tables
    assert read.name == "My_Shop"
    (facet,) = read.facets
    assert facet.items == [{"PK": {"S": "O#2"}, "SK": {"S": "META"}, "f": {"N": "2.5"}}]
    place = "DataModel[0].TableFacets[0].TableData"
    assert sorted(result.notes) == sorted(
        [
            "DataModel[0].TableName: 'My Shop' isn't a valid name: changed to 'My_Shop'",
            "DataModel[0].GlobalSecondaryIndexes[1]: the index is omitted, because its key is incomplete",
            f"{place}[0]: the item is omitted, because it has no SK",
            f"{place}[1].GSI1PK: the value is omitted, because it isn't valid in a key of type S",
            f"{place}[1].plain, {place}[1].n: the value is omitted, because it isn't DynamoDB JSON",
            f"{place}[2]: duplicate key; the item is omitted",
            f"{place}[3]: the item is omitted, because it has no PK and no SK",
        ]
    )


@pytest.mark.parametrize("member", ["NonKeyAttributes", "TableFacets", "GlobalSecondaryIndexes", "TableData"])
def test_members_of_a_model_may_be_missing_or_null(member: str) -> None:
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}])})
    del model["DataModel"][0][member]
    del model["ModelMetadata"]
    assert notes(model) == []
    model["DataModel"][0][member] = None
    assert notes(model) == []


def test_a_single_table_and_a_list_of_models_are_accepted() -> None:
    model = table({"Order": (("PK", "SK"), [])})
    for written in (model["DataModel"][0], [model]):
        assert [table_model.name for table_model in read_model(json.dumps(written), "model.json").tables] == ["Shop"]
    assert read_model("\ufeff" + json.dumps(model), "model.json").tables


@pytest.mark.parametrize("seed", range(25))
def test_randomly_changed_models_are_imported_or_rejected(seed: int) -> None:
    """Members are removed, swapped, renamed and replaced. Only a model without any table key is rejected."""
    random = Random(seed)
    facets: dict[str, tuple[tuple[str, str], list[dict[str, Any]]]] = {
        "User": (("PK", "SK"), [{"PK": "USER#1", "SK": "PROFILE", "type": "user", "GSI1PK": "a@b.c", "GSI1SK": "x"}]),
        "Order": (
            ("userId", "orderId"),
            [{"PK": "USER#1", "SK": f"ORDER#{n}", "orderId": str(n), "type": "order", "n": n} for n in (1, 2)],
        ),
    }
    table_ = table(facets if seed % 2 else {}, TableData=[item(row) for _, rows in facets.values() for row in rows])
    for _ in range(random.randint(1, 6)):
        places = [place for place in _places(table_["DataModel"]) if place]
        if not places:
            break
        *path, last = random.choice(places)
        holder = _at(table_["DataModel"], path)
        junk: list[Any] = [None, 0, 3.5, "", "#", "a#b", "{a}", "é", [], {}, {"N": "x"}, "PK", "id", "class"]
        other = _at(table_["DataModel"], random.choice(places))
        holder[last] = deepcopy(random.choice([*junk, other, other, other]))
        if isinstance(holder, list):
            random.shuffle(holder)
        elif random.random() < 0.3:
            holder[random.choice(["type", "SK", "", "json", f"{last}x"])] = holder.pop(last)
    try:
        model = read_model(json.dumps(table_), "model.json")
    except RequestError as error:
        assert error.errors  # noqa: PT017 - the other half is below
        return
    _, _, wrong = working_module(model)
    assert wrong is None


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts: Any = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in parts:
        yield from _places(value, (*path, name))


def _at(node: Any, path: Iterable[Any]) -> Any:
    for name in path:
        node = node[name]
    return node


def test_tables_of_a_model_without_a_key_are_omitted() -> None:
    model = table({})
    model["DataModel"].append({"TableName": "Odd", "KeyAttributes": {"SortKey": "x"}})
    result = read_model(json.dumps(model), "model.json")
    assert [table_model.name for table_model in result.tables] == ["Shop"]
    assert result.notes == (
        "DataModel[1].KeyAttributes.PartitionKey: the partition key requires an attribute name: the table is omitted",
    )
    error = refused({"DataModel": [{"TableName": "a b", "KeyAttributes": {"SortKey": "x"}}, {}]})
    places = ["DataModel[0].KeyAttributes.PartitionKey", "DataModel[1].KeyAttributes"]
    assert [fault.place for fault in error.errors] == places
    assert "2 errors" in error.message
    assert refused({"DataModel": []}).errors[0].place == "DataModel"
    assert refused({}).errors[0].place == "DataModel"


@pytest.mark.parametrize("member", ["DataModel", "TableFacets", "GlobalSecondaryIndexes"])
def test_models_with_too_many_parts_are_rejected(member: str) -> None:
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}])})
    parts = model["DataModel"] if member == "DataModel" else model["DataModel"][0].setdefault(member, [])
    parts += parts[:1] * 3000 or [{}] * 3000
    with pytest.raises(RequestError, match="too large"):
        read_model(json.dumps(model), "model.json")


def test_sample_items_that_are_too_large_are_omitted() -> None:
    large = [
        {"PK": "#x" * 5000, "SK": "META"},
        {"PK": "O#2", "SK": "META", **dict.fromkeys(map(str, range(5000)), "x")},
    ]
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}, *large])})
    (read,) = read_model(json.dumps(model), "model.json").tables
    assert [item["PK"] for facet in read.facets for item in facet.items] == [{"S": "O#1"}]


def test_unknown_members_of_a_model_are_ignored() -> None:
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}])}, AccessPatterns=[{"new": "in 2026"}])
    model["Other"] = {"a": 1}
    assert read_model(json.dumps(model), "model.json").tables[0].name == "Shop"


def assert_told(error: RequestError) -> None:
    assert error.place == "model.json"
    assert error.errors


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.sampled_from(["S", "N", "PK", "GSI1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["S", "N", "PK", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a tree, with the name or index of each of its members."""
    result: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            result.append((value, name))
            result += places(value[name])
    return result


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_models_with_random_values_are_imported_or_reported(data: st.DataObject) -> None:
    """Up to three members of a valid model are replaced by random values."""
    model = table(
        {"Order": (("customerId", "orderId"), [{"PK": "C#1", "SK": "O#1", "GSI1PK": "S#open", "GSI1SK": "x", "n": 1}])}
    )
    if data.draw(st.booleans()):
        model = exported(design("Everything"))
    for _ in range(data.draw(st.integers(1, 3))):
        container, name = data.draw(st.sampled_from(places(model)))
        container[name] = data.draw(JSON)
        if not places(model):
            break
    try:
        made, _, wrong = working_module(read_model(json.dumps(model), "model.json"))
    except RequestError as error:
        assert_told(error)
    else:
        assert made.designs
        assert wrong is None or wrong.errors


DECLARED = "Order.by_status = Key('STATUS#{status}', '{placed}', index='GSI1')"
EDITED = [
    ("Key(", "__import__('os').abort("),
    ("'GSI1'", "__import__('os').abort()"),
    ("'STATUS#{status}'", "__import__('os').abort()"),
    ("by_status", "1st"),
    ("by_status", "class"),
    ("'GSI1'", "'NONE'"),
    ("{placed}", "{pla"),
    (", index", "), ("),
    ("'{placed}'", "['{placed}', 'x']"),
]


@pytest.mark.parametrize(("old", "new"), EDITED)
def test_code_in_the_description_of_a_model_is_never_run(old: str, new: str) -> None:
    """Lines of the description that aren't key declarations are ignored."""
    order = {"PK": "O#1", "SK": "META", "GSI1PK": "STATUS#new", "GSI1SK": "2026", "status": "new", "placed": "2026"}
    model = table({"Order": (("PK", "SK"), [order])})
    for line in (DECLARED, DECLARED.replace(old, new)):
        model["ModelMetadata"]["Description"] = f"A shop.\n\nKeys, as Keyplan declares them:\n{line}"
        made, _, wrong = working_module(read_model(json.dumps(model), "model.json"))
        assert wrong is None or wrong.errors
        assert ("by_status" in made.text) is (line == DECLARED or new == "{pla")


@pytest.mark.parametrize(
    "text", ["\x00", "\x00\x01", '"""', "a\nb", "\\", "{x}", "{", "\u202e", "None", "class", "é", "#" * 300]
)
@pytest.mark.parametrize("member", ["ModelName", "Description", "FacetName", "attribute", "value", "key", "alias"])
def test_strings_of_a_model_are_escaped_in_the_generated_module(member: str, text: str) -> None:
    order = {"PK": f"O#{text}" if member == "key" else "O#1", "SK": "META", "note": text if member == "value" else "x"}
    if member == "attribute":
        order[text] = "x"
    aliases = (f"O#<{text}>", "SK") if member == "alias" else ("PK", "SK")
    model = table({text if member == "FacetName" else "Order": (aliases, [order])})
    model["ModelName"] = text if member == "ModelName" else "Shop"
    model["ModelMetadata"]["Description"] = text if member == "Description" else ""
    made, _, wrong = working_module(read_model(json.dumps(model), "model.json"))
    assert made.designs
    assert wrong is None or wrong.errors


@pytest.mark.parametrize("place", ["name", "value"])
def test_a_model_with_an_unpaired_surrogate_is_rejected(place: str) -> None:
    order = {
        "PK": "O#1",
        "SK": "META",
        "note" if place == "value" else "no\ud800te": "\udfff" if place == "value" else "",
    }
    error = refused(table({"Order": (("PK", "SK"), [order])}))
    assert "unpaired surrogate" in error.message
