"""When two answers are the same, and where they may differ: each difference that is known has its reason here, and is
described in decision 0011.
"""

from __future__ import annotations

import http.client
import json
import os
import re
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from tests.engine.local import comparable

Answer = dict[str, Any]


class Endpoint:
    """A store that is asked over one connection."""

    def __init__(self, url: str, name: str = "dev") -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        # A local store that isn't shared keeps the tables of each access key apart.
        credential = f"{name}{os.getpid()}/20260101/us-east-1/dynamodb/aws4_request"
        self._authorization = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=00"

    def ask(self, operation: str, params: Answer) -> Answer:
        """The answer, or ``{"error": type, "message": ...}`` with the further members of the error."""
        self._connection.request(
            "POST",
            "/",
            json.dumps(params).encode(),
            {
                "X-Amz-Target": f"DynamoDB_20120810.{operation}",
                "Content-Type": "application/x-amz-json-1.0",
                "Authorization": self._authorization,
            },
        )
        answer = self._connection.getresponse()
        body: Answer = json.loads(answer.read())
        if answer.status == 200:
            return comparable(body)
        type_ = body.pop("__type").split("#")[-1]
        message = body.pop("Message", None) or body.pop("message", "")
        return comparable({"error": type_, "message": message, **body})

    def clear(self) -> None:
        """Remove all tables."""
        for name in self.ask("ListTables", {})["TableNames"]:
            self.ask("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
            self.ask("DeleteTable", {"TableName": name})

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def printed(value: Any) -> str:
    """A value in one spelling."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def plain(operation: str, answer: Answer) -> Answer:
    """An answer without what is each store's own."""
    made = dict(answer)
    if operation in {"Query", "Scan"} and "Items" in made:
        # Partitions have no order among each other, nor have equal keys of an index.
        made["Items"] = sorted(made["Items"], key=printed)
    made = _numbers(made)
    if operation == "BatchGetItem" and "Responses" in made:
        made["Responses"] = {name: sorted(items, key=printed) for name, items in made["Responses"].items()}
    if operation == "UpdateItem" and made.get("Attributes") == {}:
        del made["Attributes"]
    if operation == "TransactGetItems" and "ConsumedCapacity" in made:
        made["ConsumedCapacity"] = [_undirected(each) for each in made["ConsumedCapacity"]]
    if "CancellationReasons" in made:
        made["CancellationReasons"] = [
            {**each, "Message": each["Message"].removesuffix(".")} if "Message" in each else each
            for each in made["CancellationReasons"]
        ]
    for member in ("TableDescription", "Table"):
        if member in made:
            made[member] = _described(made[member])
    return made


def _numbers(value: Any) -> Any:
    """With each number in the service's spelling: Local keeps that of the request in lists and maps."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"N"} and isinstance(value["N"], str):
        return {"N": format(Decimal(value["N"]).normalize(), "f")}
    return {name: _numbers(each) for name, each in value.items()}


def _undirected(consumed: Answer) -> Answer:
    """Units without their direction, which Local doesn't tell."""
    units = {"CapacityUnits": consumed["CapacityUnits"]}
    return {"TableName": consumed["TableName"], **units, **({"Table": units} if "Table" in consumed else {})}


def _described(description: Answer) -> Answer:
    kept = {
        name: value
        for name, value in description.items()
        if name not in {"TableArn", "TableId", "CreationDateTime", "BillingModeSummary", "ProvisionedThroughput"}
    }
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if member in kept:
            kept[member] = sorted(
                (
                    {name: value for name, value in each.items() if name not in {"IndexArn", "ProvisionedThroughput", "IndexStatus"}}
                    for each in kept[member]
                ),
                key=printed,
            )
    return kept


def same(operation: str, params: Answer, ours: Answer, theirs: Answer) -> bool:
    """Whether two answers are the same, but for what is known to differ."""
    if operation in TABLE_OPERATIONS and ("error" in ours or "error" in theirs):
        return same_table_error(ours, theirs)
    if "error" in ours and is_looser(operation, ours):
        return True
    if "error" in ours and "error" in theirs:
        return same_error(plain(operation, ours), plain(operation, theirs))
    if "error" in theirs:
        # A page never ends at the last key that a condition includes; Local refuses to go on from it.
        return operation == "Query" and theirs["message"].endswith("does not match the range key predicate")
    ours, theirs = plain(operation, ours), plain(operation, theirs)
    for member in (ours, theirs):
        member.pop("ItemCollectionMetrics", None)  # Local has none at all
    if not is_counted(operation, params, theirs):
        for member in (ours, theirs):
            member.pop("ConsumedCapacity", None)
    return ours == theirs


def same_error(ours: Answer, theirs: Answer) -> bool:
    """Whether two errors are the same, but for the words, types and places that are known to differ."""
    if ours == theirs or theirs["error"] == "InternalFailure":
        return True
    if ours["error"] == "SerializationException":
        return theirs["error"] in {"ValidationException", "SerializationException", "ResourceNotFoundException"}
    if ours["error"] == theirs["error"] == "TransactionCanceledException" and "CancellationReasons" not in theirs:
        return True  # of TransactGetItems Local says no more
    if "CancellationReasons" in ours and "CancellationReasons" in theirs:
        pairs = list(zip(ours["CancellationReasons"], theirs["CancellationReasons"], strict=False))
        if len(pairs) < len(ours["CancellationReasons"]):
            return theirs["CancellationReasons"][0] in ours["CancellationReasons"]  # it names the first fault only
        return all(
            (
                mine["Code"] == local["Code"]
                and mine.get("Item") == local.get("Item")
                and (mine.get("Message") == local.get("Message") or says_the_same(mine["Message"], local["Message"]))
            )
            or "secondary index key to unsupported type" in mine.get("Message", "")
            for mine, local in pairs
        )
    if ours["error"] == "TransactionCanceledException" and theirs["error"] == "ValidationException":
        return any(
            reason["Code"] == "ValidationError"
            and (reason["Message"] == theirs["message"] or says_the_same(reason["Message"], theirs["message"]))
            for reason in ours["CancellationReasons"]
        )
    if any(re.search(mine, ours["message"]) and re.search(local, theirs["message"]) for mine, local in EARLIER):
        return True
    return ours["error"] == theirs["error"] and says_the_same(ours["message"], theirs["message"])


def same_table_error(ours: Answer, theirs: Answer) -> bool:
    """Whether two stores refuse a table operation for the same kind of reason: Local has words of its own for all that
    can be wrong with a table, and looks for the table first.
    """
    kinds = {each.get("error", "none") for each in (ours, theirs)}
    if kinds == {"ValidationException", "none"}:
        return "error" in ours and any(re.search(text, ours["message"]) for text in ACCEPTED_TABLES)
    return len(kinds) == 1 or kinds <= {
        "ValidationException",
        "SerializationException",
        "InternalFailure",
        "ResourceNotFoundException",
        "ResourceInUseException",
    }


def says_the_same(ours: str, theirs: str) -> bool:
    """Whether two messages are one in the service's words and in Local's."""
    return any(re.search(mine, ours) and re.search(local, theirs) for mine, local in WORDS)


def is_looser(operation: str, ours: Answer) -> bool:
    """Whether Local is known to accept what the service refuses with this error."""
    return any(re.search(kind, operation) and re.search(text, f"{ours['error']}: {ours['message']}") for kind, text in ACCEPTED)


def is_counted(operation: str, params: Answer, theirs: Answer) -> bool:
    """Whether Local's capacity units are to be believed: of what isn't there it counts nothing, or twice."""
    match operation:
        case "Scan" if "IndexName" in params:
            return False  # it counts whole items that it doesn't read, and not those that it fetches
        case "DeleteItem":
            return False
        case "BatchGetItem":
            return all(
                len(theirs["Responses"].get(name, ())) == len(of["Keys"]) for name, of in params["RequestItems"].items()
            )
        case "Query" if params.get("IndexName") in {"ByL", "ByM"} and "ProjectionExpression" in params:
            return False  # it fetches items for the table's own key
        case "BatchWriteItem":
            return '"DeleteRequest"' not in printed(params)
        case "TransactWriteItems":
            return False  # it doubles what indexes consume, and leaves out what stays as it is
        case "Query" | "Scan":
            return theirs.get("ScannedCount") != 0
        case _:
            return True


WORDS = [
    ("^Requested resource not found$", "^Cannot do operations on a non-existent table$"),
    ("^ReturnValues can only be ALL_OLD or NONE$", "^Return values set to invalid value$"),
    (
        "^Query condition missed key schema element: ",
        "^Query condition missed key schema element$|^Query key condition not supported$",
    ),
    (
        "^The provided key element does not match the schema$",
        "^The number of conditions on the keys is invalid$|Type mismatch for key$|has one or more empty keys$"
        "|^One of the required keys was not given a value$",
    ),
    ("Missing the key .* in the item$", "^One of the required keys was not given a value$"),
    ("Type mismatch for key .* expected: . actual: ", "Type mismatch for key$"),
    (
        "update the secondary index key to unsupported type$|Type mismatch for Index Key",
        "^Invalid attribute value type$|Type mismatch for Index Key$",
    ),
    ("^The provided key element does not match|Type mismatch for key", "^Invalid attribute value type$"),
    ("at 'select' failed to satisfy constraint", "^Select must be ALL_ATTRIBUTES"),
    ("at 'returnValues' failed to satisfy constraint", "^Return values set to invalid value$"),
    ("exceeded the (maximum )?size limit", "^Hash primary key values must be under 2048 bytes"),
    ("^The provided starting key is outside query", "^The provided starting key does not match the range key predicate$"),
    ("^The provided starting key is invalid", "^The provided starting key is invalid"),
    ("^The Segment parameter is zero-based", "at 'segment' failed to satisfy constraint: Member must have value less than"),
    ("^The TotalSegments parameter is required", "^If segment is specified, total segment must also be specified$"),
    ("tableName", "^Invalid table/index name"),
    ("at 'requestItems' failed to satisfy", "^Invalid table/index name"),
    (
        "^1 validation error detected: Value null at ",
        "contains a null AttributeValue$|must have some requests set$|cannot be null$|^Value null at |null or no requests set$|^Cannot have null key",
    ),
    ("^Invalid ProjectionExpression: Two document paths overlap", "^Invalid ProjectionExpression: Two document paths overlap"),
    ("cannot be converted to a numeric value", "A value provided cannot be converted into a number"),
    ("Attempting to store more than 38 significant digits", "only supports precision up to 38 digits"),
    ("Input collection .* contains duplicates", "Input collection .*contains duplicates"),
    ("does not project \\[", "does not project \\["),
    ("is not defined; attribute name: ", "is not defined; attribute name: "),
    ("at 'segment' failed to satisfy", "^If segment is specified"),
    ("at 'requestItems' failed to satisfy", "must have some requests set$"),
    ("^HASH key attributes .* must have equality", "^Query key condition not supported$"),
    ("^Request parameters do not match the previous request", "^$"),
]
"""Pairs of expressions: the service's words, from its documentation or reports of real answers, and Local's."""

_TABLE_OR_KEY = (
    "^Cannot do operations on a non-existent table$|^The number of conditions on the keys is invalid$|Type mismatch for key$"
    "|^One of the required keys was not given a value$|^Hash primary key values must be|AttributeValue for a key attribute"
    "|Type mismatch for Index Key$|^Invalid attribute value type$"
)
_APPLIED = "^The provided expression refers to|^An operand in the update|^The document path provided in the update"
EARLIER = [
    # The service reads expressions before it looks for the table, and Local afterwards.
    ("^Invalid [A-Za-z]*Expression: |^Value provided in Expression|^ExpressionAttribute|^ReturnValues", _TABLE_OR_KEY),
    # Keys that are updated are refused before a condition is judged.
    ("Cannot update attribute", "^The conditional request failed$|update"),
    # Which of two actions of an update fails first is Local's own.
    (_APPLIED, _APPLIED),
    # Local does the actions before it looks whether they are on one item.
    ("multiple operations on one item", ""),
    # Members that are missing, and those that don't go together, are found before anything else.
    ("^Either the KeyConditions or KeyCond|^Must specify the AttributesToGet|^Consistent reads are not|^1 validation error", ""),
    ("^Invalid Request: TransactWriteRequest should contain|^TransactItems can only contain one", ""),
    ("^Invalid KeyConditionExpression: ", "^Invalid FilterExpression: "),
    ("^Cannot specify the ProjectionExpression when|^The Segment parameter is|^The TotalSegments parameter is", ""),
]
"""Pairs of expressions: what the service finds first, and what Local finds first, where a request has two faults."""

TABLE_OPERATIONS = frozenset(
    {"CreateTable", "DescribeTable", "UpdateTable", "DeleteTable", "ListTables", "UpdateTimeToLive", "DescribeTimeToLive"}
)
ACCEPTED_TABLES = ["^One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits"]
"""What Local lets pass in a definition of a table."""

ACCEPTED = [
    ("", "^SerializationException: (NUMBER|TRUE|FALSE|STRING|DECIMAL)_VALUE cannot be converted"),
    ("", "at 'return(ConsumedCapacity|ItemCollectionMetrics|ValuesOnConditionCheckFailure)' failed to satisfy constraint"),
    ("^Scan$", "^ValidationException: .* does not project one or more filter attributes"),
    ("^UpdateItem$", "update the secondary index key to unsupported type$"),
]
"""Pairs of expressions: operations, and what Local lets pass there."""
