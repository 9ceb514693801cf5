"""Exports and imports items as JSON Lines and CSV. A row has fields, or an item in DynamoDB JSON (``{"Item": ...}``) as
in an export to S3. Imported items become staged edits, so an import writes nothing to the table.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from keyplan.errors import ErrorDetail, KeyplanError, RequestError
from keyplan.formatting.results import json_text, plain
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.studio.editing import EDITS_MAX, validated_fields
from keyplan.studio.finding import exact, fields_of, found_items
from keyplan.studio.items import MASK, Item, identity, masked, secret_names
from keyplan.studio.running import require_writable, stored_items
from keyplan.studio.subject import Subject

ITEMS_MAX = 10_000
REQUESTS_MAX = 400
FORMS = ("jsonl", "csv")
_Created: TypeAlias = tuple[dict[str, Any], Item | None, Item | None]
"""An edit that creates an item, with the key and the item (None if the row is incomplete)."""
ROWS_MAX = 1_000
"""Maximum number of rows in a file. Each row costs a read, to compare it with the existing item."""


def export_json(subject: Subject, given: Mapping[str, Any]) -> dict[str, Any]:
    form = _form(given)
    made = found_items(subject, {**given, "limit": ITEMS_MAX}, ITEMS_MAX, REQUESTS_MAX if subject.local else 20)
    names = secret_names(subject.compiled)
    items = [masked(item, names) for item in made.items]
    rows = [masked(fields_of(made.entity, item), names) for item in made.items] if made.entity is not None else []
    if made.entity is not None and all(row is not None for row in rows):
        text = _lines(rows) if form == "jsonl" else _csv(rows)
    elif form == "jsonl":
        text = _lines([{"Item": item} for item in items])
    else:
        keys = dict.fromkeys(subject.table.key_names)
        text = _csv([{**keys, **{name: _unwrapped(value) for name, value in item.items()}} for item in items])
    return {"text": text, "items": len(made.items), "more": made.next is not None}


def _form(given: Mapping[str, Any]) -> str:
    if given.get("form") not in FORMS:
        raise RequestError(f"the format must be {' or '.join(FORMS)}", place="form")
    return str(given["form"])


def _lines(rows: Sequence[Any]) -> str:
    return "".join(f"{json_text(row)}\n" for row in rows)


def _csv(rows: Sequence[Mapping[str, Any] | None]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row or {}))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_quoted(name) for name in names])
    writer.writerows([[_cell((row or {}).get(name)) for name in names] for row in rows])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _quoted(value) if isinstance(value, str) else json_text(value)


_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # Excel also evaluates formulas with full-width signs
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")


def _quoted(text: str) -> str:
    """The content of a CSV cell. A spreadsheet evaluates ``=...`` as a formula, unless an apostrophe precedes it."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _unquoted(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _unwrapped(value: Mapping[str, Any]) -> Any:
    """An attribute value without type descriptors. Numbers keep all digits."""
    tag, content = next(iter(value.items()))
    match tag:
        case "N":
            return _number(content)
        case "NS":
            return [_number(element) for element in content]
        case "NULL":
            return None
        case "L":
            return [_unwrapped(element) for element in content]
        case "M":
            return {name: _unwrapped(element) for name, element in content.items()}
        case _:
            return content


