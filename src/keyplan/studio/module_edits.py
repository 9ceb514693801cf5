"""Adds an entity, a key, an index or an access pattern to a design's source code, without executing the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

from keyplan.errors import ErrorDetail, RequestError
from keyplan.formatting.markdown import docstring, literal
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key
from keyplan.model.source_code import parsed
from keyplan.planner import module

RETURNS = {"one": "{0} | None", "list": "list[{0}]", "page": "Page[{0}]"}


def module_outline(text: str, design: CompiledDesign | None = None) -> dict[str, Any]:
    """The entities with field names, the imported entities, and the indexes; empty if the text can't be parsed."""
    try:
        tree = parsed(text)
    except (SyntaxError, ValueError):
        return {"entities": {}, "imported": {}, "indexes": []}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and list(module.assigned(node.body, "Key"))]
    entities = {node.name: list(_fields(node)) for node in classes}
    names = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    known = {} if design is None else field_types(design)
    imported = {name: list(fields) for name, fields in known.items() if name in names}
    indexes = [name for name, _, _ in module.assigned(tree.body, "Index")]
    return {"entities": entities, "imported": imported, "indexes": indexes}


def field_types(design: CompiledDesign) -> dict[str, dict[str, str]]:
    return {
        entity.name: {field.name: type_name(field.annotation) for field in entity.fields.values()}
        for entity in design.entities.values()
    }


def _fields(node: ast.ClassDef) -> dict[str, str]:
    members = (each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name))
    return {each.target.id: ast.unparse(each.annotation) for each in members if isinstance(each.target, ast.Name)}


def with_addition(
    text: str, design: str, given: Mapping[str, Any], known: Mapping[str, Mapping[str, str]] | None = None
) -> str:
    """The source code with the declaration of a form. ``known``: fields of imported entities. Raises RequestError."""
    form = _Form(given)
    try:
        source = module.ModuleText(text if text.endswith("\n") else f"{text}\n")
    except (SyntaxError, ValueError):
        raise RequestError("the module has a syntax error", hint="fix the syntax error first") from None
    match form.text("what"):
        case "entity":
            _add_entity(source, design, form)
        case "key":
            _add_key(source, form)
        case "index":
            _add_index(source, design, form)
        case "pattern":
            _add_pattern(source, design, form, known or {})
        case _:
            form.fault("what", "isn't one of entity, key, index, pattern")
    form.check()
    return source.edited()


