"""Fixtures for test servers, and for retries without pauses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan.client.transports import retries
from tests.transports.faulty import FaultyStore, Loop, faulty_store


@pytest.fixture(scope="session")
def loop() -> Iterator[Loop]:
    running = Loop()
    yield running
    running.close()


@pytest.fixture
def store(loop: Loop) -> Iterator[FaultyStore]:
    with faulty_store(loop) as running:
        yield running


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every random pause zero, which is the shortest possible pause."""
    monkeypatch.setattr(retries, "random", _Never())


class _Never:
    def random(self) -> float:
        return 0.0


@pytest.fixture(autouse=True)
def no_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the machine's AWS credentials."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_DYNAMODB",
        "AWS_CA_BUNDLE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")
