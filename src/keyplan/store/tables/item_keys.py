"""Keys of requests and items: conversion to storage forms, with DynamoDB's errors for invalid keys.

A few comparisons handle the common case, a valid key of strings or numbers; other functions find the error if any.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from keyplan.dynamodb.limits import ITEM_BYTES_MAX, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.dynamodb.service_errors import RequestFault, ValidationException
from keyplan.dynamodb.values import check_item, item_size, key_text, name_fault
from keyplan.dynamodb.values.validation import SHORT_NAME
from keyplan.store.storage.key_layouts import Entry, KeyText
from keyplan.store.tables.table import Index, KeyAttribute, Table

Item = Mapping[str, Any]
Key = tuple[KeyText, KeyText]

NO_SORT = ""


class SchemaFault(ValidationException):
    """A key or an item that doesn't match its table's schema. In a transaction, this error is a cancellation reason."""


class KeyFault(SchemaFault):
    """An item whose key doesn't match its table's key."""


MISMATCH = "The provided key element does not match the schema"
_EMPTY = (
    "One or more parameter values are not valid. "
    "The AttributeValue for a key attribute cannot contain an empty {kind} value. Key: {name}"
)
_NOT_SCALAR = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
_UPDATED_INDEX_KEY = "The update expression attempted to update the secondary index key"
_EMPTY_UPDATED = (
    "One or more parameter values are not valid. "
    "The update expression attempted to update a secondary index key to a value that is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty {kind} value."
)
_EMPTY_INDEX = (
    "One or more parameter values are not valid. "
    "A value specified for a secondary index key is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty {kind} value. IndexName: {index}, "
    "IndexKey: {name}"
)


_INVALID = "One or more parameter values were invalid: "
SHORT_KEY = SORT_KEY_BYTES_MAX // 4
"""Strings of at most this many characters are within the byte limit."""


def key_of_request(table: Table, key: dict[str, Any]) -> Key:
    """The storage form of a request's ``Key``. Raises ValidationException if it isn't a key of the table."""
    sort = table.sort
    first = _plain(key.get(table.partition.name), table.partition.type)
    if first is not None:
        if sort is None:
            if len(key) == 1:
                return first, NO_SORT
        elif len(key) == 2:
            second = _plain(key.get(sort.name), sort.type)
            if second is not None:
                return first, second
    return _checked_key(table, key)


def check_key_values(key: Mapping[str, Any]) -> None:
    """Validate the attribute values in a request's ``Key``, independently of the table. Raises ValueFault."""
    for value in key.values():
        if _plain(value, "S") is None:
            check_item(dict(key))
            return


def _plain(value: Any, tag: str) -> str | None:
    # A short ASCII string is within every limit of keys; other values take the slower path.
    if tag == "S" and type(value) is dict and len(value) == 1:
        text = value.get("S")
        if type(text) is str and text.isascii() and 0 < len(text) <= SORT_KEY_BYTES_MAX:
            return text
    return None


def _checked_key(table: Table, key: dict[str, Any]) -> Key:
    key = check_item(key)
    if len(key) != len(table.keys) or any(attribute.name not in key for attribute in table.keys):
        raise SchemaFault(MISMATCH)
    for attribute in table.keys:
        if attribute.type not in key[attribute.name]:
            raise SchemaFault(MISMATCH)
    return _key_texts(table, key)


def key_of_item(table: Table, item: Item) -> Key:
    """The storage form of the key in a whole, validated item. Raises ValidationException."""
    sort = table.sort
    first = _plain(item.get(table.partition.name), table.partition.type)
    if first is not None:
        if sort is None:
            return first, NO_SORT
        second = _plain(item.get(sort.name), sort.type)
        if second is not None:
            return first, second
    for attribute in table.keys:
        value = item.get(attribute.name)
        if value is None:
            raise KeyFault(f"{_INVALID}Missing the key {attribute.name} in the item")
        if attribute.type not in value:
            actual = next(iter(value))
            mismatch = f"Type mismatch for key {attribute.name} expected: {attribute.type} actual: {actual}"
            raise KeyFault(f"{_INVALID}{mismatch}")
    return _key_texts(table, item)


def _key_texts(table: Table, item: Item) -> Key:
    partition = checked_text(table.partition, item[table.partition.name], PARTITION_KEY_BYTES_MAX)
    if table.sort is None:
        return partition, NO_SORT
    return partition, checked_text(table.sort, item[table.sort.name], SORT_KEY_BYTES_MAX)


def checked_text(attribute: KeyAttribute, value: dict[str, Any], bytes_max: int, index: str | None = None) -> KeyText:
    """The storage form of a key attribute's value. Raises ValidationException for an empty or too long value."""
    check_not_empty(attribute, value, index)
    text = key_text(value)
    _check_length(text, bytes_max)
    return text


def _length_bytes(text: KeyText) -> int:
    return len(text) if isinstance(text, bytes) or text.isascii() else len(text.encode())


def check_not_empty(attribute: KeyAttribute, value: Mapping[str, Any], index: str | None = None) -> None:
    """Reject an empty key attribute: an error of the request in transactions too, not a cancellation reason."""
    if not value[attribute.type]:
        words = _EMPTY if index is None else _EMPTY_INDEX
        raise ValidationException(words.format(kind=_kind(attribute), name=attribute.name, index=index))


