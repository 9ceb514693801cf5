"""On a rule's page, the incorrect example has the finding, the correct one doesn't, and the text is up to date."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from keyplan.analysis.check import check
from keyplan.analysis.check.findings import Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.check.rules import RULES
from keyplan.analysis.traffic.traffic_file import traffic_from
from tests.check.made_pages import FOLDER, GROUPS, INDEX, examples, made_index, made_page, page_of
from tests.cost.test_partially_read_results import Network

CODES = [rule.code for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_each_rule_reports_the_incorrect_example_on_its_page(rule: Rule, tmp_path: Path) -> None:
    report = examples(rule)["wrong"].report(tmp_path)
    assert rule.code in {finding.code for finding in report.counted()}


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_the_correct_example_of_a_rule_has_no_unexpected_finding(rule: Rule, tmp_path: Path) -> None:
    allowed = {"KP107": {"KP403"}}  # the table has a local index, so collection growth is reported
    result = {finding.code for finding in examples(rule)["right"].report(tmp_path).counted()}
    assert result <= allowed.get(rule.code, set())


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_generated_parts_of_rule_pages_match_the_code(rule: Rule) -> None:
    assert page_of(rule).read_text(encoding="utf-8") == made_page(rule), "run: make docs"


def test_the_rule_index_lists_every_rule() -> None:
    assert INDEX.read_text(encoding="utf-8") == made_index(), "run: make docs"
    pages = {path.name for path in FOLDER.glob("KP*.md")}
    assert pages == {rule.page for rule in RULES}


def test_rule_codes_are_sorted_and_belong_to_a_group() -> None:
    assert sorted(set(CODES)) == CODES
    assert all(re.fullmatch(r"KP\d{3}", code) and code[:3] in GROUPS for code in CODES)


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_each_rule_has_a_title_an_explanation_and_a_severity(rule: Rule) -> None:
    assert 10 < len(rule.title) < 90
    assert len(rule.manual.split("\n\n")) >= (1 if rule.code == "KP100" else 2)
    assert rule.severity in Severity


SHOP = """from keyplan import Design, Entity, Index, Key, Table, read

A = Index("BY_A", "a_pk", "a_sk")
B = Index("BY_B", "b_pk", "b_sk")


def placed(index: Index, sort: str, *, partition: str = "N#{name}", **options: object) -> Key:
    return Key(partition, sort, index=index, **options)


class Shop(Entity):
    city: str
    label: str
    label_2: str
    name: str

    primary = Key("N#{name}", "TABLE")
    first = placed(FIRST)
    second = placed(SECOND)


class Shops(Design):
    table = Table("shops", indexes=[A, B])

    @read("S1", scan=True)
    def shops(self) -> list[Shop]: ...
"""


@pytest.mark.parametrize(
    ("table", "first", "second", "spare"),
    [
        ("{label}", 'A, "{label}"', 'B, "{label}"', {"first", "second"}),
        ("T", 'A, "{label}"', 'B, "{label}"', {"first"}),
        ("T", 'A, "{label}#{city}"', 'B, "{label}"', {"second"}),
        ("T", 'A, "{label}"', 'B, "{label}#{city}"', {"first"}),
        ("{label}#{city}", 'A, "{label}"', 'B, "{city}"', {"first"}),
        ("{label}", 'A, "{label}#{city}"', 'B, "{city}"', set()),
        ("T", 'A, "{label}"', 'B, "{city}"', set()),
        ("T", 'A, "{label}"', 'B, "{label_2}"', set()),
        ("T", 'A, "{label}"', 'B, "{label}", shards=2', set()),
        ("T", 'A, "{label}"', 'B, "{label}", when={"label": "x"}', set()),
        ("T", 'A, "{label}"', 'B, "{label}", partition="M#{name}"', set()),
    ],
)
def test_an_index_with_the_same_sort_order_as_another_is_redundant(
    table: str, first: str, second: str, spare: set[str], tmp_path: Path
) -> None:
    code = SHOP.replace("TABLE", table).replace("FIRST", first).replace("SECOND", second)
    assert redundant_keys(code, tmp_path) == spare


def redundant_keys(code: str, folder: Path) -> set[str]:
    """Return the keys that KP404 reports as redundant, after checking that no key is its own replacement."""
    rule = next(element for element in RULES if element.code == "KP404")
    report = replace(examples(rule)["wrong"], code=code).report(folder)
    assert {finding.code for finding in report.findings} != {"KP100"}, report.findings
    spare = [finding for finding in report.findings if finding.code == "KP404"]
    names = {finding.place.removeprefix("Shop.") for finding in spare}
    assert not any(finding.message.startswith(f"{finding.place.removeprefix('Shop.')} in ") for finding in spare)
    return names


STALLS = """
class Stall(Entity):
    label: str
    name: str

    primary = Key("STALL#{name}", "T")
    first = placed(A, "STALL#{label}")


