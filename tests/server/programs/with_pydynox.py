"""``python with_pydynox.py ENDPOINT`` uses pydynox, and prints ``done`` if all assertions pass. Pydynox uses the AWS
SDK for Rust.
"""
# mypy: ignore-errors
# It runs in a separate environment; the type checker doesn't have its packages.

from __future__ import annotations

import sys

from pydynox import DynamoDBClient
from pydynox.exceptions import ConditionalCheckFailedException, ResourceNotFoundException

TABLE = "pydynox"
VECTOR_INDEX = {
    "index_name": "by_meaning",
    "vector_attribute": "meaning",
    "dimensions": 2,
    "distance_function": "COSINE",
    "attribute_definitions": [("kind", "S")],
    "table_key_attributes": ["pk", "sk"],
    "inline_filters": ["kind"],
    "projection": "ALL",
}


def refused(kind, call, *arguments, **more):
    try:
        call(*arguments, **more)
    except kind:
        return True
    return False


def main(endpoint: str) -> None:
    client = DynamoDBClient(region="eu-west-1", access_key="dev", secret_key="secret", endpoint_url=endpoint)
    assert refused(ResourceNotFoundException, client.sync_get_item, TABLE, {"pk": "a", "sk": 1})
    client.sync_create_table(TABLE, ("pk", "S"), ("sk", "N"), wait=True)
    assert client.sync_table_exists(TABLE)
    client.sync_batch_write(
        TABLE, put_items=[{"pk": "a", "sk": number, "even": number % 2 == 0} for number in range(60)]
    )
    client.sync_update_item(TABLE, {"pk": "a", "sk": 0}, updates={"name": "nought", "tags": ["x", "y"]})
    assert client.sync_get_item(TABLE, {"pk": "a", "sk": 0})["name"] == "nought"
    values = {":a": "a", ":from": 10, ":to": 29}
    even = client.sync_query(
        TABLE,
        "pk = :a AND sk BETWEEN :from AND :to",
        filter_expression="even = :yes",
        expression_attribute_values={**values, ":yes": True},
        page_size=7,
    )
    assert [item["sk"] for item in even] == list(range(10, 30, 2))
    items, _ = client.sync_parallel_scan(TABLE, 4)
    assert len(items) == 60
    put = {"pk": "a", "sk": 0}
    assert refused(
        ConditionalCheckFailedException,
        client.sync_put_item,
        TABLE,
        put,
        condition_expression="attribute_not_exists(pk)",
    )
    assert len(client.sync_execute_statement(f'SELECT * FROM "{TABLE}" WHERE pk = ?', ["a"])) == 60
    client.sync_delete_item(TABLE, {"pk": "a", "sk": 59})
    assert client.sync_count(TABLE, "pk = :a", expression_attribute_values={":a": "a"})[0] == 59
    client.sync_create_vector_index(TABLE, VECTOR_INDEX, wait=True)
    for number, meaning in enumerate(([1.0, 0.0], [0.0, 1.0], [0.8, 0.6])):
        client.sync_put_item(
            TABLE, {"pk": "v", "sk": number, "meaning": meaning, "kind": "odd" if number % 2 else "even"}
        )
    near = client.sync_search_vectors(TABLE, "by_meaning", [1.0, 0.0], top_k=3)
    assert [match.item["sk"] for match in near] == [0, 2, 1]
    even = client.sync_search_vectors(
        TABLE,
        "by_meaning",
        [0.0, 1.0],
        search_condition_expression="kind = :kind",
        expression_attribute_values={":kind": "even"},
    )
    assert [match.item["sk"] for match in even] == [2, 0]
    client.sync_delete_table(TABLE)
    client.sync_wait_for_table_deleted(TABLE)


main(sys.argv[1])
print("done")
