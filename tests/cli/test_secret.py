"""A site's secret: where it is stored, and its minimum length."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyplan.cli.secret import VARIABLE, secret_of
from keyplan.errors import RequestError, StoreError

GIVEN_CHARACTERS_MIN, SECRET_BYTES = 16, 32


@pytest.fixture(autouse=True)
def none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_stored_secret_that_is_too_short_is_an_error(folder: Path) -> None:
    file = folder / "kept.secret"
    for length, ends in ((SECRET_BYTES - 1, True), (SECRET_BYTES, False), (SECRET_BYTES + 1, False)):
        file.write_bytes(b"x" * length + b"\n")
        if ends:
            with pytest.raises(StoreError, match=r"(?s)kept\.secret is too short.*sign in again"):
                secret_of("site.db", file)
        else:
            assert secret_of("site.db", file) == b"x" * length


def test_a_secret_from_the_environment_that_is_too_short_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "s" * (GIVEN_CHARACTERS_MIN - 1))
    with pytest.raises(RequestError, match=f"{VARIABLE} is too short"):
        secret_of("site.db", None)
    monkeypatch.setenv(VARIABLE, "s" * GIVEN_CHARACTERS_MIN)
    assert secret_of("site.db", None) == b"s" * GIVEN_CHARACTERS_MIN


@pytest.mark.parametrize(
    ("db", "file", "kept"),
    [
        ("site.db", None, "site.db.secret"),
        ("site.db", Path("own.secret"), "own.secret"),
        ("dynamodb://table", None, "keyplan.secret"),
        (":memory:", Path("own.secret"), "own.secret"),
    ],
)
def test_the_secret_file_is_private_and_reused(db: str, file: Path | None, kept: str, folder: Path) -> None:
    made = secret_of(db, file)
    assert len(made) >= SECRET_BYTES
    assert [path.name for path in folder.iterdir()] == [kept]
    assert (folder / kept).stat().st_mode & 0o777 == 0o600
    assert secret_of(db, file) == made


def test_each_in_memory_store_has_a_new_secret(folder: Path) -> None:
    first, second = secret_of(":memory:", None), secret_of(":memory:", None)
    assert len(first) == len(second) == SECRET_BYTES
    assert first != second
    assert list(folder.iterdir()) == []


def test_a_secret_that_cannot_be_stored_is_an_error(folder: Path) -> None:
    with pytest.raises(StoreError, match="--secret-file"):
        secret_of("site.db", folder / "none" / "x.secret")