def _number(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text


# Import


def import_json(subject: Subject, given: Mapping[str, Any]) -> dict[str, Any]:
    """The edits of an imported file, and the numbers of skipped and unchanged items. Raises RequestError, Refused."""
    require_writable(subject)
    form = _form(given)
    text = given.get("text")
    if not isinstance(text, str):
        raise RequestError("the text to import is missing", place="text")
    entity = None if subject.compiled is None else subject.compiled.by_name.get(str(given.get("entity")))
    faults: list[ErrorDetail] = []
    rows = list(_json_rows(text, faults) if form == "jsonl" else _csv_rows(text, entity, faults))
    created: list[_Created] = []
    left = 0
    for place, row in rows[:ROWS_MAX]:
        made = _edit(subject, entity, row)
        if isinstance(made, ErrorDetail):
            faults.append(ErrorDetail(place, made.message, made.hint))
        elif made is None:
            left += 1
        else:
            created.append(made)
    if faults:
        raise RequestError("the file can't be imported", errors=faults[:50])
    if len(rows) > ROWS_MAX:  # checked first, because the comparison reads existing items
        raise _too_many(len(rows))
    edits = _beside_what_is_there(subject, created)
    if len(edits) > EDITS_MAX or not created:
        raise _too_many(len(edits))
    return {"edits": edits, "left_out": left, "same": len(created) - len(edits)}


def _too_many(number: int) -> RequestError:
    return RequestError(
        f"the file has {number} items; a transaction must have 1 to {EDITS_MAX}",
        hint="import the items in several files, or write them with design.batch(...)",
    )


def _beside_what_is_there(subject: Subject, created: Sequence[_Created]) -> list[dict[str, Any]]:
    """The edits that create new items, and the edits that change existing items."""
    stored = stored_items(subject, [key for _, key, _ in created if key is not None])
    edits: list[dict[str, Any]] = []
    for edit, key, item in created:
        there = None if key is None else stored.get(identity(key))
        if key is None or there is None:
            edits.append(edit)
            continue
        given, was = _differences(subject, edit, item, there)
        if given:
            change = {"do": "change", "id": identity(key), "key": key, "kind": edit["kind"]}
            edits.append({**change, "fields": given, "was": was})
    return edits


def _key(entity: CompiledEntity, fields: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return entity.item_key(
            entity.primary, validated_fields(entity, {name: fields[name] for name in entity.key_fields})
        )
    except (KeyplanError, KeyError):
        return None


def _differences(
    subject: Subject, edit: Mapping[str, Any], item: Item | None, there: Item
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The changed values of a row and the previous values: by field if both items are valid, otherwise by attribute.
    A masked secret counts as unchanged. ``item`` is None if the row is incomplete.
    """
    entity = subject.kind_of(there).entity
    old: Mapping[str, Any] | None = fields_of(entity, there)
    new: Mapping[str, Any] | None
    if item is None:
        if entity is None or old is None:
            return edit["fields"], {}
        new = {name: _valid_form(entity, name, value) for name, value in edit["fields"].items()}
    else:
        item = {**item, **{name: there[name] for name, value in item.items() if value == {"S": MASK} and name in there}}
        new = fields_of(entity, item)
        if new is not None and "fields" in edit:
            new = {name: value for name, value in new.items() if name in edit["fields"]}
        if old is None or new is None:
            old, new = there, {**dict.fromkeys(there), **item}
    changed = [name for name, value in new.items() if value != old.get(name)]
    return exact({name: new[name] for name in changed}), exact({name: old.get(name) for name in changed})


def _valid_form(entity: CompiledEntity, name: str, value: Any) -> Any:
    with suppress(RequestError):  # the error is reported when the edit is saved
        return plain(validated_fields(entity, {name: value})[name])
    return value


def _edit(subject: Subject, entity: CompiledEntity | None, row: Mapping[str, Any]) -> _Created | ErrorDetail | None:
    """The edit for a row; None for a claim, because saving the claim's item also writes the claim."""
    if set(row) == {"Item"} and isinstance(row["Item"], dict):
        item = row["Item"]
        try:
            kind = subject.kind_of(item)
            key = subject.key_of(item)
            name = identity(key)
        except (AttributeError, TypeError, ValueError):
            return ErrorDetail("", "isn't an item in DynamoDB JSON", 'write {"Item": {"pk": {"S": "text"}, ...}}')
        if kind.role == "claim":
            return None
        return {"do": "create", "kind": kind.label, "key": key, "id": name, "item": item}, key, item
    if entity is None:
        return ErrorDetail("", "has no entity", 'choose an entity, or import {"Item": {"pk": {"S": "text"}, ...}}')
    fields = exact({name: value for name, value in row.items() if value != MASK})
    try:
        whole = entity.to_item(entity.cls.model_validate_json(json.dumps(fields)))
    except (ValidationError, KeyplanError):  # the error is reported when the edit is saved
        whole = None
    made = _key(entity, fields) if whole is None else subject.key_of(whole)
    return {"do": "create", "entity": entity.name, "kind": entity.name, "fields": fields}, made, whole


def _json_rows(text: str, faults: list[ErrorDetail]) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines(), because JSON may contain U+2028
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(ErrorDetail(f"line {number}", f"isn't JSON: {error}"))
            continue
        if isinstance(row, dict):
            yield f"line {number}", row
        else:
            faults.append(ErrorDetail(f"line {number}", "isn't a JSON object"))


def _csv_rows(
    text: str, entity: CompiledEntity | None, faults: list[ErrorDetail]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows with values by column name. Cells are converted to their field's type; empty cells are omitted."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    names: list[str] | None = None
    try:
        for cells in reader:
            if names is None:
                names = [_unquoted(cell) for cell in cells]
            elif any(cells):
                place = f"line {reader.line_num}"
                if len(cells) > len(names):
                    faults.append(ErrorDetail(place, f"has {len(cells)} cells, but the first line has {len(names)}"))
                    continue
                pairs = zip(names, cells, strict=False)
                yield place, {name: _value(entity, name, _unquoted(cell)) for name, cell in pairs if cell}
    except csv.Error as error:
        faults.append(ErrorDetail(f"line {reader.line_num}", f"isn't CSV: {error}"))


def _value(entity: CompiledEntity | None, name: str, cell: str) -> Any:
    """The value of a cell: a string if the field accepts it, otherwise the parsed JSON."""
    known = None if entity is None else entity.fields.get(name)
    if known is None:
        return cell
    adapter: TypeAdapter[Any] = TypeAdapter(known.annotation)
    try:
        adapter.validate_json(json.dumps(cell))
    except ValidationError:
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell
