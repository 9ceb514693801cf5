"""The studio's actions, which are functions of the studio and of a request's JSON data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from keyplan._version import __version__
from keyplan.analysis.traffic.traffic_file import Traffic
from keyplan.errors import ErrorDetail, ItemNotFound, KeyplanError, RequestError
from keyplan.formatting.results import error_json
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.declared.indexes import Index
from keyplan.studio.changing import change_json, source_of, write_module
from keyplan.studio.design_file import DesignFile, stamp
from keyplan.studio.drawing import item_json, template_json
from keyplan.studio.editing import Journal, edit_json, undo_json
from keyplan.studio.exchange import export_json, import_json
from keyplan.studio.finding import data_json
from keyplan.studio.home import Home, first_design_json
from keyplan.studio.items import Item, masked, secret_names
from keyplan.studio.maps import map_json, partitions_json, templates_json
from keyplan.studio.module_edits import field_types, module_outline, with_addition
from keyplan.studio.module_runs import ModuleRunner
from keyplan.studio.reviewing import check_json, cost_json, questions_json
from keyplan.studio.running import form_json, needed, require_writable, run_json, write_generated
from keyplan.studio.sampling import ROWS
from keyplan.studio.subject import NO_TABLE, Endpoint, Subject

ROWS_MAX = 50
EACH_MAX = 10
"""Maximum number of collections of one kind on the map."""
SEEN_MAX = 30_000
VIEWS = ("map", "questions", "run", "data", "cost", "check", "plan", "change")
"""The views of a design."""
RUN_VIEWS = {"plan", "change"}
"""The views that run the design's module."""


@dataclass
class Studio:
    """A studio's state. ``traffic`` is a traffic file; ``endpoint`` lists the tables of a studio without a design.
    ``runner`` runs the design's module for the Change and Plan views, if ``executes`` is true. ``file`` is the design's
    file, reloaded after each save; ``home`` opens other designs. ``seen`` contains the shown items by identity;
    ``writes`` counts the writes of this studio.
    """

    subject: Subject
    traffic: Traffic | None = None
    endpoint: Endpoint | None = None
    runner: ModuleRunner | None = None
    executes: bool = True
    file: DesignFile[Studio] | None = None
    home: Home[Studio] | None = None
    writes: int = 0
    seen: dict[str, Item] = field(default_factory=dict[str, Item])
    journal: Journal = field(default_factory=Journal)
    _others: dict[str, Studio] = field(default_factory=dict[str, "Studio"], repr=False)

    def __post_init__(self) -> None:
        source = None if self.subject.design is None else source_of(type(self.subject.design))
        if self.executes and self.runner is None and source is not None:
            self.runner = ModuleRunner(source, self.traffic)

    def at(self, table: str | None, *, refresh: bool = False) -> Studio:
        """The studio of a table of the endpoint. With ``refresh``, describe the table again. Raises RequestError."""
        if table is None or (table == self.subject.table_name and not (refresh and self.endpoint)):
            return self
        if self.endpoint is None or not (self.endpoint.others or table == self.endpoint.table):
            raise RequestError("this studio shows only one table", hint="omit table= from the address")
        if refresh or table not in self._others:
            self._others[table] = Studio(self.endpoint.subject(table), endpoint=self.endpoint)
        return self._others[table]

    def adopt(self, other: Studio) -> None:
        self._replace_runner(other.runner)
        self.subject, self.traffic, self.endpoint = other.subject, other.traffic, other.endpoint
        self.executes, self.file = other.executes, other.file
        self.journal = Journal()
        self.seen.clear()
        self._others.clear()

    def open_saved_file(self) -> None:
        """Reload the design's file if it was saved and is valid. **Change** still compares with the first version."""
        opened = None if self.file is None else self.file.attempt()
        if opened is None:
            return
        if self.subject.design is None or self.runner is None:
            self._replace_runner(opened.runner)
        self.subject, self.traffic = opened.subject, opened.traffic

    def _replace_runner(self, runner: ModuleRunner | None) -> None:
        if self.runner is not None:
            self.runner.close()
        self.runner = runner

    def remember(self, items: Mapping[str, Item]) -> None:
        """Keep shown items, so that the page can request their details; the oldest items are dropped."""
        for name, item in items.items():
            self.seen.pop(name, None)
            self.seen[name] = item
        while len(self.seen) > SEEN_MAX:
            self.seen.pop(next(iter(self.seen)))


Given: TypeAlias = Mapping[str, Any]
Action: TypeAlias = Callable[[Studio, Given], dict[str, Any]]


def run(studio: Studio, name: str, given: Given) -> dict[str, Any]:
    action = ACTIONS.get(name)
    if action is None:
        raise RequestError(f"the studio has no action {name!r}", hint=f"the actions are {', '.join(ACTIONS)}")
    answer = action(studio.at(text_of(given, "table"), refresh=name == "start"), given)
    return masked(answer, secret_names(studio.subject.compiled)) if name in ITEM_ACTIONS else answer


