"""Compares responses of Keyplan and DynamoDB Local. Decision 0011 explains the known differences that are accepted."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
from decimal import Decimal
from typing import Any, cast
from urllib.parse import urlsplit

from keyplan.dynamodb.operations.registry import OPERATIONS
from tests.engine.local import comparable

Answer = dict[str, Any]


class Endpoint:
    """A store to which all calls are sent over one connection."""

    def __init__(self, url: str, name: str = "dev") -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._name = name
        self._number = itertools.count()
        self._authorization = self._new_authorization()

    def _new_authorization(self) -> str:
        """Return a header with a new access key. DynamoDB Local has separate tables per access key, by default."""
        key = f"{self._name}{os.getpid()}n{next(self._number)}"
        credential = f"{key}/20260101/us-east-1/dynamodb/aws4_request"
        return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=00"

    def ask(self, operation: str, params: Answer) -> Answer:
        """Return the response. An error is returned as ``{"error": type, "message": ...}`` with its other members."""
        self._connection.request(
            "POST",
            "/",
            json.dumps(params).encode(),
            {
                "X-Amz-Target": f"{OPERATIONS[operation].api}_20120810.{operation}",
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
        """Delete all tables. If a deletion fails, change the access key, because a new key has no tables."""
        for name in self.ask("ListTables", {})["TableNames"]:
            self.ask("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
            if "error" in self.ask("DeleteTable", {"TableName": name}):
                # Local may take long for an index, or forever.
                self._authorization = self._new_authorization()
                return

    def close(self) -> None:
        self._connection.close()


def printed(value: Any) -> str:
    """Return a value as canonical JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


ENVELOPE = "1 validation error detected: "


def plain(operation: str, answer: Answer) -> Answer:
    """Return a response without the parts that differ for each store."""
    made = cast("Answer", _numbers(answer))
    if "message" in made and not made["message"].startswith((f"{ENVELOPE}Value ", f"{ENVELOPE}Failed ")):
        # DynamoDB's prefix of some errors, which Local doesn't have (decision 0029).
        made["message"] = made["message"].removeprefix(ENVELOPE)
    if operation in {"Query", "Scan", "ExecuteStatement"} and "Items" in made:
        # The order of partitions, and of equal keys of an index, is undefined.
        made["Items"] = sorted(made["Items"], key=printed)
    if operation == "ExecuteStatement":
        made.pop("NextToken", None)  # after a full last page, Local returns one more often
    if operation == "BatchGetItem" and "Responses" in made:
        made["Responses"] = {name: sorted(items, key=printed) for name, items in made["Responses"].items()}
    if operation == "UpdateItem" and made.get("Attributes") == {}:
        del made["Attributes"]
    if operation == "TransactGetItems" and "ConsumedCapacity" in made:
        made["ConsumedCapacity"] = [_total_units(each) for each in made["ConsumedCapacity"]]
    if "CancellationReasons" in made:
        made["CancellationReasons"] = [
            # Local has no specific code for a duplicate in a transaction.
            {**each, "Code": "DuplicateItem"} if each.get("Message", "").startswith("Duplicate primary key") else each
            for each in made["CancellationReasons"]
        ]
        made["message"] = made["message"].split("[")[0]
        made["CancellationReasons"] = [
            {**each, "Message": each["Message"].removesuffix(".")} if "Message" in each else each
            for each in made["CancellationReasons"]
        ]
    for member in ("TableDescription", "Table"):
        if member in made:
            made[member] = _described(made[member])
    if operation == "DeleteTable" and "TableDescription" in made:
        # DynamoDB doesn't return these members, but Local does.
        for member in ("KeySchema", "AttributeDefinitions", "CreationDateTime", "GlobalSecondaryIndexes"):
            made["TableDescription"].pop(member, None)
    return made


def _numbers(value: Any) -> Any:
    """Normalize all numbers, because DynamoDB Local returns numbers in lists and maps as they were in the request."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"N"} and isinstance(value["N"], str):
        return {"N": format(Decimal(value["N"]).normalize(), "f")}
    return {name: _numbers(each) for name, each in value.items()}


def _total_units(consumed: Answer) -> Answer:
    """Return the total units only, because DynamoDB Local doesn't report separate read and write units."""
    units = {"CapacityUnits": consumed["CapacityUnits"]}
    return {"TableName": consumed["TableName"], **units, **({"Table": units} if "Table" in consumed else {})}


