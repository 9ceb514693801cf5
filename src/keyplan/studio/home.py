"""The start page: recent designs, example systems, new files, NoSQL Workbench models, and inferred first designs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from keyplan.errors import Refused, RequestError
from keyplan.formats.workbench.module import working_module
from keyplan.formats.workbench.reading import Index, KeyAttribute, KeyAttributes, Model, TableModel, read_model
from keyplan.model.declared import indexes
from keyplan.studio.sampling import sample
from keyplan.studio.subject import Subject

Opened = TypeVar("Opened")

RECENT_MAX = 12
NEW = '''"""A first design: the studio reloads it after each save."""

from keyplan import Design, Entity, Field, Key, Table, read, ulid


class Note(Entity):
    """A note of a user."""

    user_id: str
    note_id: str = Field(default_factory=ulid)
    text: str

    primary = Key("USER#{user_id}", "NOTE#{note_id}")


class Notes(Design):
    """Notes by user."""

    table = Table("notes")

    @read("AP1")
    def notes_of_user(self, user_id: str) -> list[Note]:
        """A user's notes, oldest first."""
        ...
'''


def _file() -> Path:
    folder = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(folder) / "keyplan" / "studio.json"


def _recent() -> list[dict[str, Any]]:
    try:
        known = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [each for each in known if isinstance(each, dict) and isinstance(each.get("name"), str)]


def remember(name: str, db: str | None) -> None:
    where, colon, design = name.rpartition(":")
    if name.endswith(".py") or where.endswith(".py"):
        name = f"{Path(where or name).expanduser().resolve()}{colon}{design if where else ''}"
    db = str(Path(db).resolve()) if db and Path(db).is_file() else db
    others = [each for each in _recent() if each["name"] != name]
    with suppress(OSError):  # the list of recent designs is optional
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().write_text(json.dumps([{"name": name, "db": db}, *others][:RECENT_MAX]), encoding="utf-8")


@dataclass
class Home(Generic[Opened]):
    """Opens designs by name and store. ``writable``: whether the studio may write new files."""

    open_name: Callable[[str, str | None], Opened]
    systems: Sequence[str] = ()
    writable: bool = True

    def as_json(self) -> dict[str, Any]:
        return {"recent": _recent(), "systems": list(self.systems), "folder": str(Path.cwd())}

    def create(self, given: Mapping[str, Any]) -> str:
        if not self.writable:
            raise Refused("this studio is read-only", hint="start the studio without --read-only to write files")
        path = Path(str(given.get("path") or "")).expanduser()
        if path.suffix != ".py":
            raise RequestError("the file name doesn't end with .py", place="path", hint="enter a name such as shop.py")
        text = NEW
        if isinstance(given.get("model"), str):
            made, _, error = working_module(read_model(given["model"], "the model"))
            if error is not None:
                raise RequestError(f"the model isn't a valid design: {error.message}", errors=error.errors)
            text = made.text
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise RequestError(f"{path} can't be written: {error.strerror}", place="path") from None
        return str(path)


def first_design_json(subject: Subject) -> dict[str, Any]:
    """A module inferred from a table's items, with notes on assumptions, and an error if the module is invalid."""
    items = sample(subject).items
    if not items:
        raise RequestError("the table has no items to infer a design from", hint="write items to the table first")
    table = subject.table
    model = TableModel(
        table.name,
        _key(subject, None),
        attributes=dict(table.attribute_types),
        indexes=[Index(each.name, _key(subject, each), each.projection, each.local) for each in table.indexes],
        items=[{name: dict(value) for name, value in item.items()} for item in items],
    )
    made, left_out, error = working_module(Model(subject.table_name, "", [model]))
    return {
        "text": made.text.replace("from a NoSQL Workbench model", "inferred from its items", 1),
        "design": made.designs[0],
        "notes": [*made.notes, *left_out],
        "error": None if error is None else str(error),
        "url": subject.url,
        "items": len(items),
    }


def _key(subject: Subject, index: indexes.Index | None) -> KeyAttributes:
    partition, sort = subject.key_attributes(index)
    if len(partition) > 1 or len(sort) > 1:
        raise RequestError("a design with multi-attribute keys can't be inferred", hint="write the design manually")
    first, *rest = [KeyAttribute(attribute.name, attribute.type) for attribute in (*partition, *sort)]
    return KeyAttributes(first, rest[0] if rest else None)