def _start(studio: Studio, _given: Given) -> dict[str, Any]:
    studio.open_saved_file()
    names = [] if studio.endpoint is None else studio.endpoint.names()
    start = start_json(studio.subject)
    if studio.runner is None:
        start["views"] = [view for view in start["views"] if view not in RUN_VIEWS]
    elif studio.subject.design is None:
        start["views"] = ["plan"]
    if studio.endpoint is not None:
        start["views"] = [*start["views"], "design"]
    if studio.home is not None:
        start["views"] = [*start["views"], "home"]
    if studio.home is not None and studio.subject.table_name == NO_TABLE:
        start |= {"views": ["home"], "store": "", "writable": studio.home.writable}
    plans_only = studio.subject.design is None and studio.runner is not None
    fault = None if studio.file is None or plans_only else studio.file.as_json()
    return {
        **start,
        "tables": names if len(names) > 1 else [],
        "fault": fault,
        "file": None if studio.runner is None else str(studio.runner.source.path),
        "opened": studio.subject.design is not None or fault is None,
    }


def _open(studio: Studio, given: Given) -> dict[str, Any]:
    home = _needed_home(studio)
    name = home.create(given) if given.get("path") is not None else text_of(given, "name") or ""
    studio.adopt(home.open_name(name, text_of(given, "db")))
    return {}


def _needed_home(studio: Studio) -> Home[Studio]:
    if studio.home is None:
        raise RequestError("this studio can't open other designs", hint="start keyplan studio without a design")
    return studio.home


def _watch(studio: Studio, _given: Given) -> dict[str, Any]:
    """Versions of the data and the design's file, for polling. Other processes' writes are detected only in a file."""
    studio.open_saved_file()
    path = studio.subject.url
    data = [stamp(path), stamp(f"{path}-wal")] if studio.subject.local else []
    return {"data": [studio.writes, *data], "design": None if studio.file is None else studio.file.version}


def start_json(subject: Subject) -> dict[str, Any]:
    design = subject.compiled
    patterns = () if design is None else design.patterns.values()
    return {
        "name": subject.name,
        "doc": "" if design is None else design.doc.partition("\n\n")[0],
        "table": subject.table_name,
        "store": subject.url,
        "local": subject.local,
        "writable": subject.writable,
        "version": __version__,
        "views": list(VIEWS) if design is not None else ["map", "data"],
        "tables": [],
        "opened": True,
        "keys": {
            "" if index is None else index.name: _key_json(subject, index) for index in (None, *subject.table.indexes)
        },
        "indexes": [index.name for index in subject.table.indexes],
        "entities": [] if design is None else [entity.name for entity in design.entities.values()],
        "questions": [
            {
                "id": pattern.id,
                "name": pattern.name,
                "kind": "read" if isinstance(pattern, ReadPattern) else "write",
                "doc": pattern.signature.doc.partition("\n\n")[0],
            }
            for pattern in patterns
        ],
    }


def _key_json(subject: Subject, index: Index | None) -> dict[str, Any]:
    sides = zip(("partition", "sort"), subject.key_attributes(index), strict=True)
    return {side: [{"name": each.name, "type": each.type} for each in attributes] for side, attributes in sides}


def _run(studio: Studio, given: Given) -> dict[str, Any]:
    question = text_of(given, "question") or ""
    send = given.get("send") is True
    made = run_json(studio.subject, question, object_of(given, "arguments") or {}, send=send)
    studio.writes += send
    studio.remember({item["id"]: item["item"] for step in made["steps"] for item in step["items"]})
    return made


def _data(studio: Studio, given: Given) -> dict[str, Any]:
    made = data_json(studio.subject, given)
    studio.remember(made["items"])
    return made


def _edit(studio: Studio, given: Given) -> dict[str, Any]:
    """Preview or save edits. With ``check``, return the error of invalid edits instead of raising the error."""
    edits, save = given.get("edits"), given.get("save") is True
    if given.get("check") is not True:
        studio.writes += save
        return edit_json(studio.subject, edits, save=save, journal=studio.journal)
    try:
        edit_json(studio.subject, edits, save=False)
    except KeyplanError as error:
        return error_json(error)
    return {}


def _undo(studio: Studio, given: Given) -> dict[str, Any]:
    studio.writes += 1
    return undo_json(studio.subject, text_of(given, "saved") or "", studio.journal)


def _generate(studio: Studio, _given: Given) -> dict[str, Any]:
    require_writable(studio.subject)
    studio.writes += 1
    return {"items": write_generated(needed(studio.subject))}


def _change(studio: Studio, given: Given) -> dict[str, Any]:
    design = type(needed(studio.subject))
    runner = _runner(studio)
    return change_json(design, _ran(runner, "change", {}, given), runner.source)


