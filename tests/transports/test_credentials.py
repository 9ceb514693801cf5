"""The sources and the renewal of credentials, and errors of missing or invalid credentials."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import botocore.credentials  # type: ignore[import-untyped]
import pytest
from moto import mock_aws

from keyplan.client.transports.credentials import (
    Credentials,
    FromBotocore,
    FromEnvironment,
    Source,
    find_credentials,
    find_region,
)
from keyplan.client.transports.urls import parse_url
from keyplan.errors import StoreError

LOCAL = parse_url("dynamodb+http://localhost:8000/cms", "cms", {})
AWS = parse_url("dynamodb://eu-west-1/cms", "cms", {})
KEYS = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}


def due(source: Source) -> bool:
    return source.due


def test_credentials_in_environment_variables_take_precedence() -> None:
    """If the variables are set, botocore isn't used. The session token is optional."""
    assert find_credentials(AWS, KEYS).current() == Credentials("AKID", "secret")
    token = {**KEYS, "AWS_SESSION_TOKEN": "token"}
    assert find_credentials(LOCAL, token).current() == Credentials("AKID", "secret", "token")


def test_local_endpoints_need_no_credentials() -> None:
    source = find_credentials(LOCAL, {})
    assert source.current() == Credentials("keyplan", "keyplan")
    assert not source.renew()
    assert not source.due


def test_access_key_without_its_secret_raises_an_error() -> None:
    """Other sources of credentials aren't searched."""
    with pytest.raises(StoreError, match="AWS_SECRET_ACCESS_KEY isn't"):
        find_credentials(LOCAL, {"AWS_ACCESS_KEY_ID": "AKID"})


def test_environment_variables_are_read_again_for_expired_credentials() -> None:
    """A program can renew the variables in its environment. Unchanged variables don't count as renewed."""
    environment = dict(KEYS)
    source = FromEnvironment(environment)
    assert not source.due
    assert not source.renew()
    environment["AWS_ACCESS_KEY_ID"] = "NEW"
    assert source.renew()
    assert source.current() == Credentials("NEW", "secret")


def test_error_for_missing_botocore_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(StoreError, match=r"require botocore") as raised:
        find_credentials(AWS, {})
    assert "pip install 'keyplan[aws]'" in str(raised.value)


def test_aws_config_profile_provides_credentials_and_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore reads the profile. A profile in the URL takes precedence over the environment."""
    config, shared = tmp_path / "config", tmp_path / "credentials"
    config.write_text("[profile prod]\nregion = eu-north-1\n")
    shared.write_text("[prod]\naws_access_key_id = PROD\naws_secret_access_key = secret\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(shared))
    location = parse_url("dynamodb:///cms?profile=prod", "cms", {})
    source = find_credentials(location, KEYS)
    assert due(source)
    assert source.current() == Credentials("PROD", "secret")
    assert not due(source)
    assert find_region(location) == "eu-north-1"
    assert not source.renew()
    shared.write_text("[prod]\naws_access_key_id = NEW\naws_secret_access_key = secret\n")
    assert source.renew()
    assert source.current() == Credentials("NEW", "secret")


def test_missing_credentials_or_region_raises_an_error() -> None:
    """The credentials, the profile or the region is missing."""
    with pytest.raises(StoreError, match="no credentials were found") as raised:
        find_credentials(AWS, {})
    assert raised.value.hint
    with pytest.raises(StoreError, match=r"no credentials: .*prod"):
        find_credentials(parse_url("dynamodb://eu-west-1/cms?profile=prod", "cms", {}), {})
    with pytest.raises(StoreError, match="no region is configured"):
        find_region(parse_url("dynamodb:///cms", "cms", {}))


def test_expiring_credentials_are_refreshed() -> None:
    """botocore refreshes credentials before they expire, and not for every call."""
    made: list[int] = []
    lifetime = timedelta(hours=6)

    def refresh() -> dict[str, Any]:
        made.append(1)
        expiry = (datetime.now(UTC) + lifetime).isoformat()
        return {"access_key": f"K{len(made)}", "secret_key": "s", "token": "t", "expiry_time": expiry}

    held = botocore.credentials.DeferredRefreshableCredentials(refresh, "test")
    source = FromBotocore(lambda: held)
    assert due(source)
    lifetime = timedelta(seconds=30)  # within botocore's mandatory time: due again immediately
    assert source.current() == Credentials("K1", "s", "t")
    assert due(source)
    lifetime = timedelta(hours=6)
    assert source.current() == Credentials("K2", "s", "t")
    assert not due(source)
    assert source.current() is source.current()
    assert len(made) == 2


def test_failed_refresh_of_credentials_raises_an_error() -> None:

    def refresh() -> dict[str, Any]:
        raise RuntimeError("the SSO session has ended")

    source = FromBotocore(lambda: botocore.credentials.DeferredRefreshableCredentials(refresh, "test"))
    with pytest.raises(StoreError, match="the SSO session has ended"):
        source.current()


def test_opening_a_table_on_aws_is_rejected_while_mock_aws_is_active() -> None:
    """moto intercepts only botocore's requests, so Keyplan's requests would reach AWS."""
    with mock_aws(), pytest.raises(StoreError, match="mock_aws is active"):
        find_credentials(AWS)
    with mock_aws():
        assert find_credentials(LOCAL).current().access_key == "FOOBARKEY"
