"""``python -m tests.expressions.record`` records the responses of DynamoDB Local to all cases.

Review each difference in version control: it is a change of DynamoDB Local, or a new case.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.expressions import cases
from tests.expressions.local import Local, address

RECORDED = Path(__file__).parent / "recorded"
FAMILIES = {
    "conditions": ("FilterExpression", cases.CONDITIONS),
    "projections": ("ProjectionExpression", cases.PROJECTIONS),
    "updates": ("UpdateExpression", cases.UPDATES),
    "keys": ("KeyConditionExpression", cases.KEY_CONDITIONS),
}


def read(family: str) -> list[dict[str, Any]]:
    """The recorded cases of a family, each with its response."""
    recorded: list[dict[str, Any]] = json.loads((RECORDED / f"{family}.json").read_text(encoding="utf-8"))
    return recorded


def main() -> None:
    url = address()
    if url is None:
        raise SystemExit("set KEYPLAN_DYNAMODB_LOCAL to the address of DynamoDB Local")
    local = Local(url)
    for family, (kind, entries) in FAMILIES.items():
        lines = [json.dumps({**entry, "answer": local.answer(kind, entry)}, ensure_ascii=False) for entry in entries]
        (RECORDED / f"{family}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    local.close()


if __name__ == "__main__":
    main()