def _add(studio: Studio, given: Given) -> dict[str, Any]:
    text = _text(given) or ""
    design = studio.subject.compiled
    imported = {} if design is None else field_types(design)
    local = module_outline(text)["entities"]
    known = {name: fields for name, fields in imported.items() if name not in local}
    return {"text": with_addition(text, _runner(studio).source.class_name, given, known)}


def _text(given: Given) -> str | None:
    """The module source in a request, which may be empty; None if the request contains no source."""
    return "" if given.get("text") == "" else text_of(given, "text")


def _write_module(studio: Studio, given: Given) -> dict[str, Any]:
    text = _text(given)
    if text is None:
        raise _wrong("text", "is missing")
    write_module(_runner(studio).source, text, text_of(given, "version") or "")
    return {}


def _plan(studio: Studio, given: Given) -> dict[str, Any]:
    options = {name: given.get(name) is True for name in ("ignore_existing", "attributes")}
    return _ran(_runner(studio), "plan", options, given)


def _runner(studio: Studio) -> ModuleRunner:
    if studio.runner is None:
        raise RequestError(
            "this studio can't run the design's module",
            hint="start the studio with a design in a file, without --read-only",
        )
    return studio.runner


def _ran(runner: ModuleRunner, task: str, options: Given, given: Given) -> dict[str, Any]:
    """The runner's response. The page sets ``run`` for the file and for code that users ran. Raises RequestError."""
    flags = {name: given.get(name) is True for name in ("run", "stop", "again")}
    return runner.answer(task, options, text=_text(given), known=text_of(given, "version"), **flags)


def _map(studio: Studio, given: Given) -> dict[str, Any]:
    question = text_of(given, "question")
    arguments = object_of(given, "arguments")
    rows = whole_of(given, "rows", ROWS, ROWS_MAX)
    each = whole_of(given, "each", 0, EACH_MAX)
    seen: dict[str, Item] = {}
    partition = object_of(given, "partition")
    if given.get("templates") is True and studio.subject.compiled is not None:
        return templates_json(studio.subject)
    made = map_json(studio.subject, question, arguments, rows=rows, each=each or None, partition=partition, seen=seen)
    studio.remember(seen)
    return made


def _item(studio: Studio, given: Given) -> dict[str, Any]:
    name = text_of(given, "item") or ""
    template = template_json(studio.subject, name)
    if template is not None:
        return template
    known = studio.seen.get(name)
    if known is None:
        raise RequestError("the studio hasn't shown this item", hint="open the item in the Map or Data view")
    subject = studio.subject
    key = subject.key_of(known)
    result = subject.transport.call("GetItem", {"TableName": subject.table_name, "Key": key, "ConsistentRead": True})
    if "Item" not in result:
        raise ItemNotFound("the item doesn't exist", hint="reload the view: the item was deleted or not yet written")
    return item_json(subject, result["Item"])


# Members of a request


def text_of(given: Given, name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, "isn't a string")
    return value or None


def object_of(given: Given, name: str) -> dict[str, Any] | None:
    value = given.get(name)
    if value is not None and not isinstance(value, dict):
        raise _wrong(name, "isn't a JSON object")
    return value


def whole_of(given: Given, name: str, default: int, most: int) -> int:
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise _wrong(name, f"isn't a whole number from 1 to {most}")
    return value


def _wrong(name: str, message: str) -> RequestError:
    return RequestError("invalid request", errors=[ErrorDetail(name, message)])


ITEM_ACTIONS: dict[str, Action] = {
    "map": _map,
    "item": _item,
    "form": lambda studio, given: form_json(studio.subject, text_of(given, "question") or ""),
    "run": _run,
    "data": _data,
    "partitions": lambda studio, given: {"partitions": partitions_json(studio.subject, text_of(given, "text") or "")},
    "take": lambda studio, given: export_json(studio.subject, given),
    "bring": lambda studio, given: import_json(studio.subject, given),
    "edit": _edit,
    "undo": _undo,
}
"""Actions whose responses contain items, with masked secret values."""
ACTIONS: dict[str, Action] = {
    **ITEM_ACTIONS,
    "start": _start,
    "watch": _watch,
    "home": lambda studio, _: _needed_home(studio).as_json(),
    "open": _open,
    "first_design": lambda studio, _: first_design_json(studio.subject),
    "questions": lambda studio, _: questions_json(type(needed(studio.subject)), studio.traffic),
    "check": lambda studio, _: check_json(type(needed(studio.subject)), studio.traffic),
    "cost": lambda studio, given: cost_json(type(needed(studio.subject)), given, studio.traffic),
    "generate": _generate,
    "plan": _plan,
    "change": _change,
    "add": _add,
    "write_module": _write_module,
}
