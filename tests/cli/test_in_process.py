"""Commands that serve, without the server that they end in: what they print, and what they hand to it. Plans of keys as
they are shown, and what ends a command.
"""

from __future__ import annotations

import gc
import re
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
import uvicorn

from keyplan import Index, planner
from keyplan.cli import group, listening, serve, studio
from keyplan.cli.group import cli
from keyplan.errors import StoreError
from keyplan.planner import Plan, plan, rewritten
from keyplan.studio import subject
from keyplan.studio.subject import of_design
from tests.cli.support import LIBRARY, json_of, run
from tests.studio.school import School
from tests.web.support import TestClient

CLINIC = Path(__file__).with_name("clinic.py")
SHOP = (Path(__file__).parents[1] / "planner" / "shop.py").read_text(encoding="utf-8")
"""A design that has no keys yet."""


def plain(text: str) -> str:
    """What was printed, without ports and tokens."""
    return re.sub(r"token=\S+", "token=TOKEN", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, Any]]]:
    """What is handed to the server, which isn't begun. The port is listened on by then."""
    made: list[tuple[Any, dict[str, Any]]] = []

    def taken(application: Any, listener: socket.socket, **more: Any) -> None:
        host, port = listener.getsockname()
        assert host == "127.0.0.1"
        with socket.create_connection((host, port)):
            made.append((application, more))

    for module in (serve, studio):
        monkeypatch.setattr(module, "run_server", taken)
    return made


SERVING = [
    ("serve", LIBRARY),
    ("serve", "cms", "--sample", "2"),
    ("serve", "cms", "--origin", "https://cms.example.com/"),
    ("studio", "clinic.py:Clinic"),
    ("studio", "clinic.py:Clinic", "--read-only", "--db", "x.db"),
    ("studio", "cms", "--sample", "2"),
    ("studio", "uncompiled.py:Store"),
]


@pytest.mark.parametrize("command", SERVING, ids=" ".join)
def test_what_is_served_is_told_as_agreed_upon(
    command: tuple[str, ...], served: list[tuple[Any, dict[str, Any]]], folder: Path
) -> None:
    shutil.copy(CLINIC, folder)
    (folder / "uncompiled.py").write_text(SHOP)
    result = run(*command, "--port", "0")
    assert result.exit_code == 0, result.output
    ((application, _),) = served
    if command[0] == "serve":
        answered = {"127.0.0.1": 200, "localhost": 200, "elsewhere": 421, "": 421}
        answered["cms.example.com"] = 200 if "--origin" in command else 421
        described = TestClient(application, base_url="http://127.0.0.1")
        assert {
            host: described.get("/openapi.json", headers={"host": host}).status_code for host in answered
        } == answered
    token = re.search(r"token=(\S+)", result.stdout)
    assert (token is None) is ("--origin" in command)
    if token is not None:
        http = TestClient(application, base_url="http://127.0.0.1")
        headers = {"x-keyplan-token": token[1]}
        assert http.get("/studio/").status_code == 200
        assert http.post("/studio/do/nothing", json={}, headers=headers).json()["error"]["code"] == "RequestError"
        assert http.post("/studio/do/nothing", json={}).status_code == 401
        assert http.get("/studio/", headers={"host": "other"}).status_code == 421


def test_a_table_that_is_browsed_is_told(served: list[Any], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    asked: list[tuple[str, bool | None]] = []

    with School.open(":memory:") as school:

        @contextmanager
        def browsed(url: str, *, writable: bool | None = None) -> Iterator[Any]:
            asked.append((url, writable))
            yield SimpleNamespace(table="school", subject=lambda _name: replace(of_design(school), url=url))

        monkeypatch.setattr(subject, "browsed", browsed)
        url = "dynamodb+http://127.0.0.1:1/school"
        for options, writable in (((), None), (("--allow-writes",), True), (("--read-only",), False)):
            result = run("studio", url, "--port", "0", *options)
            assert asked.pop() == (url, writable)
            assert plain(result.stdout).splitlines() == [
                "School on dynamodb+http://127.0.0.1:PORT/school",
                "  studio   http://127.0.0.1:PORT/studio/?token=TOKEN",
                "Ctrl-C stops it.",
            ]
            assert (result.exit_code, result.stderr) == (0, "Stopped.\n")
    assert len(served) == 3
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ("ftp://cms.example.com", "an address like https://blog.example.com"),
        ("https://", "an address like"),
        ("https://cms.example.com/x", "an address like"),
        ("https://cms.example.com/?x=1", "an address like"),
        ("cms.example.com", "an address like"),
    ],
)
def test_a_public_address_is_one_of_a_site(origin: str, told: str, served: list[Any]) -> None:
    result = run("serve", "cms", "--port", "0", "--origin", origin)
    assert (result.exit_code, told in result.output, served) == (2, True, [])


