"""Files with one thing to see: a local index, a condition of a key, a fraction, a table with nothing in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyplan.formats.workbench.module import made_module
from keyplan.formats.workbench.reading import read_model
from tests.workbench.support import made, table


def test_a_local_index_has_the_partition_of_its_table() -> None:
    """Of its type, whether the file says it or not."""
    number = {"PartitionKey": {"AttributeName": "n", "AttributeType": "N"}, "SortKey": _typed("SK")}
    index = {"IndexName": "LSI1", "KeyAttributes": {"SortKey": _typed("at")}}
    model = read_model(
        json.dumps(table({}, KeyAttributes=number, GlobalSecondaryIndexes=[], LocalSecondaryIndexes=[index])), "m.json"
    )
    (made,) = model.tables[0].indexes
    assert (made.key.partition.name, made.key.partition.type, made.local, model.notes) == ("n", "N", True, ())


def _typed(name: str) -> dict[str, str]:
    return {"AttributeName": name, "AttributeType": "S"}


@pytest.mark.parametrize(("allowed", "kind"), [((True,), "bool"), (("a", "b"), "str"), (("",), "str")])
def test_a_condition_of_a_key_has_its_field(allowed: tuple[Any, ...], kind: str) -> None:
    """Also where no item shows it: of the type of what it allows."""
    model = table({"Order": (("PK", "SK"), [{"PK": "O#1", "SK": "META"}, {"PK": "O#2", "SK": "META"}])})
    model["ModelMetadata"]["Description"] = (
        "Declarations, as Keyplan reads them back:\n"
        "Order.primary = Key('O#{order_id}', 'META')\n"
        f"Order.by_state = Key('STATE', '{{order_id}}', index='GSI1', when={{'state': {allowed!r}}})"
    )
    text = made_module(read_model(json.dumps(model), "model.json")).text
    assert f"    state: {kind} | None = None" in text
    when = ", ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in allowed)
    assert f'when={{"state": {when if len(allowed) == 1 else f"({when})"}}}' in text


def test_a_fraction_under_another_name_is_exact() -> None:
    """A float is what stands in a key."""
    row = {"PK": "O#1", "SK": "META", "unitPrice": {"N": "2.50"}, "price": {"N": "1.5"}, "perHour": {"N": "3"}}
    text = made(table({"Order": (("PK", "SK"), [row])})).text
    assert "unit_price: Decimal" in text
    assert "price: Decimal" in text
    assert "per_hour: int" in text
    assert "float" not in text


def test_a_table_without_anything_has_a_guess() -> None:
    """Nothing shows what stands in its index."""
    module = made(table({}, TableFacets=[], NonKeyAttributes=["at"]))
    assert "ShopItem: nothing shows what its items hold in GSI1" in module.notes