def _described(description: Answer) -> Answer:
    kept = {
        name: value
        for name, value in description.items()
        if name
        not in {
            *("TableArn", "TableStatus", "TableId", "CreationDateTime"),
            # Local has no warm throughput, and other dates.
            *("BillingModeSummary", "ProvisionedThroughput", "WarmThroughput"),
        }
    }
    if "AttributeDefinitions" in kept:
        kept["AttributeDefinitions"] = sorted(kept["AttributeDefinitions"], key=printed)
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if member in kept:
            # Local takes time to delete one.
            indexes = [each for each in kept.pop(member) if each.get("IndexStatus") != "DELETING"]
            if indexes:
                shown = ({name: each[name] for name in ("IndexName", "KeySchema", "Projection")} for each in indexes)
                kept[member] = sorted(map(_sorted_names, shown), key=printed)
    return kept


def _sorted_names(index: Answer) -> Answer:
    """Sort the projected names of an index, because DynamoDB returns them sorted and DynamoDB Local doesn't."""
    projection = index["Projection"]
    if "NonKeyAttributes" not in projection:
        return index
    return {**index, "Projection": {**projection, "NonKeyAttributes": sorted(projection["NonKeyAttributes"])}}


INDEX_KEY = "attempted to update the secondary index key|Type mismatch for Index Key"
"""Errors of an update that changes the type of an index key: Local accepts some of them."""


def same(operation: str, params: Answer, ours: Answer, theirs: Answer) -> bool:
    """Return whether two responses are equal, except for known differences."""
    if operation in TABLE_OPERATIONS and ("error" in ours or "error" in theirs):
        return same_table_error(operation, ours, theirs)
    if "error" in ours:
        return is_looser(operation, ours) or (
            "error" in theirs and same_error(plain(operation, ours), plain(operation, theirs))
        )
    if "error" in theirs:
        if operation == "UpdateItem" and theirs["message"].startswith("Updates on index keys must be of the same"):
            # Local also rejects a DELETE of values from a missing index key, which does nothing.
            return any(each["Action"] == "DELETE" for each in params.get("AttributeUpdates", {}).values())
        if operation == "UpdateItem" and theirs["message"].startswith("The document path provided in the update"):
            return only_removes(operation, params)  # from a missing item: DynamoDB does nothing
        # A page never ends at the last key that a condition includes; Local rejects it as start key.
        return operation == "Query" and theirs["message"].endswith("does not match the range key predicate")
    ours, theirs = plain(operation, ours), plain(operation, theirs)
    for member in (ours, theirs):
        member.pop("ItemCollectionMetrics", None)  # Local has none at all
    if operation == "UpdateItem" and "Attributes" not in ours and only_removes(operation, params):
        theirs.pop("Attributes", None)  # of the item that only Local makes
    if not is_counted(operation, params, theirs):
        for member in (ours, theirs):
            member.pop("ConsumedCapacity", None)
    if operation == "BatchExecuteStatement" and len(ours["Responses"]) == len(theirs["Responses"]):
        pairs = zip(ours.pop("Responses"), theirs.pop("Responses"), strict=True)
        return ours == theirs and all(same_response(mine, local) for mine, local in pairs)
    return ours == theirs


def only_removes(operation: str, params: Answer) -> bool:
    """Return whether an update only removes attributes. On DynamoDB Local, a REMOVE creates a missing item."""
    updates = [params] if operation == "UpdateItem" else []
    if operation == "TransactWriteItems":
        given: Any = params.get("TransactItems")
        actions: list[Any] = given if isinstance(given, list) else []
        updates = [action["Update"] for action in actions if isinstance(action, dict) and "Update" in action]
    texts = [update.get("UpdateExpression") or ("" if "AttributeUpdates" in update else "SET") for update in updates]
    return any(re.search(r"(?<![#:\w])(SET|ADD)\b", str(text), re.IGNORECASE) is None for text in texts)


def same_response(ours: Answer, theirs: Answer) -> bool:
    """Return whether two responses of a statement in a batch are equal, except for known differences of messages."""
    if re.search(f"{INDEX_KEY}|{_OF_STATEMENTS}", ours.get("Error", {}).get("Message", "")):
        return True  # Local checks the condition or the operands first, or accepts it
    if "Error" not in ours or "Error" not in theirs:
        return ours == theirs
    mine, local = ours["Error"], theirs["Error"]
    same_table = ours.get("TableName") == theirs.get("TableName")
    same_message = same_meaning(mine["Message"], local["Message"])
    return same_table and same_message and {**mine, "Message": ""} == {**local, "Message": ""}