def test_what_only_sites_have_is_refused_of_others(served: list[Any], folder: Path) -> None:
    (folder / "site.toml").write_text("")
    result = run("serve", LIBRARY, "--port", "0", "--origin", "https://a.example.com")
    assert (result.exit_code, "only a system with a site has a public address" in result.output) == (2, True)
    result = run("serve", LIBRARY, "--port", "0", "--site", "site.toml")
    assert (result.exit_code, "only a system with a site has settings" in result.output) == (2, True)
    assert run("serve", "cms", "--port", "0", "--site", "site.toml").exit_code == 0
    assert len(served) == 1


def test_only_systems_have_a_sample_to_serve(served: list[Any]) -> None:
    result = run("studio", LIBRARY, "--port", "0", "--sample", "1")
    assert (result.exit_code, served) == (2, [])
    assert "Library is a design without a sample" in result.stderr
    assert "systems have one: blog, cms, " in result.stderr


_Socket = socket.socket


def test_the_server_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing keeps answers waiting: Nagle's algorithm, another thread, the garbage collector. Ctrl-C ends quietly."""
    configs: list[uvicorn.Config] = []

    def stopped(server: uvicorn.Server, sockets: Sequence[socket.socket]) -> None:
        configs.append(server.config)
        assert [each.getsockname()[0] for each in sockets] == ["127.0.0.1"]
        raise KeyboardInterrupt

    thresholds, switching = gc.get_threshold(), sys.getswitchinterval()
    monkeypatch.setattr(uvicorn.Server, "run", stopped)
    try:
        with listening.listen(0) as listener:
            assert listener.proto == socket.IPPROTO_TCP
            assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) == 1
            listening.run_server(lambda *_: None, listener)  # type: ignore[arg-type]
            listening.run_server(lambda *_: None, listener, behind_proxy=True)  # type: ignore[arg-type]
            assert gc.get_threshold()[0] == listening.COLLECT_AFTER
            assert sys.getswitchinterval() == pytest.approx(listening.SWITCH_SECONDS)
            assert gc.get_freeze_count() > 100_000
            made: list[socket.socket] = []

            def noted(*given: Any) -> socket.socket:
                made.append(_Socket(*given))
                return made[-1]

            monkeypatch.setattr("socket.socket", noted)
            with pytest.raises(click.ClickException, match="can't be used") as caught:
                listening.listen(listener.getsockname()[1])
            assert [each.fileno() for each in made] == [-1], "it is closed"
            assert caught.value.message.endswith("→ stop what uses it, or choose another with --port")
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(switching)
    assert [config.proxy_headers for config in configs] == [False, True]
    assert {(config.access_log, config.log_level, config.timeout_graceful_shutdown) for config in configs} == {
        (False, "warning", 5)
    }


# The store over HTTP


