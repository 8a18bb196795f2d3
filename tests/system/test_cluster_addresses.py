"""An address of a cluster at which there is none."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator

import pytest
from dask_workers import LEFT_TO_THE_COLLECTOR, Workers
from limits import HANG_SECONDS

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import dask_cluster

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = LEFT_TO_THE_COLLECTOR


@pytest.fixture
def silent_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def http_port() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), http.server.BaseHTTPRequestHandler
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("scheme", ["tcp://", "ws://", "", "http://", "inproc://"])
@pytest.mark.parametrize("kind", ["silent", "http"])
def test_what_is_no_scheduler_is_refused_in_time(
    scheme: str, kind: str, silent_port: int, http_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "PROBE_SECONDS", 1)
    address = f"{scheme}127.0.0.1:{silent_port if kind == 'silent' else http_port}"
    with pytest.raises(
        InputError, match=f"^cluster {address}: cannot be reached .*give a scheduler's address"
    ):
        dask_cluster.workers_of(address).__enter__()


def test_a_host_without_an_address_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "PROBE_SECONDS", 0.2)
    forever = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: forever.wait(HANG_SECONDS))
    with pytest.raises(InputError, match="no Dask scheduler answers within"):
        dask_cluster.workers_of("tcp://nowhere.invalid:8786").__enter__()
    forever.set()


def test_a_worker_is_no_scheduler(workers: Workers) -> None:
    workers.start()
    (address,) = workers.scheduler.workers
    with pytest.raises(InputError, match="a Dask worker, not a scheduler, is there"):
        dask_cluster.workers_of(address).__enter__()


def test_a_scheduler_that_is_lost_at_the_start_is_not_called_another_version(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client
    from distributed.comm import CommClosedError

    def lost(*_: object, **__: object) -> None:
        raise CommClosedError("Stream is closed")

    monkeypatch.setattr(Client, "run_on_scheduler", lost)
    with pytest.raises(InputError, match=r"its scheduler was lost, .*\(Stream is closed\); start"):
        dask_cluster.workers_of(workers.address).__enter__()
