"""Serve the studio of an open design on a local port, for browser tests and screenshots."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn

from keyplan.session.design import Design
from keyplan.studio.access import Access
from keyplan.studio.actions import Studio
from keyplan.studio.application import Beside, studio_application
from keyplan.studio.subject import of_design

HOST = "127.0.0.1"


@contextmanager
def serving(studio: Studio, access: Access | None = None, port: int = 0) -> Generator[tuple[str, str]]:
    """Serve a studio; yield its address and token. A restarted server gets the same ``access`` and ``port``."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
        access = access or Access(hosts=(HOST,))
        served = Beside(None, studio_application(studio, access))
        server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}/studio/", access.token
        finally:
            server.should_exit = True
            thread.join()
            if studio.runner is not None:
                studio.runner.close()


@contextmanager
def serving_studio(design: Design, *, executes: bool = True) -> Generator[tuple[str, str]]:
    """Serve the studio of a design, and yield its address and token."""
    with serving(Studio(of_design(design), executes=executes)) as result:
        yield result
