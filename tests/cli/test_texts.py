"""What commands print of a design, as it was agreed upon: their tables, their arithmetic, their Markdown and JSON."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.agreed import assert_agreed
from tests.cli.support import LIBRARY, run
from tests.cost.test_command import BEFORE, MORE
from tests.diff.shop import SHOP

EVERYTHING = "tests.contract.design:Everything"
CLINIC = "clinic.py:Clinic"
"""A copy of tests/cli/clinic.py, so that a path is the same wherever the tests run."""
OF_CLINIC = """
[table]
billing = "provisioned"

[patterns]
visits = { per_second = 20, items = 12 }
waiting = { per_second = 700, peak_per_second = 4_000, items = 40, kept = 0.5, hottest = 0.4 }
noted = { per_second = 0.01 }
file = { per_second = 3, items = 9 }
see = { per_second = 15, hottest = 0.4 }
leave = { per_second = 0.001 }
come = { per_second = 5 }

[entities]
Patient = { count = 20_000 }
Visit = { count = 600_000, item_bytes = 2_500 }
"""
BASELINE = """
{"keyplan_baseline": 1, "findings": [
  {"design": "Clinic", "code": "KP301", "place": "Clinic.noted"},
  {"design": "Clinic", "code": "KP301", "place": "Clinic.gone"}
]}
"""
TRAFFIC = """
[table]
region = "eu-west-1"
replicas = ["us-east-2"]
table_class = "standard-infrequent-access"
point_in_time_recovery = true
stream_readers = 3

[patterns.on_shelf]
per_second = 120
peak_per_second = 1_400
items = 30
hottest = 0.25

[patterns.priced]
per_second = 0.5
items = 2_000

[patterns.lend]
per_second = 40
peak_per_second = 90
fails = 0.1

[patterns.add_copies]
per_second = 3
items = 60

[entities.Book]
count = 2_500_000
item_bytes = 1_800

[entities.Loan]
count = 40_000_000
"""
COMMANDS = [
    ("explain", LIBRARY),
    ("explain", EVERYTHING, "--markdown"),
    ("explain", LIBRARY, "lend"),
    ("explain", LIBRARY, "on_shelf"),
    ("explain", LIBRARY, "books_lent", "--markdown"),
    ("explain", LIBRARY, "books", 'isbn:=["1", "2"]'),
    ("cost", LIBRARY),
    ("cost", LIBRARY, "--traffic", "traffic.toml"),
    ("cost", LIBRARY, "--traffic", "traffic.toml", "--region", "us-east-1", "--region", "ap-northeast-1"),
    ("cost", LIBRARY, "--traffic", "traffic.toml", "--markdown"),
    ("cost", LIBRARY, "--traffic", "traffic.toml", "--json"),
    ("cost", LIBRARY, "--traffic", "traffic.toml", "--explain", "lend"),
    ("cost", LIBRARY, "--explain", "books_lent"),
    ("cost", EVERYTHING),
    ("cost", "before.py:Notes", "after.py:Notes", "--traffic", "notes.toml"),
    ("cost", "after.py:Notes", "before.py:Notes", "--traffic", "notes.toml", "--json"),
    ("check", CLINIC, "--traffic", "clinic.toml", "--format", "json"),
    ("diff", "shop.py:Shop", "new_shop.py:Shop"),
    ("diff", "shop.py:Shop", "new_shop.py:Shop", "--markdown"),
    ("diff", "shop.py:Shop", "new_shop.py:Shop", "--json"),
    ("traffic", LIBRARY),
    ("explain", CLINIC),
    ("explain", CLINIC, "leave", "--json"),
    ("cost", CLINIC, "--explain", "leave", "--json"),
    ("cost", CLINIC, "--traffic", "clinic.toml", "--explain", "file", "--json"),
    ("cost", CLINIC, "--markdown"),
    ("export", CLINIC, "--to", "mermaid"),
    *(("explain", CLINIC, name) for name in ("visits", "waiting", "noted", "dearest", "see", "leave", "rename")),
    ("cost", CLINIC, "--traffic", "clinic.toml"),
    ("cost", CLINIC),
    *(("cost", CLINIC, "--explain", name) for name in ("waiting", "noted", "file", "dearest", "leave", "rename")),
    ("check", CLINIC, "--traffic", "clinic.toml"),
    ("check", CLINIC, "--baseline", "baseline.json", "--all"),
    ("check", CLINIC, "--baseline", "baseline.json", "--traffic", "clinic.toml"),
    ("cost", "before.py:Notes", "after.py:Notes", "--traffic", "notes.toml", "--region", "eu-west-1"),
    ("check", CLINIC, "--format", "github"),
    ("traffic", CLINIC),
    ("export", CLINIC, "--to", "iam"),
    ("export", CLINIC, "--to", "markdown"),
    ("diff", CLINIC, LIBRARY),
]
IN_COLOUR = [
    ("explain", CLINIC),
    ("explain", CLINIC, "visits"),
    ("cost", CLINIC, "--traffic", "clinic.toml"),
    ("cost", CLINIC, "--explain", "leave"),
    ("check", CLINIC, "--traffic", "clinic.toml"),
    ("diff", CLINIC, LIBRARY),
]


@pytest.fixture
def files(folder: Path) -> None:
    """What the commands name."""
    (folder / "traffic.toml").write_text(TRAFFIC)
    (folder / "baseline.json").write_text(BASELINE)
    shutil.copy(Path(__file__).with_name("clinic.py"), folder)
    (folder / "clinic.toml").write_text(OF_CLINIC)
    (folder / "before.py").write_text(BEFORE.format(projection="", more=MORE))
    (folder / "after.py").write_text(BEFORE.format(projection=', projection="KEYS_ONLY"', more=""))
    (folder / "notes.toml").write_text(
        "[patterns]\nadd = { per_second = 10 }\nnotes_of = { per_second = 5 }\n[entities.Note]\ncount = 1000\n"
    )
    (folder / "shop.py").write_text(SHOP)
    new = SHOP.replace("expires: Ttl | None = None", "ends: Ttl | None = None").replace(
        "    note: str | None = None\n", ""
    )
    (folder / "new_shop.py").write_text(new.replace("def place(self, order: Order)", "def buy(self, order: Order)"))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_printed_is_as_it_was_agreed_upon(command: tuple[str, ...]) -> None:
    result = run(*command)
    assert result.exit_code in {0, 1}, result.output
    if "--all" in command:
        assert "\n  known: the baseline has it\n" in result.output
    if {"--markdown", "traffic", "export"} & {*command}:
        assert result.stdout == result.stdout.rstrip("\n") + "\n"
    if command[1:3] == ("before.py:Notes", "after.py:Notes"):  # its tables end with an empty line each
        assert result.stdout == result.stdout.rstrip("\n") + "\n\n"
    assert_agreed(result.output)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", IN_COLOUR, ids=" ".join)
def test_colours_are_as_they_were_agreed_upon(command: tuple[str, ...]) -> None:
    result = run(*command, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"})
    assert_agreed(result.output.replace("\x1b", "ESC"))