@pytest.mark.parametrize(
    "options",
    [
        ("--memory",),
        ("--db", "x.db", "--port", "0", "--host", "0.0.0.0", "--access-key", "a:secret-of-a", "--access-key", "b:of-b"),
        ("--memory", "--sync", "normal", "--ttl-interval", "0", "--throttle", "--index-lag", "2.5"),
        ("--db", "x.db", "--workers", "3"),
        ("--memory", "--state-delay", "1", "--shard-hours", "0.5", "--shard-records", "7", "--s3", "s3"),
        ("--memory", "--regions", "eu-west-1, us-east-1", "--replica-lag", "0", "--cors", "http://a", "--cors", "*"),
    ],
    ids=" ".join,
)
def test_options_become_the_servers_settings(options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def serve_(settings: Any, ready: Any) -> None:
        names = sorted(vars(settings)) if hasattr(settings, "__dict__") else settings.__slots__
        click.echo("\n".join(f"{name}: {_sorted(getattr(settings, name))}" for name in names))
        ready(8123)

    monkeypatch.setattr("keyplan.store.server.serve", serve_)
    result = run("dynamodb", *options)
    assert result.exit_code == 0, result.output


def _sorted(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


@pytest.mark.parametrize("options", [(), ("--memory", "--db", "x.db")])
def test_a_store_is_a_file_or_memory(options: tuple[str, ...]) -> None:
    result = run("dynamodb", *options)
    assert (result.exit_code, "Give either --db FILE or --memory." in result.output) == (2, True)


# Plans


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What comes of verifying, which isn't done: as it is put there; else all plans are right."""
    outcome: dict[str, Any] = {"refused": [], "stopped": False}

    def answered(plans: list[Any], *, progress: Any) -> Any:
        progress(1, 2)
        return SimpleNamespace(**{"plans": plans, **outcome})

    monkeypatch.setitem(sys.modules, "keyplan.testing.plan_verification", SimpleNamespace(verified=answered))
    return outcome


@pytest.mark.usefixtures("verified")
@pytest.mark.parametrize("options", [(), ("--attributes",), ("--write",)], ids=" ".join)
def test_plans_are_shown_as_agreed_upon(options: tuple[str, ...], folder: Path) -> None:
    (folder / "shop.py").write_text(SHOP)
    result = run("plan", "shop.py:Store", *options)
    assert result.exit_code == 0, result.output
    assert ((folder / "shop.py").read_text() != SHOP) is ("--write" in options)
    if "--write" in options:
        again = run("plan", "shop.py:Store", "--write")
        assert "shop.py already has these declarations." in again.output
        first, ignoring = (run("plan", "shop.py:Store", *more).output for more in ((), ("--ignore-existing",)))
        assert (first.count("+ "), ignoring.count("+ ")) == (0, 7)
        held = json_of("plan", "shop.py:Store")
        assert ([len(each["keys"]) for each in held["plans"]], held["spare_indexes"]) == ([7], [])


@pytest.mark.usefixtures("verified")
def test_a_module_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "shop.py").write_text(SHOP)
    monkeypatch.setattr(planner, "rewritten", lambda best: replace(rewritten(best), path=folder / "gone" / "shop.py"))
    result = run("plan", "shop.py:Store", "--write")
    assert (result.exit_code, "shop.py can't be written: No such file or directory" in result.stderr) == (2, True)


def test_an_index_that_holds_less_is_told(
    verified: dict[str, Any], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "shop.py").write_text(SHOP)
    narrow = (Index("GSI7", "a", projection="KEYS_ONLY"), Index("GSI8", "b", projection=["x", "[y]"]), Index("G9", "c"))

    def planned(*given: Any, **options: Any) -> list[Plan]:
        verified["plans"] = [replace(plan(*given, **options)[0], indexes=narrow)]
        return list(verified["plans"])

    monkeypatch.setattr(planner, "plan", planned)
    assert [line for line in run("plan", "shop.py:Store").output.splitlines() if " holds " in line] == [
        "GSI7 holds the keys alone: no access pattern reads more from it, and that is cheaper.",
        "GSI8 holds the keys and x, [y]: no access pattern reads more from it, and that is cheaper.",
    ]


@pytest.mark.usefixtures("verified")
def test_a_search_that_was_stopped_verifies_and_writes_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """It is the first plan that says so; the others are as they are."""
    (folder / "shop.py").write_text(SHOP)

    def stopped(*given: Any, **options: Any) -> list[Plan]:
        first, *others = plan(*given, **options)
        return [replace(first, stopped=True), *others]

    monkeypatch.setattr(planner, "plan", stopped)
    for options in ((), ("--json",)):
        result = run("plan", "shop.py:Store", "--write", *options)
        assert (result.exit_code, (folder / "shop.py").read_text()) == (130, SHOP)
        assert result.stderr == (
            "Stopped: this is the best plan so far, and it isn't verified. Nothing is written.\nStopped.\n"
        )


def test_what_is_said_of_plans_that_are_not_verified(
    verified: dict[str, Any], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "shop.py").write_text(SHOP)
    verified.update(stopped=True, refused=[(None, "Store.orders gives another answer")])
    stopped = run("plan", "shop.py:Store", "--write")
    assert (stopped.exit_code, (folder / "shop.py").read_text()) == (130, SHOP)
    assert stopped.stderr.splitlines() == [
        "A plan is omitted, since it gives a wrong result:",
        "Store.orders gives another answer",
        "Stopped: not every plan is verified. Nothing is written.",
        "Stopped.",
    ]
    verified.update(plans=[], stopped=False)
    refused = run("plan", "shop.py:Store", "--write")
    assert (refused.exit_code, (folder / "shop.py").read_text()) == (2, SHOP)
    assert "plan 1: Store.orders gives another answer" in refused.stderr
    monkeypatch.setitem(sys.modules, "keyplan.testing.plan_verification", None)
    unverified = run("plan", "shop.py:Store")
    assert unverified.exit_code == 0
    assert "pip install 'keyplan[testing]'" in unverified.stderr


# The group


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (click.Abort(), 130, "Stopped.\n"),
        (KeyboardInterrupt(), 130, "Stopped.\n"),
        (click.UsageError("wrong"), 2, "Usage: keyplan explain [OPTIONS] NAME"),
        (click.ClickException("no"), 1, "Error: no\n"),
        (StoreError("the disk failed"), 1, "the disk failed"),
        (click.exceptions.Exit(7), 7, ""),
    ],
)
def test_what_ends_a_command(
    error: BaseException, status: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(_name: str) -> Any:
        raise error

    monkeypatch.setattr("keyplan.cli.designs.find", failing)
    with pytest.raises(SystemExit) as ended:
        cli.main(["explain", "cms"], prog_name="keyplan")
    assert ended.value.code == status
    assert told in capsys.readouterr().err
    monkeypatch.setattr("keyplan.cli.designs.find", lambda _name: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["explain", "cms"], prog_name="keyplan")


def test_who_calls_the_group_gets_what_it_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_name: str) -> Any:
        raise click.ClickException("no")

    monkeypatch.setattr("keyplan.cli.designs.find", failing)
    with pytest.raises(click.ClickException, match="no"):
        cli.main(["explain", "cms"], standalone_mode=False)
    assert cli.main(["--version"], standalone_mode=False) == 0
    context = click.Context(cli)
    assert cli.list_commands(context) == list(group._COMMANDS)
    assert cli.get_command(context, "nothing") is None
    assert all(cli.get_command(context, name) is not None for name in group._COMMANDS)


def test_a_traffic_file_is_written(folder: Path) -> None:
    printed = run("traffic", LIBRARY).output
    result = run("traffic", LIBRARY, "-o", "traffic.toml")
    assert (result.output, (folder / "traffic.toml").read_text()) == ("Wrote traffic.toml.\n", printed)


def test_a_picture_has_a_sample_or_templates() -> None:
    sampled, templates = (run("export", "cms", "--to", "svg", "--sample", count).stdout for count in ("1", "0"))
    assert sampled.startswith("<svg ")
    assert "item collections with 0 items" not in templates
    assert len({sampled, templates}) == 2
    assert run("create", "cms", "--db", "x.db").exit_code == 0
    assert run("export", "cms", "--to", "svg", "--db", "x.db").stdout == templates
    assert run("export", "clinic.py:Clinic", "--to", "svg").exit_code == 2
    shutil.copy(CLINIC, ".")
    assert run("export", "clinic.py:Clinic", "--to", "svg", "--sample", "3").stdout.startswith("<svg ")
    assert run("export", "clinic.py:Clinic", "--to", "html").stdout.startswith("<!doctype html>")
