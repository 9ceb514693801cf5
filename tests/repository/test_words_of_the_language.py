"""Each feature of designs is in an example of the pages, in the designs for type checkers, and in a design of the
contract tests. These designs pass check, estimate and explain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from keyplan.analysis.check.checking import check
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.explain.explanation import explain_all
from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.stored_as import FormName
from tests.contract.apart import Apart
from tests.contract.asking import Asking
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.reading import Reading
from tests.contract.test_counter_shards import Posts
from tests.contract.test_existing_tables import App
from tests.contract.test_joint_transactions import Ledger, Shop
from tests.contract.test_return_values import Bank
from tests.repository.examples import programs_of

ROOT = Path(__file__).parent.parent.parent
PAGES = ("docs/designing.md", "docs/designing-more.md")
TYPED = ("tests/typing/library.py", "tests/typing/correct.py")
CONTRACT = sorted((ROOT / "tests" / "contract").glob("*.py"))
DESIGNS: tuple[type[Any], ...] = (Everything, Reading, Asking, Apart, Timed, Posts, App, Bank, Shop, Ledger)

FAILING: dict[type[Any], list[str]] = {Everything: ["W3"], Bank: ["W5", "W8", "W9"], Shop: ["S2", "S4"]}
"""Writes that fail on purpose, or that no typical call can be made for."""

FEATURES = {
    "View": r"\(View\[",
    "projected_for": r"\.projected_for\(",
    "complete": r"complete=True",
    "scan_index": r"scan_index=",
    "entity": r"\bentity=",
    "total": r"total=",
    "segments": r"segments=",
    "newest_first as a parameter": r"newest_first: bool",
    "key": r"\bkey=\w+\.\w+",
    "two Each": r"Each\[[^\]]+\],\s+\w+: Each\[",
    "InvalidItem": r"\| InvalidItem\]",
    "time buckets": r"\{at:%Y%m\}",
    "when": r"when=",
    "rank": r":rank\}",
    "native attributes": r"Index\(\"BY_[A-Z]+\", \"(?:day|team)\", \"",
    "CounterShards": r"\bCounterShards\(",
    "IdempotencyTokens": r"\bIdempotencyTokens\b",
    "idempotent": r"\.idempotent\(",
    "previous": r"\.previous\(",
    "in_transaction": r"\.in_transaction\(",
    "transact": r"(?<!\.)\btransact\(",
    "in_transaction=": r"in_transaction=True",
    "pages in segments": r"segments=\d\)\s+def \w+\([^)]*\) -> Page",
    "or_create": r"\.or_create\(",
    "IfNotExists": r"\bIfNotExists\(",
    "parts of fields": r"\.at\(\s*lambda",
    "StoredAs": r"\bStoredAs\(",
    "KeyStyle": r"\bKeyStyle\(",
    "Discriminator": r"\bDiscriminator\(",
    "unpadded numbers": r":d\}",
    "attributes that nothing declares": r"extra=\"allow\"",
}
"""Features, and a pattern of the code that uses them."""


def programs() -> Iterator[str]:
    for page in PAGES:
        for program in programs_of(ROOT / page):
            yield from (step[1] for step in program.steps)


TYPES = {"AwareDatetime": r"AwareDatetime", "type X = …": r"TypeAliasType\(", "IntEnum": r"IntEnum"}
"""Types without special notation, which are only in the contract tests."""

PLACES = {
    "an example that runs": "\n".join(programs()),
    "tests/typing": "\n".join((ROOT / name).read_text(encoding="utf-8") for name in TYPED),
    "tests/contract": "\n".join(path.read_text(encoding="utf-8") for path in CONTRACT),
}


NATIVE = ("date", "UUID", "Decimal", "Color", "bool", "datetime", "Level", "time", "timedelta", "str")
"""Color is a StrEnum, Level an IntEnum."""
PAGE_OF_FORMS = (ROOT / PAGES[1]).read_text(encoding="utf-8")


@pytest.mark.parametrize("place", PLACES)
def test_every_design_feature_is_in_docs_typing_tests_and_contract_tests(place: str) -> None:
    assert [word for word, pattern in FEATURES.items() if re.search(pattern, PLACES[place]) is None] == []


@pytest.mark.parametrize("name", TYPES)
def test_every_field_type_is_in_the_contract_tests(name: str) -> None:
    assert re.search(TYPES[name], PLACES["tests/contract"]) is not None


@pytest.mark.parametrize(("place", "text"), [("docs", PAGE_OF_FORMS), ("tests/contract", PLACES["tests/contract"])])
def test_every_stored_format_is_in_docs_and_in_contract_tests(place: str, text: str) -> None:
    written = [f'"{name}"' if place == "docs" else f'StoredAs("{name}"' for name in get_args(FormName)]
    assert [form for form in (*written, "layout=", "write=") if form not in text] == []


@pytest.mark.parametrize("kind", NATIVE)
def test_every_native_key_type_is_in_the_contract_tests(kind: str) -> None:
    """In the designs Reading and Timed, fields are native keys of an index."""
    entities = [*Reading.compiled.entities.values(), *Timed.compiled.entities.values()]
    native = {
        type_name(entity.fields[attribute.name].annotation).removesuffix(" | None")
        for entity in entities
        for key in entity.index_keys
        for attribute, _ in key.attributes
        if attribute.name in entity.fields
    }
    assert kind in native


def test_the_first_guide_can_be_read_in_twenty_minutes() -> None:
    """The assumed reading speed is 200 words per minute, including code."""
    words = (ROOT / PAGES[0]).read_text(encoding="utf-8").split()
    assert sum(re.search(r"\w", word) is not None for word in words) <= 4000


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_designs_with_all_features_can_be_checked_estimated_and_explained(design: type[Any]) -> None:
    assert check(design).patterns == len(design.compiled.patterns)
    failures = [failure.partition(" ")[0] for failure in estimate(design).failures]
    assert sorted(failures) == FAILING.get(design, [])
    assert [explanation.pattern for explanation in explain_all(design)] == list(design.compiled.patterns)
