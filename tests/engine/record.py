"""``python -m tests.engine.record http://127.0.0.1:PORT`` records DynamoDB Local's responses to the scenarios."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.engine.local import call, clear
from tests.engine.scenarios import SCENARIOS

RECORDED = Path(__file__).parent / "recorded"


def main(url: str) -> None:
    for name, steps in SCENARIOS.items():
        clear(url)
        answers = [call(url, step[0], step[1]) for step in steps]
        text = json.dumps(answers, indent=1, ensure_ascii=False, sort_keys=True)
        (RECORDED / f"{name}.json").write_text(text + "\n")
    clear(url)


if __name__ == "__main__":
    main(sys.argv[1])
