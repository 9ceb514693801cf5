"""The module of a model that compiles: access patterns that can't work are omitted, and reported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType

from keyplan.errors import DesignError
from keyplan.formats.workbench.module import MadeModule, made_module
from keyplan.formats.workbench.reading import Model
from keyplan.formats.workbench.samples import sample_faults

__all__ = ["working_module"]


def working_module(model: Model) -> tuple[MadeModule, list[str], DesignError | None]:
    """The module without access patterns that fail to compile, those with their errors, and the error of the whole
    design if there is one.
    """
    omitted: dict[str, str] = {}
    merged: set[frozenset[str]] = set()
    while True:
        made = made_module(model, without=omitted, merged=merged)
        reasons = [f"no access pattern {place}: {omitted[place]}" for place in made.left_out]
        try:
            module = _run(made)
        except DesignError as error:
            places = {detail.place: detail.message for detail in error.errors}
            reads = {place: text for place, text in places.items() if place.partition(".")[0] in made.designs}
            same = {
                frozenset({place.partition(".")[0], match[1]})
                for place, text in places.items()
                if (match := re.match(r"its key can be the same as (\w+)\.", text)) is not None
            }
            if not (same - merged or reads.keys() - omitted.keys()):
                return made, reasons, error
            merged |= same
            omitted |= {} if same else reads
        else:
            return made, [*reasons, *_sample_faults(made, module)], None


def _sample_faults(made: MadeModule, module: ModuleType) -> Iterator[str]:
    """The sample items that the designs can't read, or would store differently."""
    for name, samples in made.samples.items():
        yield from sample_faults(getattr(module, name).compiled, samples)


def _run(made: MadeModule) -> ModuleType:
    """Run the module, which compiles its designs. All texts of the model are literals in it."""
    module = ModuleType("keyplan_workbench_model")
    sys.modules[module.__name__] = module  # annotations are resolved there
    try:
        exec(compile(made.text, "<the module>", "exec"), vars(module))  # noqa: S102 - the module is ours
    finally:
        del sys.modules[module.__name__]
    return module
