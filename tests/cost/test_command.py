"""Tests of ``keyplan cost``: tables, JSON, Markdown, the calculation of one access pattern, two designs, and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from keyplan.systems import system_names
from tests.cli.support import json_of, run

TRAFFIC = """\
[table]
point_in_time_recovery = true

[patterns.article_with_latest]
per_second = 100
peak_per_second = 900

[patterns.AP8]
per_second = 2

[entities.Article]
count = 10_000

[entities.ArticleVersion]
count = 50_000
fields = { body = 12_000 }
"""
BEFORE = """\
from keyplan import Design, Entity, Index, Key, Page, Put, Table, Writes, read, write

INDEX = Index("BY_OWNER", "owner_pk", "owner_sk"{projection})


class Note(Entity):
    owner: str
    note_id: str
    text: str

    primary = Key("NOTE#{{note_id}}", "HEAD")
    by_owner = Key("OWNER#{{owner}}", "{{note_id}}", index=INDEX)


class Notes(Design):
    table = Table("notes", indexes=[INDEX], entities=[Note])

    @read("N1")
    def note(self, note_id: str) -> Note | None: ...

    @write("W1")
    def add(self, note: Note) -> Writes:
        yield Put(note)
{more}"""
MORE = """
    @read("N2")
    def notes_of(self, owner: str, limit: int = 10) -> Page[Note]: ...
