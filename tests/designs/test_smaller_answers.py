"""Generated designs with smaller results: views, counts, booleans, keys-only indexes and index scans. ``verify``
compares each result with a brute-force result.
"""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from keyplan.errors import DesignError
from keyplan.testing import verify
from tests.designs.designs import DesignSpec, ReadSpec, Variable
from tests.designs.settled import settled
from tests.designs.source import source_of
from tests.seeds import examples

FIRST = int(os.environ.get("KEYPLAN_SEED", "0"))
COUNT = int(os.environ.get("KEYPLAN_DESIGNS", examples(60, 100))) // 10
PLAIN = {"page", "list", "limited", "iterator", "one"}
_OPTIONS = re.compile(r", (?:newest_first=True|order_by='[^']*')")


def asked_for_less(spec: DesignSpec, chance: Random) -> str:
    """Return the source of the design, with additional reads of views, counts and booleans."""
    text = source_of(spec)
    small = chance.choice([index for index in spec.indexes if not index.local] or [None])
    if small is not None and all(_is_whole(read_spec, small.name) for read_spec in spec.reads):
        text = re.sub(rf"^({small.name} = Index\(.*)\)$", r'\1, projection="KEYS_ONLY")', text, flags=re.MULTILINE)
    else:
        small = None
    lines: list[str] = []
    for number, read in enumerate(spec.reads, 1):
        match = re.search(rf'    @read\("R{number}"(.*?)\)\n    def {read.name}\((.*?)\) -> (.*?): \.\.\.', text)
        assert match is not None
        options, parameters, _ = match.groups()
        by_small = small is not None and read.key is not None and read.key.index is small
        if by_small:
            text = text.replace(match.group(), match.group().replace(f'"R{number}"', f'"R{number}", complete=True'))
        if read.shape in PLAIN and len(read.entities) == 1:
            lines += _less(number, read, options, parameters, chance, complete=by_small)
    lines += _whole(spec, small.name if small is not None else "")
    views = [line for line in lines if line.startswith("class ")]
    body = [line for line in lines if not line.startswith("class ")]
    design = text.index(f"class D{spec.number}(Design)")
    return text[:design] + "\n\n".join(views) + "\n\n\n" + text[design:] + "\n" + "\n\n".join(body) + "\n"


def _is_whole(read: ReadSpec, index: str) -> bool:
    """Return whether the read has the same result if the index projects only keys."""
    mine = read.key is not None and read.key.index is not None and read.key.index.name == index
    filtered = read.filter is not None or read.literal is not None or read.constants or read.members
    return not mine or not (filtered or read.shape == "one")


def _less(
    number: int, read: ReadSpec, options: str, parameters: str, chance: Random, *, complete: bool
) -> Iterator[str]:
    entity = read.entity
    ordered = ("limit:", "cursor:", "newest_first:")  # results without an order can't be limited or reversed
    plain = ", ".join(part for part in parameters.split(", ") if not part.startswith(ordered))
    text = _OPTIONS.sub("", options)
    if read.shape != "one":
        yield f'    @read("C{number}", entity={entity.name}{text})\n    def how_many_{read.name}({plain}) -> int: ...'
    if not read.each:
        yield f'    @read("E{number}", entity={entity.name}{text})\n    def any_{read.name}({plain}) -> bool: ...'
    names = chance.sample(list(entity.fields), chance.randint(1, len(entity.fields)))
    view = f"V{number}{entity.name}"
    fields = "\n".join(
        f"    {name}: {entity.fields[name].annotation}{' | None' * entity.fields[name].optional}" for name in names
    )
    yield f"class {view}(View[{entity.name}]):\n{fields}"
    shape = {"one": f"{view} | None", "page": f"Page[{view}]", "iterator": f"Iterator[{view}]"}.get(
        read.shape, f"list[{view}]"
    )
    holds = complete and set(names) - _in_keys(read)
    more = ", complete=True" if holds else ""
    yield f'    @read("V{number}"{more}{options})\n    def seen_{read.name}({parameters}) -> {shape}: ...'


def _in_keys(read: ReadSpec) -> set[str]:
    """Return the fields that are stored completely in the keys of the items that a read returns."""
    assert read.key is not None
    keys = (read.entity.keys[0], read.key)
    parts = [part for key in keys for element in (*key.partition, *key.sort) for part in element]
    written = [(part.name, part.written) for part in parts if isinstance(part, Variable)]
    return {name for name, text in written if "%" not in text}


def _whole(spec: DesignSpec, small: str) -> Iterator[str]:
    for index in spec.indexes:
        standing = [entity.name for entity in spec.entities if any(key.index is index for key in entity.keys)]
        more = ", complete=True" if index.name == small else ""
        options = f'"A{index.name}", scan_index={index.name}{more}'
        yield f"    @read({options})\n    def all_{index.name}(self) -> list[{' | '.join(standing)}]: ..."
        of = f"[{', '.join(standing)}]"
        options = f'"N{index.name}", scan_index={index.name}, entity={of}'
        yield f"    @read({options})\n    def count_{index.name}(self) -> int: ..."


def compiled(text: str, number: int) -> Any:
    """Return the compiled design of a module. Remove ``complete=`` where another key contains all items."""
    module = types.ModuleType(f"smaller_design_{number}")
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, f"<{module.__name__}>", "exec"), vars(module))
    except DesignError as error:
        needless = [
            fault.place.rpartition(".")[2] for fault in error.errors if "complete= has no effect" in fault.message
        ]
        if len(needless) < len(error.errors):
            raise AssertionError(f"{error}\n{text}") from error
        for name in needless:
            text = re.sub(rf", complete=True(.*\n    def {name}\()", r"\1", text)
        return compiled(text, number)
    return getattr(module, f"D{number}")


@pytest.mark.parametrize("number", range(FIRST, FIRST + COUNT))
def test_views_counts_and_index_scans_match_the_brute_force_results(number: int) -> None:
    text = asked_for_less(settled(number).spec, Random(number))
    design = compiled(text, number)
    try:
        verify(design, stores=6, seed=number)
    except AssertionError as error:
        if "returned no result" not in str(error):
            raise AssertionError(f"{error}\n{text}") from error