class _Form:
    """The values of a form, and their errors."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._faults: list[ErrorDetail] = []

    def fault(self, name: str, message: str) -> None:
        self._faults.append(ErrorDetail(name, message))

    def check(self) -> None:
        if self._faults:
            raise RequestError("the declaration can't be added", errors=self._faults)

    def text(self, name: str) -> str:
        value = self._given.get(name)
        return value.strip() if isinstance(value, str) else ""

    def name(self, name: str) -> str:
        value = self.text(name)
        if not value.isidentifier() or iskeyword(value):
            self.fault(name, "isn't a valid Python name")
        return value

    def names(self, name: str) -> list[str]:
        value = self._given.get(name)
        return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

    def key(self, index: Index | None = None) -> Key:
        if not self.text("partition"):
            self.fault("partition", 'is missing; write a template, such as "ORDER#{order_id}"')
        return Key(self.text("partition"), self.text("sort") or None, index=index)

    def declared_fields(self) -> list[str]:
        lines = [line.strip() for line in self.text("fields").splitlines() if line.strip()]
        for line in lines:
            try:
                (node,) = parsed(line).body
            except (SyntaxError, ValueError):
                node = None
            if not isinstance(node, ast.AnnAssign):
                self.fault("fields", f"{line!r} isn't a field; write a line such as order_id: str")
        return lines


def _add_entity(source: module.ModuleText, design: str, form: _Form) -> None:
    name, fields, key = form.name("name"), form.declared_fields(), form.key()
    if not fields:
        form.fault("fields", "are missing; write a line such as order_id: str")
    form.check()
    doc = docstring(form.text("doc") or f"{name}.")
    lines = [f"class {name}(Entity):", f"    {doc}", "", *(f"    {field}" for field in fields), ""]
    node = module.class_in(source, design)
    lines += [f"    {line}" for line in module.declaration("primary", key, 4)]
    source.insert(min([node.lineno, *(each.lineno for each in node.decorator_list)]), [*lines, "", ""])
    module.add_imports(source, {"Entity", "Key"})


def _add_key(source: module.ModuleText, form: _Form) -> None:
    name, variable = form.name("name"), form.name("index")
    form.check()
    entity = module.class_in(source, form.text("entity"))
    lines = module.declaration(name, form.key(Index(variable, "pk")), 4)
    form.check()
    source.insert(module.last_member_line(entity) + 1, [f"    {line}" for line in lines])
    module.add_imports(source, {"Key"})


def _add_index(source: module.ModuleText, design: str, form: _Form) -> None:
    name = form.name("name")
    form.check()
    partition, sort = (
        form.text(each) or f"{name.lower()}{short}" for each, short in (("partition", "pk"), ("sort", "sk"))
    )
    classes = [node for node in source.tree.body if isinstance(node, ast.ClassDef)]
    first = min([classes[0].lineno, *(each.lineno for each in classes[0].decorator_list)])
    source.insert(first, [module.index_declaration(Index(name, partition, sort), name), "", ""])
    calls = [
        call
        for _, _, call in (
            *module.assigned(module.class_in(source, design).body, "Table"),
            *module.assigned(source.tree.body, "Table"),
        )
    ]
    if not calls:
        raise RequestError("the module has no Table(...)", hint="add the index manually")
    given = next((keyword.value for keyword in calls[0].keywords if keyword.arg == "indexes"), None)
    if isinstance(given, ast.List):
        source.replace(given, f"[{', '.join([*map(source.text, given.elts), name])}]")
    elif given is None:
        source.add_argument(calls[0], f"indexes=[{name}]")
    else:
        source.replace(given, f"[*{source.text(given)}, {name}]")
    module.add_imports(source, {"Index"})


def _add_pattern(source: module.ModuleText, design: str, form: _Form, known: Mapping[str, Mapping[str, str]]) -> None:
    name, returns, wanted = form.name("name"), form.text("returns"), form.names("parameters")
    if returns not in RETURNS:
        form.fault("returns", f"isn't one of {', '.join(RETURNS)}")
    entity = form.text("entity")
    fields = known[entity] if entity in known else _fields(module.class_in(source, entity))
    for each in wanted:
        if each not in fields:
            form.fault("parameters", f"{entity} has no field {each}")
    if not wanted:
        form.fault("parameters", "are missing: choose the fields whose values callers pass")
    form.check()
    parameters = [f"{each}: {fields[each]}" for each in wanted]
    if returns == "page":
        parameters += ["limit: int = 10", "cursor: Cursor | None = None"]
        module.add_imports(source, {"Page", "Cursor", "read"})
    else:
        module.add_imports(source, {"read"})
    node = module.class_in(source, design)
    doc = docstring(form.text("doc") or f"{name.replace('_', ' ').capitalize()}.")
    lines = [
        "",
        f"    @read({literal(_next_id(node))})",
        f"    def {name}(self, {', '.join(parameters)}) -> {RETURNS[returns].format(entity)}:",
        f"        {doc}",
        "        ...",
    ]
    source.insert((node.end_lineno or node.lineno) + 1, lines)


def _next_id(design: ast.ClassDef) -> str:
    ids = re.findall(r"""read\(["']([^\d"']*)(\d+)["']""", ast.unparse(design))
    prefix = ids[-1][0] if ids else "AP"
    return f"{prefix}{max((int(number) for start, number in ids if start == prefix), default=0) + 1}"
