"""A design's table as Terraform's ``aws_dynamodb_table``, in HCL with comments or in Terraform JSON.

Source: the AWS provider's documentation of the resource. Multi-attribute index keys require ``key_schema`` blocks
(provider 6.28); other keys use ``hash_key`` and ``range_key``, which every version supports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.formats.deployment_options import STREAM_VIEWS, TABLE_CLASSES, Deployment
from keyplan.formats.yaml_json import Noted, note_text, noted, plain, quoted
from keyplan.model.compiled.compiled_design import CompiledDesign, key_notes, patterns_of_index
from keyplan.model.declared.indexes import Index


@dataclass(frozen=True, slots=True)
class Block:
    """The body of an HCL block. ``note``: the comment before the block."""

    body: Mapping[str, Any]
    note: str = ""


def hcl_text(head: Iterable[str], body: Mapping[str, Any]) -> str:
    kind, *labels = head
    opening = " ".join([kind, *(_string(label) for label in labels)])
    return "\n".join([f"{opening} {{", *(f"  {line}".rstrip() for line in _body(body)), "}"]) + "\n"


def _body(body: Mapping[str, Any]) -> Iterator[str]:
    attributes = {name: value for name, value in body.items() if not _blocks(value)}
    width = max(map(len, attributes), default=0)
    for name, value in attributes.items():
        note = f" # {note_text(value.note)}" if isinstance(value, Noted) else ""
        content = value.value if isinstance(value, Noted) else value
        yield from _attribute(f"{name:{width}} = ", content, note)
    for name, value in body.items():
        for number, block in enumerate(_blocks(value)):
            if attributes or number or name != next(iter(body)):
                yield ""
            if block.note:
                yield f"# {note_text(block.note)}"
            yield f"{name} {{"
            yield from (f"  {line}".rstrip() for line in _body(block.body))
            yield "}"


def _blocks(value: Any) -> list[Block]:
    if isinstance(value, Block):
        return [value]
    if isinstance(value, list) and value and isinstance(value[0], Block):
        return value
    return []


def _attribute(head: str, value: Any, note: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield f"{head}{{"
        width = max((len(_string(name)) for name in value), default=0)
        for name, element in value.items():
            yield f"  {_string(name):{width}} = {_value(element)}"
        yield "}"
        return
    yield f"{head}{_value(value)}{note}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(element) for element in value)}]"
    return json.dumps(value)


def _string(text: str) -> str:
    """A quoted string, with ``${`` and ``%{`` escaped."""
    return quoted(text).replace("${", "$${").replace("%{", "%%{")


RESOURCE = "aws_dynamodb_table"


def terraform_hcl(design: CompiledDesign, deployment: Deployment) -> str:
    return hcl_text(["resource", RESOURCE, _label(design)], _resource(design, deployment))


def terraform_json(design: CompiledDesign, deployment: Deployment) -> str:
    body = _as_json(_resource(design, deployment))
    return json.dumps({"resource": {RESOURCE: {_label(design): body}}}, indent=2, ensure_ascii=False) + "\n"


def _label(design: CompiledDesign) -> str:
    word = re.sub(r"\W+", "_", design.table.name)
    return word if re.match(r"[A-Za-z_]", word) else f"table_{word}"


def _as_json(body: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in body.items():
        blocks = [_as_json(block.body) for block in _blocks(value)]
        result[name] = blocks[0] if isinstance(value, Block) else blocks or _escaped(plain(value))
    return result


def _escaped(value: Any) -> Any:
    """Escape templates, which Terraform JSON evaluates too."""
    if isinstance(value, str):
        return value.replace("${", "$${").replace("%{", "%%{")
    if isinstance(value, dict):
        return {name: _escaped(element) for name, element in value.items()}
    return [_escaped(element) for element in value] if isinstance(value, list) else value


def _resource(design: CompiledDesign, deployment: Deployment) -> dict[str, Any]:
    table = design.table
    members = deployment.members(design)
    notes = key_notes(design, None)
    result: dict[str, Any] = {"name": members["TableName"], "billing_mode": members["BillingMode"]}
    result |= _capacity(deployment)
    result["hash_key"] = noted(table.partition.name, notes)
    if table.sort is not None:
        result["range_key"] = noted(table.sort.name, notes)
    if deployment.table_class != "standard":
        result["table_class"] = TABLE_CLASSES[deployment.table_class]
    if deployment.deletion_protection:
        result["deletion_protection_enabled"] = True
    if deployment.stream is not None:
        result |= {"stream_enabled": True, "stream_view_type": STREAM_VIEWS[deployment.stream]}
    if deployment.tags:
        result["tags"] = dict(deployment.tags)
    result["attribute"] = [
        Block({"name": definition["AttributeName"], "type": definition["AttributeType"]})
        for definition in members["AttributeDefinitions"]
    ]
    if design.ttl_attribute is not None:
        result["ttl"] = Block({"attribute_name": design.ttl_attribute, "enabled": True})
    if deployment.recovery:
        result["point_in_time_recovery"] = Block({"enabled": True})
    patterns = {name: served or ["no pattern"] for name, served in patterns_of_index(design).items()}
    for member, local in (("global_secondary_index", False), ("local_secondary_index", True)):
        blocks = [
            Block(_index(index, deployment, key_notes(design, index.name)), note=", ".join(patterns[index.name]))
            for index in table.indexes
            if index.local is local
        ]
        if blocks:
            result[member] = blocks
    return result


def _capacity(deployment: Deployment) -> dict[str, Any]:
    if deployment.billing == "on-demand":
        return {}
    return {"read_capacity": deployment.read_units, "write_capacity": deployment.write_units}


def _index(index: Index, deployment: Deployment, notes: Mapping[str, str]) -> dict[str, Any]:
    result: dict[str, Any] = {"name": index.name}
    partition, *more = index.partition
    joined = bool(more) or len(index.sort) > 1
    if not joined:
        if not index.local:
            result["hash_key"] = noted(partition.name, notes)
        if index.sort:
            result["range_key"] = noted(index.sort[0].name, notes)
    if isinstance(index.projection, tuple):
        result |= {"projection_type": "INCLUDE", "non_key_attributes": list(index.projection)}
    else:
        result["projection_type"] = index.projection
    if not index.local:
        result |= _capacity(deployment)
    if joined:
        result["key_schema"] = [
            Block({"attribute_name": noted(attribute.name, notes), "key_type": kind})
            for kind, attributes in (("HASH", index.partition), ("RANGE", index.sort))
            for attribute in attributes
        ]
    return result
