"""Tests of ``keyplan diff``. The detection of changes is tested in ``tests/diff``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import json_of, run
from tests.diff.shop import SHOP, changed


@pytest.fixture
def shops(folder: Path) -> tuple[str, str]:
    """Write two versions of a design, each of which imports a module of the same name from its own folder."""
    for name, statuses in (("old", '"pending", "paid"'), ("new", '"pending"')):
        (folder / name).mkdir()
        (folder / name / "statuses.py").write_text(f"from typing import Literal\nStatus = Literal[{statuses}]\n")
        text = changed(
            ("status: Literal", "status: Status = 'pending'  # "),
            ("class Kind", "from statuses import Status\nclass Kind"),
        )
        (folder / name / "designs.py").write_text(text, encoding="utf-8")
    return "old/designs.py:Shop", "new/designs.py:Shop"


def test_each_design_imports_modules_from_its_own_folder(shops: tuple[str, str]) -> None:
    result = run("diff", *shops)
    assert result.exit_code == 1
    assert "Breaks deployed data" in result.output
    assert "Order.status" in result.output
    assert "Shop: 1 breaking." in result.output
    assert run("diff", shops[1], shops[0]).exit_code == 0
    assert run("diff", shops[0], shops[0]).output == "Shop: no changes.\n"


def test_changes_are_printed_as_json_and_markdown(shops: tuple[str, str]) -> None:
    report = json.loads(run("diff", *shops, "--json").output)
    assert report["counts"]["breaking"] == 1
    (change,) = report["changes"]
    assert (change["code"], change["place"]) == ("type-narrowed", "Shop.Order.status")
    text = run("diff", *shops, "--markdown").output
    assert text.startswith("### Shop: 1 breaking\n\n|")
    assert json_of("diff", shops[0], shops[0])["changes"] == []


@pytest.mark.parametrize(
    ("change", "statuses"),
    [
        (("    merchant: str\n", "    merchant: str\n    by: str\n"), (1, 1, 1, 1, 0)),
        (('Unique("EMAIL#{email}")', 'Unique("MAIL#{email}")'), (0, 1, 1, 1, 0)),
        (("def order(self", "def one_order(self"), (0, 0, 1, 1, 0)),
        (('    name: str = "?"\n', '    name: str = "!"\n'), (0, 0, 0, 1, 0)),
    ],
)
def test_the_exit_status_depends_on_severity(change: tuple[str, str], statuses: tuple[int, ...], folder: Path) -> None:
    (folder / "old.py").write_text(SHOP, encoding="utf-8")
    (folder / "new.py").write_text(changed(change), encoding="utf-8")
    levels = ("breaking", "migration", "api", "safe", "never")
    result = [run("diff", "old.py:Shop", "new.py:Shop", "--fail-on", level).exit_code for level in levels]
    assert tuple(result) == statuses


def test_errors_of_both_designs_are_reported_together(folder: Path) -> None:
    (folder / "broken.py").write_text("import nothing_there\n", encoding="utf-8")
    result = run("diff", "broken.py:Shop", "gone.py:Shop")
    assert result.exit_code == 2
    assert "No module named 'nothing_there'" in result.stderr
    assert "file not found: gone.py" in result.stderr
    assert run("diff", "cms", "gone.py:Shop").exit_code == 2
    assert "mutually exclusive" in run("diff", "cms", "cms", "--json", "--markdown").output


def test_an_invalid_design_is_reported(folder: Path) -> None:
    text = changed(('"ORDER#{order_id}", "HEAD"', '"USER#{order_id}", "PROFILE"'))
    (folder / "broken.py").write_text(text, encoding="utf-8")
    result = run("diff", "cms", "broken.py:Shop")
    assert result.exit_code == 2
    assert "the key can equal that of" in result.stderr
