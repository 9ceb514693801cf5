"""DynamoDB URLs: ``dynamodb://REGION/TABLE`` and ``dynamodb+http(s)://HOST:PORT/TABLE``, with their options."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import parse_qsl, unquote, urlsplit

from keyplan.dynamodb.regions import LOCAL_REGION, PARTITIONS, partition_of
from keyplan.errors import StoreError

_SCHEMES = ("dynamodb", "dynamodb+http", "dynamodb+https")
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")
_TABLE = re.compile(r"[A-Za-z0-9_.-]{3,255}|arn:[^/?]+:table/[A-Za-z0-9_.-]{3,255}")
_LOOPBACK = re.compile(r"127(\.\d{1,3}){3}")


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a URL: ``dynamodb://eu-west-1/cms?attempts=8&total_seconds=5``.

    ``attempts``: maximum attempts per request; AWS's SDKs send at most 4 to DynamoDB.
    ``connect_seconds``: timeout of a connection, including TLS. ``answer_seconds``: timeout from sending a request to
    the end of its response. ``total_seconds``: timeout of a request, including retries and pauses. ``connections``:
    maximum number of open connections. ``parallel``: maximum number of parallel requests of one call. ``gzip``: whether
    to request compressed responses, which save bytes and cost CPU time.
    """

    attempts: int = 4
    connect_seconds: float = 3.0
    answer_seconds: float = 10.0
    total_seconds: float = 30.0
    connections: int = 50
    parallel: int = 20
    gzip: bool = False


@dataclass(frozen=True, slots=True)
class Location:
    """A parsed URL. ``region`` is empty if the region is taken from the environment or a profile."""

    url: str
    host: str
    port: int
    tls: bool
    region: str
    table: str
    profile: str | None = None
    on_aws: bool = True
    settings: Settings = Settings()

    @property
    def authority(self) -> str:
        """The Host header, which omits the scheme's default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port

    @property
    def local(self) -> bool:
        return self.host in {"localhost", "::1"} or bool(_LOOPBACK.fullmatch(self.host))

    @property
    def endpoint(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}"

    def in_region(self, region: str) -> Location:
        """The same location in ``region``, which comes from the environment or a profile."""
        return replace(self, region=region, host=self.host or f"dynamodb.{region}.{partition_of(region).domain}")


def is_url(text: str) -> bool:
    """Whether a store is given by a URL (valid or not) rather than a file path."""
    return "://" in text or text.startswith("dynamodb:")


def parse_url(text: str, default_table: str, environment: Mapping[str, str] = os.environ) -> Location:
    """Parse a URL. A URL without a table uses the design's table. Raises StoreError."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _wrong(text, str(error)) from None
    if parts.scheme not in _SCHEMES:
        raise _wrong(text, f"{parts.scheme}:// isn't a supported URL scheme")
    if parts.username or parts.password or parts.fragment:
        raise _wrong(text, "the URL can't contain a user or a fragment")
    options = _options(text, parts.query)
    table = unquote(parts.path.removeprefix("/")) or default_table
    if not _TABLE.fullmatch(table):
        raise _wrong(text, f"invalid table name {table!r}: use 3 to 255 characters of A-Z a-z 0-9 _ . -")
    region = options.pop("region", "")
    profile = options.pop("profile", None)
    settings = _settings(text, options)
    host = parts.hostname or ""
    if parts.scheme == "dynamodb":
        if port is not None:
            raise _wrong(text, "a port isn't allowed after a region")
        region = region or host or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
        if region and not _REGION.fullmatch(region):
            raise _wrong(text, f"invalid region {region!r}")
        named = Location(text, "", 443, tls=True, region="", table=table, profile=profile, settings=settings)
        return _redirected(named, region, environment)
    if not host:
        raise _wrong(text, "the URL has no host")
    tls = parts.scheme.endswith("https")
    on_aws = host.endswith(tuple(f".{partition.domain}" for partition in PARTITIONS))
    match = re.search(r"(?:^|\.)dynamodb(?:-fips)?\.([a-z0-9-]+)\.|\.([a-z0-9-]+)\.vpce\.", host)
    region = region or (next(filter(None, match.groups()), "") if match and on_aws else "")
    region = region or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or LOCAL_REGION
    port = port or (443 if tls else 80)
    return Location(text, host, port, tls, region, table, profile, on_aws, settings)


def _redirected(location: Location, region: str, environment: Mapping[str, str]) -> Location:
    """The region's endpoint, or the endpoint in AWS's environment variables."""
    endpoint = environment.get("AWS_ENDPOINT_URL_DYNAMODB") or environment.get("AWS_ENDPOINT_URL")
    if endpoint and environment.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() != "true":
        parts = urlsplit(endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise _wrong(location.url, f"AWS_ENDPOINT_URL[_DYNAMODB]={endpoint} isn't an http or https URL")
        tls = parts.scheme == "https"
        other = replace(location, host=parts.hostname, port=parts.port or (443 if tls else 80), tls=tls, on_aws=False)
        return other.in_region(region or LOCAL_REGION)
    return location.in_region(region) if region else location


def _options(text: str, query: str) -> dict[str, str]:
    names = ["region", "profile", *(field.name for field in fields(Settings))]
    result: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in names:
            near = difflib.get_close_matches(name, names)
            hint = f"did you mean {near[0]}?" if near else f"the options are {', '.join(names)}"
            raise StoreError(f"{text}: unknown option {name!r}", hint=hint)
        result[name] = value
    return result


def _truth(text: str) -> bool:
    if text.lower() not in {"true", "false", "1", "0", "yes", "no"}:
        raise ValueError(text)
    return text.lower() in {"true", "1", "yes"}


_CONVERSIONS: dict[str, Callable[[str], int | float | bool]] = {"int": int, "float": float, "bool": _truth}


def _settings(text: str, options: Mapping[str, str]) -> Settings:
    result: dict[str, int | float | bool] = {}
    for field in fields(Settings):
        given = options.get(field.name)
        if given is None:
            continue
        convert = _CONVERSIONS[str(field.type)]
        try:
            value = convert(given)
        except ValueError:
            raise _wrong(text, f"{field.name}={given} isn't a valid {field.type}") from None
        if field.type != "bool" and not 0 < value < 1e6:
            raise _wrong(text, f"{field.name}={given} must be positive and less than 1,000,000")
        result[field.name] = value
    return Settings(**result)  # type: ignore[arg-type]  # values are converted to the fields' types


def _wrong(text: str, why: str) -> StoreError:
    hint = "write dynamodb://REGION/TABLE for Amazon DynamoDB, or dynamodb+http://HOST:PORT/TABLE for another endpoint"
    return StoreError(f"{text}: {why}", hint=hint)