def _check_length(text: KeyText, bytes_max: int) -> None:
    if _length_bytes(text) > bytes_max:
        if bytes_max == PARTITION_KEY_BYTES_MAX:
            raise SchemaFault(f"{_INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes")
        raise SchemaFault(f"{_INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes")


def check_index_keys(table: Table, item: Item) -> None:
    """Reject an item with an invalid index key attribute. Raises ValidationException."""
    for index in table.indexes_in_order:
        for attribute in index.keys:
            value = item.get(attribute.name)
            if value is None:
                continue
            text = value.get(attribute.type)
            if text is None:
                raise _type_mismatch(attribute, value, index.name)
            if not text:
                check_not_empty(attribute, value, index.name)
            # Shorter strings are within the limits even with four bytes per character.
            if len(text) > SHORT_KEY:
                _check_length(key_text(value), _bytes_max(index, attribute))


def check_updated_index_keys(table: Table, item: Item, touched: frozenset[str]) -> None:
    """Reject an update that makes an index key attribute invalid. Raises ValidationException."""
    for index in table.indexes_in_order:
        for attribute in index.keys:
            value = item.get(attribute.name)
            if value is None or attribute.name not in touched:
                continue
            text = value.get(attribute.type)
            if text is None:
                raise SchemaFault(f"{_UPDATED_INDEX_KEY} to unsupported type")
            if not text:
                raise SchemaFault(_EMPTY_UPDATED.format(kind=_kind(attribute)))
            if _length_bytes(key_text(value)) > _bytes_max(index, attribute):
                raise SchemaFault(f"{_UPDATED_INDEX_KEY} beyond allowed size limits")


def check_assigned(table: Table, assigned: Mapping[str, Mapping[str, Any]]) -> None:
    """Reject an update that sets an index key attribute to another type or an empty value, whatever the old item is."""
    for index in table.indexes_in_order:
        for attribute in index.keys:
            value = assigned.get(attribute.name)
            if value is None:
                continue
            if attribute.type not in value:
                raise _type_mismatch(attribute, value, index.name)
            check_updated_not_empty(attribute, value)


def check_updated_not_empty(attribute: KeyAttribute, value: Mapping[str, Any]) -> None:
    """Reject an update of an index key attribute to an empty string or binary. Raises ValidationException."""
    if not value[attribute.type]:
        raise ValidationException(_EMPTY_UPDATED.format(kind=_kind(attribute)))


def check_scalars(table: Table, nested: Collection[str]) -> None:
    """Reject paths into key attributes of the table or its indexes. Raises SchemaFault."""
    if not nested:
        return
    for attribute in table.keys:
        if attribute.name in nested:
            raise SchemaFault(f"{_NOT_SCALAR}Key: {attribute.name}")
    for index in table.indexes:
        for attribute in index.keys:
            if attribute.name in nested:
                raise SchemaFault(f"{_NOT_SCALAR}IndexKey: {attribute.name}")


def _type_mismatch(attribute: KeyAttribute, value: Mapping[str, Any], index: str) -> SchemaFault:
    return SchemaFault(
        f"{_INVALID}Type mismatch for Index Key {attribute.name} Expected: {attribute.type} "
        f"Actual: {next(iter(value))} IndexName: {index}"
    )


def _kind(attribute: KeyAttribute) -> str:
    return "binary" if attribute.type == "B" else "string"


def entry_of(index: Index, item: Item) -> Entry | None:
    """The index entry of an item; None if the item has none, or is older than the index and has invalid keys."""
    texts: list[KeyText] = []
    for attribute in index.keys:
        value = item.get(attribute.name)
        if value is None or attribute.type not in value:
            return None
        text = key_text(value)
        if not text or (len(text) > SHORT_KEY and _length_bytes(text) > _bytes_max(index, attribute)):
            return None
        texts.append(text)
    if not index.projected:
        return Entry(tuple(texts), None)
    return Entry(tuple(texts), item_size(projection_of(index, item)))


def _bytes_max(index: Index, attribute: KeyAttribute) -> int:
    return PARTITION_KEY_BYTES_MAX if attribute in index.partition else SORT_KEY_BYTES_MAX


def projection_of(index: Index, item: Item) -> dict[str, Any]:
    if not index.projected:
        return dict(item)
    projected = index.projected
    return {name: value for name, value in item.items() if name in projected}


def check_names(item: Collection[str]) -> None:
    """Reject an attribute name that is empty or over 65,535 bytes. Raises RequestFault."""
    if "" in item or max(map(len, item), default=0) > SHORT_NAME:
        fault = name_fault(item)
        if fault is not None:
            raise RequestFault(fault)


def check_size(size_bytes: int, *, updating: bool) -> None:
    """Reject an item over 400 KB. Raises ValidationException."""
    if size_bytes > ITEM_BYTES_MAX:
        subject = "Item size to update" if updating else "Item size"
        raise ValidationException(f"{subject} has exceeded the maximum allowed size")