"""


@pytest.fixture
def traffic(tmp_path: Path) -> str:
    path = tmp_path / "traffic.toml"
    path.write_text(TRAFFIC)
    return str(path)


@pytest.fixture
def designs(tmp_path: Path) -> tuple[str, str, str]:
    """A design, a changed version of the design, and a traffic file for both."""
    (tmp_path / "before.py").write_text(BEFORE.format(projection="", more=MORE))
    (tmp_path / "after.py").write_text(BEFORE.format(projection=', projection="KEYS_ONLY"', more=""))
    (tmp_path / "notes.toml").write_text(
        "[patterns]\nadd = { per_second = 10 }\nnotes_of = { per_second = 5 }\n"
        "[entities.Note]\ncount = 1000\nitem_bytes = 3000\n"
    )
    return f"{tmp_path}/before.py:Notes", f"{tmp_path}/after.py:Notes", f"{tmp_path}/notes.toml"


def flat(text: str) -> str:
    """The output without the line breaks and padding of its tables."""
    return " ".join(text.split())


def test_without_a_traffic_file_costs_are_per_call_and_per_million_calls() -> None:
    result = run("cost", "cms")
    assert result.exit_code == 0
    assert re.search(r"AP1 +article +GetItem +0\.5 +\$0\.0625", result.stdout)
    assert re.search(r"AP8 +publish +GetItem, TransactWriteItems +1 +26 \+ 2 on GSI1 +\$17\.62", result.stdout)
    assert "$/month" not in result.stdout
    assert "assumed: title 65" in result.stdout


def test_with_a_traffic_file_costs_are_per_month(traffic: str) -> None:
    """Costs are per access pattern and index, on demand and provisioned. The traffic file sets item sizes."""
    result = run("cost", "cms", "--traffic", traffic)
    assert result.exit_code == 0, result.output
    assert re.search(r"article_with_latest .* 100 +900 +\$65\.70", result.stdout)
    assert "provisioned for the peak, Standard-IA" in result.stdout
    assert "the traffic file: body 12,004" in flat(result.stdout)
    assert re.search(r"GSI1 +0 +0 +4 +4", result.stdout)


def test_the_json_output_has_every_number_and_its_calculation(traffic: str) -> None:
    """The costs of the parts add up to the total."""
    result = json_of("cost", "cms", "--traffic", traffic)
    patterns = {pattern["pattern"]: pattern for pattern in result["patterns"]}
    latest = patterns["article_with_latest"]
    assert latest["read_units"] == 2  # 725 + 12,184 B are 4 blocks
    assert latest["usd_month"] == pytest.approx(100 * 2 * 2.628 * 0.125)
    assert latest["requests"][0]["units"][0]["arithmetic"].endswith("→ 4 × 4 KB × 0.5 = 2")
    on_demand = next(bill for bill in result["bills"] if bill["name"] == "on-demand")
    parts = sum(pattern["usd_month"] or 0 for pattern in result["patterns"]) + result["idle"]["usd"]
    assert (
        on_demand["usd"] == pytest.approx(parts) == pytest.approx(sum(charge["usd"] for charge in on_demand["charges"]))
    )
    assert result["chosen"]["name"] == "on-demand"
    assert result["prices"]["region"] == "us-east-1"
    assert result["failures"] == []


def test_explain_shows_the_calculation_of_one_access_pattern(traffic: str) -> None:
    """The pattern is given by name or ID. The calculation is also available as JSON."""
    for name in ("publish", "AP8"):
        result = run("cost", "cms", "--traffic", traffic, "--explain", name)
        assert result.exit_code == 0, result.output
        text = flat(result.stdout)
        assert re.search(r"Create ArticleVersion, 12,\d+ B → 12 × 1 KB × 2, in a transaction = 24", text)
        assert re.search(r"GSI1 1 write entry changed, \d+ B → 1 × 1 KB = 1", text)
        assert "Per month at 2 calls per second: $" in result.stdout
    assert json_of("cost", "cms", "--explain", "AP8")["pattern"] == "publish"


def test_the_calculation_of_a_pattern_is_aligned_in_columns() -> None:
    """Operations, targets and units are aligned, and long lines wrap below their column."""
    lines = run("cost", "cms", "--explain", "publish", env={"COLUMNS": "60"}).stdout.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("GetItem  "))
    rows = lines[begin : lines.index("", begin)]
    assert rows[:4] == [
        "GetItem             cms     1 read  1 Article, 833 B → 1 × 4",
        "                                    KB × 1 = 1              ",
        "TransactWriteItems  cms   10 write  Create ArticleVersion,  ",
        "                                    4,183 B → 5 × 1 KB × 2, ",
    ]
    assert {row[20:28] for row in rows} == {"cms     ", "cms   10", "cms    2", "GSI1   1", " " * 8}


def test_assumptions_of_the_estimate_are_reported(designs: tuple[str, str, str]) -> None:
    """Assumed costs are marked in the table, and the calculation lists the assumptions."""
    before, _, _ = designs
    assert re.search(r"N2 +notes_of +Query +~1", run("cost", before).stdout)
    assert "assumed: more items match than the limit of 10" in run("cost", before, "--explain", "N2").stdout


def test_the_markdown_report_has_three_tables() -> None:
    result = run("cost", "cms", "--markdown", "--region", "us-east-1", "--region", "ap-northeast-1")
    assert result.exit_code == 0
    assert result.stdout.startswith("# Cost of Cms\n")
    assert "| AP1 | `article` | GetItem | 0.5 |  | – | $0.0625 | – |" in result.stdout
    assert "| Billing mode | USD per month in us-east-1 | USD per month in ap-northeast-1 |" in result.stdout


def test_costs_of_two_regions_are_compared_side_by_side(traffic: str) -> None:
    """The price list of Tokyo lacks some prices, and the report names them."""
    result = run("cost", "cms", "--traffic", traffic, "--region", "us-east-1", "--region", "ap-northeast-1")
    assert result.exit_code == 0
    assert re.search(r"us-east-1 +ap-northeast-1", result.stdout)
    assert "The price list of ap-northeast-1 has no price for" in result.stdout


def test_a_custom_price_list_replaces_that_of_its_region(tmp_path: Path, traffic: str) -> None:
    """If no region is given, costs are for the region of the custom price list."""
    path = tmp_path / "eu.json"
    usd = {"ReadRequestUnits": "0.000001", "WriteRequestUnits": "0.00001", "TimedStorage-ByteHrs": "1"}
    path.write_text(json.dumps({"region": "eu-west-1", "as_of": "2026-11", "source": "mine", "usd": usd}))
    result = json_of("cost", "cms", "--prices", str(path), "--explain", "article")
    assert result["usd_million_calls"] == pytest.approx(0.5)
    assert json_of("cost", "cms", "--prices", str(path))["prices"]["region"] == "eu-west-1"
    both = json_of("cost", "cms", "--traffic", traffic, "--prices", str(path), "--region", "eu-west-1")
    assert both["prices"]["source"] == "mine"


def test_costs_of_two_designs_are_compared_in_markdown(designs: tuple[str, str, str]) -> None:
    before, after, traffic = designs
    result = run("cost", before, after, "--traffic", traffic)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("## Cost: Notes → Notes\n\n**$")
    assert "| `add` | write units per call | 6 | 4 | -33% |" in result.stdout
    assert "| `notes_of` | read units per call | 4.5 | – | gone |" in result.stdout
    assert "| `note` |" not in result.stdout
    back = run("cost", after, before, "--traffic", traffic).stdout
    assert "| `add` | write units per call | 4 | 6 | +50% |" in back
    assert "| `notes_of` | read units per call | – | 4.5 | new |" in back
    assert "| `BY_OWNER` | USD per month on demand |" in result.stdout


def test_a_pattern_without_an_estimate_is_left_out_of_the_totals_of_both_designs(designs: tuple[str, str, str]) -> None:
    """The report lists the pattern and the reason in one line."""
    before, _, traffic = designs
    path = Path(before.partition(":")[0])
    path.with_name("stuck.py").write_text(path.read_text().replace("yield Put(note)", "yield Put(Note(owner='me'))"))
    result = run("cost", before, f"{path.parent}/stuck.py:Notes", "--traffic", traffic)
    assert result.exit_code == 0, result.output
    assert "(on-demand, without `add`)" in result.stdout
    assert "The cost of each pattern, index and billing mode is unchanged.\n\nNot estimated:" in result.stdout
    assert "- W1 add: the body creates an invalid Note: Note.note_id: field required; Note.text: field" in result.stdout
    assert "\n    For further information" not in result.stdout
    value = json_of("cost", before, f"{path.parent}/stuck.py:Notes", "--traffic", traffic)
    assert (value["not_compared"], value["differences"]) == (["add"], [])
    (add,) = [each for each in value["after"]["patterns"] if each["pattern"] == "add"]
    assert (add["usd_month"], add["usd_million_calls"]) == (None, None)


def test_costs_of_two_designs_are_compared_as_json(designs: tuple[str, str, str]) -> None:
    before, after, traffic = designs
    result = json_of("cost", before, after, "--traffic", traffic)
    differences: dict[tuple[str, str], Any] = {
        (difference["what"], difference["name"]): difference for difference in result["differences"]
    }
    assert differences["write units", "add"] == {"what": "write units", "name": "add", "before": 6, "after": 4}
    assert result["before"]["patterns"][1]["pattern"] == "notes_of"
    assert result["after"]["chosen"]["usd"] < result["before"]["chosen"]["usd"]


def test_the_explain_and_markdown_options_are_mutually_exclusive() -> None:
    result = run("cost", "cms", "--explain", "publish", "--markdown")
    assert result.exit_code == 2
    assert "--explain doesn't support --markdown" in result.stderr


def test_each_of_two_designs_imports_modules_from_its_own_folder(tmp_path: Path) -> None:
    """The folders contain modules of the same names, as two checkouts of a repository do."""
    for name, size in (("old", 100), ("new", 6000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sizes.py").write_text(f"TEXT = 'x' * {size}\n")
        text = "from sizes import TEXT\n" + BEFORE.format(projection="", more="")
        text = text.replace("import Design, Entity,", "import Design, Entity, Field,")
        (tmp_path / name / "designs.py").write_text(text.replace("text: str", "text: str = Field(examples=[TEXT])"))
    result = run("cost", f"{tmp_path}/old/designs.py", f"{tmp_path}/new/designs.py")
    assert "| `note` | read units per call | 0.5 | 1 | +100% |" in result.stdout, result.output


def test_options_that_two_designs_do_not_support_are_rejected(designs: tuple[str, str, str]) -> None:
    before, after, _ = designs
    for more in (("--region", "us-east-1", "--region", "us-east-2"), ("--explain", "add")):
        result = run("cost", before, after, *more)
        assert result.exit_code == 2
        assert "OTHER can't be combined with --explain" in result.stderr


def test_the_comparison_of_equal_designs_reports_no_change(designs: tuple[str, str, str]) -> None:
    before, _, traffic = designs
    result = run("cost", before, before, "--traffic", traffic)
    assert "The cost of each pattern, index and billing mode is unchanged." in result.stdout


# Invalid input: all errors together, exit status 2, no traceback


def test_all_invalid_arguments_are_reported_together(tmp_path: Path) -> None:
    """The errors are in names, rates, regions, access patterns and files."""
    path = tmp_path / "traffic.toml"
    path.write_text('[table]\nregion = "moon"\n[patterns.articel]\nper_second = 1\n[patterns.AP1]\nper_second = -4\n')
    result = run(
        "cost", "cms", "--traffic", str(path), "--region", "eu-wst-1", "--prices", "none.json", "--explain", "x"
    )
    assert result.exit_code == 2
    for text in (
        "the design has no such pattern (did you mean article?)",
        "patterns.AP1.per_second",
        "AWS has no region 'moon'",
        "AWS has no region 'eu-wst-1' (did you mean eu-west-1?",
        "none.json: the file can't be read",
        "Cms has no access pattern 'x'",
    ):
        assert text in result.stderr, text
    assert "Traceback" not in result.output


def test_several_invalid_designs_are_reported_together(tmp_path: Path) -> None:
    """One file can't be imported, another file is missing, and the region is invalid."""
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    result = run("cost", f"{broken}:X", "missing.py:Y", "--region", "moon")
    assert result.exit_code == 2
    assert "No module named 'nothing_of_that_name'" in result.stderr
    assert "file not found: missing.py" in result.stderr
    assert "AWS has no region 'moon'" in result.stderr


def test_a_single_error_is_reported_with_its_own_message_and_code() -> None:
    result = run("cost", "cmss")
    assert result.exit_code == 2
    assert "unknown system 'cmss'" in result.stderr
    told = run("cost", "cms", "--region", "moon", "--json")
    assert told.exit_code == 2
    assert json.loads(told.stdout)["error"]["code"] == "PriceError"


@pytest.mark.parametrize("name", system_names())
def test_every_pattern_of_every_system_is_estimated(name: str) -> None:
    result = json_of("cost", name)
    assert result["failures"] == []
    assert all(pattern["requests"] for pattern in result["patterns"])
