"""Faults that once passed every test. Each was planted by hand, and a test was written that notices it."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.planting import Mutant

__all__ = ["NAMED", "named_mutants"]

NAMED: tuple[tuple[str, str, str], ...] = (
    ("engine/lag.py", "[0][0] + self._apart_s <= now_s", "[0][0] <= now_s"),
    ("engine/keybounds.py", "_SURROGATE_FIRST <= following <= _SURROGATE_LAST", "False"),
    ("client/merges.py", "candidate.place[:behind]", "candidate.place"),
    ("client/transactions.py", 'codes <= {"TransactionConflict"}', '"TransactionConflict" in codes'),
    ("client/transports/http_sync.py", "since > oldest and", "since > 0 and"),
    ("client/transports/http_async.py", "connection.since > oldest", "connection.since > 0"),
    ("client/transports/endpoint.py", "ahead is None or abs(", "ahead is None or (lambda _: CLOCK_SECONDS_MAX)("),
    ("client/answers.py", "given + len(chunk.entries) < limit", "given + len(chunk.entries) <= limit"),
    ("client/answers.py", "min(size, limit - given)", "min(size, limit)"),
    ("client/updates.py", '(begin == bound and operator in {">=", "<="})', "False"),
    ("client/updates.py", "begin > bound if lower", "begin >= bound if lower"),
    ("client/writes.py", "getattr(instance, entity.version.name) or 1", "1"),
    ("design/compiled/collisions.py", "if shards > 1:", "if False:"),
    ("design/compiled/choosing.py", "1 if key.index.local else 2", "2 if key.index.local else 1"),
    ("design/compiled/plan_checks.py", "if own != wanted or not same:", "if own != wanted:"),
    ("check/rules/hot_partition.py", "total <= limit / 2", "total <= limit"),
    ("check/baseline.py", "if finding.silenced is None and left[key] > 0:", "if left[key] > 0:"),
    ("engine/backups.py", '"LocalSecondaryIndexes": (', '"LocalSecondaryIndex": ('),
)
"""A module in ``src/keyplan``, a piece of its text, and what it is replaced by."""


def named_mutants(root: Path) -> list[Mutant]:
    """All of them. Raises LookupError where a piece isn't in its module any more, or more than once."""
    mutants: list[Mutant] = []
    for module, piece, text in NAMED:
        path = f"src/keyplan/{module}"
        source = (root / path).read_text(encoding="utf-8")
        if source.count(piece) != 1:
            raise LookupError(f"{path}: {piece!r} is there {source.count(piece)} times; change tests/mutants/named.py")
        start = source.index(piece)
        line = source.count("\n", 0, start) + 1
        mutants.append(Mutant(path, line, start, start + len(piece), text, "named"))
    return mutants
