"""A rule: its stable code, name, severity, manual, and the function that finds problems."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity

__all__ = ["Remark", "Remarks", "Rule", "Severity", "Subject"]

Remarks: TypeAlias = Iterator[Remark]


@dataclass(frozen=True)
class Rule:
    """One rule. ``module`` ends with the rule's name; ``doc``, the module's docstring, is its manual."""

    code: str
    severity: Severity
    find: Callable[[Subject], Remarks]
    module: str
    doc: str | None

    @property
    def name(self) -> str:
        """The rule's name in lists and addresses: ``fixed-partition``."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def title(self) -> str:
        """The first line of its manual, without the period."""
        return inspect.cleandoc(self.doc or "").partition("\n")[0].rstrip(".")

    @property
    def manual(self) -> str:
        return inspect.cleandoc(self.doc or "").partition("\n")[2].strip()

    @property
    def page(self) -> str:
        return f"{self.code}-{self.name}.md"
