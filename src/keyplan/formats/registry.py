"""The export formats by name. :class:`Inputs` has the data that they need from higher layers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from keyplan.errors import RequestError
from keyplan.formats.cloudformation import cloudformation_json, cloudformation_yaml
from keyplan.formats.deployment_options import Deployment
from keyplan.formats.iam import Place, policy
from keyplan.formats.markdown import Row, design_page
from keyplan.formats.mermaid import flowchart
from keyplan.formats.terraform import terraform_hcl, terraform_json
from keyplan.formats.workbench_export import model, model_notes
from keyplan.model.compiled.compiled_design import CompiledDesign, WriteOperations
from keyplan.model.declared.fields import now


def requests(design: CompiledDesign, deployment: Deployment) -> dict[str, dict[str, Any]]:
    """The requests that create the table, by operation. Send those after CreateTable when the table is ACTIVE."""
    create = deployment.members(design)
    name = create["TableName"]
    result = {"CreateTable": create}
    if design.ttl_attribute is not None:
        setting = {"Enabled": True, "AttributeName": design.ttl_attribute}
        result["UpdateTimeToLive"] = {"TableName": name, "TimeToLiveSpecification": setting}
    if deployment.recovery:
        recovery = {"PointInTimeRecoveryEnabled": True}
        result["UpdateContinuousBackups"] = {"TableName": name, "PointInTimeRecoverySpecification": recovery}
    return result


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """A design, and the data of some formats. ``items``: sample items for Workbench, in DynamoDB JSON. ``rows``: the
    access patterns, for Markdown. ``writes``: the operations of each write, for IAM. ``place``: the table, for IAM.
    """

    design: CompiledDesign
    deployment: Deployment = field(default_factory=Deployment)
    place: Place = field(default_factory=Place)
    items: Iterable[Mapping[str, Mapping[str, Any]]] = ()
    rows: Iterable[Row] = ()
    writes: WriteOperations = field(default_factory=dict[str, Iterable[str]])
    made_at: datetime = field(default_factory=now)


@dataclass(frozen=True)
class Exported:
    """The exported text. ``parts``: the files by name, if there are several. ``notes``: omitted parts of the design."""

    text: str
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()


def _create_table(inputs: Inputs) -> Exported:
    result = requests(inputs.design, inputs.deployment)
    parts = {f"{_file_name(operation)}.json": _json(element) for operation, element in result.items()}
    return Exported(_json(result), parts)


def _file_name(operation: str) -> str:
    return "".join(f"-{text.lower()}" if text.isupper() else text for text in operation).lstrip("-")


def _workbench(inputs: Inputs) -> Exported:
    result = model(inputs.design, inputs.deployment, inputs.items, inputs.made_at)
    return Exported(_json(result), notes=tuple(model_notes(inputs.design)))


def _iam(inputs: Inputs) -> Exported:
    return Exported(_json(policy(inputs.design, inputs.writes, inputs.place, inputs.deployment.table_name)))


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[Inputs], Exported]] = {
    "cloudformation": lambda inputs: Exported(cloudformation_yaml(inputs.design, inputs.deployment)),
    "terraform": lambda inputs: Exported(terraform_hcl(inputs.design, inputs.deployment)),
    "create-table": _create_table,
    "iam": _iam,
    "workbench": _workbench,
    "markdown": lambda inputs: Exported(design_page(inputs.design, inputs.rows)),
    "mermaid": lambda inputs: Exported(flowchart(inputs.design)),
}
"""The formats, in the order of the help."""
_TEMPLATES = {"cloudformation": cloudformation_json, "terraform": terraform_json}
"""The formats with another form in JSON."""
_TEXTS = {"markdown", "mermaid"}


def export(name: str, inputs: Inputs, *, as_json: bool = False) -> Exported:
    if as_json and name in _TEXTS:
        raise RequestError(f"{name} doesn't support JSON", place="--json", hint="omit --json, or choose another format")
    if as_json and name in _TEMPLATES:
        return Exported(_TEMPLATES[name](inputs.design, inputs.deployment))
    return FORMATS[name](inputs)
