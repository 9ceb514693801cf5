"""A design as a Mermaid flowchart: entities, in one frame if they share a partition, and their indexes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from keyplan.model.compiled.compiled_design import CompiledDesign, patterns_of_index
from keyplan.model.stored.stored_keys import CompiledKey


def flowchart(design: CompiledDesign) -> str:
    """The flowchart: entities on the left, indexes on the right, an arrow for each index key."""
    return "\n".join(_lines(design)) + "\n"


def _lines(design: CompiledDesign) -> Iterator[str]:
    table = design.table
    yield "flowchart LR"
    yield f'  subgraph table["{_text(table.name)} ({_text(", ".join(table.key_names))})"]'
    yield "    direction TB"
    for number, (partition, members) in enumerate(_collections(design).items()):
        if len(members) == 1:
            ((name, (title, sort)),) = members.items()
            yield f'    {name}["{_lines_of(title, partition, sort)}"]'
            continue
        yield f'    subgraph partition{number}["{_text(partition)}"]'
        for name, (title, sort) in members.items():
            yield f'      {name}["{_lines_of(title, sort)}"]'
        yield "    end"
    yield "  end"
    patterns = patterns_of_index(design)
    places = _ids("index", [index.name for index in table.indexes])
    for index in table.indexes:
        attributes = ", ".join(attribute.name for attribute in (*index.partition, *index.sort))
        served = ", ".join(design.reads[name].id for name in patterns[index.name])
        yield f'  {places[index.name]}[("{_lines_of(index.name, attributes, served)}")]'
    entities = _ids("entity", design.by_name)
    for entity in design.entities.values():
        for key in entity.index_keys:
            if key.index is not None:
                yield f'  {entities[entity.name]} -->|"{_text(_key(key))}"| {places[key.index.name]}'


def _collections(design: CompiledDesign) -> dict[str, dict[str, tuple[str, str]]]:
    result: dict[str, dict[str, tuple[str, str]]] = {}
    entities = _ids("entity", design.by_name)
    for entity in design.entities.values():
        labels = ", ".join(f"{name} = {value['S']}" for name, value in entity.labels.items())
        title = f"{entity.name} ({labels})" if labels else entity.name
        result.setdefault(_partition(entity.primary), {})[entities[entity.name]] = (title, _sort(entity.primary))
        for claim in entity.claims:
            node = f"{entities[entity.name]}_{claim.name}"
            result.setdefault(_partition(claim), {})[node] = (f"{entity.name}.{claim.name}", _sort(claim))
    return result


def _ids(kind: str, names: Iterable[str]) -> dict[str, str]:
    """Unique node ids. The prefix keeps them from being Mermaid's keywords."""
    result: dict[str, str] = {}
    for name in names:
        word = f"{kind}_{re.sub(r'[^0-9A-Za-z]+', '_', name)}"
        while word in result.values():
            word += "_"
        result[name] = word
    return result


def _partition(key: CompiledKey) -> str:
    text = ", ".join(str(template) for _, template in key.partition)
    return f"{text} in {key.shards} shards" if key.shards > 1 else text


def _sort(key: CompiledKey) -> str:
    return ", ".join(str(template) for _, template in key.sort)


def _key(key: CompiledKey) -> str:
    """An arrow's label: the templates, and the condition of a sparse key."""
    text = " / ".join(filter(None, [_partition(key), _sort(key)]))
    only = " and ".join(f"{name} = {' or '.join(map(str, allowed))}" for name, allowed in key.when.items())
    return f"{text} if {only}" if only else text


def _lines_of(*lines: str) -> str:
    return "<br/>".join(_text(line) for line in lines if line)


def _text(text: str) -> str:
    """Escape a label: Mermaid reads ``#name;`` and HTML."""
    escapes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;"}
    return "".join(escapes.get(character, character) for character in " ".join(text.split()))
