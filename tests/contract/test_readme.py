"""The program in the README prints the same output on every store, if only the URL is changed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.remote import local_address, new_table, server_address
from tests.repository.examples import blocks_of

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("address", [server_address, local_address])
def test_readme_program_prints_the_same_output_on_a_dynamodb_endpoint(address: Callable[[], str]) -> None:
    blocks = blocks_of(README)
    program = next(number for number, block in enumerate(blocks) if block.language == "python")
    here = 'Magazine.open(":memory:")'
    assert here in blocks[program].text
    code = blocks[program].text.replace(here, f'Magazine.open("dynamodb+http://{address()}/{new_table()}")')
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == blocks[program + 1].text