class Shops(Design):"""


@pytest.mark.parametrize(
    ("question", "spare"),
    [
        ('@read("S2", key=Shop.first)\n    def of(self, name: str) -> list[Shop]: ...', {"first"}),
        ('@read("S2")\n    def of(self, name: str) -> list[Shop | Stall]: ...', set()),
    ],
)
def test_an_index_read_by_multi_entity_queries_is_not_redundant(question: str, spare: set[str], tmp_path: Path) -> None:
    code = SHOP.replace("TABLE", "T").replace("FIRST", 'A, "{label}"').replace("SECOND", 'B, "{label}#{city}"')
    code = code.replace("\nclass Shops(Design):", STALLS).replace('@read("S1"', f'{question}\n\n    @read("S1"')
    assert redundant_keys(code, tmp_path) == spare


def test_an_index_without_a_sort_key_is_redundant_if_another_index_has_one(tmp_path: Path) -> None:
    code = SHOP.replace('"b_pk", "b_sk"', '"b_pk"').replace("placed(SECOND)", 'Key("N#{name}", index=B)')
    assert redundant_keys(code.replace("TABLE", "T").replace("FIRST", 'A, "{label}"'), tmp_path) == {"second"}


@pytest.mark.parametrize(
    ("first", "second", "spare"),
    [
        (["{city}", "{label}"], ["{city}"], {"second"}),
        (["{city}", "{label}", "{label_2}"], ["{city}", "{label}"], {"second"}),
        (["{city}", "{label}"], ["{label}"], set()),
        (["{city}", "{label}"], ["{city}", "{label_2}"], set()),
        (["{city}", "{label}"], ["{label_2}", "{label}"], set()),
    ],
)
def test_an_index_whose_attributes_are_a_prefix_of_another_is_redundant(
    first: list[str], second: list[str], spare: set[str], tmp_path: Path
) -> None:
    code = SHOP.replace('"a_pk", "a_sk"', f'"a_pk", {[f"a_{place}" for place in range(len(first))]}')
    code = code.replace('"b_pk", "b_sk"', f'"b_pk", {[f"b_{place}" for place in range(len(second))]}')
    code = code.replace("FIRST", f"A, {first}").replace("SECOND", f"B, {second}").replace("TABLE", "T")
    assert redundant_keys(code, tmp_path) == spare


LONG = """from datetime import date
from typing import Annotated, Literal

from keyplan import Design, Entity, Field, Key, Table, read


class Note(Entity):
    FIELDS

    primary = Key("N", "SORT")


class Notes(Design):
    table = Table("notes", entities=[Note])

    @read("N1", scan=True)
    def notes(self) -> list[Note]: ...