def same_error(ours: Answer, theirs: Answer) -> bool:
    """Return whether two errors are equal, except for known differences of types and messages."""
    if ours == theirs or theirs["error"] == "InternalFailure":
        return True
    if (ours["error"], theirs["error"]) == ("DuplicateItemException", "DuplicateItem"):
        return True
    if ours["error"] == "SerializationException":
        return theirs["error"] in {"ValidationException", "SerializationException", "ResourceNotFoundException"}
    if theirs["error"] == "IdempotentParameterMismatchException":
        return True  # Local compares requests of the same token before it checks keys
    reasons = ours.get("CancellationReasons", [])
    if reasons and theirs["error"] == "TransactionCanceledException":
        return same_reasons(reasons, theirs.get("CancellationReasons"))
    if reasons:  # Local reports some errors of an action for the request
        result = [reason["Message"] for reason in reasons if "Message" in reason]
        theirs = {**theirs, "message": theirs["message"].removesuffix(".")}  # as in reasons
        return any(same_meaning(each, theirs["message"]) or is_earlier(each, theirs["message"]) for each in result)
    return is_earlier(ours["message"], theirs["message"]) or (
        ours["error"] == theirs["error"] and same_meaning(ours["message"], theirs["message"])
    )


def same_reasons(ours: list[Answer], theirs: list[Answer] | None) -> bool:
    """Return whether two cancellations have equal reasons. DynamoDB Local may report only the first reason or none."""
    if theirs is None or len(theirs) < len(ours):
        return theirs is None or theirs[0] in ours
    # A key or item that doesn't match its table is the only reason (decision 0029); Local reports others too.
    result = [reason for reason in ours if reason["Code"] != "None"]
    is_only_reason = (
        len(result) == 1 and result[0]["Code"] == "ValidationError" and not re.search(_APPLIED, result[0]["Message"])
    )
    return all(
        mine == local
        or (is_only_reason and mine["Code"] == "None")
        or (mine["Code"] == local["Code"] and same_meaning(mine["Message"], local["Message"]))
        or re.search(INDEX_KEY, mine.get("Message", "")) is not None
        or is_earlier(mine.get("Message", ""), local.get("Message", ""))
        for mine, local in zip(ours, theirs, strict=True)
    )


def same_table_error(operation: str, ours: Answer, theirs: Answer) -> bool:
    """Return whether two stores reject a table operation for similar reasons. DynamoDB Local has different messages for
    most errors of table operations, and checks first whether the table exists.
    """
    # Local's index may still be created or deleted, or its creation may have failed.
    if theirs.get("error") in {"LimitExceededException", "InternalFailure"}:
        return True
    if operation == "UpdateTable" and theirs.get("error") == "ResourceInUseException":
        return True
    if "error" not in theirs:
        return is_looser(operation, ours)
    if "error" not in ours:
        return "Nothing to update" in str(theirs["message"])  # Local doesn't support table classes
    similar = ["ValidationException", "SerializationException", "ResourceNotFoundException", "ResourceInUseException"]
    return ours["error"] == theirs["error"] or {ours["error"], theirs["error"]} <= set(similar)


def same_meaning(ours: str, theirs: str) -> bool:
    """Return whether two error messages have the same meaning."""
    # Operations with DynamoDB's current messages don't name the placeholder (decision 0029).
    named = re.fullmatch("ExpressionAttributeValues contains invalid value: (.*) for key :.*", theirs, re.DOTALL)
    if ours == theirs or (named is not None and ours == named[1]):
        return True
    return any(re.search(mine, ours) and re.search(local, theirs) for mine, local in WORDS)


def is_earlier(ours: str, theirs: str) -> bool:
    """Return whether DynamoDB is known to report the first error before the second."""
    return any(re.search(mine, ours) and re.search(local, theirs) for mine, local in EARLIER)


def is_looser(operation: str, ours: Answer) -> bool:
    """Return whether DynamoDB Local is known to accept a request that DynamoDB rejects with this error."""
    result = f"{ours['error']}: {ours['message']} {printed(ours.get('CancellationReasons'))}"
    return any(re.search(kind, operation) and re.search(text, result) for kind, text in ACCEPTED)


