"""Tags of tables: what a tag may be, how many there may be, and the resource they belong to.

The limits are those of the developer guide, "Tagging restrictions in DynamoDB". Where the service's words aren't known,
they are ours.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from keyplan.engine.database import Database
from keyplan.engine.storage.transactions import Writer
from keyplan.wire.errors import ResourceNotFoundException, ValidationException, one_or_more
from keyplan.wire.limits import NAME_PATTERN, TAGS_MAX

Tag = Mapping[str, str]

_ARN = re.compile(rf"arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{{12}}:table/({NAME_PATTERN})")
_SIGNS = frozenset("+-=._:/@")
_RESERVED = "aws:"


def tagged_table(arn: str) -> str:
    """The name of the table that an ARN names. Any region and any account will do; an index can't be tagged.

    Raises:
        ValidationException: it isn't the ARN of a table.
    """
    if not arn.startswith("arn:"):
        raise one_or_more(f"ARNs must start with 'arn:': {arn}")
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationException(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    return match[1]


def not_found(arn: str) -> ResourceNotFoundException:
    """The error of a resource that isn't there, spelled as the service spells it."""
    return ResourceNotFoundException(f"Requested resource not found: ResourcArn: {arn} not found")


def check_tags(tags: Sequence[Tag]) -> None:
    """Refuse tags that no table can have.

    Raises:
        ValidationException: a key or a value has characters that can't be, or there are too many tags.
    """
    keys = Counter(tag["Key"] for tag in tags)
    for tag in tags:
        if keys[tag["Key"]] > 1:
            raise one_or_more(f"Duplicate tag key: {tag['Key']}")
        if tag["Key"].lower().startswith(_RESERVED):
            raise one_or_more(f"Tag keys that begin with {_RESERVED} are reserved: {tag['Key']}")
        for text in (tag["Key"], tag["Value"]):
            if not all(sign.isalpha() or sign.isnumeric() or sign.isspace() or sign in _SIGNS for sign in text):
                raise one_or_more(f"A tag has letters, numbers, white space and + - = . _ : / @ only: {text}")
    _check_count(len(tags))


def _check_count(count: int) -> None:
    if count > TAGS_MAX:
        raise ValidationException("Number of tags exceed the current limit for the provided ResourceArn")


def with_tags(before: Sequence[Tag], tags: Sequence[Tag]) -> list[Tag]:
    """The tags of a table and new ones, which were checked; one with a known key replaces it.

    Raises:
        ValidationException: there are too many tags.
    """
    after = {tag["Key"]: tag for tag in (*before, *tags)}
    _check_count(len(after))
    return list(after.values())


def change_tags(database: Database, arn: str, change: Callable[[Sequence[Tag]], list[Tag]]) -> None:
    """Store other tags.

    Raises:
        ValidationException: it isn't an ARN, or the tags can't be.
        ResourceNotFoundException: there is no such table.
    """
    name = tagged_table(arn)

    def work(writer: Writer) -> None:
        table = database.fresh(writer).get(name)
        if table is None:
            raise not_found(arn)
        tags = change(table.definition.get("Tags") or [])
        writer.define(table.stored.layout.id, json.dumps({**table.definition, "Tags": tags}))

    database.write(work)
    database.refresh()
