"""On a full disk, reads succeed, and writes fail without effect until space is available."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.store import check_file
from tests.crash.test_kill import create, stored

PROGRAM = """
import json, resource, sys
from keyplan.errors import StoreError
from keyplan.store import Engine
from tests.crash.writer import TABLE, item, key

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def put(number):
    engine.call("PutItem", {"TableName": TABLE, "Item": item("a", str(number), number)})

engine = Engine.open(sys.argv[1])
written, errors = [], []
limit(600_000)
for number in range(2_000):
    try:
        put(number)
        written.append(number)
    except StoreError as error:
        errors.append(error.message)
        if len(errors) == 20:
            break
reads = [engine.call("GetItem", {"TableName": TABLE, "Key": key("a", str(number))}) for number in range(2_000)]
found = [number for number, read in enumerate(reads) if "Item" in read]
entries = engine.call("Scan", {"TableName": TABLE, "IndexName": "Keys"})["Count"]
limit(resource.RLIM_INFINITY)
put(5_000)
written.append(5_000)
print(json.dumps({"written": written, "errors": sorted(set(errors)), "found": found, "entries": entries}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a file's size stands in for a full disk")
def test_write_to_a_full_disk_fails_without_effect(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    create(path)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, path], check=True, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    outcome = json.loads(ran.stdout)
    *before, after = outcome["written"]
    assert outcome["found"] == before
    assert outcome["entries"] == len(before)
    assert outcome["errors"]
    assert all("nothing was written" in error for error in outcome["errors"])
    assert {int(sort) for _, sort in stored(path)} == {*before, after}
    assert check_file(path) == []
