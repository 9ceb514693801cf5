"""What each note of a table says at each moment, what each state refuses, and what notes become: agreed texts."""

from __future__ import annotations

from keyplan.store import state_delays as settling
from keyplan.store.processes import begin_work, end_work, this_process
from keyplan.store.state_delays import SETTLING, States

PLAIN = {
    "TableClass": "STANDARD",
    "BillingMode": "PROVISIONED",
    "StreamSpecification": {"StreamEnabled": True},
    "Stream": {"Label": "of today"},
    "GlobalSecondaryIndexes": [{"IndexName": "ByG", "KeySchema": []}],
    "VectorIndexes": [{"IndexName": "ByV"}],
}


def test_who_does_what_is_left_undone() -> None:
    mine = begin_work()
    gone = {**mine, "Work": "never begun"}
    assert not settling.is_left_undone(PLAIN)
    for worker, undone in ((mine, False), (gone, True)):
        assert settling.is_left_undone(settling.begin_filling(dict(PLAIN), "ByG", worker)) is undone
        assert settling.is_left_undone(settling.begin_joining(PLAIN, worker)) is undone
        assert settling.is_left_undone(settling.begin_restoring(dict(PLAIN), {}, None, worker)) is undone
        copied = {**PLAIN, settling.COPYING: {"a": {"Worker": worker}}}
        assert settling.is_left_undone(copied) is undone
        assert settling.is_left_undone(settling.begin_filling(copied, "ByG", mine)) is undone
    end_work(mine)
    assert settling.is_left_undone(settling.begin_joining(PLAIN, mine))
    imported = settling.begin_import(dict(PLAIN), "9")
    assert imported[SETTLING]["Table"] == {"Status": "CREATING", "Import": "9", **this_process()}
    assert settling.states_of(imported, 1e12) == States("CREATING", lacks_backups=True)
    assert settling.begin_creation(dict(PLAIN), 1.0, 0.0) == PLAIN
    assert settling.begin_restore(dict(PLAIN), {}, 1.0, 0.0) == PLAIN