def is_counted(operation: str, params: Answer, theirs: Answer) -> bool:
    """Return whether DynamoDB Local counts the request's capacity units correctly, which depends on the operation."""
    match operation:
        case "Scan" if "IndexName" in params:
            return False  # it counts items that it doesn't read, but not those that it fetches
        case "DeleteItem":
            return False
        case "BatchGetItem":
            return all(
                len(theirs["Responses"].get(name, ())) == len(of["Keys"]) for name, of in params["RequestItems"].items()
            )
        case "Query" if params.get("IndexName") in {"ByL", "ByM"} and "ProjectionExpression" in params:
            return False  # it fetches items for the table's key
        case "BatchWriteItem":
            return '"DeleteRequest"' not in printed(params)
        case "TransactWriteItems":
            return False  # it doubles what indexes consume, and ignores unchanged entries
        case "Query" | "Scan":
            return bool(theirs.get("ScannedCount"))
        case _:
            return True


WORDS = (
    # DynamoDB reports the same set of types for both, and a shorter name (recorded in September 2026).
    ("operator: DELETE, .* typeSet: ALLOWED_FOR_ADD_OPERAND$", "operator: DELETE, .*: ALLOWED_FOR_DELETE_OPERAND$"),
    ("operator: ADD, operand type: BOOL, ", "operator: ADD, operand type: BOOLEAN, "),
    ("^Requested resource not found$", "^Cannot do operations on a non-existent table$"),
    ("^ReturnValues can only be ALL_OLD or NONE$", "^Return values set to invalid value$"),
    ("^Query condition missed key schema element: ", "^Query condition missed key schema element$"),
    ("^Query condition missed|^HASH key attributes .* must have equality", "^Query key condition not supported$"),
    ("^The provided key element does not match", "^The number of conditions on the keys|Type mismatch for key$"),
    ("^The provided key element does not match", "one or more empty keys$|required keys was not given a value$"),
    ("^The provided key element does not match|Type mismatch for key", "^Invalid attribute value type$"),
    ("Missing the key .* in the item$", "^One of the required keys was not given a value$"),
    ("Type mismatch for key .* expected: . actual: ", "Type mismatch for key$"),
    ("secondary index key to unsupported type$|Type mismatch for Index Key", "^Invalid attribute value type$"),
    ("secondary index key to unsupported type$|Type mismatch for Index Key", "Type mismatch for Index Key$"),
    ("^Conditions can be of length 1 or 2 only$", "^Conditions must be at least length 1$"),
    ("attempted to update a secondary index key to a value", "A value specified for a secondary index key"),
    ("exceeded the (maximum )?size limit", "^Hash primary key values must be under 2048 bytes"),
    ("^The provided starting key is outside query", "^The provided starting key does not match the range key"),
    ("^The provided starting key is invalid", "^The provided starting key is invalid"),
    ("^The Segment parameter is zero-based", "at 'segment' failed to satisfy constraint"),
    ("^The TotalSegments parameter is required", "^If segment is specified, total segment must also"),
    ("at 'Segment' failed to satisfy", "at 'segment' failed to satisfy|^If segment is specified"),
    ("at 'TotalSegments' failed to satisfy", "at 'totalSegments' failed to satisfy"),
    ("tableName|at 'requestItems' failed to satisfy", "^Invalid table/index name"),
    ("at 'requestItems' failed to satisfy", "must have some requests set$"),
    ("at 'select' failed to satisfy constraint", "^Select must be ALL_ATTRIBUTES"),
    ("at 'returnValues' failed to satisfy constraint", "^Return values set to invalid value$"),
    ("^1 validation error detected: Value null at ", "null AttributeValue$|cannot be null$|requests set$"),
    ("^1 validation error detected: Value null at ", "^Value null at |^Cannot have null key"),
    ("cannot be converted to a numeric value", "A value provided cannot be converted into a number"),
    ("Attempting to store more than 38 significant digits", "only supports precision up to 38 digits"),
    ("Input collection .*contains duplicates", "Input collection .*contains duplicates"),
    ("^Number overflow", "only supports precision up to 38 digits|Attempting to store more than 38"),
    ("^ExpressionAttribute.* only be specified when using expressions$", "only be specified when using expressions: "),
    ("^The number of query conditions", "^Query key condition not supported$|^Conditions can be of length"),
    ("^The query can return at most one row", "^The provided starting key"),
    ("^Invalid KeyConditionExpression: Invalid (operator|condition)", "^Invalid (operator used|condition) in Key"),
    ("^The provided key element does not match", "^The provided starting key is invalid"),
    ("^Invalid KeyConditionExpression: KeyConditionExpressions ", "^KeyConditionExpressions |^Key attributes must be"),
    ("^Invalid UpdateExpression: Expression size", "^Invalid UpdateExpression: Expression size"),
    ("^Attempted conditional constraint is not an indexable", "^Only scalar types can be used as|^Query key condition"),
    ("^Attempted conditional constraint is not an indexable", "^One or more parameter values were invalid: Condition"),
    ("action (with value )?is not supported for the type", "action (with value )?is not supported for the type"),
    ("^Type mismatch for attribute to update$", "^Updates on index keys must be of the same data type"),
    ("Type mismatch for Index Key", "^Updates on index keys must be of the same data type"),
    ("at 'Limit' failed", "at 'limit' failed|^Limit must be"),
    ("at '(RequestItems|TransactItems)", "at '(requestItems|transactItems)|requests set$|^Too many items"),
    (
        "^(1 validation error detected: )?Failed to satisfy constraint: Member must satisfy enum",
        "^Return values set to",
    ),
    ("^Request parameters do not match the previous request", "^$"),
    # Statements: DynamoDB returns the messages of its other operations.
    (
        "Missing the key .* in the item$|Type mismatch for key|Condition parameter type does not match schema type$",
        "^Key attribute should be present|^Key attribute's data type should match|^Key value must be of type",
    ),
    ("^Two document paths overlap", "^Two document paths overlap"),
    ("^Statement wasn't well formed", "^Statement wasn't well formed"),
    # Only the order of names differs.
    ("^Invalid ProjectionExpression: Two document paths overlap", "^Invalid ProjectionExpression: Two document paths"),
    (r"does not project \[", r"does not project \["),
    ("is not defined; attribute name: ", "is not defined; attribute name: "),
    ("^Value provided in ExpressionAttribute.* unused", "^Value provided in ExpressionAttribute.* unused"),
)
"""Pairs of regular expressions: DynamoDB's messages (documented or recorded), and Local's."""

