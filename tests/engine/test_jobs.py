"""Export and import jobs, as described by other engines while the jobs run and after their process has ended."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.transfer import table_imports as imports
from tests.engine.support import Clock, answer, create, index, s
from tests.engine.test_backups import keep_history
from tests.engine.test_exports import export, parameters, s3, start_import

__all__ = ["s3"]


def test_export_job_of_an_ended_process_is_reported_as_failed(tmp_path: Path, s3: Path) -> None:
    path = tmp_path / "store.db"
    with Engine.open(path, s3=s3) as engine:
        create(engine)
        keep_history(engine)
        arn = export(engine)["ExportArn"]
        connection = engine._storage.pool.take()
        (stored,) = connection.execute("SELECT body FROM keyplan_records")
        body = json.loads(stored[0])
        body["Process"] = 2**22 + 1
        body["Description"]["ExportStatus"] = "IN_PROGRESS"
        connection.execute("UPDATE keyplan_records SET body = ?", (json.dumps(body).encode(),))
        engine._storage.pool.give(connection)
        result = engine.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]
        assert result["ExportStatus"] == "FAILED"


def test_imported_table_has_the_status_creating_until_the_import_completes(
    tmp_path: Path, s3: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other engines also report CREATING, so that waiters don't return before the import is complete."""
    path = tmp_path / "store.db"
    items = "".join(json.dumps({"Item": {"pk": s("a"), "sk": s(str(sk))}}) + "\n" for sk in range(10))
    (s3 / "bucket" / "items.json").write_text(items)
    monkeypatch.setattr("keyplan.store.transfer.table_imports.TOGETHER", 4)
    by_s = index("ByS", "sk")
    key = {"TableName": "copy", "Key": {"pk": s("a"), "sk": s("0")}}
    met: list[Any] = []
    with Engine.open(path, s3=s3, clock=clock) as engine, Engine.open(path, clock=clock) as other:

        def write_and_look(*args: Any) -> None:
            write(*args)
            table = other.call("DescribeTable", {"TableName": "copy"})["Table"]
            met.append((table["TableStatus"], table["GlobalSecondaryIndexes"][0]["IndexStatus"]))
            for each in (engine, other):
                for operation, params in (
                    ("GetItem", key),
                    ("DeleteTable", {"TableName": "copy"}),
                    ("CreateBackup", {"TableName": "copy", "BackupName": "early"}),
                ):
                    met.append(answer(each, operation, params)["error"])

        write = imports._write
        monkeypatch.setattr(imports, "_write", write_and_look)
        done = start_import(
            engine, prefix="items.json", TableCreationParameters=parameters("copy", GlobalSecondaryIndexes=[by_s])
        )
        assert (done["ImportStatus"], done["ImportedItemCount"]) == ("COMPLETED", 10)
        creating = [
            ("CREATING", "CREATING"),
            *(["ResourceNotFoundException", "ResourceInUseException", "ContinuousBackupsUnavailableException"] * 2),
        ]
        assert met == creating * 3
        for each in (engine, other):
            assert each.call("DescribeTable", {"TableName": "copy"})["Table"]["TableStatus"] == "ACTIVE"
            assert each.call("Scan", {"TableName": "copy", "IndexName": "ByS"})["Count"] == 10


def test_job_whose_process_id_was_reused_has_failed(tmp_path: Path, s3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server in a restarted container often has the process id of the killed server."""

    class KilledError(BaseException):
        pass

    def killed(*_args: Any) -> None:
        raise KilledError

    (s3 / "bucket" / "items.json").write_text(json.dumps({"Item": {"pk": s("a"), "sk": s("b")}}))
    with Engine.open(tmp_path / "store.db", s3=s3) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(imports, "_write", killed)
            patch.setattr("keyplan.store.background_work._started", lambda _number: "the first start")
            with pytest.raises(KilledError):
                start_import(engine)
        (arn,) = [each["ImportArn"] for each in engine.call("ListImports", {})["ImportSummaryList"]]
        done = engine.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"]
        assert (done["ImportStatus"], done["FailureMessage"]) == ("FAILED", "The process that ran this job has ended")
        # As on AWS, the items imported before the failure remain, and the table can be deleted.
        assert engine.call("DescribeTable", {"TableName": "copy"})["Table"]["TableStatus"] == "ACTIVE"
        engine.call("DeleteTable", {"TableName": "copy"})


def test_closing_the_engine_waits_for_its_export_and_import_jobs(tmp_path: Path, s3: Path) -> None:
    before = set(threading.enumerate())
    with Engine.open(tmp_path / "store.db", s3=s3, background_jobs=True) as engine:
        create(engine)
        keep_history(engine)
        arn = export(engine)["ExportArn"]
        assert set(threading.enumerate()) - before
    assert set(threading.enumerate()) == before
    with Engine.open(tmp_path / "store.db", s3=s3) as engine:
        described = engine.call("DescribeExport", {"ExportArn": arn})["ExportDescription"]
        assert described["ExportStatus"] == "COMPLETED"
