"""Designs, baselines and traffic files for the tests of commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cost.test_command import BEFORE, MORE
from tests.diff.shop import SHOP

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


@pytest.fixture
def files(folder: Path) -> None:
    """Write the files that the tests of commands use."""
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
