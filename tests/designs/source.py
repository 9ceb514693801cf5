"""The Python source of a generated design, and the module that results from running the source."""

from __future__ import annotations

import linecache
import sys
import types
import zlib
from collections.abc import Iterator

from tests.designs.designs import DesignSpec, EntitySpec, IndexSpec, KeySpec, ReadSpec, WriteSpec

_HEAD = """\
# mypy: disable-error-code="empty-body"
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal, NamedTuple
from uuid import UUID

from keyplan import *
from keyplan import Update as Change


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"
"""


def source_of(design: DesignSpec) -> str:
    parts = [_HEAD, *(_index(index) for index in design.indexes), *(_entity(entity) for entity in design.entities)]
    parts += [_named(spec) for spec in design.reads if spec.shape == "named"]
    indexes = ", ".join(index.name for index in design.indexes)
    entities = ", ".join(entity.name for entity in design.entities)
    body = [f'    table = Table("table{design.number}", indexes=[{indexes}], entities=[{entities}])']
    body += [_read(number, spec) for number, spec in enumerate(design.reads, 1)]
    body += [_write(number, spec) for number, spec in enumerate(design.writes, 1)]
    parts.append(f"class D{design.number}(Design):\n" + "\n\n".join(body))
    return "\n\n".join(parts) + "\n"


def module_of(design: DesignSpec) -> types.ModuleType:
    """Run the design's source, and return the module. Errors of the source are raised."""
    text = source_of(design)
    name = f"generated_design_{design.number}_{zlib.crc32(text.encode())}"  # other suites number their designs as well
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = file
    exec(compile(text, file, "exec"), vars(module))
    return module


# Tables and entities


def _index(index: IndexSpec) -> str:
    sort = [f'Number("{name}")' if native else f'"{name}"' for name, native in index.sort]
    if index.several:
        partition = ", ".join(f'"{text}"' for text in index.partition)
        return f'{index.name} = Index("{index.name}", [{partition}], [{", ".join(sort)}])'
    return f'{index.name} = Index("{index.name}", "{index.partition[0]}", {sort[0]})'


def _entity(entity: EntitySpec) -> str:
    lines = [f"class {entity.name}(Entity):"]
    ordered = sorted(entity.fields.values(), key=lambda spec: "=" in spec.declaration)
    lines += [f"    {spec.declaration}" for spec in ordered]
    if entity.version:
        lines.append("    version: Version = 0")
    lines.append("")
    lines += [f"    {key.name} = {_key(key)}" for key in entity.keys]
    if entity.unique:
        lines.append(f'    claim = Unique("{entity.name}CLAIM#{{{entity.unique}}}")')
    return "\n".join(lines)


def _key(key: KeySpec) -> str:
    def written(attribute: tuple[object, ...]) -> str:
        text = "".join(part.written for part in attribute)  # type: ignore[attr-defined]
        return f'"{text}"'

    partition, sort = [written(element) for element in key.partition], [written(element) for element in key.sort]
    if key.index is not None and key.index.several:
        given = [f"[{', '.join(partition)}]", f"[{', '.join(sort)}]"]
    else:
        given = [partition[0], sort[0]]
    if key.index is not None:
        given.append(f"index={key.index.name}")
    if key.when is not None:
        values = key.when[1]
        given.append(f"when={{{key.when[0]!r}: {(values[0] if len(values) == 1 else list(values))!r}}}")
    if key.shards:
        given.append(f"shards={key.shards}")
    return f"Key({', '.join(given)})"


def _named(read: ReadSpec) -> str:
    lines = [f"class {read.name.title().replace('_', '')}(NamedTuple):"]
    lines += [f"    m{position}: list[{spec.name}]" for position, spec in enumerate(read.entities)]
    return "\n".join(lines)


# Patterns


def _parameters(read: ReadSpec) -> Iterator[str]:
    def annotation(name: str) -> str:
        if read.literal is not None and read.literal[0] == name:
            return f"Literal[{', '.join(map(repr, read.literal[1]))}]"
        return read.entity.fields[name].annotation

    yield "self"
    for name in read.equal:
        yield f"{name}: {annotation(name)}"
    for name in filter(None, (read.each, read.each_too)):
        yield f"{name}: Each[{annotation(name)}]"
    if read.prefix:
        yield f"{read.prefix}: Prefix"
    if read.filter is not None:
        yield f"{read.filter[2]}: {annotation(read.filter[0])}"
    if read.range:
        yield f"{read.range}: Range[{annotation(read.range)}]" + " | None = None" * read.range_optional
    if read.directed:
        yield f"newest_first: bool = {read.newest_first}"
    if read.shape in {"page", "union", "limited", "scan"}:
        yield "limit: int = 3"
    if read.shape in {"page", "union", "scan"}:
        yield "cursor: Cursor | None = None"


def _read(number: int, read: ReadSpec) -> str:
    options: list[str] = []
    where = {**dict(read.constants), **dict(read.members)}
    if where:
        options.append(f"where={where!r}")
    if read.filter is not None:
        options.append(f'where="{read.filter[0]} {read.filter[1]} :{read.filter[2]}"')
    if read.newest_first and not read.directed:
        options.append("newest_first=True")
    if read.order_by:
        options.append(f"order_by={read.order_by!r}")
    if read.named and read.key is not None:
        options.append(f"key={read.entity.name}.{read.key.name}")
    if read.consistent:
        options.append("consistent=True")
    if read.shape == "scan":
        options.append("scan=True")
    both = " | ".join(entity.name for entity in read.entities)
    shapes = {
        "one": f"{both} | None", "page": f"Page[{both}]", "scan": f"Page[{both}]", "union": f"Page[{both}]",
        "list": f"list[{both}]", "limited": f"list[{both}]", "batch": f"list[{both}]", "union list": f"list[{both}]",
        "iterator": f"Iterator[{both}]", "named": f"{read.name.title().replace('_', '')} | None",
    }  # fmt: skip
    given = ", ".join([f'"R{number}"', *options])
    return f"    @read({given})\n    def {read.name}({', '.join(_parameters(read))}) -> {shapes[read.shape]}: ..."


def _write(number: int, write: WriteSpec) -> str:
    entity = write.entity
    fields = entity.fields
    key = ", ".join(f"{name}={name}" for name in entity.identity)
    keyed = ", ".join(f"{name}: {fields[name].annotation}" for name in entity.identity)
    spec = fields.get(write.field)
    kind = "" if spec is None else f"{spec.annotation}{' | None' * spec.optional}"
    match write.kind:
        case "change":
            arguments = f"item: {entity.name}, value: {kind}"
            body = [f"yield Change(item, {write.field}=value)"]
        case "count":
            arguments = f"{keyed}, more: int"
            body = [f"yield Update({entity.name}, {key}).set({write.field}=Add(more))"]
        case "make":
            arguments, body = f"item: {entity.name}", ["yield Create(item)"]
        case "move":
            arguments = f"{keyed}, value: {kind}"
            body = [
                f"item = yield from self.{write.get}.read({key})",
                "if item is not None:",
                f"    yield Update(item, {write.field}=value).only_if({write.field}=item.{write.field})",
            ]
        case "pair":
            assert write.other is not None
            arguments = f"item: {entity.name}, other: {write.other.name}"
            body = ["yield Create(item)", "yield Create(other)"]
        case _:
            arguments, body = f"item: {entity.name}", ["yield Delete(item)"]
    lines = "\n".join(f"        {line}" for line in body)
    return f'    @write("W{number}")\n    def {write.name}(self, {arguments}) -> Writes:\n{lines}'