_APPLIED = "^The provided expression refers to|^An operand in the update|^The document path provided in the update"
_STATIC = "^Invalid [A-Za-z]*Expression: |^Value provided in Expression|^ExpressionAttribute|^ReturnValues"
_VALUES = (
    "cannot be converted to a numeric value|^Attempting to store more|^Supplied AttributeValue is empty"
    "| set  may not be empty$"
)
EARLIER = (
    # DynamoDB validates a request before it reads the item.
    ("Only DELETE action is allowed when no attribute value is specified", "Type mismatch for attribute to update"),
    # Both expressions of an action are parsed before operands are checked.
    ("^Invalid ConditionExpression: ", "^Invalid UpdateExpression: Incorrect operand type"),
    # Parentheses are checked where they close (decision 0011); Local checks placeholders and operands first.
    ("redundant parentheses;$", "^Invalid UpdateExpression: |^ExpressionAttribute(Names|Values) contains invalid"),
    # Legacy conditions are checked first. What DynamoDB reports first isn't recorded.
    ("^Attempted conditional constraint is", "must have equality conditions|^Query key condition not supported"),
    (
        "^One or more .* invalid: (ComparisonOperator|Invalid number of|AttributeValues inside)|^The BETWEEN condition",
        "must have equality conditions|^Query key condition not|attribute cannot contain an empty|^Invalid attribute",
    ),
    (
        "^The BETWEEN condition",
        "does not match schema type$|: Type mismatch for key|required keys was not given|non-existent table$",
    ),
    ("^The BETWEEN condition", "^Either the KeyConditions or"),
    # DynamoDB parses expressions before it checks table and key; Local does it afterwards.
    (_STATIC, "non-existent table$|^The number of conditions on the keys|Type mismatch|required keys was not given"),
    # Values that no table accepts as key are errors of their action, and actions are checked one by one.
    ("AttributeValue for a key attribute cannot contain an empty", _STATIC),
    (_STATIC, "^Hash primary key values must be|AttributeValue for a key attribute|^Invalid attribute value type$"),
    ("^Invalid KeyConditionExpression: ", "^Invalid FilterExpression: "),
    (
        "^Query key condition not supported$|must have equality conditions",
        "Condition parameter type does not match schema type$",
    ),
    (_STATIC, "^Consistent reads are not supported|^The table does not have the specified index"),
    (_VALUES, "^Invalid [A-Za-z]*Expression: |^Value provided in Expression"),
    # All tables of a transaction are checked before the token, and before any action.
    ("^Requested resource not found$", f"^$|{_APPLIED}"),
    # Legacy parameters are checked first.
    (
        "is not supported for the type|Only DELETE action is allowed",
        "^The conditional request failed$|^Cannot update|^Updates on index keys must|^Type mismatch for|^The BETWEEN",
    ),
    ("AttributeValueList must be of same type$", "^One or more .*: ComparisonOperator [A-Z_]+ is not valid for "),
    # Updates of keys are rejected before a condition is evaluated.
    ("Cannot update attribute", "^The conditional request failed$|update|refers to an attribute that does not exist"),
    # A key that doesn't match its table cancels a transaction before any action.
    ("^The provided key element does not match|Type mismatch for (Index Key|key)|exceeded the .*size limit", _APPLIED),
    # The values of an update are checked without item and condition.
    (
        "update a secondary index key to a value that is not supported",
        "^The conditional request failed$|^Updates on index keys must be of the same|an empty string value. Key: ",
    ),
    ("Type mismatch for Index Key", "^An operand in the update expression has an|^The conditional request failed$"),
    # Local checks new index keys before it computes values.
    ("^Number overflow", "^Updates on index keys must be of the same"),
    # Local has another order of actions.
    (_APPLIED, _APPLIED),
    ("^Number overflow", "^Type mismatch for attribute to update"),
    # Local applies the actions before it checks whether several are on the same item.
    ("multiple operations on one item", ""),
    ("^Filter Expression can only contain", "^The provided starting key does not match the range key"),
    # Missing and conflicting members are reported first.
    (
        "^1 validation error|^Either the KeyConditions or|^Must specify the AttributesToGet|^Consistent reads are not",
        "",
    ),
    ("^ALL_PROJECTED_ATTRIBUTES can be used only when|^Cannot specify the ProjectionExpression when", ""),
    ("^The Segment parameter is|^The TotalSegments parameter is", ""),
    ("^Invalid Request: TransactWriteRequest should contain|^TransactItems can only contain one", ""),
)
"""Pairs of regular expressions: the error that DynamoDB reports, and Local's, for a request with two errors."""