"""


@pytest.mark.parametrize(
    ("fields", "sort", "total"),
    [
        ("text: Text[256]", "{text}", None),  # the maximum
        ("text: Text[256]", "T{text}", "1,025 bytes; limit: 1,024"),
        ("text: Text[247]; number: int", "{text}#{number:040d}", "1,029 bytes; limit: 1,024"),
        ("text: Text[246]; number: int", "{text}#{number:039d}", None),
        ("text: Text[246]; day: date", "{text}##{day}", "1,025 bytes; limit: 1,024"),
        ("text: Text[255]; state: Literal['é', 'a']", "{text}##{state}", None),
        ("text: Text[255]; state: Literal['é', 'aé']", "{text}##{state}", "1,025 bytes; limit: 1,024"),
        ("text: Text[255]; parts: tuple[str, ...]", "{text}#{parts}", None),  # the maximum is unknown
        ("text: Text[255]; other: str", "{text}#{other}", None),
    ],
)
def test_keys_longer_than_1024_bytes_are_reported(fields: str, sort: str, total: str | None, tmp_path: Path) -> None:
    code = LONG.replace("FIELDS", fields.replace("; ", "\n    ")).replace("SORT", sort)
    code = re.sub(r"Text\[(\d+)\]", r"Annotated[str, Field(max_length=\1)]", code)
    rule = next(element for element in RULES if element.code == "KP101")
    report = replace(examples(rule)["wrong"], code=code).report(tmp_path)
    assert "KP100" not in {finding.code for finding in report.findings}, report.findings
    shown = [line for finding in report.findings if finding.code == "KP101" for line in finding.arithmetic]
    assert [line.rpartition(" = ")[2] for line in shown] == ([] if total is None else [total])


NUMBER = re.compile(r"(?<![\w#.])\d[\d,]*(?:\.\d+)?%?(?![\w#])")


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.code != "KP100"], ids=lambda rule: rule.code)
def test_every_number_in_a_finding_is_in_its_calculation(rule: Rule, tmp_path: Path) -> None:
    for finding in examples(rule)["wrong"].report(tmp_path).findings:
        shown = " ".join(finding.arithmetic)
        missing = [number for number in NUMBER.findall(finding.message) if number.rstrip(",") not in shown]
        assert not missing, f"{finding}: {finding.arithmetic}"


def test_the_advised_expiry_filter_keeps_items_without_ttl(tmp_path: Path) -> None:
    """KP602 advises the filter of its correct example, which excludes only expired items."""
    rule = next(element for element in RULES if element.code == "KP602")
    wrong = examples(rule)["wrong"]
    (finding,) = [element for element in wrong.report(tmp_path).findings if element.code == "KP602"]
    match = re.search(r'where="([^"]+)"', finding.hint or "")
    assert match is not None
    assert match.group(1) == "attribute_not_exists(expires_at) OR expires_at > :at"
    assert f'where="{match.group(1)}"' in examples(rule)["right"].code


def test_replacing_an_expired_lock_is_not_reported(tmp_path: Path) -> None:
    """KP315 is reported unless a put with a condition on ``expires_at`` replaces an expired item."""
    rule = next(element for element in RULES if element.code == "KP315")
    wrong = examples(rule)["wrong"]
    create = "        yield Create(Lock(name=name, owner=owner, expires_at=now() + timedelta(minutes=5)))"
    assert create in wrong.code
    for condition, counted in [('"expires_at < :now", now=now()', 0), ("owner=owner", 1)]:
        code = wrong.code.replace("import Create,", "import Create, Put,").replace(
            create,
            "        lock = Lock(name=name, owner=owner, expires_at=now() + timedelta(minutes=5))\n"
            "        held = yield from self.lock.read(name)\n"
            "        if held is None:\n            yield Create(lock)\n        else:\n"
            f"            yield Put(lock).only_if({condition})\n\n"
            '    @read("L3")\n    def lock(self, name: str) -> Lock | None: ...\n',
        )
        folder = tmp_path / str(counted)
        folder.mkdir()
        codes = [finding.code for finding in replace(wrong, code=code).report(folder).findings]
        assert codes.count("KP315") == counted, condition


@pytest.mark.parametrize(("items", "codes"), [(100, set()), (101, {"KP304"})])
def test_reading_100_partitions_is_not_reported(items: int, codes: set[str]) -> None:
    traffic = traffic_from({"patterns": {"posts": {"items": items}}}, Network.compiled)
    assert {each.code for each in check(Network, traffic).findings if each.place == "Network.posts"} == codes
