"""A rule has a stable code, a name, a severity, a manual, and a function that finds problems."""

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
    """A rule is defined in ``module``. ``doc``, the docstring of the module, contains the title and the manual."""

    code: str
    severity: Severity
    find: Callable[[Subject], Remarks]
    module: str
    doc: str | None

    @property
    def name(self) -> str:
        """The rule's name, such as ``fixed-partition``."""
        return self.module.rpartition(".")[2].replace("_", "-")

    @property
    def title(self) -> str:
        """The first line of the module's docstring, without the period."""
        return inspect.cleandoc(self.doc or "").partition("\n")[0].rstrip(".")

    @property
    def manual(self) -> str:
        return inspect.cleandoc(self.doc or "").partition("\n")[2].strip()

    @property
    def page(self) -> str:
        return f"{self.code}-{self.name}.md"