_OF_STATEMENTS = (
    "Overlapping conditions with range keys|Too many decomposed read|must specify the primary key in the where clause"
    "|Must have hash key in ORDER BY|Unsupported data type: Parameter under key"
)
ACCEPTED = (
    # Recorded from DynamoDB in September 2026.
    ("^ExecuteStatement$|^ExecuteTransaction$", _OF_STATEMENTS),
    ("", "^SerializationException: (NUMBER|TRUE|FALSE|STRING|DECIMAL)_VALUE cannot be converted"),
    ("", "ComparisonOperator (NOT_)?CONTAINS is not valid for (NULL|BOOL) AttributeValue type"),
    ("", "at '[aA]ttributesToGet' failed to satisfy constraint: Member must have length greater"),
    ("^Query$", "^ValidationException: The query can return at most one row and cannot be restarted|Size of hashkey"),
    ("^PutItem$|^UpdateItem$|^DeleteItem$", "ReturnItemCollectionMetrics can only be SIZE or NONE"),
    ("", "at 'return(ConsumedCapacity|ItemCollectionMetrics|ValuesOnConditionCheckFailure)' failed to satisfy"),
    ("^Scan$", "^ValidationException: .* does not project one or more filter attributes"),
    ("^UpdateItem$", "Type mismatch for attribute to update"),
    ("^Transact", "multiple operations on one item"),  # for some numbers
    ("^UpdateItem$|^TransactWriteItems$|^Execute", INDEX_KEY),
    ("^UpdateTable$", "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"),
    (
        "^CreateTable$",
        "List of (Local|Global)SecondaryIndexes is empty|ProvisionedThroughput should not be specified for",
    ),
    ("^UpdateTable$", "must be the only operation in the request"),
    ("^CreateTable$|^UpdateTable$", ": Neither ReadCapacityUnits nor WriteCapacityUnits|at 'provisionedThroughput"),
)
"""Pairs of regular expressions: operations, and errors that Local doesn't report there."""

TABLE_OPERATIONS = frozenset(
    [
        "CreateTable",
        "DescribeTable",
        "UpdateTable",
        "DeleteTable",
        "ListTables",
        "UpdateTimeToLive",
        "DescribeTimeToLive",
    ]
)
