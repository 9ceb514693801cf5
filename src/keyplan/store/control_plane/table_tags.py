"""Tags of tables: their validation and limits, and the table that an ARN refers to.

The limits are those of the developer guide ("Tagging restrictions in DynamoDB"). Messages are AWS's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from keyplan.dynamodb.limits import TAG_KEY_MAX, TAG_VALUE_MAX, TAGS_MAX
from keyplan.dynamodb.service_errors import ResourceNotFoundException, ValidationException, one_or_more
from keyplan.store.arns import TABLE_ARN
from keyplan.store.control_plane.table_settings import Members, change_definition
from keyplan.store.database import Database
from keyplan.store.state_delays import check_changeable, states_of
from keyplan.store.tables.table import Table

Tag = Mapping[str, str]

_ARN = re.compile(rf"{TABLE_ARN}(?:/(?P<part>index|stream|backup)/.*)?")
_SERVICE = re.compile("arn:[a-z-]+:dynamodb:")
_SIGNS = frozenset("+-=._:/@")
_RESERVED = "aws:"


def tagged_table(arn: str) -> str:
    """The name of the table in an ARN of any region. Raises ValidationException for an ARN of another resource."""
    if not arn.startswith("arn:"):
        raise one_or_more(f"ARNs must start with 'arn:': {arn}")
    match = _ARN.fullmatch(arn)
    part = None if match is None else match["part"]
    if part == "stream":
        raise not_found(arn)
    if part == "index":
        raise one_or_more(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    if part == "backup" or not _SERVICE.match(arn):
        raise one_or_more(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    if match is None:
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    return match["table"]


def not_found(arn: str) -> ResourceNotFoundException:
    return ResourceNotFoundException(f"Requested resource not found: ResourceArn: {arn} not found")


def check_tags(tags: Sequence[Tag]) -> None:
    """Validate tags. Raises ValidationException for too many tags, an invalid key or value, or a duplicate key."""
    check_count(len(tags))
    for tag in tags:
        check_key(tag.get("Key"))
        value = tag.get("Value")
        if value is None or len(value) > TAG_VALUE_MAX or not _is_plain(value):
            raise ValidationException(f"The Tag Value provided is invalid, Value: {'null' if value is None else value}")
    for key, times in Counter(tag["Key"] for tag in tags).items():
        if times > 1:
            raise ValidationException(f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")


def with_tags(before: Sequence[Tag], tags: Sequence[Tag]) -> list[Tag]:
    """The existing tags with new, validated tags, which replace those with the same key. Raises ValidationException."""
    after = {tag["Key"]: tag for tag in (*before, *tags)}
    check_count(len(after))
    return list(after.values())


def check_key(key: str | None) -> None:
    """Validate a tag key to add or remove. Raises ValidationException."""
    if key is None or not 1 <= len(key) <= TAG_KEY_MAX or not _is_plain(key):
        raise ValidationException(f"The Tag Key provided is invalid, Key: {'null' if key is None else key}")
    if key.lower().startswith(_RESERVED):
        raise ValidationException(f"Tag Key cannot be prefixed with {_RESERVED}, Key: {key}")


def check_count(count: int) -> None:
    if count > TAGS_MAX:
        raise ValidationException("Number of Tags exceed the current limit for the provided ResourceArn")


def _is_plain(text: str) -> bool:
    return all(sign.isalpha() or sign.isnumeric() or sign.isspace() or sign in _SIGNS for sign in text)


def change_tags(database: Database, arn: str, change: Callable[[Sequence[Tag]], list[Tag]]) -> None:
    def changed(table: Table) -> Members:
        before = table.definition.get("Tags") or []
        tags = change(before)
        if tags != before:
            check_changeable(table.name, states_of(table.definition, database.clock()))
        return {"Tags": tags}

    change_definition(database, tagged_table(arn), changed, lambda _: not_found(arn))
